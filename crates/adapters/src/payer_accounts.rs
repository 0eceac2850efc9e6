//! What is known about payers' accounts: which have no code, and which are smart wallets.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use order::model::chain::EvmAddress;
use order::ports::Clock;
use pay::x402::settler::KnownAccount;

use crate::rate_limit::{BucketRate, TokenBucket};
use crate::settlement::outbox::AccountCode;

/// How long an account counts as one without code. A wallet can be deployed to its address at any
/// time, and its payer should not have to wait for long.
const WITHOUT_CODE_SECONDS: u64 = 60;
/// Each list is cleared at this size.
const ACCOUNTS_MAX: usize = 10_000;
/// The rate of signature checks for all accounts without an accepted signature together.
const UNKNOWN: BucketRate = BucketRate { burst: 60, per_second: 5 };
/// The rate for each account that has accepted one, since the last one that it accepted.
const WALLET: BucketRate = BucketRate { burst: 10, per_second: 1 };

/// The accounts of one network.
///
/// A signature that no key of the payer made costs its sender nothing and us node calls. So there
/// are limits, and the answer that an account has no code is kept for a short time.
pub(crate) struct PayerAccounts {
    clock: Arc<dyn Clock>,
    unknown: TokenBucket,
    wallets: Mutex<HashMap<EvmAddress, TokenBucket>>,
    /// The uptime at which each was seen.
    without_code: Mutex<HashMap<EvmAddress, u64>>,
}

impl PayerAccounts {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let unknown = TokenBucket::new(UNKNOWN, clock.clone());
        Self { clock, unknown, wallets: Mutex::default(), without_code: Mutex::default() }
    }

    pub(crate) fn known(&self, payer: EvmAddress) -> KnownAccount {
        match lock(&self.without_code).get(&payer) {
            Some(seen) if self.is_recent(*seen) => KnownAccount::WithoutCode,
            Some(_) | None => KnownAccount::Unknown,
        }
    }

    /// A node said whether the account has code.
    pub(crate) fn saw(&self, payer: EvmAddress, code: AccountCode) {
        let mut without_code = lock(&self.without_code);
        match code {
            AccountCode::Present => {
                without_code.remove(&payer);
            }
            AccountCode::None => {
                if without_code.len() >= ACCOUNTS_MAX {
                    without_code.retain(|_, seen| self.is_recent(*seen));
                }
                if without_code.len() >= ACCOUNTS_MAX {
                    without_code.clear();
                }
                without_code.insert(payer, self.clock.uptime());
            }
        }
    }

    /// Whether the chain may be asked about a signature of this account now.
    pub(crate) fn may_ask(&self, payer: EvmAddress) -> bool {
        match lock(&self.wallets).get(&payer) {
            Some(wallet) => wallet.take(),
            None => self.unknown.take(),
        }
    }

    /// The account has accepted a signature.
    pub(crate) fn accepted(&self, payer: EvmAddress) {
        let mut wallets = lock(&self.wallets);
        if wallets.len() >= ACCOUNTS_MAX {
            wallets.clear();
        }
        wallets.insert(payer, TokenBucket::new(WALLET, self.clock.clone()));
    }

    fn is_recent(&self, seen: u64) -> bool {
        self.clock.uptime().saturating_sub(seen) < WITHOUT_CODE_SECONDS
    }
}

fn lock<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use order::testing::manual_clock::ManualClock;

    use super::*;

    const PAYER: EvmAddress = EvmAddress::from_bytes([1; 20]);
    const OTHER: EvmAddress = EvmAddress::from_bytes([2; 20]);

    fn accounts() -> (PayerAccounts, Arc<ManualClock>) {
        let clock = Arc::new(ManualClock::default());
        (PayerAccounts::new(clock.clone()), clock)
    }

    fn numbered(number: usize) -> EvmAddress {
        let mut address = [9; 20];
        address[..8].copy_from_slice(&number.to_be_bytes());
        EvmAddress::from_bytes(address)
    }

    #[test]
    fn an_account_counts_as_one_without_code_for_a_minute() {
        let (accounts, clock) = accounts();
        assert_eq!(accounts.known(PAYER), KnownAccount::Unknown);
        accounts.saw(PAYER, AccountCode::None);
        assert_eq!(accounts.known(PAYER), KnownAccount::WithoutCode);
        assert_eq!(accounts.known(OTHER), KnownAccount::Unknown);
        clock.advance(59);
        assert_eq!(accounts.known(PAYER), KnownAccount::WithoutCode);
        clock.advance(1);
        assert_eq!(accounts.known(PAYER), KnownAccount::Unknown);
        accounts.saw(PAYER, AccountCode::None);
        accounts.saw(PAYER, AccountCode::Present);
        assert_eq!(accounts.known(PAYER), KnownAccount::Unknown);
    }

    #[test]
    fn the_list_is_bounded_and_holds_the_last_account() {
        let (accounts, clock) = accounts();
        for number in 0..ACCOUNTS_MAX {
            accounts.saw(numbered(number), AccountCode::None);
        }
        accounts.saw(PAYER, AccountCode::None);
        assert_eq!(lock(&accounts.without_code).len(), 1);
        assert_eq!(accounts.known(PAYER), KnownAccount::WithoutCode);
        for number in 1..ACCOUNTS_MAX {
            accounts.saw(numbered(number), AccountCode::None);
        }
        clock.advance(60);
        accounts.saw(OTHER, AccountCode::None);
        assert_eq!(lock(&accounts.without_code).len(), 1);
    }

    #[test]
    fn a_wallet_has_a_limit_of_its_own_which_an_accepted_signature_resets() {
        let (accounts, clock) = accounts();
        let asked = |payer, times: usize| (0..times).filter(|_| accounts.may_ask(payer)).count();
        assert_eq!((asked(PAYER, 100), asked(OTHER, 1)), (60, 0));
        accounts.accepted(PAYER);
        assert_eq!((asked(PAYER, 100), asked(OTHER, 1)), (10, 0));
        clock.advance(2);
        assert_eq!((asked(PAYER, 100), asked(OTHER, 100)), (2, 10));
        accounts.accepted(PAYER);
        assert_eq!(asked(PAYER, 100), 10);
    }
}
