//! The names of the sandbox: which address each has on which chain, and who says so.

use std::collections::BTreeMap;

use alloy_primitives::{Address, B256, keccak256};
use order::model::chain::{EvmAddress, Network};

use super::network::{UNIVERSAL_RESOLVER, address};
use crate::keys::Key;

/// The coin type of Ethereum itself.
pub const ETHEREUM_COIN: u64 = 60;

/// The coin type whose address stands for every EVM chain without one of its own.
pub const DEFAULT_EVM_COIN: u64 = 0x8000_0000;

/// The coin type of a network, as ENSIP-11 counts.
pub const fn coin_type(network: Network) -> u64 {
    DEFAULT_EVM_COIN | network.chain_id()
}

/// The addresses of one name, by coin type.
pub type Addresses = BTreeMap<u64, EvmAddress>;

/// What is known about a name, and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// The addresses stand on chain.
    OnChain(Addresses),
    /// Only the gateway knows them; some parent of the name is a [`Name::Wildcard`].
    Offchain(Addresses),
    /// The names below this one are asked from the gateway (CCIP-Read).
    Wildcard,
    /// The name points to a resolver that is not a contract.
    NotContract,
    /// The resolver fails, and says this.
    Failing(String),
}

/// How the caller must ask the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Lookup {
    /// `GET` with the question in the path.
    #[default]
    Get,
    /// `POST` with the question in the body.
    Post,
    /// Through a gateway for many questions at once (ENSIP-21), as the resolver
    /// on Ethereum does today.
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
    /// It answers, signed by somebody else.
    Forged,
    /// Its answer has run out.
    Expired,
    /// Its answer is not JSON.
    Garbage,
    /// It never answers.
    Hang,
}

/// The registry and the gateway behind it. A change is seen by the next read, at
/// whatever block: names are not part of the blocks.
pub(super) struct Names {
    universal_resolver: Address,
    entries: BTreeMap<String, Name>,
    pub(super) lookup: Lookup,
    pub(super) fault: GatewayFault,
    pub(super) signer: Key,
    /// Where the gateway listens; empty until the server does.
    pub(super) origin: String,
}

/// How a name was found.
pub(super) enum Found<'a> {
    Here(&'a Name),
    /// At a parent that asks the gateway.
    Above,
}

impl Names {
    pub(super) fn new(signer: Key, entries: BTreeMap<String, Name>) -> Self {
        Self {
            universal_resolver: address(UNIVERSAL_RESOLVER),
            entries,
            lookup: Lookup::default(),
            fault: GatewayFault::default(),
            signer,
            origin: String::new(),
        }
    }

    pub(super) fn place_universal_resolver(&mut self, place: EvmAddress) {
        self.universal_resolver = address(place);
    }

    pub(super) fn universal_resolver(&self) -> Address {
        self.universal_resolver
    }

    pub(super) fn set(&mut self, name: &str, entry: Name) {
        self.entries.insert(name.to_owned(), entry);
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<Name> {
        self.entries.remove(name)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Name> {
        self.entries.get(name)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&String, &Name)> {
        self.entries.iter()
    }

    /// What the chain itself knows: the name, or the nearest parent that does.
    pub(super) fn find(&self, name: &str) -> Option<Found<'_>> {
        if let Some(entry) = self.entries.get(name).filter(|entry| on_chain(entry)) {
            return Some(Found::Here(entry));
        }
        let mut rest = name;
        while let Some((_, parent)) = rest.split_once('.') {
            match self.entries.get(parent) {
                Some(Name::Wildcard) => return Some(Found::Above),
                // Its resolver answers for itself alone.
                Some(Name::OnChain(_) | Name::NotContract | Name::Failing(_)) => return None,
                Some(Name::Offchain(_)) | None => rest = parent,
            }
        }
        None
    }
}

fn on_chain(entry: &Name) -> bool {
    match entry {
        Name::OnChain(_) | Name::Wildcard | Name::NotContract | Name::Failing(_) => true,
        Name::Offchain(_) => false,
    }
}

/// The one resolver of the sandbox: an address that nobody holds the key of.
pub(super) fn resolver() -> Address {
    Address::from_word(keccak256(b"Pennyblack sandbox: the resolver of all names."))
}

/// A name as DNS writes it: each label behind its length, and a zero at the end.
pub(super) fn from_dns(mut bytes: &[u8]) -> Option<String> {
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

/// What the chain calls a name (EIP-137).
pub(super) fn node(name: &str) -> B256 {
    name.rsplit('.').filter(|label| !label.is_empty()).fold(B256::ZERO, |node, label| {
        keccak256([node.as_slice(), keccak256(label.as_bytes()).as_slice()].concat())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_those_of_the_standard() {
        let eth = "0x93cdeb708b7545dc668eb9280176169d1c33cfd8ed6f04690a0bcc88a93fc4ae";
        let foo = "0xde9b09fd7c5f901e23a3f19fecc54828e9c848539801e86591bd9801b019f84f";
        assert_eq!(node(""), B256::ZERO);
        assert_eq!(node("eth").to_string(), eth);
        assert_eq!(node("foo.eth").to_string(), foo);
    }

    #[test]
    fn a_name_reads_back_from_its_labels_or_not_at_all() {
        assert_eq!(from_dns(b"\x05alice\x03eth\0").as_deref(), Some("alice.eth"));
        for wrong in [&b"\x05alice\x03eth"[..], b"\x05ali", b"\x03eth\0x", b"", b"\x01\xff\0"] {
            assert_eq!(from_dns(wrong), None);
        }
    }

    #[test]
    fn coin_types_are_those_that_wallets_use() {
        assert_eq!(Network::ALL.map(coin_type), [2_147_492_101, 2_147_483_785, 2_147_525_809]);
    }
}
