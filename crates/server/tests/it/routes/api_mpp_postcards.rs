//! `POST /api/mpp/postcards`, with our own settler on the emulated chain.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::thread;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;
use pay::mpp::credential::TransferAuthorization;
use pay::mpp::signature::{digest, nonces};
use sandbox::keys::Key;
use serde_json::{Value, json};

use crate::fixture::encoding::{base64_json, hex};
use crate::fixture::http_client::{Reply, send_request};
use crate::fixture::sandbox::{JSON, card_with};
use crate::fixture::test_app::TestApp;

const ENDPOINT: &str = "POST /api/mpp/postcards";
const PRICE: u64 = 3_500_000;

#[derive(Clone, Copy, Debug)]
enum Nonce {
    Packed,
    Framed,
}

/// A service, and a payer with money on its emulated chain.
struct PayerFixture {
    app: TestApp,
    chain: SocketAddr,
    payer: Key,
}

impl PayerFixture {
    fn start() -> Self {
        let app = TestApp::start("");
        let note = fs::read_to_string(app.folder().join("data/sandbox-chain")).unwrap();
        let chain = note.trim().trim_start_matches("http://").parse().unwrap();
        let faucet = send_request(chain, "GET /__sandbox/faucet", &[], "").json();
        let payer = key(faucet["payer"]["key"].as_str().unwrap());
        Self { app, chain, payer }
    }

    fn post(&self, body: &Value, headers: &[(&str, &str)]) -> Reply {
        self.app.request(ENDPOINT, &[&[JSON], headers].concat(), &body.to_string())
    }

    /// Signs a credential for a challenge as the official clients do.
    fn credential(&self, asked: &Reply, nonce: Nonce) -> Value {
        let challenge = parameters(asked.header("www-authenticate"));
        let request = decoded(&challenge["request"]);
        let [packed, framed] = nonces(&challenge["id"], &challenge["realm"]);
        let nonce = match nonce {
            Nonce::Packed => packed,
            Nonce::Framed => framed,
        };
        let transfer = self.transfer(&request["recipient"], nonce);
        let payload = json!({
            "type": "authorization",
            "from": transfer.from.to_string(),
            "to": transfer.to.to_string(),
            "value": PRICE.to_string(),
            "validAfter": transfer.valid_after.to_string(),
            "validBefore": transfer.valid_before.to_string(),
            "nonce": hex(&transfer.nonce),
            "signature": hex(&transfer.signature),
        });
        let source = format!("did:pkh:eip155:8453:{}", transfer.from);
        json!({ "challenge": challenge, "payload": payload, "source": source })
    }

    fn transfer(&self, to: &Value, nonce: [u8; 32]) -> TransferAuthorization {
        let network = Network::Base;
        let mut transfer = TransferAuthorization {
            network,
            token: network.usdc(),
            from: self.payer.address(),
            to: to.as_str().unwrap().parse().unwrap(),
            value: Usdc::from_atomic(PRICE),
            valid_after: 0,
            valid_before: self.now() + 500,
            nonce,
            signature: [0; 65],
        };
        transfer.signature = self.payer.sign(digest(&transfer));
        transfer
    }

    /// The time of the newest block.
    fn now(&self) -> u64 {
        let body =
            r#"{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["latest",false]}"#;
        let block = send_request(self.chain, "POST /8453", &[JSON], body).json();
        let moment = block["result"]["timestamp"].as_str().unwrap();
        u64::from_str_radix(moment.trim_start_matches("0x"), 16).unwrap()
    }

    /// The amounts that the payer has sent to the seller.
    fn transfers_to(&self, seller: &str) -> Vec<u64> {
        let line = format!("GET /__sandbox/8453/transfers/{seller}");
        let told = send_request(self.chain, &line, &[], "").json();
        let payer = self.payer.address();
        let list = told.as_array().unwrap().clone();
        let own = list.iter().filter(|transfer| {
            transfer["from"].as_str().and_then(|from| from.parse().ok()) == Some(payer)
        });
        own.map(|transfer| number(&transfer["amount"])).collect()
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().or_else(|| value.as_str()?.parse().ok()).unwrap()
}

fn key(text: &str) -> Key {
    let digits = text.trim_start_matches("0x");
    let mut bytes = [0; 32];
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * place..2 * place + 2], 16).unwrap();
    }
    Key::from_bytes(bytes).unwrap()
}

fn parameters(header: &str) -> BTreeMap<String, String> {
    let list = header.strip_prefix("Payment ").unwrap_or_else(|| panic!("no challenge: {header}"));
    let pair = |pair: &str| {
        let (name, value) = pair.split_once("=\"").unwrap();
        (name.to_owned(), value.strip_suffix('"').unwrap().to_owned())
    };
    list.split(", ").map(pair).collect()
}

fn decoded(text: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap()
}

fn encoded(credential: &Value) -> String {
    format!("Payment {}", URL_SAFE_NO_PAD.encode(credential.to_string()))
}

fn seller(asked: &Reply) -> String {
    let challenge = parameters(asked.header("www-authenticate"));
    decoded(&challenge["request"])["recipient"].as_str().unwrap().to_owned()
}

fn kind(reply: &Reply) -> String {
    let kind = reply.json()["type"].as_str().unwrap_or_default().to_owned();
    kind.trim_start_matches("https://paymentauth.org/problems/").to_owned()
}

#[test]
fn a_card_is_paid_with_either_nonce_and_its_receipt_is_repeated_exactly() {
    let fixture = PayerFixture::start();
    for (count, nonce) in [(1, Nonce::Packed), (2, Nonce::Framed)] {
        let card = card_with(&format!("{nonce:?}"));
        let asked = fixture.post(&card, &[]);
        assert_eq!((asked.status, kind(&asked).as_str()), (402, "payment-required"));
        assert_eq!(parameters(asked.header("www-authenticate"))["realm"], "127.0.0.1");
        assert_eq!(asked.header("cache-control"), "no-store");
        let credential = encoded(&fixture.credential(&asked, nonce));
        let header = [("Authorization", credential.as_str())];

        let paid = fixture.post(&card, &header);
        assert_eq!(paid.status, 200, "{}", paid.text());
        assert_eq!(paid.json()["status"], "submitted");
        assert_eq!(paid.header("cache-control"), "private");
        let receipt = decoded(paid.header("payment-receipt"));
        assert_eq!((&receipt["status"], &receipt["chainId"]), (&json!("success"), &json!(8453)));
        assert_eq!(receipt["challengeId"], asked.json()["challengeId"]);
        assert_eq!(fixture.transfers_to(&seller(&asked)), vec![PRICE; count]);

        let again = fixture.post(&card, &header);
        assert_eq!((again.status, &again.body), (200, &paid.body));
        assert_eq!(again.header("payment-receipt"), paid.header("payment-receipt"));
        // A client that lost the response starts over, at either endpoint.
        for endpoint in [ENDPOINT, "POST /api/x402/postcards"] {
            let fresh = fixture.app.request(endpoint, &[JSON], &card.to_string());
            assert_eq!((fresh.status, &fresh.body), (200, &paid.body), "{endpoint}");
        }
        // With its own idempotency key the same body is another order.
        let name = format!("another-card-{nonce:?}");
        let other = fixture.post(&card, &[header[0], ("Idempotency-Key", &name)]);
        assert_eq!((other.status, kind(&other).as_str()), (409, "verification-failed"));
        assert_eq!(other.json()["error"]["code"], "payment_bound_elsewhere");
        let id = paid.json()["id"].as_str().unwrap().to_owned();
        let order = fixture.app.get(&format!("/api/x402/orders/{id}")).json();
        assert_eq!(order["payment"]["protocol"], "mpp");
        assert_eq!(order["payment"]["transaction"], receipt["reference"]);
        assert_eq!(fixture.transfers_to(&seller(&asked)), vec![PRICE; count]);
    }
}

#[test]
fn a_payload_of_the_exact_scheme_of_x402_pays_too() {
    let fixture = PayerFixture::start();
    let card = card_with("by x402");
    let asked = fixture.post(&card, &[]);
    let required = base64_json(asked.header("payment-required"));
    let accepted = &required["accepts"][0];
    let transfer = fixture.transfer(&accepted["payTo"], [9; 32]);
    let payload = json!({
        "x402Version": 2,
        "accepted": accepted,
        "resource": required["resource"],
        "payload": {
            "signature": hex(&transfer.signature),
            "authorization": {
                "from": transfer.from.to_string(),
                "to": transfer.to.to_string(),
                "value": PRICE.to_string(),
                "validAfter": "0",
                "validBefore": transfer.valid_before.to_string(),
                "nonce": hex(&transfer.nonce),
            },
        },
    });
    let header = STANDARD.encode(payload.to_string());
    let paid = fixture.post(&card, &[("Payment-Signature", &header)]);
    assert_eq!(paid.status, 200, "{}", paid.text());
    let response = base64_json(paid.header("payment-response"));
    let receipt = decoded(paid.header("payment-receipt"));
    assert_eq!(response["transaction"], receipt["reference"]);
    assert_eq!(fixture.transfers_to(&seller(&asked)), [PRICE]);

    let other = fixture.post(&card_with("another"), &[("Payment-Signature", &header)]);
    assert_eq!((other.status, kind(&other).as_str()), (409, "verification-failed"));
    assert_eq!(other.json()["error"]["code"], "payment_bound_elsewhere");
    assert_eq!(fixture.transfers_to(&seller(&asked)), [PRICE]);
}

#[test]
fn an_invalid_credential_moves_no_money() {
    let fixture = PayerFixture::start();
    let card = card_with("hello");
    let asked = fixture.post(&card, &[]);
    let seller = seller(&asked);
    let honest = fixture.credential(&asked, Nonce::Packed);
    let other = EvmAddress::from_bytes([0xee; 20]).to_string();
    for (place, value, problem) in [
        ("/challenge/id", json!("A".repeat(43)), "invalid-challenge"),
        ("/challenge/realm", json!("other.example"), "invalid-challenge"),
        ("/challenge/expires", json!("2099-01-01T00:00:00Z"), "invalid-challenge"),
        ("/payload/to", json!(other), "verification-failed"),
        ("/payload/value", json!("3500001"), "verification-failed"),
        ("/payload/from", json!(other), "verification-failed"),
        ("/payload/type", json!("hash"), "malformed-credential"),
        ("/source", json!("did:pkh:eip155:1:0x00"), "verification-failed"),
    ] {
        let mut credential = honest.clone();
        *credential.pointer_mut(place).unwrap() = value;
        let reply = fixture.post(&card, &[("Authorization", &encoded(&credential))]);
        assert_eq!((reply.status, kind(&reply).as_str()), (402, problem), "{place}");
        assert!(reply.header("www-authenticate").starts_with("Payment "), "{place}");
        assert_eq!(reply.header("content-type"), "application/problem+json");
    }
    let good = encoded(&honest);
    let moved_body = fixture.post(&card_with("another"), &[("Authorization", &good)]);
    assert_eq!((moved_body.status, kind(&moved_body).as_str()), (402, "invalid-challenge"));
    let two = [("Authorization", good.as_str()), ("Payment-Authorization", &good)];
    let ambiguous = fixture.post(&card, &two);
    assert_eq!((ambiguous.status, kind(&ambiguous).as_str()), (400, "bad-request"));
    let bare = fixture.post(&card, &[("Authorization", "Bearer a-token")]);
    assert_eq!((bare.status, kind(&bare).as_str()), (402, "payment-required"));
    for method in ["GET", "PUT", "DELETE", "OPTIONS"] {
        let reply = fixture.app.request(&format!("{method} /api/mpp/postcards"), &[], "");
        assert_eq!((reply.status, reply.header("allow")), (405, "POST"), "{method}");
    }
    assert_eq!(fixture.transfers_to(&seller), Vec::<u64>::new());
    // The same credential is valid.
    let beside = fixture.post(&card, &[("Authorization", &format!("Bearer a, {good}"))]);
    assert_eq!(beside.status, 200, "{}", beside.text());
    assert_eq!(fixture.transfers_to(&seller), [PRICE]);
}

#[test]
fn copies_of_one_credential_move_money_once_and_concurrent_payments_all_move() {
    let fixture = PayerFixture::start();
    let card = card_with("hello");
    let asked = fixture.post(&card, &[]);
    let credential = encoded(&fixture.credential(&asked, Nonce::Packed));
    let statuses = thread::scope(|scope| {
        let copy = || fixture.post(&card, &[("Authorization", &credential)]).status;
        let copies: Vec<_> = (0..8).map(|_| scope.spawn(copy)).collect();
        copies.into_iter().map(|copy| copy.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(statuses, [200; 8]);
    assert_eq!(fixture.transfers_to(&seller(&asked)), [PRICE]);

    let statuses = thread::scope(|scope| {
        let pay = |number: usize| {
            let card = card_with(&format!("Number {number}"));
            let asked = fixture.post(&card, &[]);
            let credential = encoded(&fixture.credential(&asked, Nonce::Framed));
            fixture.post(&card, &[("Authorization", &credential)]).status
        };
        let payers: Vec<_> = (0..20).map(|number| scope.spawn(move || pay(number))).collect();
        payers.into_iter().map(|payer| payer.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(statuses, [200; 20]);
    assert_eq!(fixture.transfers_to(&seller(&asked)), [PRICE; 21]);
}
