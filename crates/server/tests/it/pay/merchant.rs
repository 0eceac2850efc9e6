//! A small shop that sells one card by x402 and by MPP, by code of its own, on the sandbox's chain.

pub(super) mod mpp;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use adapters::clock::SystemClock;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use evm::abi::encode_call;
use evm::hex;
use evm::transaction::UnsignedTransaction;
use order::model::chain::{EvmAddress, Network};
use sandbox::chain::{
    ChainEmulator, ChainHandle, ChainSettings, PERMIT2, TransactionStatus, UPTO_PROXY,
};
use sandbox::payee::payee;
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub(super) const ORDER: &str = "9f2c1e7ab04d4d6c8a53f0e1d2b7c694";
/// 120 cents and the margin.
pub(super) const CHARGE: u128 = 1_452_000;

/// What the shop does with a payment, instead of taking it.
#[derive(Clone, Debug)]
pub(super) enum Mood {
    Say(u16, Value),
    /// Takes the money, and hangs up before it says so.
    TakeAndHangUp,
    /// Says that settling failed for good.
    Decline,
}

pub(super) struct Seen {
    pub(super) body: String,
    pub(super) payment: Option<String>,
}

pub(super) struct Books {
    pub(super) seen: Vec<Seen>,
    pub(super) moods: VecDeque<Mood>,
    pub(super) required: Value,
    /// What MPP's challenges ask for.
    pub(super) request: Value,
    settled: Vec<String>,
}

#[derive(Clone)]
pub(super) struct Merchant {
    pub(super) url: String,
    pub(super) chains: Arc<ChainEmulator>,
    books: Arc<Mutex<Books>>,
}

impl Merchant {
    pub(super) async fn open() -> Self {
        let chains =
            ChainEmulator::open(ChainSettings::new(Arc::new(SystemClock::start()))).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let carrier = chains.faucet().settler().address();
        let required = required(&url, carrier);
        let books = Books {
            seen: Vec::new(),
            moods: VecDeque::new(),
            required,
            request: mpp::request(),
            settled: Vec::new(),
        };
        let merchant = Self { url, chains: Arc::new(chains), books: Arc::new(Mutex::new(books)) };
        let router = Router::new()
            .route("/api/x402/postcards", post(sell))
            .route("/api/mpp/postcards", post(mpp::sell))
            .route("/api/x402/orders/{id}", get(order))
            .with_state(merchant.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        merchant
    }

    pub(super) fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap()
    }

    pub(super) fn chain(&self, network: Network) -> ChainHandle {
        self.chains.chain(network)
    }

    /// The payments that came, as they were sent.
    pub(super) fn payments(&self) -> Vec<String> {
        self.books().seen.iter().filter_map(|seen| seen.payment.clone()).collect()
    }

    /// What the seller was really paid on this network.
    pub(super) fn takings(&self, network: Network) -> Vec<u128> {
        let transfers = self.chain(network).transfers_to(payee());
        transfers.into_iter().map(|transfer| transfer.amount).collect()
    }
}

fn required(url: &str, carrier: EvmAddress) -> Value {
    let offers = Network::ALL.map(|network| {
        json!({
            "scheme": "upto", "network": network.caip2(), "amount": "3500000",
            "asset": network.usdc().to_string(), "payTo": payee().to_string(),
            "maxTimeoutSeconds": 600,
            "extra": {
                "name": "USD Coin", "version": "2", "assetTransferMethod": "permit2",
                "facilitatorAddress": carrier.to_string(),
            },
        })
    });
    let identifier = json!({ "info": { "required": false }, "schema": { "type": "object" } });
    json!({
        "x402Version": 2,
        "error": "Payment required",
        "resource": {
            "url": format!("{url}/api/x402/postcards"),
            "description": "One 4x6 physical postcard",
            "mimeType": "application/json",
        },
        "accepts": offers,
        "extensions": { "payment-identifier": identifier },
    })
}

async fn order(Path(id): Path<String>) -> Response {
    let record = json!({ "id": id, "status": "submitted", "pricing": { "charged": "1.452" } });
    record.to_string().into_response()
}

async fn sell(State(shop): State<Merchant>, headers: HeaderMap, body: Bytes) -> Response {
    let payment = headers.get("payment-signature").map(|value| value.to_str().unwrap().to_owned());
    let body = String::from_utf8(body.to_vec()).unwrap();
    shop.books().seen.push(Seen { body, payment: payment.clone() });
    let Some(payment) = payment else {
        let context = json!({ "public_order_id": ORDER });
        return challenge(&shop, 402, "Payment required", &context);
    };
    let mood = shop.books().moods.pop_front();
    match mood {
        None => take(&shop, &payment),
        Some(Mood::Say(status, body)) => {
            (StatusCode::from_u16(status).unwrap(), body.to_string()).into_response()
        }
        Some(Mood::Decline) => {
            let said = json!({
                "success": false, "errorReason": "permit2_simulation_failed",
                "transaction": "", "network": "eip155:8453",
            });
            let head = [("payment-response", STANDARD.encode(said.to_string()))];
            (StatusCode::PAYMENT_REQUIRED, head, "{}").into_response()
        }
        Some(Mood::TakeAndHangUp) => {
            let taken = take(&shop, &payment);
            assert_eq!(taken.status(), 200);
            panic!("the shop hangs up, as it was told to");
        }
    }
}

fn challenge(shop: &Merchant, status: u16, error: &str, body: &Value) -> Response {
    let mut required = shop.books().required.clone();
    required["error"] = json!(error);
    let head = [("payment-required", STANDARD.encode(required.to_string()))];
    (StatusCode::from_u16(status).unwrap(), head, body.to_string()).into_response()
}

/// Takes a payment to the chain, whose contracts judge it.
fn take(shop: &Merchant, payment: &str) -> Response {
    let paid = json!({ "id": ORDER, "status": "submitted" }).to_string();
    if shop.books().settled.iter().any(|settled| settled == payment) {
        return paid.into_response();
    }
    let sent: Value = serde_json::from_slice(&STANDARD.decode(payment).unwrap()).unwrap();
    let network = Network::from_caip2(sent["accepted"]["network"].as_str().unwrap()).unwrap();
    let offers = shop.books().required["accepts"].clone();
    assert!(offers.as_array().unwrap().contains(&sent["accepted"]), "{sent:#}");
    let promise = &sent["payload"]["permit2Authorization"];
    assert_eq!(promise["spender"], UPTO_PROXY.to_string());
    let payer: EvmAddress = promise["from"].as_str().unwrap().parse().unwrap();
    let permit = &sent["extensions"]["eip2612GasSponsoring"]["info"];
    let chain = shop.chain(network);
    if chain.allowance(payer, PERMIT2) < 3_500_000 && permit.get("signature").is_none() {
        return challenge(shop, 412, "permit2_allowance_required", &json!({}));
    }
    let data = calldata(promise, permit, sent["payload"]["signature"].as_str().unwrap());
    let hash = carry(shop, network, UPTO_PROXY, data);
    shop.books().settled.push(payment.to_owned());
    let said = json!({
        "success": true, "payer": payer.to_string(), "transaction": hex::encode(&hash),
        "network": network.caip2(), "amount": CHARGE.to_string(),
    });
    ([("payment-response", STANDARD.encode(said.to_string()))], paid).into_response()
}

/// Calls a contract with the shop's own gas, and insists on success.
fn carry(shop: &Merchant, network: Network, to: EvmAddress, data: Vec<u8>) -> [u8; 32] {
    let (settler, chain) = (shop.chains.faucet().settler(), shop.chain(network));
    let raw = UnsignedTransaction {
        chain_id: network.chain_id(),
        nonce: chain.nonce_of(settler.address()),
        priority_fee: 1_000_000,
        max_fee: 100_000_000,
        gas: 400_000,
        to: to.bytes(),
        value: 0,
        data,
    }
    .sign(settler.signing_key());
    let hash = chain.send(&raw).unwrap();
    let Some(TransactionStatus::Succeeded { .. }) = chain.settled(hash) else { panic!("reverted") };
    hash
}

const SETTLE: &str = "settle(((address,uint256),uint256,uint256),uint256,address,\
    (address,address,uint256),bytes)";
const SETTLE_WITH_PERMIT: &str = "settleWithPermit((uint256,uint256,bytes32,bytes32,uint8),\
    ((address,uint256),uint256,uint256),uint256,address,(address,address,uint256),bytes)";

/// The call of the proxy, word by word.
fn calldata(promise: &Value, permit: &Value, signature: &str) -> Vec<u8> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    let function = match permit.get("signature") {
        None => SETTLE,
        Some(signed) => {
            let parts = digits(signed.as_str().unwrap());
            words.extend([decimal(&permit["amount"]), decimal(&permit["deadline"])]);
            words.extend([parts[..32].to_vec(), parts[32..64].to_vec(), padded(&parts[64..])]);
            SETTLE_WITH_PERMIT
        }
    };
    let account = |value: &Value| padded(&digits(value.as_str().unwrap()));
    words.extend([
        account(&promise["permitted"]["token"]),
        decimal(&promise["permitted"]["amount"]),
        decimal(&promise["nonce"]),
        decimal(&promise["deadline"]),
        decimal(&json!(CHARGE.to_string())),
        account(&promise["from"]),
        account(&promise["witness"]["to"]),
        account(&promise["witness"]["facilitator"]),
        decimal(&promise["witness"]["validAfter"]),
    ]);
    let offset = u64::try_from((words.len() + 1) * 32).unwrap();
    let signature = digits(signature);
    words.push(padded(&offset.to_be_bytes()));
    words.push(padded(&u64::try_from(signature.len()).unwrap().to_be_bytes()));
    words.push(signature);
    words.push(vec![0; 31]);
    [encode_call(function, &[]), words.concat()].concat()
}

fn padded(bytes: &[u8]) -> Vec<u8> {
    [vec![0; 32 - bytes.len()], bytes.to_vec()].concat()
}

fn digits(text: &str) -> Vec<u8> {
    hex::decode(text).unwrap()
}

/// A decimal text of any length as one word.
fn decimal(value: &Value) -> Vec<u8> {
    let mut word = vec![0; 32];
    for digit in value.as_str().unwrap().bytes() {
        let mut carry = u32::from(digit - b'0');
        for byte in word.iter_mut().rev() {
            let sum = u32::from(*byte) * 10 + carry;
            *byte = u8::try_from(sum % 256).unwrap();
            carry = sum / 256;
        }
    }
    word
}
