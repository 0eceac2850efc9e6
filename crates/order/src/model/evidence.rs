//! Evidence for a seller's payout accounts: what was read, from which chain, at which block, and when.

use std::fmt;

use crate::model::chain::{EvmAddress, Network};
use crate::model::ids::{Timestamp, write_hex};
use crate::model::seller::Username;

/// The account that a seller's name gives for one network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Record {
    pub network: Network,
    pub address: EvmAddress,
    pub source: Source,
}

/// Which entry of the name gave the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The entry for this very network.
    Chain,
    /// The entry for every EVM network without one of its own (ENSIP-19).
    Default,
    /// The entry for mainnet, and a plain account on both networks: a contract
    /// there might not exist here, and what is sent to it would be lost.
    MainnetEoa,
}

impl Source {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Chain => "chain",
            Self::Default => "default",
            Self::MainnetEoa => "mainnet_eoa",
        }
    }
}

/// Everything that is needed to repeat the lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    pub seller: Username,
    pub ens_name: String,
    /// The name as contracts know it.
    pub node: Hash,
    /// The chain that the name lives on.
    pub chain_id: u64,
    pub block: Block,
    pub universal_resolver: EvmAddress,
    pub resolver: EvmAddress,
    pub found: Found,
    /// None if everything was read from the chain.
    pub gateway: Option<Gateway>,
    /// The function that was asked.
    pub method: &'static str,
    /// How many nodes were asked. All of them gave the same answer.
    pub sources_agreeing: usize,
    pub resolved_at: Timestamp,
    /// When the answer must be looked up again.
    pub valid_until: Timestamp,
    pub age: Age,
}

/// 32 bytes, written in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash(pub [u8; 32]);

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0x")?;
        write_hex(f, &self.0)
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The block at which everything was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub number: u64,
    pub hash: Hash,
    pub timestamp: Timestamp,
    pub tag: BlockTag,
}

/// How final a block must be before it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockTag {
    Latest,
    Safe,
    Finalized,
}

impl BlockTag {
    pub const ALL: [Self; 3] = [Self::Latest, Self::Safe, Self::Finalized];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Latest => "latest",
            Self::Safe => "safe",
            Self::Finalized => "finalized",
        }
    }
}

/// Whose resolver answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The one that the name itself names.
    Exactly,
    /// That of a name above it, which answers for all names below (ENSIP-10).
    ByWildcard,
}

/// A server outside of the chain that the resolver sent us to (EIP-3668).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gateway {
    pub host: String,
    pub trust: Trust,
}

/// Why the chain accepted the gateway's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It is signed. The weaker of the two, and reported when the kind is not known.
    Signature,
    /// It came with a proof of another chain's state.
    Proof,
}

impl Trust {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Signature => "signature",
            Self::Proof => "proof",
        }
    }
}

/// Whether an answer was looked up for this request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    Fresh,
    /// Remembered from an earlier one.
    Cached,
}

#[cfg(any(test, feature = "fakes"))]
impl Evidence {
    /// Evidence for tests and fakes.
    pub fn made_up(seller: Username, now: Timestamp) -> Self {
        let zero = EvmAddress::from_bytes([0; 20]);
        Self {
            ens_name: format!("{seller}.cards.example.eth"),
            seller,
            node: Hash([0; 32]),
            chain_id: 1,
            block: Block { number: 1, hash: Hash([1; 32]), timestamp: now, tag: BlockTag::Safe },
            universal_resolver: zero,
            resolver: zero,
            found: Found::Exactly,
            gateway: None,
            method: "addr(bytes32,uint256)",
            sources_agreeing: 1,
            resolved_at: now,
            valid_until: now.plus(60),
            age: Age::Fresh,
        }
    }
}
