//! Rate limit of signature checks by contract wallets.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use order::model::chain::EvmAddress;
use order::ports::Clock;

use crate::rate_limit::{BucketRate, TokenBucket};

/// The rate for all accounts without an accepted signature.
const UNKNOWN: BucketRate = BucketRate { burst: 60, per_second: 5 };
/// The list is cleared at this size.
const KNOWN_MAX: usize = 10_000;

/// An invalid signature costs its sender nothing and us a node call, so there is a limit.
/// Accounts whose wallet has accepted a signature are not limited.
pub(super) struct WalletCheckLimit {
    unknown: TokenBucket,
    known: Mutex<HashSet<EvmAddress>>,
}

impl WalletCheckLimit {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { unknown: TokenBucket::new(UNKNOWN, clock), known: Mutex::default() }
    }

    /// Whether a signature of this account may be checked now.
    pub(super) fn allows(&self, payer: EvmAddress) -> bool {
        self.known().contains(&payer) || self.unknown.take()
    }

    /// The wallet of this account has accepted a signature.
    pub(super) fn accepted(&self, payer: EvmAddress) {
        let mut known = self.known();
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(payer);
    }

    fn known(&self) -> MutexGuard<'_, HashSet<EvmAddress>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
