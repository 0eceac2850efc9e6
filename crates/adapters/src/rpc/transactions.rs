//! Transactions: estimate, send, receipts, logs.

use alloy_primitives::{Address, B256, Bytes, U64, U256};
use order::model::chain::EvmAddress;
use serde::{Deserialize, Serialize};

use super::error::NodeError;
use super::fees::FeeHistory;
use super::json_rpc_error::{SendError, SendOutcome};
use super::node::{ContractCall, ExchangeError, Node, SimulatedCall};
use crate::http::CallError;

/// The number of blocks of a fee history.
const FEE_BLOCKS: u64 = 5;
/// The median.
const FEE_PERCENTILE: u8 = 50;

/// A transaction receipt.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "ReceiptFields")]
pub struct TransactionReceipt {
    pub transaction: B256,
    pub block: u64,
    pub block_hash: B256,
    pub outcome: ReceiptStatus,
    /// What the sender paid for gas, in wei; 0 if the node does not report it.
    pub fee: u128,
    pub logs: Vec<EventLog>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiptStatus {
    Succeeded,
    Reverted,
}

/// An event log.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventLog {
    pub address: Address,
    pub topics: Vec<B256>,
    pub data: Bytes,
    #[serde(rename = "transactionHash")]
    pub transaction: B256,
    #[serde(rename = "blockNumber", deserialize_with = "quantity")]
    pub block: u64,
    pub block_hash: B256,
    /// Its block is not canonical any more.
    #[serde(default)]
    pub removed: bool,
}

/// A transaction by hash.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ChainTransaction {
    pub from: Address,
    pub to: Option<Address>,
    pub input: Bytes,
}

/// A filter for event logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFilter {
    /// By hash: a node without the block returns an error, while a range query omits blocks that
    /// the node has not seen.
    pub block: B256,
    /// The contracts; any if empty.
    pub contracts: Vec<EvmAddress>,
    /// The allowed values of the first topics.
    pub topics: Vec<Vec<B256>>,
}

impl Node {
    /// Sends a signed transaction. This is the one call that has an effect.
    pub async fn send(&self, raw: &[u8]) -> Result<SendOutcome, SendError> {
        // Nothing is sent before the chain id is checked.
        self.verified.get_or_try_init(|| self.verify_chain()).await.map_err(SendError::Unheard)?;
        let raw = Bytes::copy_from_slice(raw);
        match self.say::<B256>("eth_sendRawTransaction", [raw]).await {
            Ok(Some(_)) => Ok(SendOutcome::Accepted),
            Ok(None) | Err(ExchangeError::Unusable) => Err(SendError::Lost(NodeError::Unusable)),
            Err(ExchangeError::Http(error)) => Err(unheard_or_lost(error)),
            Err(ExchangeError::JsonRpcError(objection)) => objection.about_transaction(),
        }
    }

    /// None if it is in no block.
    pub async fn receipt(
        &self,
        transaction: B256,
    ) -> Result<Option<TransactionReceipt>, NodeError> {
        let found: Option<TransactionReceipt> =
            self.ask("eth_getTransactionReceipt", [transaction]).await?;
        match found {
            Some(receipt) if receipt.transaction != transaction => Err(NodeError::Unusable),
            found => Ok(found),
        }
    }

    /// None if the node does not know it.
    pub async fn transaction(&self, hash: B256) -> Result<Option<ChainTransaction>, NodeError> {
        self.ask("eth_getTransactionByHash", [hash]).await
    }

    /// The account's transaction count in the latest block.
    pub async fn mined_count(&self, of: EvmAddress) -> Result<u64, NodeError> {
        let count: U64 =
            self.ask_for("eth_getTransactionCount", (of.to_string(), "latest")).await?;
        Ok(count.to())
    }

    /// The balance in wei, saturating.
    pub async fn balance(&self, of: EvmAddress) -> Result<u128, NodeError> {
        let balance: U256 = self.ask_for("eth_getBalance", (of.to_string(), "latest")).await?;
        Ok(u128::try_from(balance).unwrap_or(u128::MAX))
    }

    /// `eth_estimateGas`.
    pub async fn estimate(&self, simulated: &SimulatedCall<'_>) -> Result<u64, NodeError> {
        let call = ContractCall::of(simulated);
        let gas: U64 = self.ask_for("eth_estimateGas", (call, "latest")).await?;
        Ok(gas.to())
    }

    pub async fn fee_history(&self) -> Result<FeeHistory, NodeError> {
        let asked = (format!("{FEE_BLOCKS:#x}"), "latest", [FEE_PERCENTILE]);
        self.ask_for("eth_feeHistory", asked).await
    }

    /// The node's suggested priority fee, in wei.
    pub async fn tip(&self) -> Result<u128, NodeError> {
        let none: [(); 0] = [];
        let tip: U256 = self.ask_for("eth_maxPriorityFeePerGas", none).await?;
        u128::try_from(tip).map_err(|_| NodeError::Unusable)
    }

    /// Event logs of one block. A node without logs returns an empty list, so an empty list
    /// proves nothing.
    pub async fn logs(&self, filter: &LogFilter) -> Result<Vec<EventLog>, NodeError> {
        let asked = LogFilterParams {
            block_hash: filter.block,
            address: filter.contracts.iter().map(EvmAddress::to_string).collect(),
            topics: &filter.topics,
        };
        let logs: Vec<EventLog> = self.ask_for("eth_getLogs", [asked]).await?;
        let asked_for = |log: &EventLog| log.block_hash == filter.block && !log.removed;
        if logs.iter().all(asked_for) { Ok(logs) } else { Err(NodeError::Unusable) }
    }
}

/// Only a failed connection proves that no node has received a transaction. An error status may
/// come from one of many nodes behind one URL, after another one accepted it.
pub(super) fn unheard_or_lost(error: CallError) -> SendError {
    match error {
        CallError::Refused(_) => SendError::Unheard(NodeError::Http(error)),
        CallError::Lost(_) => SendError::Lost(NodeError::Http(error)),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogFilterParams<'a> {
    block_hash: B256,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    address: Vec<String>,
    topics: &'a [Vec<B256>],
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReceiptFields {
    transaction_hash: B256,
    block_number: U64,
    block_hash: B256,
    status: U64,
    logs: Vec<EventLog>,
    #[serde(default)]
    gas_used: U64,
    #[serde(default)]
    effective_gas_price: U256,
    /// On some rollups, for the data on the chain below.
    #[serde(default, rename = "l1Fee")]
    l1_fee: U256,
}

impl ReceiptFields {
    fn fee(&self) -> u128 {
        let gas = U256::from(self.gas_used).saturating_mul(self.effective_gas_price);
        u128::try_from(gas.saturating_add(self.l1_fee)).unwrap_or(u128::MAX)
    }
}

impl From<ReceiptFields> for TransactionReceipt {
    fn from(wire: ReceiptFields) -> Self {
        Self {
            fee: wire.fee(),
            transaction: wire.transaction_hash,
            block: wire.block_number.to(),
            block_hash: wire.block_hash,
            // Any other status is a failure.
            outcome: if wire.status == U64::ONE {
                ReceiptStatus::Succeeded
            } else {
                ReceiptStatus::Reverted
            },
            logs: wire.logs,
        }
    }
}

fn quantity<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    U64::deserialize(deserializer).map(|number| number.to())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_fee_is_that_of_the_gas_and_of_the_chain_below() {
        let fee_of = |more: serde_json::Value| {
            let mut receipt = json!({
                "transactionHash": B256::ZERO, "blockNumber": "0x1", "blockHash": B256::ZERO,
                "status": "0x1", "logs": [],
            });
            receipt.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            serde_json::from_value::<TransactionReceipt>(receipt).unwrap().fee
        };
        assert_eq!(fee_of(json!({ "gasUsed": "0x10", "effectiveGasPrice": "0x3" })), 48);
        let rollup = json!({ "gasUsed": "0x10", "effectiveGasPrice": "0x3", "l1Fee": "0x2" });
        assert_eq!(fee_of(rollup), 50);
        assert_eq!(fee_of(json!({})), 0);
    }
}
