//! Transactions that a node acknowledges and does not mine.

use alloy_primitives::B256;
use evm::transaction::UnsignedTransaction;

use super::*;
use crate::chain::{CallOutcome, NodeFault, NodeFaultRule, TransactionStatus};
use crate::payee::payee;

const BASE: ChainId = ChainId::Base;
const SEND: &str = "eth_sendRawTransaction";

async fn pending_nonce(client: &Client, account: EvmAddress) -> Value {
    let params = json!([account.to_string(), "pending"]);
    client.result(BASE, "eth_getTransactionCount", params).await
}

#[tokio::test]
async fn a_stranded_transaction_blocks_later_nonces_until_replaced() {
    let chains = open().await;
    let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
    chain.add_fault(NodeFaultRule::once(NodeFault::Strand, SEND));
    let stranded = payment(&chain, &payer, payee(), 1);
    let hash = client.result(BASE, SEND, raw(&stranded)).await;
    assert_eq!(hash, alloy_primitives::keccak256(&stranded).to_string());
    for nonce in 1..=3 {
        let behind = unsigned_payment(&chain, nonce, payee(), 10).sign(payer.signing_key());
        client.result(BASE, SEND, raw(&behind)).await;
    }
    chain.mine(3);
    assert_eq!((chain.usdc_of(payee()), chain.waiting()), (0, 4));
    let pool = client.result(BASE, "txpool_status", json!([])).await;
    assert_eq!(pool, json!({ "pending": "0x0", "queued": "0x4" }));
    assert_eq!(pending_nonce(&client, payer.address()).await, "0x0");
    assert_ne!(client.result(BASE, "eth_getTransactionByHash", json!([hash])).await, Value::Null);
    let again = client.call(BASE, SEND, raw(&stranded)).await;
    assert_eq!(again["error"]["message"], "already known");

    let mut replacement = unsigned_payment(&chain, 0, payee(), 1);
    replacement.max_fee = replacement.max_fee * 109 / 100;
    replacement.priority_fee = replacement.priority_fee * 110 / 100;
    let cheap = client.call(BASE, SEND, raw(&replacement.sign(payer.signing_key()))).await;
    assert_eq!(cheap["error"]["message"], "replacement transaction underpriced");
    replacement.max_fee = 110_000_000;
    let other = client.result(BASE, SEND, raw(&replacement.sign(payer.signing_key()))).await;
    assert_ne!(other, hash);
    assert_eq!((chain.usdc_of(payee()), chain.waiting()), (31, 0));
    assert_eq!(client.result(BASE, "eth_getTransactionByHash", json!([hash])).await, Value::Null);
    assert_eq!(pending_nonce(&client, payer.address()).await, "0x4");
}

#[tokio::test]
async fn a_transaction_in_the_middle_can_strand_and_those_before_it_are_mined() {
    let chains = open().await;
    let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
    chain.set_mining(MiningMode::Held);
    chain.add_fault(NodeFaultRule {
        every: Some(3),
        ..NodeFaultRule::once(NodeFault::Strand, SEND)
    });
    for nonce in 0..5 {
        let bytes = unsigned_payment(&chain, nonce, payee(), 1).sign(payer.signing_key());
        client.result(BASE, SEND, raw(&bytes)).await;
    }
    assert_eq!(pending_nonce(&client, payer.address()).await, "0x2");
    let pool = client.result(BASE, "txpool_status", json!([])).await;
    assert_eq!(pool, json!({ "pending": "0x2", "queued": "0x3" }));
    chain.mine(2);
    assert_eq!((chain.usdc_of(payee()), chain.waiting()), (2, 3));
    chain.drop_waiting();
    assert_eq!(chain.waiting(), 0);
}

#[tokio::test]
async fn a_dropped_transaction_is_acknowledged_and_not_found() {
    let chains = open().await;
    let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
    let bytes = payment(&chain, &payer, payee(), 5);
    chain.add_fault(NodeFaultRule { times: Some(2), ..NodeFaultRule::once(NodeFault::Drop, SEND) });
    let hash = client.result(BASE, SEND, raw(&bytes)).await;
    assert_eq!(hash, alloy_primitives::keccak256(&bytes).to_string());
    chain.mine(1);
    let found = client.result(BASE, "eth_getTransactionByHash", json!([hash])).await;
    assert_eq!((found, chain.waiting(), chain.usdc_of(payee())), (Value::Null, 0, 0));
    assert_eq!(chain.settled(hash.as_str().unwrap().parse::<B256>().unwrap().0), None);
    let foreign = UnsignedTransaction { chain_id: 137, ..unsigned_payment(&chain, 0, payee(), 5) };
    let refused = client.call(BASE, SEND, raw(&foreign.sign(payer.signing_key()))).await;
    assert!(refused.get("error").is_some(), "only what is valid is acknowledged");
    assert_eq!(chain.journal()[0].outcome, CallOutcome::Faulted("drop"));
    assert_eq!(client.result(BASE, SEND, raw(&bytes)).await, hash);
    assert!(matches!(
        chain.settled(hash.as_str().unwrap().parse::<B256>().unwrap().0),
        Some(TransactionStatus::Succeeded { .. })
    ));
}

#[tokio::test]
async fn the_control_interface_accepts_send_faults_and_every_nth_call() {
    let chains = open().await;
    let (client, chain) = (client(&chains), chains.chain(BASE));
    let path = "/__sandbox/8453/faults";
    for (name, fault) in
        [("strand", NodeFault::Strand), ("drop", NodeFault::Drop), ("reorder", NodeFault::Reorder)]
    {
        let body = json!({ "fault": name, "method": SEND, "times": 1, "every": 3 }).to_string();
        assert_eq!(client.post(path, &body).await.status(), 204);
        assert_eq!(
            chain.faults(),
            [NodeFaultRule { every: Some(3), ..NodeFaultRule::once(fault, SEND) }]
        );
        let json_response = client.ask("GET", path, "").await.json();
        assert_eq!(
            (&json_response[0]["fault"], &json_response[0]["every"]),
            (&json!(name), &json!(3))
        );
        chain.clear_faults();
    }
    let wrong = client.post(path, r#"{"fault":"drop","every":0}"#).await.json();
    assert_eq!(wrong["wrong"], json!(["every: a whole number from 1 to 4,294,967,295"]));
}

#[tokio::test]
async fn a_transaction_sent_synchronously_is_answered_with_its_receipt_or_times_out() {
    let chains = open().await;
    let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
    let sync = "eth_sendRawTransactionSync";
    let within = |bytes: &[u8], milliseconds: u64| {
        json!([alloy_primitives::hex::encode_prefixed(bytes), milliseconds])
    };
    let receipt = client.result(BASE, sync, raw(&payment(&chain, &payer, payee(), 5))).await;
    let hash = json!([receipt["transactionHash"]]);
    assert_eq!(client.result(BASE, "eth_getTransactionReceipt", hash).await, receipt);
    let used = unsigned_payment(&chain, 0, payee(), 6).sign(payer.signing_key());
    assert_eq!(client.call(BASE, sync, raw(&used)).await["error"]["code"], -32000);

    chain.set_mining(MiningMode::Held);
    let late = payment(&chain, &payer, payee(), 5);
    let error = client.call(BASE, sync, within(&late, 1)).await["error"].clone();
    let hash = alloy_primitives::keccak256(&late).to_string();
    assert_eq!((&error["code"], &error["data"]), (&json!(4), &json!(hash)));
    assert_eq!(chain.waiting(), 1);

    let waited = unsigned_payment(&chain, 2, payee(), 5).sign(payer.signing_key());
    let asking =
        tokio::spawn(async move { client.result(BASE, sync, within(&waited, 10_000)).await });
    while chain.waiting() < 2 {
        tokio::task::yield_now().await;
    }
    chain.mine(1);
    assert_eq!(asking.await.unwrap()["status"], "0x1");
}
