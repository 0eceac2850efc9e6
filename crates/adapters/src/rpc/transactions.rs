//! Transactions: what they would do, how they are sent, and what became of them.

use alloy_primitives::{Address, B256, Bytes, U64, U256};
use order::model::chain::EvmAddress;
use serde::{Deserialize, Serialize};

use super::objection::{NotSent, Sent};
use super::{ContractCall, FeeHistory, NoAnswer, Node, Simulated, Unsaid};
use crate::http::Silence;

/// How many blocks a fee history looks back on.
const FEE_BLOCKS: u64 = 5;
/// The tip that half of the transactions in a block do not exceed.
const FEE_PERCENTILE: u8 = 50;

/// What a transaction left in its block.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "ReceiptOnTheWire")]
pub struct Receipt {
    pub transaction: B256,
    pub block: u64,
    pub block_hash: B256,
    pub outcome: Outcome,
    pub logs: Vec<Log>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Succeeded,
    Reverted,
}

/// What a contract announced.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Log {
    pub address: Address,
    pub topics: Vec<B256>,
    pub data: Bytes,
    #[serde(rename = "transactionHash")]
    pub transaction: B256,
    #[serde(rename = "blockNumber", deserialize_with = "quantity")]
    pub block: u64,
    pub block_hash: B256,
    /// It stood in a block that is not part of the chain any more.
    #[serde(default)]
    pub removed: bool,
}

/// A transaction as everybody can see it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Known {
    pub from: Address,
    pub to: Option<Address>,
    pub input: Bytes,
}

/// Which announcements are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Named by its hash: a node that does not have it says so, while one that is
    /// asked for a range is silent about what it has not seen.
    pub block: B256,
    /// Who announced it: one of these, or anybody if there is none.
    pub contracts: Vec<EvmAddress>,
    /// The first so many topics, each one of these.
    pub topics: Vec<Vec<B256>>,
}

impl Node {
    /// Sends a signed transaction. This is the one call that has an effect.
    pub async fn send(&self, raw: &[u8]) -> Result<Sent, NotSent> {
        // Until the node is known to be of the right chain nothing is sent.
        self.recognised.get_or_try_init(|| self.recognise()).await.map_err(NotSent::Unheard)?;
        let raw = Bytes::copy_from_slice(raw);
        match self.say::<B256>("eth_sendRawTransaction", [raw]).await {
            Ok(Some(_)) => Ok(Sent::Taken),
            Ok(None) | Err(Unsaid::Unusable) => Err(NotSent::Lost(NoAnswer::Unusable)),
            Err(Unsaid::Silent(silence)) => Err(unheard_or_lost(silence)),
            Err(Unsaid::Objection(objection)) => objection.about_transaction(),
        }
    }

    /// None while it is in no block.
    pub async fn receipt(&self, transaction: B256) -> Result<Option<Receipt>, NoAnswer> {
        let found: Option<Receipt> = self.ask("eth_getTransactionReceipt", [transaction]).await?;
        match found {
            Some(receipt) if receipt.transaction != transaction => Err(NoAnswer::Unusable),
            found => Ok(found),
        }
    }

    /// None if nobody has heard of it.
    pub async fn transaction(&self, hash: B256) -> Result<Option<Known>, NoAnswer> {
        self.ask("eth_getTransactionByHash", [hash]).await
    }

    /// How many transactions of this account are in blocks.
    pub async fn mined_count(&self, of: EvmAddress) -> Result<u64, NoAnswer> {
        let count: U64 =
            self.ask_for("eth_getTransactionCount", (of.to_string(), "latest")).await?;
        Ok(count.to())
    }

    /// The chain's own coin that an account holds, in wei; more than fits is the
    /// most that fits.
    pub async fn balance(&self, of: EvmAddress) -> Result<u128, NoAnswer> {
        let balance: U256 = self.ask_for("eth_getBalance", (of.to_string(), "latest")).await?;
        Ok(u128::try_from(balance).unwrap_or(u128::MAX))
    }

    /// How much gas a call would take as a transaction.
    pub async fn estimate(&self, simulated: &Simulated<'_>) -> Result<u64, NoAnswer> {
        let call = ContractCall::of(simulated);
        let gas: U64 = self.ask_for("eth_estimateGas", (call, "latest")).await?;
        Ok(gas.to())
    }

    pub async fn fee_history(&self) -> Result<FeeHistory, NoAnswer> {
        let asked = (format!("{FEE_BLOCKS:#x}"), "latest", [FEE_PERCENTILE]);
        self.ask_for("eth_feeHistory", asked).await
    }

    /// The tip that this node would offer, in wei.
    pub async fn tip(&self) -> Result<u128, NoAnswer> {
        let none: [(); 0] = [];
        let tip: U256 = self.ask_for("eth_maxPriorityFeePerGas", none).await?;
        u128::try_from(tip).map_err(|_| NoAnswer::Unusable)
    }

    /// What was announced in one block of the chain. An empty list may still be the
    /// word of a node that keeps no announcements, and proves nothing.
    pub async fn logs(&self, filter: &Filter) -> Result<Vec<Log>, NoAnswer> {
        let asked = FilterOnTheWire {
            block_hash: filter.block,
            address: filter.contracts.iter().map(EvmAddress::to_string).collect(),
            topics: &filter.topics,
        };
        let logs: Vec<Log> = self.ask_for("eth_getLogs", [asked]).await?;
        let asked_for = |log: &Log| log.block_hash == filter.block && !log.removed;
        if logs.iter().all(asked_for) { Ok(logs) } else { Err(NoAnswer::Unusable) }
    }
}

/// Only a connection that was never made proves that no node has heard of a
/// transaction. Whatever status comes back, it may be that of the last of many nodes
/// behind one door, after another one took it.
pub(super) fn unheard_or_lost(silence: Silence) -> NotSent {
    match silence {
        Silence::Refused(_) => NotSent::Unheard(NoAnswer::Silent(silence)),
        Silence::Lost(_) => NotSent::Lost(NoAnswer::Silent(silence)),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FilterOnTheWire<'a> {
    block_hash: B256,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    address: Vec<String>,
    topics: &'a [Vec<B256>],
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReceiptOnTheWire {
    transaction_hash: B256,
    block_number: U64,
    block_hash: B256,
    status: U64,
    logs: Vec<Log>,
}

impl From<ReceiptOnTheWire> for Receipt {
    fn from(wire: ReceiptOnTheWire) -> Self {
        Self {
            transaction: wire.transaction_hash,
            block: wire.block_number.to(),
            block_hash: wire.block_hash,
            // Whatever is not success moved nothing.
            outcome: if wire.status == U64::ONE { Outcome::Succeeded } else { Outcome::Reverted },
            logs: wire.logs,
        }
    }
}

fn quantity<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    U64::deserialize(deserializer).map(|number| number.to())
}
