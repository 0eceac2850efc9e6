//! What is encrypted: the call and the signed transactions of a row, and what a notice says of a
//! transaction in a block.

use alloy_primitives::{Address, B256, Bytes};
use order::model::chain::EvmAddress;
use order::model::ids::Timestamp;
use order::model::payment::{Finality, PaymentKey};
use serde::{Deserialize, Serialize};

use super::interface::{AccountCode, SettlementRequest};
use super::notices::MinedTransaction;
use crate::rpc::{EventLog, ReceiptStatus, TransactionReceipt};
use crate::settlement::transaction::SignedTransaction;

/// Increased with the format; older formats stay readable while rows can have them.
const VERSION: u8 = 1;

/// The encrypted content of a row until its nonce is final.
pub(crate) struct OutboxContent {
    pub(crate) request: Option<SettlementRequest>,
    pub(crate) transactions: Vec<SignedTransaction>,
}

#[derive(Serialize, Deserialize)]
struct Content {
    version: u8,
    call: Option<Call>,
    transactions: Vec<SignedTransaction>,
}

#[derive(Serialize, Deserialize)]
struct Call {
    key: [u8; 32],
    payer: Address,
    code: AccountCode,
    to: Address,
    data: Bytes,
    gas: u64,
    deadline: u64,
}

pub(crate) fn write_content(
    request: Option<&SettlementRequest>,
    transactions: &[SignedTransaction],
) -> Vec<u8> {
    let call = request.map(|request| Call {
        key: request.key.0,
        payer: request.payer.bytes().into(),
        code: request.code,
        to: request.to.bytes().into(),
        data: Bytes::copy_from_slice(&request.data),
        gas: request.gas,
        deadline: request.deadline,
    });
    let content = Content { version: VERSION, call, transactions: transactions.to_vec() };
    serde_json::to_vec(&content).expect("plain values become JSON")
}

/// None if the bytes have another format.
pub(crate) fn read_content(bytes: &[u8]) -> Option<OutboxContent> {
    let content: Content = serde_json::from_slice(bytes).ok()?;
    if content.version != VERSION || !content.transactions.iter().all(SignedTransaction::is_whole) {
        return None;
    }
    let request = content.call.map(|call| SettlementRequest {
        key: PaymentKey(call.key),
        payer: EvmAddress::from_bytes(call.payer.into()),
        code: call.code,
        to: EvmAddress::from_bytes(call.to.into()),
        data: call.data.to_vec(),
        gas: call.gas,
        deadline: call.deadline,
    });
    Some(OutboxContent { request, transactions: content.transactions })
}

/// A receipt and its block, as a notice has them.
#[derive(Serialize, Deserialize)]
struct Mined {
    version: u8,
    transaction: B256,
    block: u64,
    block_hash: B256,
    succeeded: bool,
    sender: Option<Address>,
    fee_wei: Option<u128>,
    logs: Vec<Log>,
    /// Seconds, and whether the block is final.
    in_block: Option<(u64, bool)>,
}

#[derive(Serialize, Deserialize)]
struct Log {
    address: Address,
    topics: Vec<B256>,
    data: Bytes,
}

/// None if a log says that it is of another transaction or block, or was removed.
pub(crate) fn write_mined(mined: &MinedTransaction) -> Option<Vec<u8>> {
    let MinedTransaction { receipt, in_block } = mined;
    let TransactionReceipt { transaction, block, block_hash, sender, fee_wei, .. } = *receipt;
    let log = |log: &EventLog| {
        let own = (log.transaction, log.block, log.block_hash, log.removed);
        let EventLog { address, topics, data, .. } = log.clone();
        (own == (transaction, block, block_hash, false)).then_some(Log { address, topics, data })
    };
    let mined = Mined {
        version: VERSION,
        transaction,
        block,
        block_hash,
        succeeded: receipt.outcome == ReceiptStatus::Succeeded,
        sender,
        fee_wei,
        logs: receipt.logs.iter().map(log).collect::<Option<_>>()?,
        in_block: in_block.map(|(at, finality)| (at.0, finality == Finality::Final)),
    };
    Some(serde_json::to_vec(&mined).expect("plain values become JSON"))
}

/// None if the bytes have another format.
pub(crate) fn read_mined(bytes: &[u8]) -> Option<MinedTransaction> {
    let mined: Mined = serde_json::from_slice(bytes).ok()?;
    if mined.version != VERSION {
        return None;
    }
    let Mined { transaction, block, block_hash, sender, fee_wei, .. } = mined;
    let outcome = if mined.succeeded { ReceiptStatus::Succeeded } else { ReceiptStatus::Reverted };
    let log = |Log { address, topics, data }| EventLog {
        address,
        topics,
        data,
        transaction,
        block,
        block_hash,
        removed: false,
    };
    let logs = mined.logs.into_iter().map(log).collect();
    let finality = |stays| if stays { Finality::Final } else { Finality::Provisional };
    Some(MinedTransaction {
        receipt: TransactionReceipt {
            transaction,
            block,
            block_hash,
            outcome,
            logs,
            sender,
            fee_wei,
        },
        in_block: mined.in_block.map(|(at, stays)| (Timestamp(at), finality(stays))),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use alloy_primitives::keccak256;

    use super::*;
    use crate::settlement::fees::Fees;

    fn request() -> SettlementRequest {
        SettlementRequest {
            key: PaymentKey([3; 32]),
            payer: EvmAddress::from_bytes([4; 20]),
            code: AccountCode::Present,
            to: EvmAddress::from_bytes([5; 20]),
            data: vec![1, 2, 3],
            gas: 77,
            deadline: u64::MAX,
        }
    }

    fn signed() -> SignedTransaction {
        let raw = vec![9; 3];
        let fees = Fees { most: u128::from(u64::MAX) + 7, tip: 2 };
        SignedTransaction { nonce: 5, fees, hash: keccak256(&raw), raw: raw.into() }
    }

    #[test]
    fn content_reads_back_as_it_was_written() {
        let read = read_content(&write_content(Some(&request()), &[signed()])).unwrap();
        assert!(read.request == Some(request()));
        assert!(read.transactions == [signed()]);
        let filler = read_content(&write_content(None, &[signed()])).unwrap();
        assert!(filler.request.is_none());
    }

    pub(crate) fn mined() -> MinedTransaction {
        let (transaction, block, block_hash) = ([1; 32].into(), 7, [2; 32].into());
        let topics = vec![[3; 32].into(), [4; 32].into()];
        let (address, data, removed) = ([5; 20].into(), vec![6; 64].into(), false);
        let log = EventLog { address, topics, data, transaction, block, block_hash, removed };
        let (sender, fee_wei) = (Some([8; 20].into()), Some(u128::from(u64::MAX) + 9));
        let (outcome, logs) = (ReceiptStatus::Succeeded, vec![log.clone(), log]);
        MinedTransaction {
            receipt: TransactionReceipt {
                transaction,
                block,
                block_hash,
                outcome,
                logs,
                sender,
                fee_wei,
            },
            in_block: Some((Timestamp(77), Finality::Provisional)),
        }
    }

    #[test]
    fn a_transaction_in_a_block_reads_back_as_it_was_written() {
        let read_back = |mined: &MinedTransaction| read_mined(&write_mined(mined).unwrap());
        let mut mined = mined();
        assert_eq!(read_back(&mined).as_ref(), Some(&mined));
        mined.in_block = Some((Timestamp(78), Finality::Final));
        assert_eq!(read_back(&mined).as_ref(), Some(&mined));
        mined.in_block = None;
        mined.receipt.outcome = ReceiptStatus::Reverted;
        (mined.receipt.sender, mined.receipt.fee_wei) = (None, None);
        mined.receipt.logs.clear();
        assert_eq!(read_back(&mined).as_ref(), Some(&mined));
        assert_eq!(read_mined(b"{}"), None);
    }

    #[test]
    fn a_receipt_whose_logs_contradict_it_is_not_passed_on() {
        let changes: [fn(&mut EventLog); 4] = [
            |log| log.transaction = [9; 32].into(),
            |log| log.block += 1,
            |log| log.block_hash = [9; 32].into(),
            |log| log.removed = true,
        ];
        for change in changes {
            let mut mined = mined();
            change(&mut mined.receipt.logs[1]);
            assert_eq!(write_mined(&mined), None);
        }
    }

    #[test]
    fn content_that_was_changed_is_not_read() {
        let written = write_content(Some(&request()), &[signed()]);
        let text = String::from_utf8(written).unwrap();
        for (part, other) in
            [("\"version\":1", "\"version\":2"), ("0x090909", "0x090908"), ("}]", "")]
        {
            assert!(text.contains(part), "{text}");
            assert!(read_content(text.replace(part, other).as_bytes()).is_none(), "{part}");
        }
    }
}
