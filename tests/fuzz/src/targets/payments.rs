//! Both payment protocols over fakes, and settlers that record what they are asked to settle.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use evm::signature::SigningKey;
use order::checkout::Request;
use order::model::chain::{EvmAddress, Network};
use order::model::ids::Timestamp;
use order::model::mail::Promises;
use order::model::money::Usdc;
use order::model::payment::{Credential, Finality, Preparation};
use order::ports::Failure;
use order::tender::{Rejection, Unsettled};
use order::testing::fakes::cards::card;
use order::testing::fakes::fault_schedule::ExhaustiveFaults;
use order::testing::fakes::manual_time::{ManualTime, poll_once};
use order::testing::fakes::world::{FakeWorld, START_SECONDS};
use pay::http_binding::{AnswerContext, ClientKind, HttpAnswer, HttpBinding, PaymentHeaders};
use pay::mpp::challenge_id::{ChallengeSecrets, Realm};
use pay::mpp::credential::TransferAuthorization;
use pay::mpp::settler::{
    AuthorizationUse, PreparedTransfer, TransferPayment, TransferSettler, TransferSupport,
};
use pay::mpp::tender::Mpp;
use pay::transfer::{ConfirmedTransfer, TransferStatus};
use pay::x402::credential::Permit2Authorization;
use pay::x402::resource::Resource;
use pay::x402::settler::{
    FacilitatorAddress, GasSponsoring, KnownAccount, Permit2Payment, Permit2Settler,
    Permit2Support, SignatureKind,
};
use pay::x402::tender::X402;
use serde_json::Value;

pub(crate) const NOW: Timestamp = Timestamp(START_SECONDS);
/// The body with which every credential is sent; challenges of MPP are bound to it.
pub(crate) const BODY: &[u8] = br#"{"message":"The sea says hello."}"#;
const FACILITATOR: EvmAddress = EvmAddress::from_bytes([0xca; 20]);
const TRANSACTION: &str = "0xc2f00f93c2f00f93c2f00f93c2f00f93c2f00f93c2f00f93c2f00f93c2f0a712";

/// A world without faults, whose clock stands still.
pub(crate) fn world() -> Arc<FakeWorld> {
    let promises =
        Promises { idempotent_seconds: None, cancel_seconds: 0, visibility_lag_seconds: 0 };
    FakeWorld::new(Box::new(ExhaustiveFaults::default()), Box::new(ManualTime::default()), promises)
}

/// The key of the only payer whose signatures exist.
pub(crate) fn payer() -> SigningKey {
    SigningKey::from_bytes(&[0x42; 32]).expect("a key")
}

/// What a settler was asked to settle.
pub(crate) struct Settled<T>(Mutex<Vec<T>>);

impl<T> Settled<T> {
    fn note(&self, settled: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(settled);
    }

    pub(crate) fn take(&self) -> Vec<T> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub(crate) fn x402() -> (X402, Arc<Settled<(Permit2Authorization, Usdc)>>) {
    let settled = Arc::new(Settled(Mutex::default()));
    (X402::new(Arc::new(RecordingPermit2(settled.clone())), resource("x402")), settled)
}

pub(crate) fn mpp() -> (Mpp, Arc<Settled<TransferAuthorization>>) {
    let settled = Arc::new(Settled(Mutex::default()));
    let realm = Realm::parse("cards.example").expect("a realm");
    let secrets = ChallengeSecrets::new([9; 32], &[]);
    // Always the same, so that the challenge for one body is always the same.
    let randomness = Arc::new(|| Some([7; 16]));
    let settler = Arc::new(RecordingTransfers(settled.clone()));
    (Mpp::new(settler, realm, secrets, randomness, resource("mpp")), settled)
}

fn resource(rail: &str) -> Resource {
    let url = format!("https://cards.example/api/{rail}/postcards");
    Resource::parse(&url, "One 4x6 physical postcard", "Pennyblack", &["mail"]).expect("a resource")
}

/// A request for one card with these headers, as the endpoint processes it.
pub(crate) fn answer(binding: &dyn HttpBinding, headers: &HeaderMap) -> HttpAnswer {
    let (credential, client) = match binding.payment_headers(headers, BODY) {
        Ok(PaymentHeaders { credential, client }) => (credential, client),
        Err(why) => return binding.bad_request(&why),
    };
    send(binding, credential, client)
}

pub(crate) fn send(
    binding: &dyn HttpBinding,
    credential: Option<Credential>,
    client: ClientKind,
) -> HttpAnswer {
    let process = world().process();
    let request =
        Request { seller: None, operation_id: None, card: card("hello"), quote: None, credential };
    let outcome = poll_once(process.send(binding, request)).expect("no call waits");
    binding.answer(&outcome, &AnswerContext { client, body: BODY, now: NOW })
}

/// What holds for every answer, and the statuses that this protocol may answer.
pub(crate) fn check(answer: &HttpAnswer, statuses: &[u16]) {
    let shown = String::from_utf8_lossy(&answer.body);
    let status = answer.status.as_u16();
    assert!(statuses.contains(&status), "{status}: {shown}");
    let kind = answer.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    // The page for a browser is added by the endpoint.
    assert!(
        kind.is_none() || serde_json::from_slice::<Value>(&answer.body).is_ok(),
        "{status}: {shown}"
    );
}

struct RecordingPermit2(Arc<Settled<(Permit2Authorization, Usdc)>>);

fn moved() -> ConfirmedTransfer {
    ConfirmedTransfer {
        transaction: TRANSACTION.into(),
        at: NOW.plus(3),
        finality: Finality::Final,
    }
}

#[async_trait]
impl Permit2Settler for RecordingPermit2 {
    fn support(&self, _: Network) -> Option<Permit2Support> {
        Some(Permit2Support { facilitator: FACILITATOR, sponsoring: GasSponsoring::Offered })
    }

    fn classify_facilitator(&self, _: Network, named: EvmAddress) -> FacilitatorAddress {
        if named == FACILITATOR { FacilitatorAddress::Ours } else { FacilitatorAddress::Unknown }
    }

    fn known_account(&self, _: Network, _: EvmAddress) -> KnownAccount {
        KnownAccount::Unknown
    }

    /// No account has code that would accept another signature.
    async fn verify(&self, _: &Permit2Authorization, kind: SignatureKind) -> Result<(), Rejection> {
        match kind {
            SignatureKind::Key => Ok(()),
            SignatureKind::Contract => Err(Rejection::Invalid("invalid_signature".to_owned())),
        }
    }

    async fn prepare(
        &self,
        _: &Permit2Authorization,
        _: Usdc,
        _: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
        Ok(Preparation(b"signed".to_vec()))
    }

    async fn settle(&self, due: Permit2Payment<'_>) -> Result<ConfirmedTransfer, Unsettled> {
        self.0.note((due.authorization.clone(), due.charge));
        Ok(moved())
    }

    async fn trace(
        &self,
        _: Permit2Payment<'_>,
        _: Option<&str>,
    ) -> Result<TransferStatus, Failure> {
        Ok(TransferStatus::Moved(moved()))
    }
}

struct RecordingTransfers(Arc<Settled<TransferAuthorization>>);

#[async_trait]
impl TransferSettler for RecordingTransfers {
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
        let preparation = Preparation(b"signed".to_vec());
        Ok(PreparedTransfer { preparation, usage: AuthorizationUse::Unused })
    }

    async fn settle(&self, due: TransferPayment<'_>) -> Result<ConfirmedTransfer, Unsettled> {
        self.0.note(due.authorization.clone());
        Ok(moved())
    }

    async fn trace(
        &self,
        _: TransferPayment<'_>,
        _: Option<&str>,
    ) -> Result<TransferStatus, Failure> {
        Ok(TransferStatus::Moved(moved()))
    }
}
