//! How blocks, transactions, receipts and events look in JSON.

use alloy_primitives::{B256, U256};
use alloy_sol_types::{Revert as Reason, SolError};
use serde_json::{Value, json};

use super::super::block::{Block, Outcome};
use super::super::node::BLOCK_GAS;
use super::super::state::Event;
use super::super::transaction::{Kind, Transaction};

pub(super) fn quantity(number: impl TryInto<U256>) -> Value {
    json!(format!("{:#x}", number.try_into().unwrap_or_default()))
}

pub(super) fn hex(bytes: impl AsRef<[u8]>) -> Value {
    json!(alloy_primitives::hex::encode_prefixed(bytes))
}

/// The words of a `require`, if these bytes are some.
pub(super) fn reason(data: &[u8]) -> Option<String> {
    Reason::abi_decode(data).ok().map(|reason| reason.reason)
}

/// No filter is kept over events: every bit says "maybe not".
fn no_bloom() -> Value {
    hex([0; 256])
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    Hashes,
    Whole,
}

pub(super) fn block(block: &Block, detail: Detail) -> Value {
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

fn mined(block: &Block, index: usize) -> Value {
    let mined = &block.transactions[index];
    transaction(&mined.transaction, Some((block, index, mined.price)))
}

/// A transaction, with the place where it was mined if it was.
pub(super) fn transaction(
    transaction: &Transaction,
    place: Option<(&Block, usize, U256)>,
) -> Value {
    let mut shown = json!({
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
    match transaction.kind {
        Kind::Legacy => shown["type"] = json!("0x0"),
        Kind::Dynamic => {
            shown["type"] = json!("0x2");
            shown["maxFeePerGas"] = quantity(transaction.max_fee);
            shown["maxPriorityFeePerGas"] = quantity(transaction.priority_fee);
            shown["yParity"] = quantity(transaction.v);
            shown["accessList"] = json!([]);
        }
    }
    shown
}

pub(super) fn receipt(block: &Block, index: usize) -> Value {
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
            Outcome::Succeeded => "0x1",
            Outcome::Reverted => "0x0",
        },
        "type": match mined.transaction.kind {
            Kind::Legacy => "0x0",
            Kind::Dynamic => "0x2",
        },
    })
}

pub(super) fn log(block: &Block, index: usize, place: usize, event: &Event) -> Value {
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
