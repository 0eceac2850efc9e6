//! How often a node is asked about signatures that only a contract wallet can judge.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use order::model::chain::EvmAddress;
use order::ports::Clock;

use crate::bucket::{Bucket, Rate};

/// Signatures of accounts that have not been seen to sign, together.
const UNKNOWN: Rate = Rate { burst: 60, per_second: 5 };
/// When so many accounts are known, the list starts again.
const KNOWN_MAX: usize = 10_000;

/// A signature that no key made costs a question to the node and its sender nothing, so
/// there is a limit. Accounts whose wallet has accepted a signature are not limited.
pub(super) struct WalletQuestions {
    unknown: Bucket,
    known: Mutex<HashSet<EvmAddress>>,
}

impl WalletQuestions {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { unknown: Bucket::new(UNKNOWN, clock), known: Mutex::default() }
    }

    /// Whether the node may be asked about a signature of this account now.
    pub(super) fn may_ask(&self, payer: EvmAddress) -> bool {
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
