//! ENS lookups of sellers' accounts: through the Universal Resolver, at a safe or finalized
//! block, from one node or two that must agree.
//!
//! Reading order: `name`, the encodings of a name; `resolver_call`, one call to the resolver,
//! with CCIP-Read through a `gateway`; `address_record`, which accounts may be paid; `records`,
//! all records of a name from one node; `cache`, results of earlier lookups.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::B256;
use async_trait::async_trait;
use order::model::chain::{EvmAddress, Network};
use order::model::evidence::{Age, Block, BlockTag, Evidence, Hash};
use order::model::ids::Timestamp;
use order::model::resolution::Resolution;
use order::model::seller::{NotAUsername, Username};
use order::ports::{Clock, Failure, NameService, Purpose};

mod address_record;
mod cache;
mod error;
mod gateway;
mod name;
mod records;
mod resolver_call;
pub mod username;

pub use gateway::{AllowedGateway, GatewayParseError};

use crate::http::HttpClientError;
use crate::rpc::{BlockHead, BlockId, Node};
use cache::{FOUND_SECONDS, LookupResult, NameCache};
use error::LookupError;
use gateway::Gateways;
use name::EnsName;
use records::{MainnetRule, NameRecords, RecordReader};
use resolver_call::ResolverClient;

/// The same address on every chain with ENS; the implementation behind it may change.
pub const UNIVERSAL_RESOLVER: &str = "0xeEeEEEeE14D718C2B47D9923Deab1335E144EeEe";

const METHOD: &str = "addr(bytes32,uint256)";
/// Long enough for two gateway requests. A caller waits for it.
const LOOKUP_DEADLINE: Duration = Duration::from_secs(12);

/// Configuration of lookups.
pub struct EnsSettings {
    /// The name that all sellers are below.
    pub parent: String,
    pub nodes: EnsNodes,
    pub universal_resolver: EvmAddress,
    pub block_tag: BlockTag,
    /// Gateways that resolvers may use; any public one if empty.
    pub gateways: Vec<AllowedGateway>,
    pub mainnet: MainnetAccounts,
    /// Enabled sellers, which are looked up regardless of the limit for unknown names.
    pub enabled: Vec<Username>,
}

/// Nodes of the chain with ENS. Two must agree.
pub struct EnsNodes {
    pub first: Node,
    pub second: Option<Node>,
}

/// Whether the mainnet account may be paid on a network without an address record.
pub enum MainnetAccounts {
    Never,
    /// If the account has no code on that network and on mainnet. Networks without a node here
    /// are excluded.
    IfPlain(BTreeMap<Network, Node>),
}

/// The name service of Ethereum.
pub struct Ens {
    parent: String,
    nodes: EnsNodes,
    universal_resolver: EvmAddress,
    block_tag: BlockTag,
    gateways: Gateways,
    mainnet: MainnetAccounts,
    clock: Arc<dyn Clock>,
    cache: NameCache,
}

impl Ens {
    pub fn new(settings: EnsSettings, clock: Arc<dyn Clock>) -> Result<Self, HttpClientError> {
        let EnsSettings {
            parent,
            nodes,
            universal_resolver,
            block_tag,
            gateways,
            mainnet,
            enabled,
        } = settings;
        let gateways = Gateways::new(gateways)?;
        let cache = NameCache::new(clock.clone(), enabled);
        Ok(Self { parent, nodes, universal_resolver, block_tag, gateways, mainnet, clock, cache })
    }

    async fn look_up(&self, seller: &Username) -> LookupResult {
        let found = tokio::time::timeout(LOOKUP_DEADLINE, self.resolve_on_chain(seller)).await;
        let outcome = found.unwrap_or(Err(LookupError::TimedOut));
        if let Err(error) = &outcome {
            tracing::warn!(kind = %error, "A seller's name could not be looked up");
        }
        outcome
    }

    async fn resolve_on_chain(&self, seller: &Username) -> LookupResult {
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
        let NameRecords { resolver, found, records, gateway } = reading;
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

    /// The newest block with the configured tag on every node. One node may be behind, so it is
    /// the older of the two, with the same hash.
    async fn agreed_block(&self) -> Result<BlockHead, LookupError> {
        let tag = BlockId::Tag(self.block_tag);
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
            ahead.block(BlockId::Number(older.number)).await?
        };
        if same.hash == older.hash { Ok(older) } else { Err(LookupError::Disagreement) }
    }

    async fn read(
        &self,
        node: &Node,
        name: &EnsName,
        head: BlockHead,
    ) -> Result<Option<NameRecords>, LookupError> {
        let resolver = ResolverClient {
            node,
            gateways: &self.gateways,
            universal_resolver: self.universal_resolver,
            at: BlockId::Number(head.number),
        };
        let mainnet = match &self.mainnet {
            MainnetAccounts::Never => MainnetRule::Never,
            MainnetAccounts::IfPlain(nodes) => MainnetRule::PlainAccounts(nodes),
        };
        RecordReader { resolver, name, mainnet }.read().await
    }
}

fn agreed(
    first: Option<NameRecords>,
    second: &Option<NameRecords>,
) -> Result<Option<NameRecords>, LookupError> {
    let same = match (&first, second) {
        (None, None) => true,
        (Some(first), Some(second)) => first.agrees_with(second),
        (Some(_), None) | (None, Some(_)) => false,
    };
    if same { Ok(first) } else { Err(LookupError::Disagreement) }
}

fn hash(bytes: B256) -> Hash {
    Hash(bytes.0)
}

#[async_trait]
impl NameService for Ens {
    fn read(&self, text: &str) -> Result<Username, NotAUsername> {
        username::read(text, &self.parent)
    }

    async fn resolve(
        &self,
        seller: &Username,
        purpose: Purpose,
    ) -> Result<Option<Resolution>, Failure> {
        let outcome = self.cache.get_or_resolve(seller, purpose, || self.look_up(seller)).await;
        outcome.map_err(Failure::from)
    }
}
