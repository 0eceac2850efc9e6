//! A payer, a seller and a fake settler for the tests of x402.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use evm::signature::SigningKey;
use order::model::chain::{EvmAddress, Network};
use order::model::identity::Identity;
use order::model::identity::quote::CardQuote;
use order::model::ids::{OrderId, Timestamp};
use order::model::money::{CEILING, Cents, Price, Usdc};
use order::model::offer::Offer;
use order::model::payment::{Credential, Finality, Preparation, Terms};
use order::model::seller::Payees;
use order::ports::Failure;
use order::tender::{Rejection, Unsettled};
use order::testing::fakes::cards::card;
use serde_json::{Value, json};

use super::credential::Permit2Authorization;
use super::resource::Resource;
use super::settler::{
    FacilitatorAddress, GasSponsoring, KnownAccount, Permit2Payment, Permit2Settler,
    Permit2Support, SignatureKind,
};
use super::signature::{authorization_digest, permit_digest};
use super::tender::X402;
use super::{PERMIT2, UPTO_PROXY};
use crate::transfer::{ConfirmedTransfer, TransferStatus};

pub(crate) const NOW: Timestamp = Timestamp(1_790_000_000);
pub(crate) const ORDER: OrderId = OrderId::from_bytes([0xa7; 16]);
pub(crate) const SELLER: EvmAddress = EvmAddress::from_bytes([0xa1; 20]);
/// The facilitator that the settler names now, and the one that it named before.
pub(crate) const FACILITATOR: EvmAddress = EvmAddress::from_bytes([0xca; 20]);
pub(crate) const EARLIER_FACILITATOR: EvmAddress = EvmAddress::from_bytes([0xcb; 20]);
pub(crate) const TRANSACTION: &str =
    "0xc2f00f93c2f00f93c2f00f93c2f00f93c2f00f93c2f00f93c2f00f93c2f0a712";

/// A quote for a card that costs us two dollars.
pub(crate) fn quote() -> CardQuote {
    let identity = Identity::new([7; 32]);
    identity.quote(&card("hello"), Price::UpTo(CEILING), Cents(200), NOW).unwrap()
}

/// A settler that returns what a test sets and records its calls.
pub(crate) struct FakeSettler {
    pub(crate) networks: Vec<Network>,
    pub(crate) sponsoring: GasSponsoring,
    pub(crate) known: KnownAccount,
    pub(crate) verified: Result<(), Rejection>,
    pub(crate) prepared: Result<Preparation, Rejection>,
    pub(crate) settled: Result<ConfirmedTransfer, Unsettled>,
    pub(crate) traced: Result<TransferStatus, Failure>,
    pub(crate) calls: Mutex<Vec<&'static str>>,
    pub(crate) signers: Mutex<Vec<SignatureKind>>,
}

impl FakeSettler {
    pub(crate) fn good() -> Self {
        let moved = ConfirmedTransfer {
            transaction: TRANSACTION.into(),
            at: NOW.plus(3),
            finality: Finality::Provisional,
        };
        Self {
            networks: Network::ALL.to_vec(),
            sponsoring: GasSponsoring::Offered,
            known: KnownAccount::WithoutCode,
            verified: Ok(()),
            prepared: Ok(Preparation(b"signed".to_vec())),
            settled: Ok(moved.clone()),
            traced: Ok(TransferStatus::Moved(moved)),
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
impl Permit2Settler for FakeSettler {
    fn support(&self, network: Network) -> Option<Permit2Support> {
        let service = Permit2Support { facilitator: FACILITATOR, sponsoring: self.sponsoring };
        self.networks.contains(&network).then_some(service)
    }

    fn classify_facilitator(&self, _network: Network, named: EvmAddress) -> FacilitatorAddress {
        if named == FACILITATOR || named == EARLIER_FACILITATOR {
            FacilitatorAddress::Ours
        } else {
            FacilitatorAddress::Unknown
        }
    }

    fn known_account(&self, _network: Network, _payer: EvmAddress) -> KnownAccount {
        self.known
    }

    async fn verify(
        &self,
        _authorization: &Permit2Authorization,
        signer: SignatureKind,
    ) -> Result<(), Rejection> {
        self.called("verify");
        self.signers.lock().unwrap().push(signer);
        self.verified.clone()
    }

    async fn prepare(
        &self,
        _authorization: &Permit2Authorization,
        _charge: Usdc,
        _earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
        self.called("prepare");
        self.prepared.clone()
    }

    async fn settle(&self, _due: Permit2Payment<'_>) -> Result<ConfirmedTransfer, Unsettled> {
        self.called("settle");
        self.settled.clone()
    }

    async fn trace(
        &self,
        _due: Permit2Payment<'_>,
        _reported: Option<&str>,
    ) -> Result<TransferStatus, Failure> {
        self.called("trace");
        self.traced.clone()
    }
}

pub(crate) fn resource() -> Resource {
    let url = "https://cards.example/api/x402/postcards";
    Resource::parse(url, "One 4x6 physical postcard", "Pennyblack", &["postcard", "mail"]).unwrap()
}

pub(crate) fn x402(settler: FakeSettler) -> (X402, Arc<FakeSettler>) {
    let settler = Arc::new(settler);
    (X402::new(settler.clone(), resource()), settler)
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

/// A payer that answers a challenge like the official client.
pub(crate) struct Payer {
    key: SigningKey,
}

impl Payer {
    pub(crate) fn new() -> Self {
        Self { key: SigningKey::from_bytes(&[0x42; 32]).unwrap() }
    }

    pub(crate) fn address(&self) -> EvmAddress {
        EvmAddress::from_bytes(self.key.address())
    }

    pub(crate) fn signature(&self, digest: [u8; 32]) -> [u8; 65] {
        self.key.sign(digest)
    }

    /// Accepts the requirement of this network and echoes the rest.
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

    /// Signs the authorization of a payload in its current state.
    pub(crate) fn sign(&self, payload: &mut Value) {
        let authorization =
            Permit2Authorization::read(&credential(payload)).map_err(|why| format!("{why:?}"));
        let signature = self.signature(authorization_digest(&authorization.unwrap()));
        payload["payload"]["signature"] = hex(&signature).into();
    }

    /// Adds a signed permit, like a payer without an allowance.
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

/// The value of `Payment-Signature` for a payload.
pub(crate) fn payment_signature(payload: &Value) -> String {
    STANDARD.encode(payload.to_string())
}

pub(crate) fn credential(payload: &Value) -> Credential {
    Credential(payload.to_string().into_bytes())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}
