//! The companies that print and mail the cards, each as a [`Provider`](order::ports::Provider).
//!
//! 1. [`budget`]: how many calls an account allows, by purpose.
//! 2. `account_client`: calls to one account for one purpose; `account_handle`: the purposes.
//! 3. [`thanks_io`]: no idempotency key; orders are looked up in a list, cancellable for an hour.
//! 4. [`lob`]: an idempotency key and a filter by metadata; no price endpoint.

use std::fmt;

use order::model::mail::ProviderAccount;
use order::model::money::Cents;
use sha2::{Digest, Sha256};

use crate::http::HttpUrl;

mod account_client;
mod account_handle;
pub mod budget;
mod card_text;
pub mod lob;
mod previews;
#[cfg(test)]
mod testing;
pub mod thanks_io;
mod time;

pub use account_handle::AccountHandle;
pub use previews::PreviewLocations;

/// Identifies an account by origin and by the operator's name for it: neither provider tells
/// which account a key belongs to. Without a name, a digest of the key is used.
fn account(peer: &str, base: &HttpUrl, key: &str, name: Option<&str>) -> ProviderAccount {
    let digest = || {
        let digest = Sha256::new_with_prefix(b"provider account").chain_update(key).finalize();
        digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    };
    let name = name.map_or_else(digest, str::to_owned);
    ProviderAccount(format!("{peer} {} {name}", base.origin()))
}

/// The return address on a card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReturnAddress {
    pub name: String,
    pub address: String,
    pub city: String,
    pub state: String,
    pub postal_code: String,
}

/// A test account accepts payments for cards that are never mailed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestAccount;

impl std::error::Error for TestAccount {}

impl fmt::Display for TestAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "The provider's account is in test mode, which accepts cards and mails none, \
             but payments are real. Switch the account to live, or use its live key, and \
             start again.",
        )
    }
}

/// What a provider says about a card before it is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardEstimate {
    pub mode: AccountMode,
    pub balance: BalanceCover,
    pub total: Cents,
}

/// Whether the account could be charged for a card now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BalanceCover {
    Covered,
    TooLow,
    /// The provider does not say.
    Unknown,
}

/// Whether an account mails cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountMode {
    Live,
    /// Orders are accepted and not mailed. Real payments must be refused.
    Testing,
}

impl AccountMode {
    /// Checked at start if payments are real.
    pub const fn for_real_payments(self) -> Result<(), TestAccount> {
        match self {
            Self::Live => Ok(()),
            Self::Testing => Err(TestAccount),
        }
    }
}
