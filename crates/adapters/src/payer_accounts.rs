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
/// The most accounts in each list. The oldest is removed for the next one.
const ACCOUNTS_MAX: usize = 10_000;
/// The rate of signature checks for all accounts together that have not paid.
const UNPAID: BucketRate = BucketRate { burst: 60, per_second: 5 };
/// The rate for each account that has paid, since its last payment.
const PAID: BucketRate = BucketRate { burst: 10, per_second: 1 };

/// The accounts of one network.
///
/// A signature that no key of the payer made costs its sender nothing and us node calls. So there
/// are limits, and the answer that an account has no code is kept for a short time. An account
/// that accepts a signature has proved nothing: anyone can deploy code that accepts all. Only a
/// payment, which costs the payer money, gives it a limit of its own.
pub(crate) struct PayerAccounts {
    clock: Arc<dyn Clock>,
    unpaid: TokenBucket,
    paid: Mutex<HashMap<EvmAddress, PaidWallet>>,
    /// The uptime at which each was seen.
    without_code: Mutex<HashMap<EvmAddress, u64>>,
}

struct PaidWallet {
    checks: TokenBucket,
    /// The uptime of its last payment.
    paid_at: u64,
}

impl PayerAccounts {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let unpaid = TokenBucket::new(UNPAID, clock.clone());
        Self { clock, unpaid, paid: Mutex::default(), without_code: Mutex::default() }
    }

    pub(crate) fn known(&self, payer: EvmAddress) -> KnownAccount {
        let seen = lock(&self.without_code).get(&payer).copied();
        let uptime = self.clock.uptime();
        match seen {
            Some(seen) if uptime.saturating_sub(seen) < WITHOUT_CODE_SECONDS => {
                KnownAccount::WithoutCode
            }
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
                insert(&mut without_code, payer, self.clock.uptime(), |seen| *seen);
            }
        }
    }

    /// Whether the chain may be asked about a signature of this account now.
    pub(crate) fn may_ask(&self, payer: EvmAddress) -> bool {
        match lock(&self.paid).get(&payer) {
            Some(wallet) => wallet.checks.take(),
            None => self.unpaid.take(),
        }
    }

    /// A payment of this account, which has code, was settled.
    pub(crate) fn paid(&self, payer: EvmAddress) {
        let checks = TokenBucket::new(PAID, self.clock.clone());
        let wallet = PaidWallet { checks, paid_at: self.clock.uptime() };
        insert(&mut lock(&self.paid), payer, wallet, |wallet| wallet.paid_at);
    }
}

/// Inserts an account, for which the oldest one is removed if the list is full.
fn insert<T>(
    list: &mut HashMap<EvmAddress, T>,
    payer: EvmAddress,
    entry: T,
    since: impl Fn(&T) -> u64,
) {
    if list.len() >= ACCOUNTS_MAX && !list.contains_key(&payer) {
        let oldest = list.iter().min_by_key(|(_, entry)| since(entry)).map(|(payer, _)| *payer);
        if let Some(oldest) = oldest {
            list.remove(&oldest);
        }
    }
    list.insert(payer, entry);
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
    fn each_list_is_bounded_and_loses_its_oldest_account() {
        let (accounts, clock) = accounts();
        for payer in [PAYER, OTHER] {
            accounts.saw(payer, AccountCode::None);
            accounts.paid(payer);
            clock.advance(1);
        }
        for number in 2..ACCOUNTS_MAX {
            accounts.saw(numbered(number), AccountCode::None);
            accounts.paid(numbered(number));
        }
        // It pays again, and OTHER is the oldest now.
        clock.advance(1);
        accounts.saw(PAYER, AccountCode::None);
        accounts.paid(PAYER);
        accounts.saw(numbered(0), AccountCode::None);
        accounts.paid(numbered(0));
        assert_eq!(lock(&accounts.without_code).len(), ACCOUNTS_MAX);
        assert_eq!(lock(&accounts.paid).len(), ACCOUNTS_MAX);
        let lost: Vec<EvmAddress> = (2..ACCOUNTS_MAX)
            .map(numbered)
            .chain([numbered(0), PAYER, OTHER])
            .filter(|account| {
                let without_code = accounts.known(*account) == KnownAccount::WithoutCode;
                assert_eq!(without_code, lock(&accounts.paid).contains_key(account));
                !without_code
            })
            .collect();
        assert_eq!(lost, [OTHER]);
    }

    #[test]
    fn a_wallet_that_has_paid_has_a_limit_of_its_own_which_a_payment_resets() {
        let (accounts, clock) = accounts();
        let asked = |payer, times: usize| (0..times).filter(|_| accounts.may_ask(payer)).count();
        assert_eq!((asked(PAYER, 100), asked(OTHER, 1)), (60, 0));
        accounts.paid(PAYER);
        assert_eq!((asked(PAYER, 100), asked(OTHER, 1)), (10, 0));
        clock.advance(2);
        assert_eq!((asked(PAYER, 100), asked(OTHER, 100)), (2, 10));
        accounts.paid(PAYER);
        assert_eq!(asked(PAYER, 100), 10);
    }
}
