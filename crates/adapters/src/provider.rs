//! The companies that print and mail the cards, each as a [`Provider`](order::ports::Provider).
//!
//! 1. [`budget`]: how many calls an account allows, and who comes first.
//! 2. `line`: one caller's calls to one account, sorted.
//! 3. [`thanks_io`]: no key for repeats, a list, an hour to change one's mind.
//! 4. [`lob`]: a key for repeats, a filter by reference, no price.

use std::fmt;

use order::model::mail::ProviderAccount;
use sha2::{Digest, Sha256};

use crate::http::Address;

pub mod budget;
mod line;
pub mod lob;
mod moment;
mod previews;
#[cfg(test)]
mod testing;
pub mod thanks_io;

pub use previews::PreviewPlaces;

/// An account, by the place that is called and the name that the operator gives it: neither
/// provider tells which account a key opens. Without a name a digest of the key stands for it,
/// from which the key does not follow.
fn account(peer: &str, base: &Address, key: &str, name: Option<&str>) -> ProviderAccount {
    let digest = || {
        let digest = Sha256::new_with_prefix(b"provider account").chain_update(key).finalize();
        digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    };
    let name = name.map_or_else(digest, str::to_owned);
    ProviderAccount(format!("{peer} {} {name}", base.origin()))
}

/// Where a card says that it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sender {
    pub name: String,
    pub address: String,
    pub city: String,
    pub state: String,
    pub postal_code: String,
}

/// Nobody may be asked to pay for what is never mailed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestAccount;

impl std::error::Error for TestAccount {}

impl fmt::Display for TestAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "The provider's account is in its test mode, which accepts cards and mails none, \
             while payments are real; switch the account to live, or use its live key, and \
             start again.",
        )
    }
}

/// Whether an account mails what it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountMode {
    Live,
    /// Every order is accepted and none is mailed. Nobody may pay for that.
    Testing,
}

impl AccountMode {
    /// To be asked at start wherever payments are real.
    pub const fn for_real_payments(self) -> Result<(), TestAccount> {
        match self {
            Self::Live => Ok(()),
            Self::Testing => Err(TestAccount),
        }
    }
}
