//! Transfers on the emulated chains, and nodes that return wrong data.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::U256;
use alloy_sol_types::SolCall;
use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use evm::interfaces::Usdc as UsdcContract;
use evm::transaction::UnsignedTransaction;
use order::model::chain::{EvmAddress, Network};
use order::model::ids::Timestamp;
use order::model::money::Usdc;
use order::operator::transfers::{
    ChainTransaction, ChainTransfer, FinalTransaction, TransactionHash, UsdcTransfers,
};
use order::ports::{Clock, Failure};
use order::testing::manual_clock::ManualClock;
use sandbox::chain::{ChainEmulator, ChainHandle, ChainSettings, MiningMode, TagDepths};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::NodeTransfers;
use crate::http::{HostPolicy, HttpCall, HttpClient, HttpUrl};
use crate::rpc::Node;

mod received;

const BASE: Network = Network::Base;
const SELLER: EvmAddress = EvmAddress::from_bytes([0x5e; 20]);
/// For a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// The emulated chains, with a block for each transaction and none otherwise.
struct Chains {
    emulator: ChainEmulator,
    clock: Arc<ManualClock>,
}

/// How a node changes the result of a method.
type Lie = fn(&str, &mut Value);

impl Chains {
    async fn open() -> Self {
        let clock = Arc::new(ManualClock::default());
        let settings = ChainSettings {
            seed: Some([7; 32]),
            mining: MiningMode::OnArrival { heartbeat: 0 },
            ..ChainSettings::new(clock.clone())
        };
        Self { emulator: ChainEmulator::open(settings).await.unwrap(), clock }
    }

    fn base(&self) -> ChainHandle {
        self.emulator.chain(BASE)
    }

    /// The transfers as the emulated node shows them.
    fn transfers(&self) -> NodeTransfers {
        reading(&self.emulator.rpc_url(BASE))
    }

    /// The transfers as a node shows them that changes results.
    async fn changed(&self, lie: Lie) -> NodeTransfers {
        let origin = HttpUrl::parse(&self.emulator.rpc_url(BASE)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().route("/", post(pass_on)).with_state((origin, lie));
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        reading(&url)
    }

    /// Sends USDC from the demonstration payer, in a block of its own.
    fn pay(&self, to: EvmAddress, atomic: u64) -> TransactionHash {
        let call = UsdcContract::transferCall { to: to.bytes().into(), value: U256::from(atomic) };
        self.send(call.abi_encode())
    }

    fn send(&self, data: Vec<u8>) -> TransactionHash {
        let payer = self.emulator.faucet().payer();
        let raw = UnsignedTransaction {
            chain_id: BASE.chain_id(),
            nonce: self.base().next_nonce_of(payer.address()),
            priority_fee: 1_000_000,
            max_fee: 100_000_000,
            gas: 200_000,
            to: BASE.usdc().bytes(),
            value: 0,
            data,
        };
        let hash = self.base().send(&raw.sign(payer.signing_key())).unwrap();
        TransactionHash::parse(&format!("0x{}", alloy_primitives::hex::encode(hash))).unwrap()
    }

    fn payer(&self) -> EvmAddress {
        self.emulator.faucet().payer().address()
    }
}

async fn pass_on(
    State((origin, lie)): State<(HttpUrl, Lie)>,
    Json(request): Json<Value>,
) -> Json<Value> {
    let call = HttpCall::post("a node", origin, &request).at_most(usize::MAX);
    let mut reply: Value = client().send(call).await.unwrap().read().unwrap();
    lie(request["method"].as_str().unwrap(), &mut reply["result"]);
    Json(reply)
}

fn client() -> HttpClient {
    HttpClient::new(HostPolicy::Configured).unwrap().answering_within(DEADLINE)
}

fn reading(url: &str) -> NodeTransfers {
    let node = Node::new(client(), HttpUrl::parse(url).unwrap(), BASE.chain_id());
    NodeTransfers::new(BTreeMap::from([(BASE, node.answering_within(DEADLINE))]))
}

/// Changes the first event of a receipt or of a list.
fn first_event<'a>(method: &str, result: &'a mut Value) -> Option<&'a mut Value> {
    match method {
        "eth_getTransactionReceipt" => result["logs"].get_mut(0),
        "eth_getLogs" => result.get_mut(0),
        _ => None,
    }
}

async fn final_transaction(transfers: &NodeTransfers, hash: &TransactionHash) -> FinalTransaction {
    match transfers.transaction(BASE, hash).await.unwrap() {
        ChainTransaction::Final(found) => found,
        other @ (ChainTransaction::Unknown
        | ChainTransaction::Reverted
        | ChainTransaction::NotFinal) => panic!("not final: {other:?}"),
    }
}

#[tokio::test]
async fn a_final_transaction_has_a_time_a_sender_a_fee_and_its_transfers() {
    let chains = Chains::open().await;
    chains.clock.advance(5);
    let before = chains.base().native_of(chains.payer());
    let hash = chains.pay(SELLER, 3_500_000);
    let found = final_transaction(&chains.transfers(), &hash).await;
    let spent = before - chains.base().native_of(chains.payer());
    let transfer =
        ChainTransfer { from: chains.payer(), to: SELLER, amount: Usdc::from_atomic(3_500_000) };
    assert_eq!(found.at, chains.clock.now());
    assert_eq!((found.sender, found.fee_wei), (chains.payer(), spent));
    assert_eq!(found.transfers, [transfer]);
}

#[tokio::test]
async fn the_fee_for_the_parent_chain_is_part_of_the_fee() {
    let chains = Chains::open().await;
    let hash = chains.pay(SELLER, 1);
    let plain = final_transaction(&chains.transfers(), &hash).await.fee_wei;
    let rollup = chains.changed(|method, result| {
        if method == "eth_getTransactionReceipt" {
            result["l1Fee"] = json!("0x7");
        }
    });
    assert_eq!(final_transaction(&rollup.await, &hash).await.fee_wei, plain + 7);
    let without_fee = chains.changed(|method, result| {
        if method == "eth_getTransactionReceipt" {
            result["effectiveGasPrice"] = Value::Null;
        }
    });
    assert!(matches!(without_fee.await.transaction(BASE, &hash).await, Err(Failure::Lost(_))));
}

#[tokio::test]
async fn a_transaction_is_final_only_when_its_block_is() {
    let chains = Chains::open().await;
    chains.base().set_depths(TagDepths { safe: 0, finalized: 2 });
    let (transfers, hash) = (chains.transfers(), chains.pay(SELLER, 1));
    let unknown = TransactionHash::parse(&format!("0x{}", "ab".repeat(32))).unwrap();
    let found = async |hash: &TransactionHash| transfers.transaction(BASE, hash).await;
    assert_eq!(found(&unknown).await, Ok(ChainTransaction::Unknown));
    chains.base().mine(1);
    assert_eq!(found(&hash).await, Ok(ChainTransaction::NotFinal));
    chains.base().mine(1);
    assert!(matches!(found(&hash).await, Ok(ChainTransaction::Final(_))));
    let other_block = chains.changed(|method, result| {
        if method == "eth_getTransactionReceipt" {
            result["blockHash"] = json!(format!("0x{}", "cd".repeat(32)));
        }
    });
    let found = other_block.await.transaction(BASE, &hash).await;
    assert_eq!(found, Ok(ChainTransaction::NotFinal), "its block is not canonical");
}

#[tokio::test]
async fn a_failed_transaction_is_reverted() {
    let chains = Chains::open().await;
    let too_much = chains.pay(SELLER, 1_000_000_000_000);
    let found = chains.transfers().transaction(BASE, &too_much).await;
    assert_eq!(found, Ok(ChainTransaction::Reverted));
}

#[tokio::test]
async fn only_transfers_of_the_usdc_contract_count() {
    let chains = Chains::open().await;
    let spender = SELLER.bytes().into();
    let approval = UsdcContract::approveCall { spender, value: U256::from(5) };
    let approved = chains.send(approval.abi_encode());
    assert_eq!(final_transaction(&chains.transfers(), &approved).await.transfers, []);
    let paid = chains.pay(SELLER, 1);
    let other_token = chains.changed(|method, result| {
        if let Some(event) = first_event(method, result) {
            event["address"] = json!(format!("0x{}", "11".repeat(20)));
        }
    });
    assert_eq!(final_transaction(&other_token.await, &paid).await.transfers, []);
}

#[tokio::test]
async fn an_event_that_does_not_belong_to_the_receipt_is_an_error() {
    let chains = Chains::open().await;
    let hash = chains.pay(SELLER, 1);
    let lies: [Lie; 6] = [
        |method, result| change(method, result, "removed", json!(true)),
        |method, result| change(method, result, "transactionHash", json!(hash_of(1))),
        |method, result| change(method, result, "blockHash", json!(hash_of(2))),
        |method, result| change(method, result, "blockNumber", json!("0x1")),
        |method, result| change(method, result, "data", json!("0x01")),
        |method, result| change(method, result, "data", json!(hash_of(0xff))),
    ];
    for (number, lie) in lies.into_iter().enumerate() {
        let found = chains.changed(lie).await.transaction(BASE, &hash).await;
        assert!(matches!(found, Err(Failure::Lost(_))), "lie {number}: {found:?}");
    }
}

fn change(method: &str, result: &mut Value, field: &str, value: Value) {
    if let Some(event) = first_event(method, result) {
        event[field] = value;
    }
}

fn hash_of(byte: u8) -> String {
    format!("0x{}", format!("{byte:02x}").repeat(32))
}

#[tokio::test]
async fn a_network_without_a_node_is_refused() {
    let transfers = NodeTransfers::new(BTreeMap::new());
    assert_eq!(transfers.networks(), []);
    let hash = TransactionHash::parse(&hash_of(1)).unwrap();
    let found = transfers.transaction(BASE, &hash).await;
    assert!(matches!(found, Err(Failure::Refused(_))), "{found:?}");
    let found = transfers.received(BASE, &[SELLER], Timestamp(0), Timestamp(u64::MAX)).await;
    assert!(matches!(found, Err(Failure::Refused(_))), "{found:?}");
}
