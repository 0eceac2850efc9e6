//! A minimal payment protocol over the fakes of the order crate.

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, CACHE_CONTROL};
use http::{HeaderMap, HeaderValue, StatusCode};
use order::model::money::Price;
use order::model::payment::{Credential, CredentialDigest, Payment, TenderKind};
use order::outcome::Outcome;
use order::refusal::Refusal;
use order::tender::{PresentedCredential, Session, Tender};
use order::testing::fakes::intercepted_tender::{InterceptedTender, Interceptor, SessionCall};
use order::testing::fakes::tender::FakeTender;
use pay::http_binding::{AnswerContext, ClientKind, HttpAnswer, HttpBinding, PaymentHeaders};
use pay::refusal_table::{BadRequest, HttpError};
use pay::x402::http_binding::PAYMENT_REQUIRED;
use serde_json::json;
use tokio::sync::Semaphore;

/// A payment protocol with one header in each direction.
pub(super) struct HeaderProtocol(InterceptedTender<Interruption>);

impl HeaderProtocol {
    pub(super) fn new(tender: FakeTender, interruption: &Interruption) -> Self {
        Self(InterceptedTender { tender, interceptor: interruption.clone() })
    }
}

impl Tender for HeaderProtocol {
    fn kind(&self) -> TenderKind {
        self.0.kind()
    }

    fn price(&self) -> Price {
        self.0.price()
    }

    fn read(&self, credential: Credential) -> Box<dyn PresentedCredential<'_> + '_> {
        self.0.read(credential)
    }

    fn resume(&self, payment: &Payment) -> Option<Box<dyn Session + '_>> {
        self.0.resume(payment)
    }
}

impl HttpBinding for HeaderProtocol {
    fn payment_headers(&self, headers: &HeaderMap, _: &[u8]) -> Result<PaymentHeaders, BadRequest> {
        let given: Vec<_> = headers.get_all("coin").into_iter().collect();
        if given.len() > 1 {
            return Err(BadRequest::SeveralCredentials);
        }
        let credential = given.first().map(|coin| Credential(coin.as_bytes().to_vec()));
        let person = headers.get(ACCEPT).is_some_and(|accept| accept == "text/html");
        let client = if person { ClientKind::Browser } else { ClientKind::Program };
        Ok(PaymentHeaders { credential, client })
    }

    fn bad_request(&self, why: &BadRequest) -> HttpAnswer {
        let HttpError { status, code, .. } = HttpError::from(why);
        let body = json!({ "error": { "code": code } }).to_string().into_bytes();
        HttpAnswer { status, headers: HeaderMap::new(), body }
    }

    fn answer(&self, said: &Result<Outcome, Refusal>, _: &AnswerContext<'_>) -> HttpAnswer {
        let (status, body) = match said {
            Ok(Outcome::Due(offer)) => (StatusCode::PAYMENT_REQUIRED, offer.order.to_string()),
            Ok(Outcome::Paid { order, .. }) => (StatusCode::OK, order.to_string()),
            Err(refusal) => (HttpError::from(refusal).status, format!("{refusal:?}")),
        };
        let challenge = STANDARD.encode(r#"{"accepts":[{"network":"eip155:8453"}]}"#);
        let challenge = (PAYMENT_REQUIRED, challenge.parse().unwrap());
        let keep = (CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let headers = HeaderMap::from_iter([challenge, keep]);
        HttpAnswer { status, headers, body: json!(body).to_string().into_bytes() }
    }
}

/// What happens in `settle`, before any transfer.
#[derive(Clone)]
pub(super) enum Interruption {
    None,
    /// Until the test adds a permit.
    Waits(Arc<Semaphore>),
    Panics,
}

#[async_trait]
impl Interceptor for Interruption {
    async fn before(&self, call: SessionCall, _: CredentialDigest) -> Result<(), String> {
        match (call, self) {
            (SessionCall::Settle, Self::Waits(gate)) => gate.acquire().await.unwrap().forget(),
            (SessionCall::Settle, Self::Panics) => panic!("on purpose"),
            _ => {}
        }
        Ok(())
    }
}
