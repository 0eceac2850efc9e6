//! Our side of MPP, over a settler that confirms every transfer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use async_trait::async_trait;
use http::{HeaderMap, HeaderName};
use mpp::{PaymentChallenge, PaymentCredential};
use order::model::chain::{EvmAddress, Network};
use order::model::ids::{OrderId, Timestamp};
use order::model::money::{CEILING, Price};
use order::model::offer::Offer;
use order::model::payment::{
    Authorization as Verified, Finality, Payment, PaymentKey, Preparation, TenderKind,
};
use order::model::seller::Payees;
use order::outcome::Outcome;
use order::ports::Failure;
use order::refusal::Refusal;
use order::tender::{Rejection, Tender, Unsettled};
use order::testing::fakes::manual_time::poll_once;
use pay::http_binding::{AnswerContext, ClientKind, HttpAnswer, HttpBinding};
use pay::mpp::challenge_id::{ChallengeSecrets, Realm};
use pay::mpp::credential::TransferAuthorization;
use pay::mpp::settler::{
    AuthorizationUse, PreparedTransfer, TransferPayment, TransferSettler, TransferSupport,
};
use pay::mpp::tender::Mpp;
use pay::transfer::{ConfirmedTransfer, TransferStatus};
use pay::x402::resource::Resource;
use serde_json::json;

pub(crate) const NOW: Timestamp = Timestamp(1_790_000_000);
pub(crate) const SECRET: &str = "a-secret-of-thirty-two-bytes-ok!";
pub(crate) const REALM: &str = "cards.example";
pub(crate) const BODY: &[u8] = br#"{"message":"The sea says hello."}"#;
pub(crate) const SELLER: EvmAddress = EvmAddress::from_bytes([0xa1; 20]);
pub(crate) const TRANSACTION: &str =
    "0xc2f00f93c2f00f93c2f00f93c2f00f93c2f00f93c2f00f93c2f00f93c2f0a712";

const PAYER: EvmAddress = EvmAddress::from_bytes([0xb2; 20]);

struct FakeSettler;

#[async_trait]
impl TransferSettler for FakeSettler {
    fn support(&self, _: Network) -> TransferSupport {
        TransferSupport::Offered
    }

    async fn verify(&self, _: &TransferAuthorization) -> Result<AuthorizationUse, Rejection> {
        Ok(AuthorizationUse::Unused)
    }

    async fn prepare(
        &self,
        _: &TransferAuthorization,
        _: Option<&Preparation>,
    ) -> Result<PreparedTransfer, Rejection> {
        let usage = AuthorizationUse::Unused;
        Ok(PreparedTransfer { preparation: Preparation::default(), usage })
    }

    async fn settle(&self, _: TransferPayment<'_>) -> Result<ConfirmedTransfer, Unsettled> {
        let finality = Finality::Provisional;
        Ok(ConfirmedTransfer { transaction: TRANSACTION.into(), at: NOW, finality })
    }

    async fn trace(
        &self,
        _: TransferPayment<'_>,
        _: Option<&str>,
    ) -> Result<TransferStatus, Failure> {
        Ok(TransferStatus::Open)
    }
}

fn mpp() -> Mpp {
    static COUNT: AtomicU8 = AtomicU8::new(0);
    let url = "https://cards.example/api/mpp/postcards";
    Mpp::new(
        Arc::new(FakeSettler),
        Realm::parse(REALM).unwrap(),
        ChallengeSecrets::new(SECRET.as_bytes().try_into().unwrap(), &[]),
        Arc::new(|| Some([COUNT.fetch_add(1, Ordering::Relaxed); 16])),
        Resource::parse(url, "One 4x6 postcard", "Pennyblack", &["mail"]).unwrap(),
    )
}

fn offer() -> Offer {
    let payees = Payees::new(vec![(Network::Base, SELLER)]).unwrap();
    let (order, price) = (OrderId::from_bytes([7; 16]), Price::Fixed(CEILING));
    Offer { order, price, payees }
}

const CONTEXT: AnswerContext<'static> =
    AnswerContext { client: ClientKind::Program, body: BODY, now: NOW };

/// The answer to a request that brings nothing.
pub(crate) fn asked() -> HttpAnswer {
    mpp().answer(&Ok(Outcome::Due(offer())), &CONTEXT)
}

/// The answer to a request that brings what does not read.
pub(crate) fn refused() -> HttpAnswer {
    let reason = "malformed-credential: It does not read.".to_owned();
    mpp().answer(&Err(Refusal::CredentialInvalid { offer: offer(), reason }), &CONTEXT)
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
    let credential = tender.payment_headers(&headers, BODY).unwrap().credential.unwrap();
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
    let settled = poll_once(tender.resume(&payment).unwrap().settle(&payment)).unwrap().unwrap();
    String::from_utf8(settled.receipt.0).unwrap()
}
