//! Our side of MPP, with somebody behind it who says that all money moved.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use async_trait::async_trait;
use http::{HeaderMap, HeaderName};
use mpp::{PaymentChallenge, PaymentCredential};
use order::model::chain::{EvmAddress, Network};
use order::checkout::Outcome;
use order::testing::fakes::still::drive;
use order::model::ids::{OrderId, Timestamp};
use order::model::money::{CEILING, Price};
use order::model::offer::Offer;
use order::model::payment::{
    Authorization as Verified, Finality, Payment, PaymentKey, Preparation, TenderKind,
};
use order::ports::Failure;
use order::refusal::Refusal;
use order::model::seller::Payees;
use order::tender::{Rejection, Tender, Unsettled};
use pay::envelope::{Brought, Context, Envelope, Reader, Sealed};
use pay::movement::{Moved, Movement};
use pay::mpp::credential::Authorization;
use pay::mpp::facilitator::{Due, Facilitator, Found, Prepared, Service};
use pay::mpp::{Mpp, Realm, Secrets};
use pay::x402::Resource;
use serde_json::json;

pub(crate) const NOW: Timestamp = Timestamp(1_790_000_000);
pub(crate) const SECRET: &str = "a-secret-of-thirty-two-bytes-ok!";
pub(crate) const REALM: &str = "cards.example";
pub(crate) const BODY: &[u8] = br#"{"message":"The sea says hello."}"#;
pub(crate) const SELLER: EvmAddress = EvmAddress::from_bytes([0xa1; 20]);
pub(crate) const TRANSACTION: &str =
    "0xc2f00f93c2f00f93c2f00f93c2f00f93c2f00f93c2f00f93c2f00f93c2f0a712";

const PAYER: EvmAddress = EvmAddress::from_bytes([0xb2; 20]);

struct Porter;

#[async_trait]
impl Facilitator for Porter {
    fn service(&self, _: Network) -> Service {
        Service::Offered
    }

    async fn verify(&self, _: &Authorization) -> Result<Found, Rejection> {
        Ok(Found::Unused)
    }

    async fn prepare(
        &self,
        _: &Authorization,
        _: Option<&Preparation>,
    ) -> Result<Prepared, Rejection> {
        Ok(Prepared { preparation: Preparation::default(), found: Found::Unused })
    }

    async fn settle(&self, _: Due<'_>) -> Result<Moved, Unsettled> {
        let finality = Finality::Provisional;
        Ok(Moved { transaction: TRANSACTION.into(), at: NOW, finality })
    }

    async fn trace(&self, _: Due<'_>, _: Option<&str>) -> Result<Movement, Failure> {
        Ok(Movement::Open)
    }
}

fn mpp() -> Mpp {
    static COUNT: AtomicU8 = AtomicU8::new(0);
    let url = "https://cards.example/api/mpp/postcards";
    Mpp::new(
        Arc::new(Porter),
        Realm::parse(REALM).unwrap(),
        Secrets::new(SECRET.as_bytes().try_into().unwrap(), &[]),
        Arc::new(|| Some([COUNT.fetch_add(1, Ordering::Relaxed); 16])),
        Resource::parse(url, "One 4x6 postcard", "Pennyblack", &["mail"]).unwrap(),
    )
}

fn offer() -> Offer {
    let payees = Payees::new(vec![(Network::Base, SELLER)]).unwrap();
    let (order, price) = (OrderId::from_bytes([7; 16]), Price::Fixed(CEILING));
    Offer { order, price, payees }
}

const CONTEXT: Context<'static> =
    Context { reader: Reader::Program, brought: Brought::Nothing, body: BODY, now: NOW };

/// The answer to a request that brings nothing.
pub(crate) fn asked() -> Sealed {
    mpp().seal(&Ok(Outcome::Due(offer())), &CONTEXT)
}

/// The answer to a request that brings what does not read.
pub(crate) fn refused() -> Sealed {
    let reason = "malformed-credential: It does not read.".to_owned();
    mpp().seal(&Err(Refusal::CredentialInvalid { offer: offer(), reason }), &CONTEXT)
}

/// The value of `Payment-Receipt` after this challenge was answered, with a credential
/// that the official crate wrote.
pub(crate) fn receipt(challenge: &PaymentChallenge) -> String {
    let payload = json!({
        "type": "authorization",
        "from": PAYER.to_string(),
        "to": SELLER.to_string(),
        "value": "3500000",
        "validAfter": "0",
        "validBefore": "1790000600",
        "nonce": format!("0x{}", "11".repeat(32)),
        "signature": format!("0x{}", "22".repeat(65)),
    });
    let written = PaymentCredential::new(challenge.to_echo(), payload);
    let value = mpp::format_authorization(&written).unwrap();
    let name = HeaderName::from_static("authorization");
    let headers = HeaderMap::from_iter([(name, value.parse().unwrap())]);
    let tender = mpp();
    let credential = tender.open(&headers, BODY).unwrap().credential.unwrap();
    let authorization = Verified {
        tender: TenderKind::Mpp,
        network: Network::Base,
        payer: PAYER,
        pay_to: SELLER,
        most: CEILING,
        deadline: NOW.plus(600),
        keys: vec![PaymentKey::of_challenge(challenge.id.as_bytes())],
        digest: credential.digest(),
        credential,
    };
    let payment = Payment { authorization, charge: CEILING, preparation: Preparation::default() };
    let settled = drive(tender.settle(&payment)).unwrap().unwrap();
    String::from_utf8(settled.receipt.0).unwrap()
}
