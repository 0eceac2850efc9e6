//! The encodings of a name: its namehash and its DNS labels.

use alloy_primitives::{B256, keccak256};
use order::model::seller::Username;

/// A seller's full name, encoded for contracts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EnsName {
    pub(super) text: String,
    /// The hash of the whole name (EIP-137).
    pub(super) node: B256,
    /// DNS wire format: each label after its length.
    pub(super) labels: Vec<u8>,
}

/// A label is longer than 255 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LabelTooLong;

impl EnsName {
    pub(super) fn of(seller: &Username, parent: &str) -> Result<Self, LabelTooLong> {
        let text = format!("{seller}.{parent}");
        let mut labels = Vec::with_capacity(text.len() + 2);
        for label in text.split('.') {
            labels.push(u8::try_from(label.len()).map_err(|_| LabelTooLong)?);
            labels.extend_from_slice(label.as_bytes());
        }
        labels.push(0);
        Ok(Self { node: node(&text), labels, text })
    }
}

/// The namehash algorithm of EIP-137.
fn node(name: &str) -> B256 {
    name.rsplit('.').fold(B256::ZERO, |above, label| {
        keccak256([above.0, keccak256(label.as_bytes()).0].concat())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_namehash_matches_the_examples_of_eip_137() {
        // The examples of EIP-137.
        for (name, expected) in [
            ("eth", "0x93cdeb708b7545dc668eb9280176169d1c33cfd8ed6f04690a0bcc88a93fc4ae"),
            ("foo.eth", "0xde9b09fd7c5f901e23a3f19fecc54828e9c848539801e86591bd9801b019f84f"),
        ] {
            assert_eq!(node(name).to_string(), expected, "{name}");
        }
    }

    #[test]
    fn labels_are_in_dns_wire_format() {
        let name = EnsName::of(&Username::kept("zoë".into()), "cards.eth").unwrap();
        assert_eq!(name.labels, b"\x04zo\xc3\xab\x05cards\x03eth\x00");
        assert_eq!(name.text, "zoë.cards.eth");
        let long = "a".repeat(256);
        assert_eq!(EnsName::of(&Username::kept(long), "eth"), Err(LabelTooLong));
    }
}
