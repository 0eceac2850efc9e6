//! The doors where a card is paid for and sent, one for each way of paying.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::middleware::from_fn;
use axum::response::Response;
use axum::routing::post;
use content::render::{Money, PaywallPage};
use http::header::ACCESS_CONTROL_EXPOSE_HEADERS;
use http::{HeaderMap, HeaderValue};
use order::chain::Network;
use order::desk::{Desk, Outcome, Request};
use order::refusal::Refusal;
use pay::envelope::{Brought, Context, Envelope, Opened, Reader, Sealed};

use crate::browsers::Welcome;
use crate::closed;
use crate::draft::{self, Asked, MALFORMED, Unread};
use crate::paywall::{Asking, Wall};
use crate::problem;
use crate::walks::Walks;

pub const X402: &str = "/api/x402/postcards";
pub const MPP: &str = "/api/mpp/postcards";

/// What a page of any origin may send to a door, and see of its answers.
#[derive(Clone, Copy)]
struct Manners {
    path: &'static str,
    welcome: Welcome,
    exposed: &'static str,
}

const AT_X402: Manners = Manners {
    path: X402,
    welcome: Welcome {
        methods: "POST, OPTIONS",
        // The official client asks by a header of its request what the answer may show.
        headers: "content-type, idempotency-key, payment-signature, x-payment, \
                  access-control-expose-headers",
    },
    exposed: "PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, X-Request-Id",
};

const AT_MPP: Manners = Manners {
    path: MPP,
    welcome: Welcome {
        methods: "POST, OPTIONS",
        headers: "authorization, payment-authorization, payment-signature, accept-payment, \
                  content-type, idempotency-key, access-control-expose-headers",
    },
    exposed: "WWW-Authenticate, Payment-Receipt, PAYMENT-REQUIRED, PAYMENT-RESPONSE, \
              Retry-After, X-Request-Id",
};

/// What stands behind the doors.
#[derive(Clone)]
pub struct Sending {
    pub desk: Arc<Desk>,
    pub x402: Arc<dyn Envelope>,
    /// Where somebody carries the payers' own transfers.
    pub mpp: Option<Arc<dyn Envelope>>,
    /// What a payment is worth here.
    pub money: Money,
    /// Where a wallet finds the sandbox's chains; nowhere else are there any.
    pub nodes: BTreeMap<Network, String>,
}

/// One door's side of the desk.
struct Counter {
    manners: Manners,
    desk: Arc<Desk>,
    envelope: Arc<dyn Envelope>,
    walks: Walks,
    /// For people, where there is a page to pay on.
    wall: Option<Wall>,
}

pub(crate) fn routes(sending: Sending, page: PaywallPage, walks: Walks) -> Router {
    let Sending { desk, x402, mpp, money, nodes } = sending;
    let by_mpp = mpp.map_or_else(closed::mpp, |envelope| {
        let (desk, walks) = (desk.clone(), walks.clone());
        door(Counter { manners: AT_MPP, desk, envelope, walks, wall: None })
            // The contract has 405 for every method but POST.
            .route_layer(from_fn(|request, next| AT_MPP.welcome.admit_browsers(request, next)))
    });
    let wall = Some(Wall { page, money, nodes });
    let by_x402 = door(Counter { manners: AT_X402, desk, envelope: x402, walks, wall })
        .route_layer(from_fn(|request, next| AT_X402.welcome.admit(request, next)));
    by_x402.merge(by_mpp)
}

fn door(counter: Counter) -> Router {
    Router::new()
        .route(counter.manners.path, post(send))
        // Here and not only where the routes are guarded, as the layer that is put
        // around it reaches no fallback that comes after it.
        .method_not_allowed_fallback(problem::method_not_allowed)
        .with_state(Arc::new(counter))
}

async fn send(State(counter): State<Arc<Counter>>, headers: HeaderMap, body: Bytes) -> Response {
    let sealed = counter.answer(&headers, &body).await;
    let Sealed { status, headers, body } = sealed;
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    let exposed = HeaderValue::from_static(counter.manners.exposed);
    response.headers_mut().insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    response
}

impl Counter {
    async fn answer(&self, headers: &HeaderMap, body: &[u8]) -> Sealed {
        let opened = match self.envelope.open(headers, body) {
            Ok(opened) => opened,
            Err(muddle) => return self.envelope.turn_away(&muddle),
        };
        let Opened { credential, operation_id, reader } = opened;
        let brought = if credential.is_some() { Brought::Credential } else { Brought::Nothing };
        let names = self.desk.names.as_ref();
        let said = match draft::read(names, headers, body, operation_id) {
            Ok(Asked { card, seller, operation_id, named_by }) => {
                let said = self.walk(Request { seller, operation_id, card, credential }).await;
                said.map_err(|refusal| named_by.put(refusal))
            }
            Err(Unread::Refused(refusal)) => Err(refusal),
            Err(Unread::Malformed) => return self.envelope.turn_away(&MALFORMED),
        };
        let context = Context { reader, brought, body, now: self.desk.clock.now() };
        let mut sealed = self.envelope.seal(&said, &context);
        if let (Ok(Outcome::Due(offer)), Reader::Person, Some(wall)) = (&said, reader, &self.wall) {
            let asking = Asking { path: self.manners.path, headers, body };
            wall.cover(&mut sealed, offer, &asking);
        }
        sealed
    }

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

#[cfg(test)]
mod tests;
