//! The name registry: the addresses of each name and where they are recorded.

use std::collections::BTreeMap;

use alloy_primitives::{Address, B256, keccak256};
use order::model::chain::{EvmAddress, Network};

use crate::chain::network::{UNIVERSAL_RESOLVER, address};
use crate::keys::Key;

/// The coin type of Ethereum itself.
pub const ETHEREUM_COIN: u64 = 60;

/// The coin type of the default address for all EVM chains.
pub const DEFAULT_EVM_COIN: u64 = 0x8000_0000;

/// The coin type of a network (ENSIP-11).
pub const fn coin_type(network: Network) -> u64 {
    DEFAULT_EVM_COIN | network.chain_id()
}

/// The addresses of one name, by coin type.
pub type NameAddresses = BTreeMap<u64, EvmAddress>;

/// The record of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameRecord {
    /// The addresses are recorded on chain.
    OnChain(NameAddresses),
    /// Only the gateway knows them; a parent of the name is a [`NameRecord::Wildcard`].
    Offchain(NameAddresses),
    /// The gateway resolves the names below this one (CCIP-Read).
    Wildcard,
    /// The name points to a resolver that is not a contract.
    NotContract,
    /// The resolver reverts with this reason.
    Failing(String),
}

/// How the caller must query the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum GatewayLookup {
    /// `GET` with the question in the path.
    #[default]
    Get,
    /// `POST` with the question in the body.
    Post,
    /// Through a batch gateway (ENSIP-21), as the resolver on Ethereum does today.
    Batched,
}

/// How the gateway misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum GatewayFault {
    #[default]
    None,
    /// It answers 500.
    Down,
    /// It answers 404.
    NotFound,
    /// It answers with the signature of another key.
    Forged,
    /// Its answer is expired.
    Expired,
    /// Its answer is not JSON.
    Garbage,
    /// It never answers.
    Hang,
}

/// The registry and its gateway. The next read sees a change, at any block: names are not
/// part of the blocks.
pub(crate) struct NameRegistry {
    universal_resolver: Address,
    entries: BTreeMap<String, NameRecord>,
    pub(crate) lookup: GatewayLookup,
    pub(crate) fault: GatewayFault,
    pub(crate) signer: Key,
    /// The URL of the gateway.
    pub(crate) origin: String,
}

/// How a name was found.
pub(crate) enum FoundName<'a> {
    Here(&'a NameRecord),
    /// At a parent that queries the gateway.
    Above,
}

impl NameRegistry {
    pub(crate) fn new(signer: Key, entries: BTreeMap<String, NameRecord>) -> Self {
        Self {
            universal_resolver: address(UNIVERSAL_RESOLVER),
            entries,
            lookup: GatewayLookup::default(),
            fault: GatewayFault::default(),
            signer,
            origin: String::new(),
        }
    }

    pub(crate) fn set_universal_resolver(&mut self, place: EvmAddress) {
        self.universal_resolver = address(place);
    }

    pub(crate) fn universal_resolver(&self) -> Address {
        self.universal_resolver
    }

    pub(crate) fn set(&mut self, name: &str, entry: NameRecord) {
        self.entries.insert(name.to_owned(), entry);
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<NameRecord> {
        self.entries.remove(name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&NameRecord> {
        self.entries.get(name)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&String, &NameRecord)> {
        self.entries.iter()
    }

    /// The record on chain: of the name, or of its nearest parent.
    pub(crate) fn find(&self, name: &str) -> Option<FoundName<'_>> {
        if let Some(entry) = self.entries.get(name).filter(|entry| on_chain(entry)) {
            return Some(FoundName::Here(entry));
        }
        let mut rest = name;
        while let Some((_, parent)) = rest.split_once('.') {
            match self.entries.get(parent) {
                Some(NameRecord::Wildcard) => return Some(FoundName::Above),
                // Its resolver does not answer for names below it.
                Some(NameRecord::OnChain(_) | NameRecord::NotContract | NameRecord::Failing(_)) => {
                    return None;
                }
                Some(NameRecord::Offchain(_)) | None => rest = parent,
            }
        }
        None
    }
}

fn on_chain(entry: &NameRecord) -> bool {
    match entry {
        NameRecord::OnChain(_)
        | NameRecord::Wildcard
        | NameRecord::NotContract
        | NameRecord::Failing(_) => true,
        NameRecord::Offchain(_) => false,
    }
}

/// The resolver contract: an address without a known key.
pub(crate) fn resolver() -> Address {
    Address::from_word(keccak256(b"Pennyblack sandbox: the resolver of all names."))
}

/// Decodes a DNS-encoded name: length-prefixed labels and a final zero.
pub(crate) fn from_dns(mut bytes: &[u8]) -> Option<String> {
    let mut labels = Vec::new();
    loop {
        let (&length, rest) = bytes.split_first()?;
        if length == 0 {
            return rest.is_empty().then(|| labels.join("."));
        }
        let (label, rest) = rest.split_at_checked(usize::from(length))?;
        labels.push(std::str::from_utf8(label).ok()?.to_owned());
        bytes = rest;
    }
}

/// The namehash of a name (EIP-137).
pub(crate) fn node(name: &str) -> B256 {
    name.rsplit('.').filter(|label| !label.is_empty()).fold(B256::ZERO, |node, label| {
        keccak256([node.as_slice(), keccak256(label.as_bytes()).as_slice()].concat())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namehashes_equal_the_standard_vectors() {
        let eth = "0x93cdeb708b7545dc668eb9280176169d1c33cfd8ed6f04690a0bcc88a93fc4ae";
        let foo = "0xde9b09fd7c5f901e23a3f19fecc54828e9c848539801e86591bd9801b019f84f";
        assert_eq!(node(""), B256::ZERO);
        assert_eq!(node("eth").to_string(), eth);
        assert_eq!(node("foo.eth").to_string(), foo);
    }

    #[test]
    fn a_dns_encoded_name_decodes_or_is_refused() {
        assert_eq!(from_dns(b"\x05alice\x03eth\0").as_deref(), Some("alice.eth"));
        for wrong in [&b"\x05alice\x03eth"[..], b"\x05ali", b"\x03eth\0x", b"", b"\x01\xff\0"] {
            assert_eq!(from_dns(wrong), None);
        }
    }

    #[test]
    fn coin_types_are_those_of_ensip_11() {
        assert_eq!(Network::ALL.map(coin_type), [2_147_492_101, 2_147_483_785, 2_147_525_809]);
    }
}
