//! Everything that can be made to go wrong, seen from outside.

use std::time::Duration;

use super::*;
use crate::chain::{CallOutcome, NodeFault, NodeFaultRule, ReorgedTransactions, TransactionStatus};
use crate::payee::payee;

const BASE: ChainId = ChainId::Base;
const SEND: &str = "eth_sendRawTransaction";

#[tokio::test]
async fn an_answer_lost_after_the_broadcast_leaves_the_transaction_behind() {
    let chains = open().await;
    let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
    chain.add_fault(NodeFaultRule::once(NodeFault::LoseAnswer, SEND));
    let bytes = payment(&chain, &payer, payee(), 5);
    assert_eq!(client.try_call(BASE, SEND, raw(&bytes)).await, Reply::Cut);
    assert_eq!(chain.usdc_of(payee()), 5);
    let again = client.call(BASE, SEND, raw(&bytes)).await;
    assert_eq!(again["error"]["message"], "nonce too low: next nonce 1, tx nonce 0");
    let outcomes: Vec<_> = chain.journal().into_iter().map(|call| call.outcome).collect();
    assert_eq!(outcomes, [CallOutcome::Faulted("lose_answer"), CallOutcome::Refused(-32000)]);
    assert_eq!(chain.counts()[SEND], 2);
}

#[tokio::test]
async fn a_node_that_is_down_executes_nothing() {
    let chains = open().await;
    let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
    let bytes = payment(&chain, &payer, payee(), 5);
    chain.add_fault(NodeFaultRule::once(NodeFault::Reset, SEND));
    assert_eq!(client.try_call(BASE, SEND, raw(&bytes)).await, Reply::Cut);
    chain.add_fault(NodeFaultRule::once(NodeFault::Unavailable, SEND));
    assert_eq!(client.try_call(BASE, SEND, raw(&bytes)).await.status(), 503);
    chain.add_fault(NodeFaultRule::once(NodeFault::RateLimited { seconds: 7 }, SEND));
    let limited = client.try_call(BASE, SEND, raw(&bytes)).await;
    assert_eq!(limited.status(), 429);
    let Reply::Answer { head, .. } = limited else { panic!("cut") };
    assert!(head.contains("retry-after: 7"), "{head}");
    chain.add_fault(NodeFaultRule::once(
        NodeFault::Error { code: -32603, message: "no".to_owned() },
        SEND,
    ));
    assert_eq!(client.call(BASE, SEND, raw(&bytes)).await["error"]["code"], -32603);
    assert_eq!((chain.usdc_of(payee()), chain.nonce_of(payer.address())), (0, 0));
    assert!(client.call(BASE, SEND, raw(&bytes)).await.get("result").is_some());
}

#[tokio::test]
async fn a_hanging_call_ends_when_the_server_closes() {
    for (fault, done) in [(NodeFault::Hang, 0), (NodeFault::HangAfter, 5)] {
        let chains = open().await;
        let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
        chain.add_fault(NodeFaultRule::once(fault, SEND));
        let bytes = payment(&chain, &payer, payee(), 5);
        let asking = tokio::spawn(async move { client.try_call(BASE, SEND, raw(&bytes)).await });
        while chain.journal().is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(chain.usdc_of(payee()), done);
        assert!(!asking.is_finished());
        let closing = tokio::time::timeout(Duration::from_secs(10), chains.close());
        closing.await.expect("closing ends all calls");
        assert_eq!(asking.await.unwrap(), Reply::Cut);
    }
}

#[tokio::test]
async fn a_revert_fault_applies_to_a_read_at_once_and_to_a_transaction_in_its_block() {
    let chains = open().await;
    let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
    let read = json!([{ "to": chain.usdc().to_string(), "data": "0x18160ddd" }]);
    chain.add_fault(NodeFaultRule::once(NodeFault::Revert, "eth_call"));
    assert_eq!(client.call(BASE, "eth_call", read.clone()).await["error"]["code"], 3);
    assert!(client.call(BASE, "eth_call", read).await.get("result").is_some());
    chain.add_fault(NodeFaultRule::once(NodeFault::Revert, SEND));
    let hash = client.result(BASE, SEND, raw(&payment(&chain, &payer, payee(), 5))).await;
    let receipt = client.result(BASE, "eth_getTransactionReceipt", json!([hash])).await;
    assert_eq!((&receipt["status"], &receipt["logs"]), (&json!("0x0"), &json!([])));
}

#[tokio::test]
async fn a_node_can_report_a_wrong_chain_lag_and_send_garbage() {
    let chains = open().await;
    let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
    chain.add_fault(NodeFaultRule {
        times: Some(2),
        ..NodeFaultRule::always(NodeFault::ChainId(137))
    });
    assert_eq!(client.result(BASE, "eth_chainId", json!([])).await, "0x89");
    assert_eq!(client.result(BASE, "net_version", json!([])).await, "137");
    assert_eq!(client.result(BASE, "eth_chainId", json!([])).await, "0x2105");
    let hash = chain.send(&payment(&chain, &payer, payee(), 5)).unwrap();
    let named = json!([alloy_primitives::B256::from(hash).to_string()]);
    chain.add_fault(NodeFaultRule::always(NodeFault::Stale { blocks: 1 }));
    for method in ["eth_getTransactionReceipt", "eth_getTransactionByHash"] {
        assert_eq!(client.result(BASE, method, named.clone()).await, Value::Null);
    }
    let head = format!("{:#x}", chain.head().number - 1);
    assert_eq!(client.result(BASE, "eth_blockNumber", json!([])).await, head);
    let unseen = json!([format!("{:#x}", chain.head().number), false]);
    assert_eq!(client.result(BASE, "eth_getBlockByNumber", unseen).await, Value::Null);
    chain.clear_faults();
    assert_ne!(client.result(BASE, "eth_getTransactionReceipt", named).await, Value::Null);
    chain.add_fault(NodeFaultRule::once(NodeFault::Garbage, "eth_chainId"));
    let Reply::Answer { body, .. } = client.try_call(BASE, "eth_chainId", json!([])).await else {
        panic!("cut")
    };
    assert!(serde_json::from_str::<Value>(&body).is_err());
}

#[tokio::test]
async fn a_reorganisation_makes_a_receipt_disappear_and_come_back() {
    let chains = open().await;
    let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
    let hash = chain.send(&payment(&chain, &payer, payee(), 5)).unwrap();
    let named = json!([alloy_primitives::B256::from(hash).to_string()]);
    let before = client.result(BASE, "eth_getTransactionReceipt", named.clone()).await;
    chain.reorganise(1, ReorgedTransactions::Waiting);
    let gone = client.result(BASE, "eth_getTransactionReceipt", named.clone()).await;
    assert_eq!((gone, chain.usdc_of(payee())), (Value::Null, 0));
    assert_eq!(chain.settled(hash), Some(TransactionStatus::Waiting));
    chain.mine(1);
    let after = client.result(BASE, "eth_getTransactionReceipt", named).await;
    assert_ne!(after["blockHash"], before["blockHash"]);
    assert_eq!(chain.usdc_of(payee()), 5);
}

#[tokio::test]
async fn the_control_interface_does_what_the_handle_does() {
    let chains = open().await;
    let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
    let tell = async |method: &str, path: &str, body: &str| {
        let reply = client.ask(method, &format!("/__sandbox{path}"), body).await;
        let status = reply.status();
        assert!(status < 300, "{path}: {reply:?}");
        reply
    };
    tell("POST", "/8453/settings", r#"{"mining":"held","safe":1,"token":"paused"}"#).await;
    chain.send(&payment(&chain, &payer, payee(), 5)).unwrap();
    assert_eq!(chain.waiting(), 1);
    tell("POST", "/8453/mine", "").await;
    assert_eq!((chain.waiting(), chain.usdc_of(payee())), (0, 0), "paused");
    tell("POST", "/8453/settings", r#"{"token":"running"}"#).await;
    let path = format!("/8453/accounts/{}", payee());
    tell("POST", &path, r#"{"usdc":"12","native":7}"#).await;
    let json_response = tell("GET", &path, "").await.json();
    assert_eq!((&json_response["usdc"], &json_response["native"]), (&json!("12"), &json!("7")));
    let rule = r#"{"fault":"unavailable","method":"eth_chainId","times":1}"#;
    tell("POST", "/8453/faults", rule).await;
    assert_eq!(tell("GET", "/8453/faults", "").await.json()[0]["fault"], "unavailable");
    assert_eq!(client.try_call(BASE, "eth_chainId", json!([])).await.status(), 503);
    let journal = tell("GET", "/8453/journal", "").await.json();
    assert_eq!(journal["calls"][0]["outcome"], json!({ "struck": "unavailable" }));
    let before = chains.now();
    assert_eq!(tell("POST", "/time", r#"{"advance":60}"#).await.json()["now"], before + 60);
    tell("POST", "/8453/reorganise", r#"{"blocks":1,"transactions":"dropped"}"#).await;
    assert_eq!(chain.nonce_of(payer.address()), 0);
    assert_eq!(tell("GET", "/chains", "").await.json().as_array().unwrap().len(), 4);
    let wrong = client.post("/__sandbox/8453/faults", r#"{"skip":-1,"colour":"red"}"#).await;
    assert_eq!(wrong.status(), 400);
    let named = wrong.json()["wrong"].as_array().unwrap().len();
    assert_eq!(named, 3, "every wrong field at once");
}
