//! Reads and payments as an adapter makes them.

use alloy_primitives::U256;
use alloy_sol_types::{SolCall, SolEvent};
use evm::interfaces::Usdc;
use evm::transaction::UnsignedTransaction;

use super::*;
use crate::chain::{PERMIT2, TagDepths, TransactionStatus, UPTO_PROXY};
use crate::payee::payee;

const BASE: ChainId = ChainId::Base;

fn quantity(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().unwrap().strip_prefix("0x").unwrap(), 16).unwrap()
}

fn balance_of(account: EvmAddress) -> String {
    let call = Usdc::balanceOfCall { account: account.bytes().into() };
    alloy_primitives::hex::encode_prefixed(call.abi_encode())
}

#[tokio::test]
async fn a_payment_leaves_a_receipt_a_log_and_a_balance() {
    let chains = open().await;
    let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
    let bytes = payment(&chain, &payer, payee(), 3_500_000);
    let hash = client.result(BASE, "eth_sendRawTransaction", raw(&bytes)).await;
    let receipt = client.result(BASE, "eth_getTransactionReceipt", json!([hash])).await;
    assert_eq!(receipt["status"], "0x1");
    assert_eq!(receipt["logs"][0]["address"], format!("{:#x}", BASE.usdc()));
    let transaction = client.result(BASE, "eth_getTransactionByHash", json!([hash])).await;
    assert_eq!(transaction["blockHash"], receipt["blockHash"]);
    assert_eq!(transaction["from"], payer.address().to_string().to_lowercase());
    let by_hash = json!([receipt["blockHash"], true]);
    let block = client.result(BASE, "eth_getBlockByHash", by_hash).await;
    assert_eq!(block["transactions"][0], transaction);
    let to = format!("0x{:0>64}", &payee().to_string().to_lowercase()[2..]);
    let filter = json!({
        "fromBlock": "earliest",
        "address": [BASE.usdc().to_string()],
        "topics": [Usdc::Transfer::SIGNATURE_HASH.to_string(), null, [to]],
    });
    let logs = client.result(BASE, "eth_getLogs", json!([filter])).await;
    assert_eq!(logs, receipt["logs"]);
    let call = json!([{ "to": BASE.usdc().to_string(), "data": balance_of(payee()) }, "latest"]);
    let balance = client.result(BASE, "eth_call", call).await;
    assert_eq!(balance, format!("{:#066x}", 3_500_000));
    assert_eq!(chain.transfers_to(payee())[0].amount, 3_500_000);
    let found = chain.settled(chain.transfers_to(payee())[0].transaction);
    assert_eq!(
        found,
        Some(TransactionStatus::Succeeded { block: quantity(&receipt["blockNumber"]) })
    );
}

#[tokio::test]
async fn a_filter_without_matches_finds_nothing() {
    let chains = open().await;
    let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
    chain.send(&payment(&chain, &payer, payee(), 5)).unwrap();
    let other = EvmAddress::from_bytes([5; 20]).to_string();
    let topic = format!("0x{}", "00".repeat(32));
    for filter in [
        json!({ "fromBlock": "earliest", "address": other }),
        json!({ "fromBlock": "earliest", "topics": [topic] }),
        json!({ "fromBlock": "earliest", "topics": [null, null, null, topic] }),
        json!({ "fromBlock": "earliest", "toBlock": "earliest" }),
    ] {
        let found = client.result(BASE, "eth_getLogs", json!([filter])).await;
        assert_eq!(found, json!([]), "{filter}");
    }
    let all = client.result(BASE, "eth_getLogs", json!([{}])).await;
    assert_eq!(all.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_reverted_read_has_code_3_reason_and_data() {
    let chains = open().await;
    let client = client(&chains);
    let call = Usdc::transferCall { to: payee().bytes().into(), value: U256::ONE }.abi_encode();
    let call = json!({
        "to": BASE.usdc().to_string(),
        "from": EvmAddress::from_bytes([5; 20]).to_string(),
        "input": alloy_primitives::hex::encode_prefixed(call),
    });
    for method in ["eth_call", "eth_estimateGas"] {
        let error = client.call(BASE, method, json!([call])).await["error"].clone();
        assert_eq!(error["code"], 3);
        let words = "execution reverted: ERC20: transfer amount exceeds balance";
        assert_eq!(error["message"], words);
        assert!(error["data"].as_str().unwrap().starts_with("0x08c379a0"));
    }
}

#[tokio::test]
async fn an_estimate_is_enough_for_the_transaction_and_not_much_more() {
    let chains = open().await;
    let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
    let call = Usdc::transferCall { to: payee().bytes().into(), value: U256::ONE }.abi_encode();
    let asked = json!([{
        "from": payer.address().to_string(),
        "to": BASE.usdc().to_string(),
        "data": alloy_primitives::hex::encode_prefixed(&call),
    }]);
    let gas = quantity(&client.result(BASE, "eth_estimateGas", asked).await);
    let mut unsigned = UnsignedTransaction {
        chain_id: 8453,
        nonce: 0,
        priority_fee: 0,
        max_fee: 100_000_000,
        gas,
        to: chain.usdc().bytes(),
        value: 0,
        data: call,
    };
    let enough = chain.send(&unsigned.sign(payer.signing_key())).unwrap();
    assert!(matches!(chain.settled(enough), Some(TransactionStatus::Succeeded { .. })));
    unsigned.nonce = 1;
    unsigned.gas = gas / 2;
    let short = chain.send(&unsigned.sign(payer.signing_key())).unwrap();
    assert!(matches!(chain.settled(short), Some(TransactionStatus::Reverted { .. })));
}

#[tokio::test]
async fn tags_lag_behind_by_their_depths() {
    let chains = open().await;
    let (client, chain) = (client(&chains), chains.chain(BASE));
    chain.set_depths(TagDepths { safe: 2, finalized: 5 });
    chain.mine(10);
    let mut numbers = Vec::new();
    for tag in ["latest", "pending", "safe", "finalized"] {
        let block = client.result(BASE, "eth_getBlockByNumber", json!([tag, false])).await;
        numbers.push(quantity(&block["number"]));
    }
    let head = chain.head().number;
    assert_eq!(numbers, [head, head, head - 2, head - 5]);
    let beyond = json!([format!("{:#x}", head + 1), false]);
    assert_eq!(client.result(BASE, "eth_getBlockByNumber", beyond).await, Value::Null);
    let call = json!([{ "to": BASE.usdc().to_string() }, format!("{:#x}", head + 1)]);
    let error = client.call(BASE, "eth_call", call).await["error"].clone();
    assert_eq!((&error["code"], &error["message"]), (&json!(-32000), &json!("header not found")));
}

#[tokio::test]
async fn pending_transactions_count_only_for_the_pending_tag() {
    let chains = open().await;
    let (client, chain, payer) = (client(&chains), chains.chain(BASE), chains.faucet().payer());
    chain.set_mining(MiningMode::Held);
    let hash = chain.send(&payment(&chain, &payer, payee(), 5)).unwrap();
    let who = payer.address().to_string();
    let count = |tag: &str| json!([who, tag]);
    let method = "eth_getTransactionCount";
    assert_eq!(client.result(BASE, method, count("latest")).await, "0x0");
    assert_eq!(client.result(BASE, method, count("pending")).await, "0x1");
    let named = json!([alloy_primitives::B256::from(hash).to_string()]);
    let seen = client.result(BASE, "eth_getTransactionByHash", named.clone()).await;
    assert_eq!(seen["blockNumber"], Value::Null);
    let none = client.result(BASE, "eth_getTransactionReceipt", named).await;
    assert_eq!(none, Value::Null);
    assert_eq!(chain.settled(hash), Some(TransactionStatus::Waiting));
}

#[tokio::test]
async fn contracts_have_code_and_accounts_have_none() {
    let chains = open().await;
    let (client, chain) = (client(&chains), chains.chain(BASE));
    let wallet = EvmAddress::from_bytes([6; 20]);
    chain.place_code(wallet);
    for place in [chain.usdc(), PERMIT2, UPTO_PROXY, wallet] {
        let code = client.result(BASE, "eth_getCode", json!([place.to_string(), "latest"])).await;
        assert!(code.as_str().unwrap().len() > 2, "{place}");
    }
    for place in [payee(), chains.faucet().settler().address()] {
        let code = client.result(BASE, "eth_getCode", json!([place.to_string()])).await;
        assert_eq!(code, "0x");
    }
}

#[tokio::test]
async fn fee_methods_answer_as_wallets_expect() {
    let chains = open().await;
    let client = client(&chains);
    chains.chain(BASE).mine(3);
    let history = client.result(BASE, "eth_feeHistory", json!(["0x2", "latest", [50]])).await;
    assert_eq!(history["baseFeePerGas"].as_array().unwrap().len(), 3);
    assert_eq!(history["reward"], json!([["0xf4240"], ["0xf4240"]]));
    assert_eq!(client.result(BASE, "eth_gasPrice", json!([])).await, "0xa7d8c0");
    assert_eq!(client.result(BASE, "eth_maxPriorityFeePerGas", json!([])).await, "0xf4240");
}
