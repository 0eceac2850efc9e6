//! Where a seller's money goes, as ENS says: through the Universal Resolver, at a settled
//! block, by the word of one or two nodes that have to agree.
//!
//! Read it in this order: `name` and `abi`, what is asked; `question`, how one
//! question is asked, with its detours to a `gateway`; `payee`, what may be
//! paid; `reading`, what one node says about a name; `memory`, what need not be
//! asked again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::B256;
use async_trait::async_trait;
use order::model::chain::{EvmAddress, Network};
use order::model::evidence::{Age, Block, BlockTag, Evidence, Hash};
use order::model::ids::Timestamp;
use order::model::seller::{NotAUsername, Resolution, Username};
use order::ports::{Clock, Failure, NameService, Purpose};

mod abi;
mod gateway;
mod memory;
mod name;
mod payee;
mod question;
mod reading;
mod trouble;

pub use gateway::{Allowed, NotAGateway};

use crate::http::NoClient;
use crate::names;
use crate::rpc::{At, Head, Node};
use gateway::Gateways;
use memory::{FOUND_SECONDS, Memory, Outcome};
use name::EnsName;
use question::Counter;
use reading::{MainnetRule, Reader, Reading};
use trouble::Trouble;

/// The same on every chain that ENS is on; the contract behind it may change.
pub const UNIVERSAL_RESOLVER: &str = "0xeEeEEEeE14D718C2B47D9923Deab1335E144EeEe";

const METHOD: &str = "addr(bytes32,uint256)";
/// Long enough for a detour and its second one; a caller waits for it.
const LOOKUP_DEADLINE: Duration = Duration::from_secs(12);

/// What the operator decides about names.
pub struct Settings {
    /// The name that all sellers are below.
    pub parent: String,
    pub nodes: Nodes,
    pub universal_resolver: EvmAddress,
    pub block_tag: BlockTag,
    /// Servers that resolvers may send us to; any public one if there are none.
    pub gateways: Vec<Allowed>,
    pub mainnet: MainnetAccounts,
    /// Sellers of this shop, who are looked up however many other names are asked for.
    pub enabled: Vec<Username>,
}

/// Nodes of the chain that names live on. Two have to agree.
pub struct Nodes {
    pub first: Node,
    pub second: Option<Node>,
}

/// Whether a seller without an entry for a network may be paid at the account
/// that the name gives for mainnet.
pub enum MainnetAccounts {
    Never,
    /// If nodes of that network and of mainnet say that it has no code. A
    /// network whose node is not here gets nothing this way.
    IfPlain(BTreeMap<Network, Node>),
}

/// The name service of Ethereum.
pub struct Ens {
    parent: String,
    nodes: Nodes,
    universal_resolver: EvmAddress,
    block_tag: BlockTag,
    gateways: Gateways,
    mainnet: MainnetAccounts,
    clock: Arc<dyn Clock>,
    memory: Memory,
}

impl Ens {
    pub fn new(settings: Settings, clock: Arc<dyn Clock>) -> Result<Self, NoClient> {
        let Settings { parent, nodes, universal_resolver, block_tag, gateways, mainnet, enabled } =
            settings;
        let gateways = Gateways::new(gateways)?;
        let memory = Memory::new(clock.clone(), enabled);
        Ok(Self { parent, nodes, universal_resolver, block_tag, gateways, mainnet, clock, memory })
    }

    async fn look_up(&self, seller: &Username) -> Outcome {
        let looked = tokio::time::timeout(LOOKUP_DEADLINE, self.look_up_slowly(seller)).await;
        let outcome = looked.unwrap_or(Err(Trouble::TimedOut));
        if let Err(trouble) = &outcome {
            tracing::warn!(kind = %trouble, "A seller's name could not be looked up");
        }
        outcome
    }

    async fn look_up_slowly(&self, seller: &Username) -> Outcome {
        let Ok(name) = EnsName::of(seller, &self.parent) else { return Ok(None) };
        let head = self.agreed_block().await?;
        let first = self.read(&self.nodes.first, &name, head);
        let (reading, sources_agreeing) = match &self.nodes.second {
            None => (first.await?, 1),
            Some(second) => {
                let (first, second) = tokio::try_join!(first, self.read(second, &name, head))?;
                (agreed(first, &second)?, 2)
            }
        };
        let Some(reading) = reading else { return Ok(None) };
        let Reading { resolver, found, records, gateway } = reading;
        let now = self.clock.now();
        let evidence = Evidence {
            seller: seller.clone(),
            ens_name: name.text,
            node: hash(name.node),
            chain_id: self.nodes.first.chain_id(),
            block: Block {
                number: head.number,
                hash: hash(head.hash),
                timestamp: Timestamp(head.timestamp),
                tag: self.block_tag,
            },
            universal_resolver: self.universal_resolver,
            resolver,
            found,
            gateway,
            method: METHOD,
            sources_agreeing,
            resolved_at: now,
            valid_until: now.plus(FOUND_SECONDS),
            age: Age::Fresh,
        };
        Ok(Resolution::new(records, evidence))
    }

    /// The newest block that every node calls settled. One of them may be some
    /// blocks behind, so it is the older of the two, under the same hash.
    async fn agreed_block(&self) -> Result<Head, Trouble> {
        let tag = At::Tag(self.block_tag);
        let Some(second) = &self.nodes.second else {
            return Ok(self.nodes.first.block(tag).await?);
        };
        let first = &self.nodes.first;
        let (one, other) = tokio::try_join!(first.block(tag), second.block(tag))?;
        let (older, ahead) =
            if one.number <= other.number { (one, second) } else { (other, first) };
        let same = if one.number == other.number {
            other
        } else {
            ahead.block(At::Number(older.number)).await?
        };
        if same.hash == older.hash { Ok(older) } else { Err(Trouble::Disagreement) }
    }

    async fn read(
        &self,
        node: &Node,
        name: &EnsName,
        head: Head,
    ) -> Result<Option<Reading>, Trouble> {
        let counter = Counter {
            node,
            gateways: &self.gateways,
            universal_resolver: self.universal_resolver,
            at: At::Number(head.number),
        };
        let mainnet = match &self.mainnet {
            MainnetAccounts::Never => MainnetRule::Never,
            MainnetAccounts::IfPlain(nodes) => MainnetRule::PlainAccounts(nodes),
        };
        Reader { counter, name, mainnet }.read().await
    }
}

fn agreed(first: Option<Reading>, second: &Option<Reading>) -> Result<Option<Reading>, Trouble> {
    let same = match (&first, second) {
        (None, None) => true,
        (Some(first), Some(second)) => first.agrees_with(second),
        (Some(_), None) | (None, Some(_)) => false,
    };
    if same { Ok(first) } else { Err(Trouble::Disagreement) }
}

fn hash(bytes: B256) -> Hash {
    Hash(bytes.0)
}

#[async_trait]
impl NameService for Ens {
    fn read(&self, text: &str) -> Result<Username, NotAUsername> {
        names::read(text, &self.parent)
    }

    async fn resolve(
        &self,
        seller: &Username,
        purpose: Purpose,
    ) -> Result<Option<Resolution>, Failure> {
        let outcome = self.memory.recall(seller, purpose, || self.look_up(seller)).await;
        outcome.map_err(Failure::from)
    }
}
