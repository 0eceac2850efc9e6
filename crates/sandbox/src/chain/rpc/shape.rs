//! Blocks, transactions, receipts and events as JSON.

use alloy_primitives::{B256, U256};
use alloy_sol_types::{Revert as Reason, SolError};
use evm::transaction::TransactionType;
use serde_json::{Value, json};

use crate::chain::node::BLOCK_GAS;
use crate::chain::node::block::{EmulatedBlock, MinedOutcome};
use crate::chain::node::state::ContractEvent;
use crate::chain::transaction::Transaction;

pub(crate) fn quantity(number: impl TryInto<U256>) -> Value {
    json!(format!("{:#x}", number.try_into().unwrap_or_default()))
}

pub(crate) fn hex(bytes: impl AsRef<[u8]>) -> Value {
    json!(alloy_primitives::hex::encode_prefixed(bytes))
}

/// The reason string of a `require`, if these bytes are one.
pub(crate) fn reason(data: &[u8]) -> Option<String> {
    Reason::abi_decode(data).ok().map(|reason| reason.reason)
}

/// The bloom filter is empty: clients must not rely on it.
fn no_bloom() -> Value {
    hex([0; 256])
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    Hashes,
    Whole,
}

pub(crate) fn block(block: &EmulatedBlock, detail: Detail) -> Value {
    let transactions: Vec<Value> = (0..block.transactions.len())
        .map(|index| match detail {
            Detail::Hashes => hex(block.transactions[index].transaction.hash),
            Detail::Whole => mined(block, index),
        })
        .collect();
    let nothing = hex(B256::ZERO);
    json!({
        "number": quantity(block.number),
        "hash": hex(block.hash),
        "parentHash": hex(block.parent),
        "timestamp": quantity(block.timestamp),
        "baseFeePerGas": quantity(block.base_fee),
        "gasLimit": quantity(BLOCK_GAS),
        "gasUsed": quantity(block.gas_used()),
        "transactions": transactions,
        "logsBloom": no_bloom(),
        "nonce": "0x0000000000000000",
        "difficulty": "0x0",
        "extraData": "0x",
        "size": "0x220",
        "miner": hex([0; 20]),
        "mixHash": nothing,
        "sha3Uncles": nothing,
        "transactionsRoot": nothing,
        "stateRoot": nothing,
        "receiptsRoot": nothing,
        "uncles": [],
    })
}

fn mined(block: &EmulatedBlock, index: usize) -> Value {
    let mined = &block.transactions[index];
    transaction(&mined.transaction, Some((block, index, mined.price)))
}

/// A transaction, with its block if it was mined.
pub(crate) fn transaction(
    transaction: &Transaction,
    place: Option<(&EmulatedBlock, usize, U256)>,
) -> Value {
    let mut json_response = json!({
        "hash": hex(transaction.hash),
        "nonce": quantity(transaction.nonce),
        "from": hex(transaction.from),
        "to": transaction.to.map(hex),
        "value": quantity(transaction.value),
        "gas": quantity(transaction.gas),
        "input": hex(&transaction.data),
        "chainId": quantity(transaction.chain_id),
        "v": quantity(transaction.v),
        "r": quantity(U256::from_be_bytes(transaction.r.0)),
        "s": quantity(U256::from_be_bytes(transaction.s.0)),
        "blockHash": place.map(|(block, ..)| hex(block.hash)),
        "blockNumber": place.map(|(block, ..)| quantity(block.number)),
        "transactionIndex": place.map(|(_, index, _)| quantity(U256::from(index))),
        "gasPrice": quantity(place.map_or(transaction.max_fee, |(.., price)| price)),
    });
    match transaction.transaction_type {
        TransactionType::Legacy => json_response["type"] = json!("0x0"),
        TransactionType::DynamicFee => {
            json_response["type"] = json!("0x2");
            json_response["maxFeePerGas"] = quantity(transaction.max_fee);
            json_response["maxPriorityFeePerGas"] = quantity(transaction.priority_fee);
            json_response["yParity"] = quantity(transaction.v);
            json_response["accessList"] = json!([]);
        }
    }
    json_response
}

pub(crate) fn receipt(block: &EmulatedBlock, index: usize) -> Value {
    let mined = &block.transactions[index];
    let before: u64 = block.transactions[..=index].iter().map(|mined| mined.gas_used).sum();
    let first = block.events_before(index);
    let events = mined.events.iter().enumerate();
    let logs: Vec<Value> =
        events.map(|(place, event)| log(block, index, first + place, event)).collect();
    json!({
        "transactionHash": hex(mined.transaction.hash),
        "transactionIndex": quantity(U256::from(index)),
        "blockHash": hex(block.hash),
        "blockNumber": quantity(block.number),
        "from": hex(mined.transaction.from),
        "to": mined.transaction.to.map(hex),
        "cumulativeGasUsed": quantity(before),
        "gasUsed": quantity(mined.gas_used),
        "effectiveGasPrice": quantity(mined.price),
        "contractAddress": null,
        "logs": logs,
        "logsBloom": no_bloom(),
        "status": match mined.outcome {
            MinedOutcome::Succeeded => "0x1",
            MinedOutcome::Reverted => "0x0",
        },
        "type": match mined.transaction.transaction_type {
            TransactionType::Legacy => "0x0",
            TransactionType::DynamicFee => "0x2",
        },
    })
}

pub(crate) fn log(
    block: &EmulatedBlock,
    index: usize,
    place: usize,
    event: &ContractEvent,
) -> Value {
    json!({
        "address": hex(event.address),
        "topics": event.topics.iter().map(hex).collect::<Vec<_>>(),
        "data": hex(&event.data),
        "blockNumber": quantity(block.number),
        "blockHash": hex(block.hash),
        "blockTimestamp": quantity(block.timestamp),
        "transactionHash": hex(block.transactions[index].transaction.hash),
        "transactionIndex": quantity(U256::from(index)),
        "logIndex": quantity(U256::from(place)),
        "removed": false,
    })
}
