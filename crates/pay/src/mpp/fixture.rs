//! A fake settler for the tests of MPP, and a payer that acts like the official clients.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderName};
use order::model::chain::Network;
use order::model::money::{CEILING, Price};
use order::model::offer::Offer;
use order::model::payment::{Finality, Preparation};
use order::ports::Failure;
use order::tender::{Rejection, Unsettled};
use serde_json::{Value, json};

use super::challenge::ChallengeCache;
use super::challenge_id::{ChallengeSecrets, Realm};
use super::credential::{ParsedCredential, TransferAuthorization};
use super::headers;
use super::settler::{
    AuthorizationUse, PreparedTransfer, TransferPayment, TransferSettler, TransferSupport,
};
use super::signature::{digest, nonces};
use super::tender::Mpp;
use crate::transfer::{ConfirmedTransfer, TransferStatus};
pub(crate) use crate::x402::fixture::{
    NOW, ORDER, Payer, SELLER, TRANSACTION, decoded, hex, payees, payment_signature, terms,
};
use crate::x402::resource::Resource;

/// Text, because the official crate takes text.
pub(crate) const SECRET: &str = "a-secret-of-thirty-two-bytes-ok!";
pub(crate) const EARLIER_SECRET: &str = "the-secret-that-we-had-yesterday";
pub(crate) const REALM: &str = "cards.example";
pub(crate) const BODY: &[u8] = br#"{"message":"The sea says hello."}"#;

/// A settler that returns what a test sets and records its calls.
pub(crate) struct FakeSettler {
    pub(crate) service: TransferSupport,
    pub(crate) verified: Result<AuthorizationUse, Rejection>,
    pub(crate) prepared: Result<PreparedTransfer, Rejection>,
    pub(crate) settled: Result<ConfirmedTransfer, Unsettled>,
    pub(crate) traced: Result<TransferStatus, Failure>,
    pub(crate) calls: Mutex<Vec<&'static str>>,
}

impl FakeSettler {
    pub(crate) fn good() -> Self {
        let moved = ConfirmedTransfer {
            transaction: TRANSACTION.into(),
            at: NOW.plus(3),
            finality: Finality::Provisional,
        };
        Self {
            service: TransferSupport::Offered,
            verified: Ok(AuthorizationUse::Unused),
            prepared: Ok(PreparedTransfer {
                preparation: Preparation(b"signed".to_vec()),
                usage: AuthorizationUse::Unused,
            }),
            settled: Ok(moved.clone()),
            traced: Ok(TransferStatus::Moved(moved)),
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
impl TransferSettler for FakeSettler {
    fn support(&self, network: Network) -> TransferSupport {
        assert_eq!(network, Network::Base);
        self.service
    }

    async fn verify(
        &self,
        _authorization: &TransferAuthorization,
    ) -> Result<AuthorizationUse, Rejection> {
        self.called("verify");
        self.verified.clone()
    }

    async fn prepare(
        &self,
        _authorization: &TransferAuthorization,
        _earlier: Option<&Preparation>,
    ) -> Result<PreparedTransfer, Rejection> {
        self.called("prepare");
        self.prepared.clone()
    }

    async fn settle(&self, _due: TransferPayment<'_>) -> Result<ConfirmedTransfer, Unsettled> {
        self.called("settle");
        self.settled.clone()
    }

    async fn trace(
        &self,
        _due: TransferPayment<'_>,
        _reported: Option<&str>,
    ) -> Result<TransferStatus, Failure> {
        self.called("trace");
        self.traced.clone()
    }
}

pub(crate) fn secret(text: &str) -> [u8; 32] {
    text.as_bytes().try_into().unwrap()
}

pub(crate) fn secrets() -> ChallengeSecrets {
    ChallengeSecrets::new(secret(SECRET), &[])
}

pub(crate) fn resource() -> Resource {
    let url = "https://cards.example/api/mpp/postcards";
    Resource::parse(url, "One 4x6 physical postcard", "Pennyblack", &["postcard", "mail"]).unwrap()
}

/// Predictable bytes that never repeat.
pub(crate) fn counting() -> Option<[u8; 16]> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut bytes = [7; 16];
    bytes[..8].copy_from_slice(&COUNT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    Some(bytes)
}

pub(crate) fn mpp(settler: FakeSettler) -> (Mpp, Arc<FakeSettler>) {
    let settler = Arc::new(settler);
    let mpp = Mpp {
        facilitator: settler.clone(),
        realm: Realm::parse(REALM).unwrap(),
        secrets: secrets(),
        randomness: Arc::new(counting),
        resource: resource(),
        challenge_cache: ChallengeCache::default(),
        mode: crate::mode::PaymentMode::Live,
    };
    (mpp, settler)
}

pub(crate) fn offer() -> Offer {
    let price = Price::Fixed(CEILING);
    Offer { order: ORDER, price, payees: payees() }
}

/// The two ways in which clients make the nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nonce {
    Packed,
    Framed,
}

/// The parameters of a challenge. None of ours needs unescaping.
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

    /// Signs the transfer of a credential in its current state.
    pub(crate) fn sign_transfer(&self, credential: &mut Value) {
        let header = authorization(credential);
        credential["payload"]["signature"] = self.signed("authorization", &header).into();
    }

    /// Accepts the x402 requirement next to the challenge, with a nonce of its own.
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
        let credential = headers::credential(&one_header(name, value), BODY).unwrap().unwrap();
        let read = ParsedCredential::of(&credential).and_then(|parsed| parsed.authorization);
        let transfer = read.unwrap_or_else(|why| panic!("{why:?}"));
        hex(&self.signature(digest(&transfer)))
    }
}
