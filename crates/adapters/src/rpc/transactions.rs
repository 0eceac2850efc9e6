//! Transactions: estimate, send, receipts, logs.

use alloy_primitives::{Address, B256, Bytes, U64, U256};
use order::model::chain::EvmAddress;
use serde::{Deserialize, Serialize};

use super::error::NodeError;
use super::fees::FeeHistory;
use super::json_rpc_error::{SendError, SendOutcome};
use super::node::{BlockId, ContractCall, ExchangeError, Node, SimulatedCall};
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
    pub logs: Vec<EventLog>,
    /// The account that sent it. None if the node leaves it out.
    pub sender: Option<Address>,
    /// The whole fee in wei. None if the node leaves it out.
    pub fee_wei: Option<u128>,
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
pub struct RpcTransaction {
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

/// A filter for the event logs of one contract in consecutive blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRange {
    pub first: u64,
    pub last: u64,
    pub contract: EvmAddress,
    /// The allowed values of the first topics. An empty list allows any.
    pub topics: Vec<Vec<B256>>,
}

impl LogRange {
    fn admits(&self, log: &EventLog) -> bool {
        let allowed = |(place, values): (usize, &Vec<B256>)| {
            values.is_empty() || log.topics.get(place).is_some_and(|topic| values.contains(topic))
        };
        (self.first..=self.last).contains(&log.block)
            && log.address.into_array() == self.contract.bytes()
            && self.topics.iter().enumerate().all(allowed)
            && !log.removed
    }
}

impl Node {
    /// Sends a signed transaction. This is the one call that has an effect.
    pub async fn send(&self, raw: &[u8]) -> Result<SendOutcome, SendError> {
        // Nothing is sent before the chain id is checked.
        self.verified.get_or_try_init(|| self.verify_chain()).await.map_err(SendError::NotSent)?;
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
            // mutant: foreign-receipt
            Some(receipt) if receipt.transaction != transaction => Err(NodeError::Unusable),
            found => Ok(found),
        }
    }

    /// None if the node does not know it.
    pub async fn transaction(&self, hash: B256) -> Result<Option<RpcTransaction>, NodeError> {
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

    /// Event logs of consecutive blocks. The node omits blocks that it does not have, so the
    /// caller makes sure that it has them.
    pub async fn logs_between(&self, range: &LogRange) -> Result<Vec<EventLog>, NodeError> {
        let allowed = |values: &'_ Vec<B256>| (!values.is_empty()).then(|| values.clone());
        let asked = LogRangeParams {
            from_block: BlockId::Number(range.first),
            to_block: BlockId::Number(range.last),
            address: range.contract.to_string(),
            topics: range.topics.iter().map(allowed).collect(),
        };
        let logs: Vec<EventLog> = self.ask_for("eth_getLogs", [asked]).await?;
        if logs.iter().all(|log| range.admits(log)) { Ok(logs) } else { Err(NodeError::Unusable) }
    }
}

/// Only a failed connection proves that no node has received a transaction. An error status may
/// come from one of many nodes behind one URL, after another one accepted it.
pub(super) fn unheard_or_lost(error: CallError) -> SendError {
    match error {
        CallError::Refused(_) => SendError::NotSent(NodeError::Http(error)),
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogRangeParams {
    from_block: BlockId,
    to_block: BlockId,
    address: String,
    topics: Vec<Option<Vec<B256>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReceiptFields {
    transaction_hash: B256,
    block_number: U64,
    block_hash: B256,
    status: U64,
    logs: Vec<EventLog>,
    from: Option<Address>,
    gas_used: Option<U256>,
    effective_gas_price: Option<U256>,
    /// Rollups such as Base charge it beside the gas, for the data on the parent chain.
    l1_fee: Option<U256>,
}

impl ReceiptFields {
    fn fee_wei(&self) -> Option<u128> {
        let gas = self.gas_used?.checked_mul(self.effective_gas_price?)?;
        let fee = gas.checked_add(self.l1_fee.unwrap_or_default())?;
        u128::try_from(fee).ok()
    }
}

impl From<ReceiptFields> for TransactionReceipt {
    fn from(wire: ReceiptFields) -> Self {
        Self {
            fee_wei: wire.fee_wei(),
            sender: wire.from,
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
            serde_json::from_value::<TransactionReceipt>(receipt).unwrap().fee_wei
        };
        assert_eq!(fee_of(json!({ "gasUsed": "0x10", "effectiveGasPrice": "0x3" })), Some(48));
        let rollup = json!({ "gasUsed": "0x10", "effectiveGasPrice": "0x3", "l1Fee": "0x2" });
        assert_eq!(fee_of(rollup), Some(50));
        assert_eq!(fee_of(json!({})), None);
    }
}
