//! A porter of transfers for tests, and a payer who does what the official clients do.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::{HeaderMap, HeaderName};
use order::model::chain::Network;
use order::model::money::{CEILING, Price};
use order::model::offer::Offer;
use order::model::payment::{Finality, Preparation};
use order::ports::Failure;
use order::tender::{Rejection, Unsettled};
use serde_json::{Value, json};

use super::challenge::Usual;
use super::credential::{Authorization, Proof};
use super::facilitator::{Due, Facilitator, Found, Prepared, Service};
use super::signature::{digest, nonces};
use super::{Mpp, Realm, Secrets, headers};
use crate::movement::{Moved, Movement};
use crate::x402::Resource;
pub(crate) use crate::x402::samples::{
    NOW, ORDER, Payer, SELLER, TRANSACTION, decoded, hex, payees, terms,
};

/// As text, so that the official crate can be given it.
pub(crate) const SECRET: &str = "a-secret-of-thirty-two-bytes-ok!";
pub(crate) const EARLIER_SECRET: &str = "the-secret-that-we-had-yesterday";
pub(crate) const REALM: &str = "cards.example";
pub(crate) const BODY: &[u8] = br#"{"message":"The sea says hello."}"#;

/// A facilitator that says what a test wants and remembers what it was asked.
pub(crate) struct Porter {
    pub(crate) service: Service,
    pub(crate) verified: Result<Found, Rejection>,
    pub(crate) prepared: Result<Prepared, Rejection>,
    pub(crate) settled: Result<Moved, Unsettled>,
    pub(crate) traced: Result<Movement, Failure>,
    pub(crate) calls: Mutex<Vec<&'static str>>,
}

impl Porter {
    pub(crate) fn good() -> Self {
        let moved = Moved {
            transaction: TRANSACTION.into(),
            at: NOW.plus(3),
            finality: Finality::Provisional,
        };
        Self {
            service: Service::Offered,
            verified: Ok(Found::Unused),
            prepared: Ok(Prepared {
                preparation: Preparation(b"signed".to_vec()),
                found: Found::Unused,
            }),
            settled: Ok(moved.clone()),
            traced: Ok(Movement::Moved(moved)),
            calls: Mutex::default(),
        }
    }

    pub(crate) fn calls(&self) -> Vec<&'static str> {
        self.calls.lock().unwrap().clone()
    }

    fn called(&self, name: &'static str) {
        self.calls.lock().unwrap().push(name);
    }
}

#[async_trait]
impl Facilitator for Porter {
    fn service(&self, network: Network) -> Service {
        assert_eq!(network, Network::Base);
        self.service
    }

    async fn verify(&self, _authorization: &Authorization) -> Result<Found, Rejection> {
        self.called("verify");
        self.verified.clone()
    }

    async fn prepare(
        &self,
        _authorization: &Authorization,
        _earlier: Option<&Preparation>,
    ) -> Result<Prepared, Rejection> {
        self.called("prepare");
        self.prepared.clone()
    }

    async fn settle(&self, _due: Due<'_>) -> Result<Moved, Unsettled> {
        self.called("settle");
        self.settled.clone()
    }

    async fn trace(&self, _due: Due<'_>, _told: Option<&str>) -> Result<Movement, Failure> {
        self.called("trace");
        self.traced.clone()
    }
}

pub(crate) fn secret(text: &str) -> [u8; 32] {
    text.as_bytes().try_into().unwrap()
}

pub(crate) fn secrets() -> Secrets {
    Secrets::new(secret(SECRET), &[])
}

pub(crate) fn resource() -> Resource {
    let url = "https://cards.example/api/mpp/postcards";
    Resource::parse(url, "One 4x6 physical postcard", "Pennyblack", &["postcard", "mail"]).unwrap()
}

/// Randomness that never repeats and can be foreseen.
pub(crate) fn counting() -> Option<[u8; 16]> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut bytes = [7; 16];
    bytes[..8].copy_from_slice(&COUNT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    Some(bytes)
}

pub(crate) fn mpp(porter: Porter) -> (Mpp, Arc<Porter>) {
    let porter = Arc::new(porter);
    let mpp = Mpp {
        facilitator: porter.clone(),
        realm: Realm::parse(REALM).unwrap(),
        secrets: secrets(),
        randomness: Arc::new(counting),
        resource: resource(),
        usual: Usual::default(),
        mode: crate::mode::Mode::Live,
    };
    (mpp, porter)
}

pub(crate) fn offer() -> Offer {
    let price = Price::Fixed(CEILING);
    Offer { order: ORDER, price, payees: payees() }
}

/// Which of the two ways a client makes its nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nonce {
    Packed,
    Framed,
}

/// The parameters of a challenge. None of ours has anything escaped in it.
pub(crate) fn parameters(header: &str) -> BTreeMap<String, String> {
    let list = header.strip_prefix("Payment ").unwrap();
    let pair = |pair: &str| {
        let (name, value) = pair.split_once("=\"").unwrap();
        (name.to_owned(), value.strip_suffix('"').unwrap().to_owned())
    };
    list.split(", ").map(pair).collect()
}

/// JSON inside base64url.
pub(crate) fn unpacked(text: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap()
}

/// The value of `Authorization` for a credential.
pub(crate) fn authorization(credential: &Value) -> String {
    format!("Payment {}", URL_SAFE_NO_PAD.encode(credential.to_string()))
}

/// The value of `Payment-Signature` for an x402 payload.
pub(crate) fn payment_signature(payload: &Value) -> String {
    STANDARD.encode(payload.to_string())
}

pub(crate) fn one_header(name: &str, value: &str) -> HeaderMap {
    let name: HeaderName = name.parse().unwrap();
    HeaderMap::from_iter([(name, value.parse().unwrap())])
}

impl Payer {
    /// Answers a challenge and echoes all of it.
    pub(crate) fn answer(&self, header: &str, nonce: Nonce) -> Value {
        let challenge = parameters(header);
        let request = unpacked(&challenge["request"]);
        let [packed, framed] = nonces(&challenge["id"], &challenge["realm"]);
        let nonce = match nonce {
            Nonce::Packed => packed,
            Nonce::Framed => framed,
        };
        let mut credential = json!({
            "challenge": challenge,
            "payload": {
                "type": "authorization",
                "from": self.address().to_string(),
                "to": request["recipient"],
                "value": request["amount"],
                "validAfter": "0",
                "validBefore": (NOW.0 + 600).to_string(),
                "nonce": hex(&nonce),
                "signature": hex(&[0; 65]),
            },
            "source": format!("did:pkh:eip155:8453:{}", self.address()),
        });
        self.sign_transfer(&mut credential);
        credential
    }

    /// Signs the transfer that a credential holds now.
    pub(crate) fn sign_transfer(&self, credential: &mut Value) {
        let header = authorization(credential);
        credential["payload"]["signature"] = self.signed("authorization", &header).into();
    }

    /// Accepts x402's entry beside the challenge, with a nonce of its own.
    pub(crate) fn exact(&self, required: &Value, nonce: u8) -> Value {
        let accepted = &required["accepts"][0];
        let mut payload = json!({
            "x402Version": 2,
            "payload": {
                "signature": hex(&[0; 65]),
                "authorization": {
                    "from": self.address().to_string(),
                    "to": accepted["payTo"],
                    "value": accepted["amount"],
                    "validAfter": (NOW.0 - 600).to_string(),
                    "validBefore": (NOW.0 + 600).to_string(),
                    "nonce": hex(&[nonce; 32]),
                },
            },
            "resource": required["resource"],
            "accepted": accepted,
        });
        self.sign_exact(&mut payload);
        payload
    }

    pub(crate) fn sign_exact(&self, payload: &mut Value) {
        let header = payment_signature(payload);
        payload["payload"]["signature"] = self.signed("payment-signature", &header).into();
    }

    fn signed(&self, name: &str, value: &str) -> String {
        let credential = headers::take(&one_header(name, value), BODY).unwrap().unwrap();
        let read = Proof::open(&credential).and_then(|proof| proof.authorization());
        let transfer = read.unwrap_or_else(|why| panic!("{why:?}"));
        hex(&self.signature(digest(&transfer)))
    }
}
