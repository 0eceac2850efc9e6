//! A node of a chain, asked by JSON-RPC: typed questions, typed answers, nothing tried twice.

use std::fmt;
use std::time::Duration;

use alloy_primitives::{B256, Bytes, U64, U128};
use order::model::chain::EvmAddress;
use order::model::evidence::BlockTag;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};
use tokio::sync::OnceCell;

use crate::http::{Address, Call, Client, Silence};

mod batch;
mod fees;
mod objection;
mod revert;
mod transactions;

pub use batch::Progress;
pub use fees::FeeHistory;
pub use objection::{NotSent, Objected, Sent};
pub use transactions::{Filter, Known, Log, Outcome, Receipt};

use objection::Objection;

const CALL_DEADLINE: Duration = Duration::from_secs(5);
const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// One question goes in one HTTP exchange, so all may bear the same number.
const QUESTION: u64 = 1;

/// A node that was told to us as one of a certain chain.
pub struct Node {
    client: Client,
    address: Address,
    chain_id: u64,
    deadline: Duration,
    recognised: OnceCell<()>,
}

/// Why a node gave no good answer to a question. A question has no effect, so all
/// of it may be asked again; what has one is [`Node::send`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    Silent(Silence),
    /// The contract said no, with these bytes.
    Reverted(Bytes),
    /// The node said no, with this number.
    Refused(i64),
    /// It answered something else than what was asked.
    Unusable,
    /// It has no such block.
    UnknownBlock,
    /// It belongs to another chain.
    OtherChain(u64),
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent(silence) => write!(f, "{silence}"),
            Self::Reverted(_) => f.write_str("the call was reverted"),
            Self::Refused(code) => write!(f, "error {code}"),
            Self::Unusable => f.write_str("an answer that does not fit the question"),
            Self::UnknownBlock => f.write_str("no such block"),
            Self::OtherChain(id) => write!(f, "a node of chain {id}"),
        }
    }
}

/// A block's head, as far as we look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "HeadOnTheWire")]
pub struct Head {
    pub number: u64,
    pub hash: B256,
    /// The hash of the block before it.
    pub parent: B256,
    pub timestamp: u64,
}

/// Which block a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    Tag(BlockTag),
    Number(u64),
    /// This block and no other, and only while it is part of the chain.
    Hash(B256),
}

impl Serialize for At {
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

/// How EIP-1898 names a block.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ByHash {
    block_hash: B256,
    require_canonical: bool,
}

impl Node {
    pub fn new(client: Client, address: Address, chain_id: u64) -> Self {
        Self { client, address, chain_id, deadline: CALL_DEADLINE, recognised: OnceCell::new() }
    }

    /// The same node, waited for no longer than this.
    #[must_use]
    pub fn answering_within(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    pub fn chain_id(&self) -> u64 {
        self.chain_id
    }

    pub async fn block(&self, at: At) -> Result<Head, NoAnswer> {
        let head = match at {
            At::Tag(_) | At::Number(_) => self.ask("eth_getBlockByNumber", (at, false)).await?,
            At::Hash(hash) => self.ask("eth_getBlockByHash", (hash, false)).await?,
        };
        head.ok_or(NoAnswer::UnknownBlock)
    }

    /// What a contract answers, without a transaction.
    pub async fn call(&self, to: EvmAddress, data: &[u8], at: At) -> Result<Bytes, NoAnswer> {
        self.ask_for("eth_call", (ContractCall::new(to, data), at)).await
    }

    /// The same, as the transaction that `simulated` describes would ask.
    pub async fn simulate(&self, simulated: &Simulated<'_>, at: At) -> Result<Bytes, NoAnswer> {
        self.ask_for("eth_call", (ContractCall::of(simulated), at)).await
    }

    /// The code of a contract; empty for a plain account.
    pub async fn code(&self, of: EvmAddress, at: At) -> Result<Bytes, NoAnswer> {
        self.ask_for("eth_getCode", (of.to_string(), at)).await
    }

    /// A question that always has an answer.
    async fn ask_for<T: DeserializeOwned>(
        &self,
        method: &'static str,
        parameters: impl Serialize,
    ) -> Result<T, NoAnswer> {
        self.ask(method, parameters).await?.ok_or(NoAnswer::Unusable)
    }

    /// Asks, after making sure once that this is a node of the right chain.
    async fn ask<T: DeserializeOwned>(
        &self,
        method: &'static str,
        parameters: impl Serialize,
    ) -> Result<Option<T>, NoAnswer> {
        self.recognised.get_or_try_init(|| self.recognise()).await?;
        self.exchange(method, parameters).await
    }

    async fn recognise(&self) -> Result<(), NoAnswer> {
        let none: [(); 0] = [];
        let id: Option<U64> = self.exchange("eth_chainId", none).await?;
        let id = id.ok_or(NoAnswer::Unusable)?.to::<u64>();
        if id == self.chain_id { Ok(()) } else { Err(NoAnswer::OtherChain(id)) }
    }

    async fn exchange<T: DeserializeOwned>(
        &self,
        method: &'static str,
        parameters: impl Serialize,
    ) -> Result<Option<T>, NoAnswer> {
        self.say(method, parameters).await.map_err(Unsaid::sorted)
    }

    /// One question and its answer, with the node's objection as it was made.
    async fn say<T: DeserializeOwned>(
        &self,
        method: &'static str,
        parameters: impl Serialize,
    ) -> Result<Option<T>, Unsaid> {
        let question = Question { jsonrpc: "2.0", id: QUESTION, method, params: parameters };
        let call = Call::post("a node", self.address.clone(), &question)
            .within(self.deadline)
            .at_most(ANSWER_BYTES_MAX);
        let answer = self.client.send(call).await.map_err(Unsaid::Silent)?;
        // Some nodes say no with a status of their own and the reason in the body.
        let said: Said<T> = match answer.body_as() {
            Some(said) => said,
            None => answer.read().map_err(Unsaid::Silent)?,
        };
        if said.id != QUESTION {
            return Err(Unsaid::Unusable);
        }
        match said.error {
            Some(error) => Err(Unsaid::Objection(error)),
            None => Ok(said.result),
        }
    }
}

/// Why an exchange brought no result.
enum Unsaid {
    Silent(Silence),
    Unusable,
    Objection(Objection),
}

impl Unsaid {
    fn sorted(self) -> NoAnswer {
        match self {
            Self::Silent(silence) => NoAnswer::Silent(silence),
            Self::Unusable => NoAnswer::Unusable,
            Self::Objection(objection) => objection.sorted(),
        }
    }
}

#[derive(Serialize)]
struct Question<P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'static str,
    params: P,
}

/// A transaction that is tried without being sent. It has the sender and the fees of the
/// real one, so that a contract cannot tell the two apart by them.
#[derive(Clone, Copy)]
pub struct Simulated<'a> {
    pub from: EvmAddress,
    pub to: EvmAddress,
    pub data: &'a [u8],
    /// The node fills in none where they do not matter.
    pub fees: Option<SimulatedFees>,
}

#[derive(Clone, Copy)]
pub struct SimulatedFees {
    pub max: u128,
    pub priority: u128,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ContractCall {
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    to: String,
    data: Bytes,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_fee_per_gas: Option<U128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_priority_fee_per_gas: Option<U128>,
}

impl ContractCall {
    fn new(to: EvmAddress, data: &[u8]) -> Self {
        let data = Bytes::copy_from_slice(data);
        let (from, max_fee_per_gas, max_priority_fee_per_gas) = (None, None, None);
        Self { from, to: to.to_string(), data, max_fee_per_gas, max_priority_fee_per_gas }
    }

    fn of(simulated: &Simulated<'_>) -> Self {
        Self {
            from: Some(simulated.from.to_string()),
            max_fee_per_gas: simulated.fees.map(|fees| U128::from(fees.max)),
            max_priority_fee_per_gas: simulated.fees.map(|fees| U128::from(fees.priority)),
            ..Self::new(simulated.to, simulated.data)
        }
    }
}

#[derive(Deserialize)]
#[serde(bound = "T: DeserializeOwned")]
struct Said<T> {
    id: u64,
    #[serde(default)]
    result: Option<T>,
    #[serde(default)]
    error: Option<Objection>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HeadOnTheWire {
    number: U64,
    hash: B256,
    parent_hash: B256,
    timestamp: U64,
}

impl From<HeadOnTheWire> for Head {
    fn from(head: HeadOnTheWire) -> Self {
        let HeadOnTheWire { number, hash, parent_hash: parent, timestamp } = head;
        Self { number: number.to(), hash, parent, timestamp: timestamp.to() }
    }
}
