//! The doors where a card is paid for and sent, one for each way of paying.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use content::render::{Money, PaywallPage};
use http::header::ACCESS_CONTROL_EXPOSE_HEADERS;
use http::{HeaderMap, HeaderValue, StatusCode};
use order::chain::Network;
use order::desk::{Desk, Outcome, Request};
use order::refusal::Refusal;
use pay::envelope::{Brought, Context, Envelope, Muddle, Opened, Reader, Sealed};

use crate::browsers::Welcome;
use crate::draft::{self, Asked};
use crate::paywall::{Asking, Wall};
use crate::problem::{self, Problem, Retry};
use crate::walks::Walks;

pub const X402: &str = "/api/x402/postcards";

const WELCOME: Welcome = Welcome {
    methods: "POST, OPTIONS",
    // The official client asks by a header of its request what the answer may show.
    headers: "content-type, idempotency-key, payment-signature, x-payment, \
              access-control-expose-headers",
};
const EXPOSED: HeaderValue =
    HeaderValue::from_static("PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, X-Request-Id");

/// What stands behind the doors.
#[derive(Clone)]
pub struct Sending {
    pub desk: Arc<Desk>,
    pub x402: Arc<dyn Envelope>,
    /// What a payment is worth here.
    pub money: Money,
    /// Where a wallet finds the sandbox's chains; nowhere else are there any.
    pub nodes: BTreeMap<Network, String>,
}

/// One door's side of the desk.
struct Counter {
    desk: Arc<Desk>,
    envelope: Arc<dyn Envelope>,
    walks: Walks,
    wall: Wall,
}

pub(crate) fn routes(sending: Sending, page: PaywallPage, walks: Walks) -> Router {
    let Sending { desk, x402, money, nodes } = sending;
    let wall = Wall { page, money, nodes };
    door(X402, Counter { desk, envelope: x402, walks, wall })
}

fn door(path: &str, counter: Counter) -> Router {
    Router::new()
        .route(path, post(send))
        // Here and not only where the routes are guarded, as the layer below
        // reaches no fallback that comes after it.
        .method_not_allowed_fallback(problem::method_not_allowed)
        .route_layer(from_fn(|request, next| WELCOME.admit(request, next)))
        .with_state(Arc::new(counter))
}

async fn send(State(counter): State<Arc<Counter>>, headers: HeaderMap, body: Bytes) -> Response {
    let opened = match counter.envelope.open(&headers) {
        Ok(opened) => opened,
        Err(muddle) => return muddled(&muddle),
    };
    let Opened { credential, operation_id, reader } = opened;
    let names = counter.desk.names.as_ref();
    let asked = match draft::read(names, &headers, &body, operation_id) {
        Ok(asked) => asked,
        Err(refusal) => return *refusal,
    };
    let brought = if credential.is_some() { Brought::Credential } else { Brought::Nothing };
    let Asked { card, seller, operation_id } = asked;
    let said = counter.walk(Request { seller, operation_id, card, credential }).await;
    let context = Context { reader, brought, now: counter.desk.clock.now() };
    let mut sealed = counter.envelope.seal(&said, &context);
    if let (Ok(Outcome::Due(offer)), Reader::Person) = (&said, reader) {
        let asking = Asking { path: X402, headers: &headers, body: &body };
        counter.wall.cover(&mut sealed, offer, &asking);
    }
    sent(sealed)
}

impl Counter {
    /// Whoever brings money is served to the end, also when they hang up.
    async fn walk(&self, request: Request) -> Result<Outcome, Refusal> {
        if request.credential.is_none() {
            return self.desk.send(&*self.envelope, request).await;
        }
        let (desk, envelope) = (self.desk.clone(), self.envelope.clone());
        let walk = self.walks.start(async move { desk.send(&*envelope, request).await });
        match walk {
            // Whatever broke, what it had begun is written down.
            Ok(walk) => walk.await.unwrap_or(Err(Refusal::Internal)),
            Err(_) => Err(Refusal::PaymentUnavailable),
        }
    }
}

fn sent(sealed: Sealed) -> Response {
    let Sealed { status, headers, body } = sealed;
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response.headers_mut().insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    response
}

fn muddled(muddle: &Muddle) -> Response {
    let Muddle { code, message } = *muddle;
    Problem { status: StatusCode::BAD_REQUEST, code, message, retry: Retry::Never }.into_response()
}

#[cfg(test)]
mod tests;
