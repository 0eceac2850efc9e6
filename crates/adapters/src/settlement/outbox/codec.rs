//! The part of an outbox row that is encrypted at rest: the call and the signed transactions.

use alloy_primitives::{Address, Bytes};
use order::model::chain::EvmAddress;
use order::model::payment::PaymentKey;
use serde::{Deserialize, Serialize};

use super::interface::{AccountCode, SettlementRequest};
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

#[cfg(test)]
mod tests {
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
