//! The chains over real HTTP: what a client sees, in fair weather and foul.

mod batches;
mod calls;
mod client;
mod faults;
mod names;
mod node;
mod sending;

use std::sync::Arc;

use evm::transaction::UnsignedTransaction;
use order::model::chain::EvmAddress;
use serde_json::{Value, json};

use crate::chain::testing::Stopped;
use crate::chain::{ChainEmulator, ChainHandle, ChainId, ChainSettings, MiningMode};
use crate::keys::Key;
use client::{Client, Reply};

/// Four chains that make a block only for a transaction.
async fn open() -> ChainEmulator {
    let mut settings = ChainSettings::new(Arc::new(Stopped));
    settings.seed = Some([9; 32]);
    settings.mining = MiningMode::OnArrival { heartbeat: 0 };
    ChainEmulator::open(settings).await.unwrap()
}

fn client(chains: &ChainEmulator) -> Client {
    Client::new(&chains.origin())
}

/// A payment of USDC as raw bytes.
fn payment(chain: &ChainHandle, payer: &Key, to: EvmAddress, amount: u128) -> Vec<u8> {
    unsigned_payment(chain, chain.nonce_of(payer.address()), to, amount).sign(payer.signing_key())
}

fn unsigned_payment(
    chain: &ChainHandle,
    nonce: u64,
    to: EvmAddress,
    amount: u128,
) -> UnsignedTransaction {
    use alloy_sol_types::SolCall;
    let value = alloy_primitives::U256::from(amount);
    let transfer = evm::interfaces::Usdc::transferCall { to: to.bytes().into(), value };
    UnsignedTransaction {
        chain_id: chain.id().number(),
        nonce,
        priority_fee: 1_000_000,
        max_fee: 100_000_000,
        gas: 200_000,
        to: chain.usdc().bytes(),
        value: 0,
        data: transfer.abi_encode(),
    }
}

fn raw(bytes: &[u8]) -> Value {
    json!([alloy_primitives::hex::encode_prefixed(bytes)])
}

#[tokio::test]
async fn every_chain_answers_at_its_own_address_and_no_other_exists() {
    let chains = open().await;
    let client = client(&chains);
    for id in ChainId::ALL {
        let answer = client.call(id, "eth_chainId", json!([])).await;
        assert_eq!(answer["result"], format!("{:#x}", id.number()));
        assert!(chains.rpc_url(id).ends_with(&format!("/{}", id.number())));
    }
    let Reply::Answer { status, .. } = client.post("/10", "{}").await else { panic!("cut") };
    assert_eq!(status, 404);
    chains.close().await;
    assert_eq!(client.post("/1", "{}").await, Reply::Cut);
}

#[tokio::test]
async fn a_batch_is_answered_in_order_and_invalid_requests_have_error_codes() {
    let chains = open().await;
    let client = client(&chains);
    let batch = r#"[{"jsonrpc":"2.0","id":"a","method":"eth_chainId"},
        {"jsonrpc":"2.0","method":"eth_chainId"},
        {"jsonrpc":"2.0","id":2,"method":"eth_nothing"}, 5]"#;
    let answers = client.post("/8453", batch).await.json();
    assert_eq!(answers[0], json!({ "jsonrpc": "2.0", "id": "a", "result": "0x2105" }));
    assert_eq!(answers[1]["error"]["code"], -32601);
    assert_eq!(answers[2]["error"]["code"], -32600);
    assert_eq!(answers.as_array().unwrap().len(), 3, "a notification has no answer");
    assert_eq!(client.post("/8453", "[]").await.json()["error"]["code"], -32600);
    assert_eq!(client.post("/8453", "{").await.json()["error"]["code"], -32700);
    let named = r#"{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":["0x12"]}"#;
    assert_eq!(client.post("/8453", named).await.json()["error"]["code"], -32602);
}

#[tokio::test]
async fn the_faucet_returns_funded_payers_and_chain_urls() {
    let chains = open().await;
    let said = client(&chains).ask("GET", "/__sandbox/faucet", "").await.json();
    for (who, key) in [("payer", chains.faucet().payer()), ("newcomer", chains.faucet().newcomer())]
    {
        assert_eq!(said[who]["key"], key.reveal());
        assert_eq!(said[who]["address"], key.address().to_string());
        assert_eq!(chains.chain(ChainId::Polygon).usdc_of(key.address()), 1_000_000_000);
    }
    for network in order::model::chain::Network::ALL {
        assert_eq!(said["rpc"][network.caip2()], chains.rpc_url(network));
    }
}
