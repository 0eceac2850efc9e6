//! A payer, a seller and a porter of promises for tests.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use order::model::chain::{EvmAddress, Network};
use order::model::ids::{OrderId, Timestamp};
use order::model::money::{CEILING, Price, Usdc};
use order::model::offer::Offer;
use order::model::payment::{Credential, Finality, Preparation, Terms};
use order::model::seller::Payees;
use order::ports::Failure;
use order::tender::{Rejection, Unsettled};
use secp256k1::ecdsa::RecoveryId;
use secp256k1::{All, Message, Secp256k1, SecretKey};
use serde_json::{Value, json};

use super::credential::Promise;
use super::facilitator::{Carrier, Due, Facilitator, Service, Signer, Sponsoring};
use super::signature::{permit_digest, promise_digest};
use super::{PERMIT2, Resource, UPTO_PROXY, X402};
use crate::eip712::recover;
use crate::movement::{Moved, Movement};

pub(crate) const NOW: Timestamp = Timestamp(1_790_000_000);
pub(crate) const ORDER: OrderId = OrderId::from_bytes([0xa7; 16]);
pub(crate) const SELLER: EvmAddress = EvmAddress::from_bytes([0xa1; 20]);
/// Whom the porter names in offers now, and whom it named yesterday.
pub(crate) const CARRIER: EvmAddress = EvmAddress::from_bytes([0xca; 20]);
pub(crate) const EARLIER_CARRIER: EvmAddress = EvmAddress::from_bytes([0xcb; 20]);
pub(crate) const TRANSACTION: &str =
    "0xc2f00f93c2f00f93c2f00f93c2f00f93c2f00f93c2f00f93c2f00f93c2f0a712";

/// A facilitator that says what a test wants and remembers what it was asked.
pub(crate) struct Porter {
    pub(crate) networks: Vec<Network>,
    pub(crate) sponsoring: Sponsoring,
    pub(crate) verified: Result<(), Rejection>,
    pub(crate) prepared: Result<Preparation, Rejection>,
    pub(crate) settled: Result<Moved, Unsettled>,
    pub(crate) traced: Result<Movement, Failure>,
    pub(crate) calls: Mutex<Vec<&'static str>>,
    pub(crate) signers: Mutex<Vec<Signer>>,
}

impl Porter {
    pub(crate) fn good() -> Self {
        let moved = Moved {
            transaction: TRANSACTION.into(),
            at: NOW.plus(3),
            finality: Finality::Provisional,
        };
        Self {
            networks: Network::ALL.to_vec(),
            sponsoring: Sponsoring::Offered,
            verified: Ok(()),
            prepared: Ok(Preparation(b"signed".to_vec())),
            settled: Ok(moved.clone()),
            traced: Ok(Movement::Moved(moved)),
            calls: Mutex::default(),
            signers: Mutex::default(),
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
    fn service(&self, network: Network) -> Option<Service> {
        let service = Service { carrier: CARRIER, sponsoring: self.sponsoring };
        self.networks.contains(&network).then_some(service)
    }

    fn carrier(&self, _network: Network, named: EvmAddress) -> Carrier {
        if named == CARRIER || named == EARLIER_CARRIER { Carrier::Ours } else { Carrier::Unknown }
    }

    async fn verify(&self, _promise: &Promise, signer: Signer) -> Result<(), Rejection> {
        self.called("verify");
        self.signers.lock().unwrap().push(signer);
        self.verified.clone()
    }

    async fn prepare(
        &self,
        _promise: &Promise,
        _charge: Usdc,
        _earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
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

pub(crate) fn resource() -> Resource {
    let url = "https://cards.example/api/x402/postcards";
    Resource::parse(url, "One 4x6 physical postcard", "Pennyblack", &["postcard", "mail"]).unwrap()
}

pub(crate) fn x402(porter: Porter) -> (X402, Arc<Porter>) {
    let porter = Arc::new(porter);
    (X402::new(porter.clone(), resource()), porter)
}

pub(crate) fn payees() -> Payees {
    Payees::new(Network::ALL.map(|network| (network, SELLER)).to_vec()).unwrap()
}

pub(crate) fn offer() -> Offer {
    let price = Price::UpTo(CEILING);
    Offer { order: ORDER, price, payees: payees() }
}

pub(crate) fn terms() -> Terms {
    Terms { order: ORDER, payees: payees(), ceiling: CEILING, now: NOW }
}

pub(crate) fn decoded(header: impl AsRef<[u8]>) -> Value {
    serde_json::from_slice(&STANDARD.decode(header).unwrap()).unwrap()
}

/// Somebody with a key, who does with a challenge what the official client does.
pub(crate) struct Payer {
    curve: Secp256k1<All>,
    key: SecretKey,
}

impl Payer {
    pub(crate) fn new() -> Self {
        let key = SecretKey::from_byte_array([0x42; 32]).unwrap();
        Self { curve: Secp256k1::new(), key }
    }

    pub(crate) fn address(&self) -> EvmAddress {
        recover([1; 32], &self.signature([1; 32])).unwrap()
    }

    pub(crate) fn signature(&self, digest: [u8; 32]) -> [u8; 65] {
        let signed = self.curve.sign_ecdsa_recoverable(Message::from_digest(digest), &self.key);
        let (parity, compact) = signed.serialize_compact();
        let mut bytes = [27; 65];
        bytes[..64].copy_from_slice(&compact);
        bytes[64] += u8::from(parity == RecoveryId::One);
        bytes
    }

    /// Accepts the entry of this network and echoes the rest.
    pub(crate) fn pay(&self, challenge: &Value, network: Network, now: Timestamp) -> Value {
        let accepts = challenge["accepts"].as_array().unwrap();
        let accepted = accepts.iter().find(|entry| entry["network"] == network.caip2()).unwrap();
        let life = accepted["maxTimeoutSeconds"].as_u64().unwrap();
        let mut payload = json!({
            "x402Version": 2,
            "payload": {
                "signature": "0x",
                "permit2Authorization": {
                    "from": self.address().to_string(),
                    "permitted": { "token": accepted["asset"], "amount": accepted["amount"] },
                    "spender": UPTO_PROXY.to_string(),
                    "nonce": "13404470461553807834581171000207315812663340185839308702117166453",
                    "deadline": now.plus(life).0.to_string(),
                    "witness": {
                        "to": accepted["payTo"],
                        "facilitator": accepted["extra"]["facilitatorAddress"],
                        "validAfter": "0",
                    },
                },
            },
            "extensions": challenge["extensions"],
            "resource": challenge["resource"],
            "accepted": accepted,
        });
        self.sign(&mut payload);
        payload
    }

    /// Signs the promise that a payload holds now.
    pub(crate) fn sign(&self, payload: &mut Value) {
        let promise = Promise::read(&credential(payload)).map_err(|why| format!("{why:?}"));
        let signature = self.signature(promise_digest(&promise.unwrap()));
        payload["payload"]["signature"] = hex(&signature).into();
    }

    /// Signs the allowance along, as a payer does who has not given it yet.
    pub(crate) fn permit(&self, payload: &mut Value, network: Network, deadline: u64) {
        let digest = permit_digest(network, self.address(), CEILING, [0; 32], deadline);
        let info = &mut payload["extensions"]["eip2612GasSponsoring"]["info"];
        info["from"] = self.address().to_string().into();
        info["asset"] = network.usdc().to_string().into();
        info["spender"] = PERMIT2.to_string().into();
        info["amount"] = CEILING.atomic().to_string().into();
        info["nonce"] = "0".into();
        info["deadline"] = deadline.to_string().into();
        info["signature"] = hex(&self.signature(digest)).into();
    }
}

pub(crate) fn credential(payload: &Value) -> Credential {
    Credential(payload.to_string().into_bytes())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}
