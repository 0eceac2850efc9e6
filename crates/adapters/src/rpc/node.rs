//! A node of one chain, called by JSON-RPC without retries.

use std::time::Duration;

use alloy_primitives::{B256, Bytes, U64, U128};
use order::model::chain::EvmAddress;
use order::model::evidence::BlockTag;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};
use tokio::sync::OnceCell;

use super::error::NodeError;
use super::json_rpc_error::JsonRpcError;
use crate::http::{CallError, HttpCall, HttpClient, HttpUrl};

/// The name of every node in the log.
pub const PEER: &str = "a node";
const CALL_DEADLINE: Duration = Duration::from_secs(5);
pub(super) const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// One call per HTTP exchange, so all may have the same id.
const REQUEST_ID: u64 = 1;

/// A node that is configured for one chain.
pub struct Node {
    pub(super) client: HttpClient,
    pub(super) address: HttpUrl,
    chain_id: u64,
    pub(super) deadline: Duration,
    pub(super) verified: OnceCell<()>,
}

/// The fields of a block header that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "BlockHeadFields")]
pub struct BlockHead {
    pub number: u64,
    pub hash: B256,
    /// The hash of the block before it.
    pub parent: B256,
    pub timestamp: u64,
}

/// The block of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockId {
    Tag(BlockTag),
    Number(u64),
    /// This block, only while it is canonical.
    Hash(B256),
}

impl Serialize for BlockId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Tag(tag) => serializer.serialize_str(tag.word()),
            Self::Number(number) => serializer.collect_str(&format_args!("{number:#x}")),
            Self::Hash(block_hash) => {
                ByHash { block_hash: *block_hash, require_canonical: true }.serialize(serializer)
            }
        }
    }
}

/// A block by hash (EIP-1898).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ByHash {
    block_hash: B256,
    require_canonical: bool,
}

impl Node {
    pub fn new(client: HttpClient, address: HttpUrl, chain_id: u64) -> Self {
        Self { client, address, chain_id, deadline: CALL_DEADLINE, verified: OnceCell::new() }
    }

    /// The same node with another deadline.
    #[must_use]
    pub fn answering_within(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    pub fn chain_id(&self) -> u64 {
        self.chain_id
    }

    pub async fn block(&self, at: BlockId) -> Result<BlockHead, NodeError> {
        let head = match at {
            BlockId::Tag(_) | BlockId::Number(_) => {
                self.ask("eth_getBlockByNumber", (at, false)).await?
            }
            BlockId::Hash(hash) => self.ask("eth_getBlockByHash", (hash, false)).await?,
        };
        head.ok_or(NodeError::UnknownBlock)
    }

    /// `eth_call`.
    pub async fn call(&self, to: EvmAddress, data: &[u8], at: BlockId) -> Result<Bytes, NodeError> {
        self.ask_for("eth_call", (ContractCall::new(to, data), at)).await
    }

    /// `eth_call` that may use this much gas.
    pub async fn call_within(
        &self,
        to: EvmAddress,
        data: &[u8],
        gas: u64,
        at: BlockId,
    ) -> Result<Bytes, NodeError> {
        let call = ContractCall { gas: Some(U64::from(gas)), ..ContractCall::new(to, data) };
        self.ask_for("eth_call", (call, at)).await
    }

    /// `eth_call` as the described transaction.
    pub async fn simulate(
        &self,
        simulated: &SimulatedCall<'_>,
        at: BlockId,
    ) -> Result<Bytes, NodeError> {
        self.ask_for("eth_call", (ContractCall::of(simulated), at)).await
    }

    /// The code of an account; empty for a plain account.
    pub async fn code(&self, of: EvmAddress, at: BlockId) -> Result<Bytes, NodeError> {
        self.ask_for("eth_getCode", (of.to_string(), at)).await
    }

    /// A call whose result is never null.
    pub(super) async fn ask_for<T: DeserializeOwned>(
        &self,
        method: &'static str,
        parameters: impl Serialize,
    ) -> Result<T, NodeError> {
        self.ask(method, parameters).await?.ok_or(NodeError::Unusable)
    }

    /// Makes a call, after checking the chain id once.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        method: &'static str,
        parameters: impl Serialize,
    ) -> Result<Option<T>, NodeError> {
        self.verified.get_or_try_init(|| self.verify_chain()).await?;
        self.exchange(method, parameters).await
    }

    pub(super) async fn verify_chain(&self) -> Result<(), NodeError> {
        let none: [(); 0] = [];
        let id: Option<U64> = self.exchange("eth_chainId", none).await?;
        let id = id.ok_or(NodeError::Unusable)?.to::<u64>();
        if id == self.chain_id { Ok(()) } else { Err(NodeError::OtherChain(id)) }
    }

    async fn exchange<T: DeserializeOwned>(
        &self,
        method: &'static str,
        parameters: impl Serialize,
    ) -> Result<Option<T>, NodeError> {
        self.say(method, parameters).await.map_err(ExchangeError::into_error)
    }

    /// One call and its result, with the node's JSON-RPC error.
    pub(super) async fn say<T: DeserializeOwned>(
        &self,
        method: &'static str,
        parameters: impl Serialize,
    ) -> Result<Option<T>, ExchangeError> {
        let question =
            JsonRpcRequest { jsonrpc: "2.0", id: REQUEST_ID, method, params: parameters };
        let call = HttpCall::post(PEER, self.address.clone(), &question)
            .within(self.deadline)
            .at_most(ANSWER_BYTES_MAX);
        let answer = self.client.send(call).await.map_err(ExchangeError::Http)?;
        // Some nodes send JSON-RPC errors with an error status.
        let said: JsonRpcReply<T> = match answer.body_as() {
            Some(said) => said,
            None => answer.read().map_err(ExchangeError::Http)?,
        };
        if said.id != REQUEST_ID {
            return Err(ExchangeError::Unusable);
        }
        match said.error {
            Some(error) => Err(ExchangeError::JsonRpcError(error)),
            None => Ok(said.result),
        }
    }
}

/// Why a call has no result.
pub(super) enum ExchangeError {
    Http(CallError),
    Unusable,
    JsonRpcError(JsonRpcError),
}

impl ExchangeError {
    pub(super) fn into_error(self) -> NodeError {
        match self {
            Self::Http(error) => NodeError::Http(error),
            Self::Unusable => NodeError::Unusable,
            Self::JsonRpcError(objection) => objection.into_error(),
        }
    }
}

#[derive(Serialize)]
struct JsonRpcRequest<P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'static str,
    params: P,
}

/// A simulated transaction, with the sender and the fees of the real one, so that a contract
/// cannot distinguish the two by them.
#[derive(Clone, Copy)]
pub struct SimulatedCall<'a> {
    pub from: EvmAddress,
    pub to: EvmAddress,
    pub data: &'a [u8],
    /// None if fees do not matter.
    pub fees: Option<SimulatedFees>,
    /// The most gas that it may use. None leaves the limit to the node.
    pub gas: Option<u64>,
}

#[derive(Clone, Copy)]
pub struct SimulatedFees {
    pub max: u128,
    pub priority: u128,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ContractCall {
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    to: String,
    data: Bytes,
    #[serde(skip_serializing_if = "Option::is_none")]
    gas: Option<U64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_fee_per_gas: Option<U128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_priority_fee_per_gas: Option<U128>,
}

impl ContractCall {
    pub(super) fn new(to: EvmAddress, data: &[u8]) -> Self {
        let data = Bytes::copy_from_slice(data);
        let (from, gas, max_fee_per_gas, max_priority_fee_per_gas) = (None, None, None, None);
        Self { from, to: to.to_string(), data, gas, max_fee_per_gas, max_priority_fee_per_gas }
    }

    pub(super) fn of(simulated: &SimulatedCall<'_>) -> Self {
        Self {
            from: Some(simulated.from.to_string()),
            gas: simulated.gas.map(U64::from),
            max_fee_per_gas: simulated.fees.map(|fees| U128::from(fees.max)),
            max_priority_fee_per_gas: simulated.fees.map(|fees| U128::from(fees.priority)),
            ..Self::new(simulated.to, simulated.data)
        }
    }
}

#[derive(Deserialize)]
#[serde(bound = "T: DeserializeOwned")]
struct JsonRpcReply<T> {
    id: u64,
    #[serde(default)]
    result: Option<T>,
    #[serde(default)]
    error: Option<JsonRpcError>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockHeadFields {
    number: U64,
    hash: B256,
    parent_hash: B256,
    timestamp: U64,
}

impl From<BlockHeadFields> for BlockHead {
    fn from(head: BlockHeadFields) -> Self {
        let BlockHeadFields { number, hash, parent_hash: parent, timestamp } = head;
        Self { number: number.to(), hash, parent, timestamp: timestamp.to() }
    }
}
