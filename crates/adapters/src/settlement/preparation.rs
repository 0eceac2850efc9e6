//! What is stored with an order before its call is passed to the sender.

use alloy_primitives::Address;
use order::model::chain::EvmAddress;
use order::model::payment::Preparation;
use serde::{Deserialize, Serialize};

use super::outbox::AccountCode;

/// Increased with the format; older formats stay readable while orders can have them.
const VERSION: u8 = 2;

/// What [`PreparedCall::read`] fails with, for the log.
pub(super) const UNREADABLE: &str = "the stored preparation cannot be read";

/// A call that was simulated, and what is needed to make it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PreparedCall {
    version: u8,
    /// The latest block at that time. Without a reorganisation no transaction of this payment is
    /// in it or an earlier one.
    pub(super) since: u64,
    /// The sending account.
    account: Address,
    /// None if another sender had made the payment.
    pub(super) gas: Option<u64>,
    pub(super) code: AccountCode,
    pub(super) allowance: Allowance,
}

/// Whether the call includes the payer's EIP-2612 permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Allowance {
    Given,
    ByPermit,
}

impl PreparedCall {
    pub(super) fn new(since: u64, account: EvmAddress, gas: u64, code: AccountCode) -> Self {
        let account = account.bytes().into();
        let allowance = Allowance::Given;
        Self { version: VERSION, since, account, gas: Some(gas), code, allowance }
    }

    /// Another sender has made the payment.
    pub(super) fn made_by_others(account: EvmAddress) -> Self {
        Self { gas: None, ..Self::new(0, account, 0, AccountCode::None) }
    }

    pub(super) fn with_allowance(self, allowance: Allowance) -> Self {
        Self { allowance, ..self }
    }

    /// None if the bytes have another format.
    pub(super) fn read(preparation: &Preparation) -> Option<Self> {
        let call: Self = serde_json::from_slice(&preparation.0).ok()?;
        (call.version == VERSION).then_some(call)
    }

    pub(super) fn write(&self) -> Preparation {
        Preparation(serde_json::to_vec(self).expect("plain values become JSON"))
    }

    /// The same call, simulated again.
    pub(super) fn after(self, earlier: Option<Self>) -> Self {
        match earlier {
            None => self,
            Some(earlier) => Self { since: earlier.since, gas: self.gas.max(earlier.gas), ..self },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: EvmAddress = EvmAddress::from_bytes([7; 20]);

    #[test]
    fn a_prepared_call_reads_back_and_other_bytes_do_not() {
        let call = PreparedCall::new(99, OWN, 110_000, AccountCode::Present);
        assert_eq!(PreparedCall::read(&call.write()), Some(call));
        assert_eq!(PreparedCall::read(&Preparation::default()), None);
        let text = String::from_utf8(call.write().0).unwrap().replace(":2,", ":1,");
        assert_eq!(PreparedCall::read(&Preparation(text.into_bytes())), None);
    }

    #[test]
    fn a_later_simulation_keeps_the_first_block_and_the_higher_gas() {
        let first = PreparedCall::new(99, OWN, 110_000, AccountCode::None);
        let later = PreparedCall::new(120, OWN, 90_000, AccountCode::None);
        assert_eq!(later.after(Some(first)), first);
        assert_eq!(later.after(None), later);
    }
}
