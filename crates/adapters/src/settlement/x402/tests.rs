//! The calls and the proof alone, beside what the official client made.

use order::model::chain::Network;
use pay::x402::signature::authorization_digest;
use serde_json::Value;

use super::*;
use crate::rpc::ReceiptStatus;

/// Made by the official client for all three networks.
const VECTORS: &str = include_str!("../../../../evm/vectors/x402_upto.json");

const CHARGE: Money = Money::from_atomic(2_117_500);

fn vectors() -> Vec<Value> {
    let file: Value = serde_json::from_str(VECTORS).unwrap();
    file["vectors"].as_array().unwrap().clone()
}

fn text<'a>(vector: &'a Value, pointer: &str) -> &'a str {
    vector.pointer(pointer).unwrap().as_str().unwrap()
}

/// What the client was asked to sign, the same on each network.
const NONCE: &str = "0xf3746613c2d920b5fdabc0856f2aeb2d4f88ee6037b8cc5d04a71a4462f13480";

fn authorization(vector: &Value) -> Permit2Authorization {
    Permit2Authorization {
        network: Network::from_caip2(text(vector, "/network")).unwrap(),
        payer: text(vector, "/payer").parse().unwrap(),
        pay_to: "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65".parse().unwrap(),
        facilitator: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8".parse().unwrap(),
        most: Money::from_atomic(3_500_000),
        nonce: NONCE.parse::<B256>().unwrap().0,
        valid_after: 0,
        deadline: 4_102_444_800,
        signature: text(vector, "/signature").parse::<Bytes>().unwrap().to_vec(),
        permit: None,
        payload: Value::Null.into(),
    }
}

#[test]
fn digest_and_call_are_those_of_the_official_client() {
    assert_eq!(vectors().len(), 3);
    for vector in vectors() {
        let authorization = authorization(&vector);
        assert_eq!(
            B256::from(authorization_digest(&authorization)).to_string(),
            text(&vector, "/digest")
        );
        let call = call(&authorization, CHARGE, Allowance::Given);
        assert_eq!(Bytes::from(call.data).to_string(), text(&vector, "/settleCalldata"));
        assert_eq!(call.to, from_alloy(UPTO_PROXY));
        let (word, bit) = permit2::word_and_bit(authorization.nonce);
        assert_eq!(word.to_string(), text(&vector, "/nonceBitmap/wordPosition"));
        assert_eq!(bit, U256::ONE << 128);
    }
}

#[test]
fn a_payment_key_depends_on_network_payer_and_nonce_only() {
    let first = authorization(&vectors()[0]);
    let other = |change: fn(&mut Permit2Authorization)| {
        let mut changed = first.clone();
        change(&mut changed);
        key(&changed)
    };
    assert_eq!(other(|authorization| authorization.deadline += 1), key(&first));
    assert_ne!(other(|authorization| authorization.network = Network::Polygon), key(&first));
    assert_ne!(other(|authorization| authorization.nonce[0] ^= 1), key(&first));
    assert_ne!(other(|authorization| authorization.payer = authorization.pay_to), key(&first));
}

fn receipt(authorization: &Permit2Authorization) -> TransactionReceipt {
    let transfer = Usdc::Transfer {
        from: to_alloy(authorization.payer),
        to: to_alloy(authorization.pay_to),
        value: U256::from(CHARGE.atomic()),
    };
    let data = transfer.encode_log_data();
    let log = EventLog {
        address: to_alloy(authorization.network.usdc()),
        topics: data.topics().to_vec(),
        data: data.data,
        transaction: B256::ZERO,
        block: 1,
        block_hash: B256::ZERO,
        removed: false,
    };
    let (transaction, block_hash) = (B256::ZERO, B256::ZERO);
    let outcome = ReceiptStatus::Succeeded;
    let (sender, fee_wei, logs) = (None, None, vec![log]);
    TransactionReceipt { transaction, block: 1, block_hash, outcome, logs, sender, fee_wei }
}

#[test]
fn only_the_usdc_transfer_of_this_amount_from_payer_to_seller_is_proof() {
    let authorization = authorization(&vectors()[0]);
    assert!(shows(&receipt(&authorization), &authorization, CHARGE));
    assert!(!shows(&receipt(&authorization), &authorization, authorization.most));
    let changes: [fn(&mut EventLog); 6] = [
        |log| log.address = PERMIT2,
        |log| log.topics[0] = B256::ZERO,
        |log| log.topics.swap(1, 2),
        |log| log.topics[2] = B256::ZERO,
        |log| log.data = Bytes::new(),
        |log| log.topics.clear(),
    ];
    for (number, change) in changes.iter().enumerate() {
        let mut receipt = receipt(&authorization);
        change(&mut receipt.logs[0]);
        assert!(!shows(&receipt, &authorization, CHARGE), "change {number}");
        receipt.logs.clear();
        assert!(!shows(&receipt, &authorization, CHARGE));
    }
}

#[test]
fn a_revert_is_reported_by_its_x402_reason() {
    let said = |error: Vec<u8>| reason(&error);
    assert_eq!(said(Permit2::InvalidNonce {}.abi_encode()), "permit2_invalid_nonce");
    assert_eq!(said(Permit2::InvalidSigner {}.abi_encode()), "invalid_permit2_signature");
    let expired = Permit2::SignatureExpired { signatureDeadline: U256::ONE };
    assert_eq!(said(expired.abi_encode()), "permit2_deadline_expired");
    let wrong = UptoProxy::Permit2612AmountMismatch {};
    assert_eq!(said(wrong.abi_encode()), "permit2_2612_amount_mismatch");
    assert_eq!(said(Revert::from(TRANSFER_FAILED).abi_encode()), "permit2_simulation_failed");
    assert_eq!(said(Vec::new()), "permit2_simulation_failed");
}
