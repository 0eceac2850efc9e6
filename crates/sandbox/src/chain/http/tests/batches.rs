//! Batches: their order, and what a fault in the middle leaves done.

use std::time::Duration;

use super::*;
use crate::chain::{CallOutcome, NodeFault, NodeFaultRule};
use crate::payee::payee;

const BASE: ChainId = ChainId::Base;
const SEND: &str = "eth_sendRawTransaction";

/// Payments of 1, 10, 100, … with the nonces from 0, each sent under its nonce as id.
fn sends(chain: &ChainHandle, payer: &Key, count: u32) -> Vec<Value> {
    let send = |nonce: u32| {
        let amount = 10_u128.pow(nonce);
        let bytes =
            unsigned_payment(chain, nonce.into(), payee(), amount).sign(payer.signing_key());
        json!({ "jsonrpc": "2.0", "id": nonce, "method": SEND, "params": raw(&bytes) })
    };
    (0..count).map(send).collect()
}

async fn post(client: &Client, batch: &[Value]) -> Reply {
    client.post("/8453", &Value::from(batch.to_vec()).to_string()).await
}

fn ids(answers: &Value) -> Vec<&Value> {
    answers.as_array().unwrap().iter().map(|answer| &answer["id"]).collect()
}

fn outcomes(chain: &ChainHandle) -> Vec<CallOutcome> {
    chain.journal().into_iter().map(|call| call.outcome).collect()
}

#[tokio::test]
async fn a_batch_is_done_in_order_and_answered_in_order() {
    let chains = open().await;
    let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
    let who = payer.address().to_string();
    let count = |id: &str| {
        let params = json!([who, "latest"]);
        json!({ "jsonrpc": "2.0", "id": id, "method": "eth_getTransactionCount", "params": params })
    };
    let [first, second] = sends(&chain, &payer, 2).try_into().unwrap();
    let batch = [count("a"), first, count("b"), second, count("c")];
    let answers = post(&client, &batch).await.json();
    assert_eq!(ids(&answers), [&json!("a"), &json!(0), &json!("b"), &json!(1), &json!("c")]);
    let counted = [0, 2, 4].map(|index: usize| answers[index]["result"].clone());
    assert_eq!(counted, ["0x0", "0x1", "0x2"]);
    assert_eq!((chain.usdc_of(payee()), chain.journal().len()), (11, 5));
}

#[tokio::test]
async fn a_refused_call_does_not_affect_others_of_the_batch() {
    let chains = open().await;
    let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
    let error = NodeFault::Error { code: -32603, message: "no".to_owned() };
    chain.add_fault(NodeFaultRule { skip: 1, ..NodeFaultRule::once(error, SEND) });
    let answers = post(&client, &sends(&chain, &payer, 3)).await.json();
    assert_eq!(ids(&answers), [0, 1, 2]);
    assert_eq!(answers[1]["error"]["code"], -32603);
    assert!(answers[2].get("result").is_some());
    assert_eq!((chain.usdc_of(payee()), chain.waiting()), (1, 1), "the third waits for the second");
    let expected = [CallOutcome::Answered, CallOutcome::Faulted("error"), CallOutcome::Answered];
    assert_eq!(outcomes(&chain), expected);
}

#[tokio::test]
async fn a_fault_before_a_call_stops_it_and_all_later_calls() {
    let limited = NodeFault::RateLimited { seconds: 3 };
    for (fault, status) in
        [(NodeFault::Reset, None), (NodeFault::Unavailable, Some(503)), (limited, Some(429))]
    {
        let chains = open().await;
        let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
        chain.add_fault(NodeFaultRule { skip: 1, ..NodeFaultRule::once(fault.clone(), SEND) });
        let reply = post(&client, &sends(&chain, &payer, 3)).await;
        match status {
            None => assert_eq!(reply, Reply::Cut),
            Some(status) => assert_eq!(reply.status(), status),
        }
        assert_eq!((chain.usdc_of(payee()), chain.waiting()), (1, 0), "{fault:?}");
        assert_eq!(chain.journal().len(), 2, "what was not done is not in the journal");
    }
}

#[tokio::test]
async fn a_lost_response_executes_its_call_and_stops_all_later_calls() {
    for fault in [NodeFault::LoseAnswer, NodeFault::Garbage] {
        let chains = open().await;
        let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
        chain.add_fault(NodeFaultRule { skip: 1, ..NodeFaultRule::once(fault.clone(), SEND) });
        match post(&client, &sends(&chain, &payer, 3)).await {
            Reply::Cut => assert_eq!(fault, NodeFault::LoseAnswer),
            Reply::Answer { body, .. } => {
                assert_eq!(fault, NodeFault::Garbage);
                assert!(serde_json::from_str::<Value>(&body).is_err());
            }
        }
        assert_eq!((chain.usdc_of(payee()), chain.waiting()), (11, 0), "{fault:?}");
    }
}

#[tokio::test]
async fn a_batch_hangs_as_a_whole() {
    for (fault, paid) in [(NodeFault::Hang, 1), (NodeFault::HangAfter, 11)] {
        let chains = open().await;
        let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
        chain.add_fault(NodeFaultRule { skip: 1, ..NodeFaultRule::once(fault, SEND) });
        let batch = sends(&chain, &payer, 3);
        let asking = tokio::spawn(async move { post(&client, &batch).await });
        while chain.journal().len() < 2 {
            tokio::task::yield_now().await;
        }
        assert_eq!((chain.usdc_of(payee()), chain.waiting()), (paid, 0));
        let closing = tokio::time::timeout(Duration::from_secs(10), chains.close());
        closing.await.expect("closing ends calls that hang");
        assert_eq!(asking.await.unwrap(), Reply::Cut);
        assert_eq!(chain.journal().len(), 2);
    }
}

#[tokio::test]
async fn a_reordered_batch_takes_effect_backwards_and_is_answered_forwards() {
    let chains = open().await;
    let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
    chain.add_fault(NodeFaultRule::once(NodeFault::Reorder, SEND));
    let [first, second, third] = sends(&chain, &payer, 3).try_into().unwrap();
    let head = json!({ "jsonrpc": "2.0", "id": "head", "method": "eth_chainId" });
    // A transaction alone has no order: it leaves the rule as it is.
    let error = NodeFault::Error { code: -32603, message: "no".to_owned() };
    chain.add_fault(NodeFaultRule::once(error.clone(), SEND));
    post(&client, std::slice::from_ref(&first)).await.json();
    // The first to take effect is the last that was asked for.
    chain.add_fault(NodeFaultRule::once(error, SEND));
    let answers = post(&client, &[first, head, second, third]).await.json();
    assert_eq!(ids(&answers), [&json!(0), &json!("head"), &json!(1), &json!(2)]);
    assert_eq!(answers[3]["error"]["code"], -32603);
    assert_eq!((chain.usdc_of(payee()), chain.nonce_of(payer.address())), (11, 2));
    let (before, both) = (chain.head().number - 1, chain.transfers_to(payee()));
    assert!(both.iter().all(|paid| paid.block == before + 1), "nonce 1 waited for nonce 0");
    let reordered = CallOutcome::Faulted("reorder");
    let expected = [CallOutcome::Faulted("error"), CallOutcome::Answered, reordered.clone()];
    assert_eq!(outcomes(&chain)[1..4], expected);
    assert_eq!(outcomes(&chain)[4], reordered);
    assert_eq!(chain.faults(), []);
}
