//! Every transaction that was ever signed for one payment, as it is kept with the order.

use alloy_primitives::{Address, B256, keccak256};
use order::chain::EvmAddress;
use order::payment::Preparation;
use serde::{Deserialize, Serialize};

use super::transaction::Signed;

/// Raised when the form changes; older forms must stay readable as long as any
/// order has one.
const VERSION: u8 = 1;

/// What is said where [`Bundle::read`] reads none.
pub(super) const UNREADABLE: &str = "what was kept with the order cannot be read";

/// Any of these may stand in a block one day, so none is ever left out: a payment
/// is recognised by each of them.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Bundle {
    version: u8,
    /// The latest block when the first one was signed: without a reorganisation none
    /// of them is in it or before it.
    pub(super) since: u64,
    /// Whose key signed them; older bundles do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    account: Option<Address>,
    /// The newest comes last. None where somebody else had carried the payment before
    /// anything was signed.
    transactions: Vec<Signed>,
}

impl Bundle {
    pub(super) fn new(since: u64, account: EvmAddress, first: Signed) -> Self {
        let mut bundle = Self::carried_by_others(account);
        bundle.since = since;
        bundle.add(first);
        bundle
    }

    /// Nothing was signed, since nothing is left to be carried.
    pub(super) fn carried_by_others(account: EvmAddress) -> Self {
        let account = Some(account.bytes().into());
        Self { version: VERSION, since: 0, account, transactions: Vec::new() }
    }

    /// None if these bytes are none of ours.
    pub(super) fn read(preparation: &Preparation) -> Option<Self> {
        let bundle: Self = serde_json::from_slice(&preparation.0).ok()?;
        let honest = |signed: &Signed| keccak256(&signed.raw) == signed.hash;
        let ours = bundle.version == VERSION && bundle.transactions.iter().all(honest);
        ours.then_some(bundle)
    }

    pub(super) fn write(&self) -> Option<Preparation> {
        serde_json::to_vec(self).ok().map(Preparation)
    }

    pub(super) fn add(&mut self, replacement: Signed) {
        self.transactions.push(replacement);
    }

    /// Whether this account signed what is in it.
    pub(super) fn is_by(&self, account: EvmAddress) -> bool {
        self.account == Some(account.bytes().into())
    }

    /// The one to send, if any was signed.
    pub(super) fn newest(&self) -> Option<&Signed> {
        self.transactions.last()
    }

    /// The newest first.
    pub(super) fn hashes(&self) -> Vec<B256> {
        self.transactions.iter().rev().map(|signed| signed.hash).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fees::Fees;
    use super::*;

    const OWN: EvmAddress = EvmAddress::from_bytes([7; 20]);

    fn signed(byte: u8) -> Signed {
        let raw = vec![byte; 3];
        let fees = Fees { most: u128::from(u64::MAX) + 7, tip: 2 };
        Signed { nonce: byte.into(), fees, hash: keccak256(&raw), raw: raw.into() }
    }

    #[test]
    fn what_is_written_reads_back_with_the_newest_first() {
        let mut bundle = Bundle::new(99, OWN, signed(1));
        bundle.add(signed(2));
        let read = Bundle::read(&bundle.write().unwrap()).unwrap();
        assert_eq!(read.hashes(), [signed(2).hash, signed(1).hash]);
        assert!(read.newest() == Some(&signed(2)));
        assert_eq!(read.since, 99);
        assert!(read.is_by(OWN) && !read.is_by(EvmAddress::from_bytes([8; 20])));
    }

    #[test]
    fn what_was_kept_before_accounts_were_and_what_others_carried_reads_too() {
        let none = r#"{"version":1,"since":9,"transactions":[]}"#;
        let read = Bundle::read(&Preparation(none.into())).unwrap();
        assert!(read.newest().is_none() && !read.is_by(OWN));
        let carried = Bundle::carried_by_others(OWN).write().unwrap();
        let read = Bundle::read(&carried).unwrap();
        assert!(read.newest().is_none() && read.is_by(OWN));
        assert!(read.hashes().is_empty());
    }

    #[test]
    fn what_is_not_ours_or_was_changed_is_not_read() {
        let written = Bundle::new(9, OWN, signed(1)).write().unwrap();
        let text = String::from_utf8(written.0).unwrap();
        for (part, other) in
            [("\"version\":1", "\"version\":2"), ("0x010101", "0x010102"), ("}]", "")]
        {
            assert!(text.contains(part), "{text}");
            let changed = Preparation(text.replace(part, other).into_bytes());
            assert!(Bundle::read(&changed).is_none(), "{part}");
        }
        assert!(Bundle::read(&Preparation::default()).is_none());
    }
}
