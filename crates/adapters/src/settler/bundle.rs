//! Every transaction that was ever signed for one payment, as it is kept with the order.

use alloy_primitives::{B256, keccak256};
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
    /// The newest comes last.
    transactions: Vec<Signed>,
}

impl Bundle {
    pub(super) fn new(since: u64, first: Signed) -> Self {
        Self { version: VERSION, since, transactions: vec![first] }
    }

    /// None if these bytes are none of ours.
    pub(super) fn read(preparation: &Preparation) -> Option<Self> {
        let bundle: Self = serde_json::from_slice(&preparation.0).ok()?;
        let honest = |signed: &Signed| keccak256(&signed.raw) == signed.hash;
        let whole = bundle.version == VERSION && !bundle.transactions.is_empty();
        (whole && bundle.transactions.iter().all(honest)).then_some(bundle)
    }

    pub(super) fn write(&self) -> Option<Preparation> {
        serde_json::to_vec(self).ok().map(Preparation)
    }

    pub(super) fn add(&mut self, replacement: Signed) {
        self.transactions.push(replacement);
    }

    /// The one to send. There always is one: an empty bundle is neither made nor read.
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

    fn signed(byte: u8) -> Signed {
        let raw = vec![byte; 3];
        let fees = Fees { most: u128::from(u64::MAX) + 7, tip: 2 };
        Signed { nonce: byte.into(), fees, hash: keccak256(&raw), raw: raw.into() }
    }

    #[test]
    fn what_is_written_reads_back_with_the_newest_first() {
        let mut bundle = Bundle::new(99, signed(1));
        bundle.add(signed(2));
        let read = Bundle::read(&bundle.write().unwrap()).unwrap();
        assert_eq!(read.hashes(), [signed(2).hash, signed(1).hash]);
        assert!(read.newest() == Some(&signed(2)));
        assert_eq!(read.since, 99);
    }

    #[test]
    fn what_is_not_ours_or_was_changed_is_not_read() {
        let text = String::from_utf8(Bundle::new(9, signed(1)).write().unwrap().0).unwrap();
        for (part, other) in
            [("\"version\":1", "\"version\":2"), ("0x010101", "0x010102"), ("}]", "")]
        {
            assert!(text.contains(part), "{text}");
            let changed = Preparation(text.replace(part, other).into_bytes());
            assert!(Bundle::read(&changed).is_none(), "{part}");
        }
        assert!(Bundle::read(&Preparation::default()).is_none());
        let none = r#"{"version":1,"since":9,"transactions":[]}"#;
        assert!(Bundle::read(&Preparation(none.into())).is_none());
    }
}
