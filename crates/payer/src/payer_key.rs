//! The key that pays: the payer's own, or the demonstration payer of a sandbox.

use std::collections::BTreeMap;

use evm::signature::SigningKey;

use crate::values::account::EvmAccount;
use crate::values::network::PaymentNetwork;

pub(crate) mod consent;
pub(crate) mod file;

pub(crate) struct PayerKey {
    pub(crate) key: SigningKey,
    pub(crate) money: MoneyKind,
    /// A node of each network, as far as they are known.
    pub(crate) nodes: BTreeMap<PaymentNetwork, String>,
}

/// Whether what is signed can be worth anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MoneyKind {
    Real,
    Sandbox,
}

impl PayerKey {
    pub(crate) fn address(&self) -> EvmAccount {
        EvmAccount(self.key.address())
    }
}
