//! The doors where a card is paid for and sent, one for each way of paying.
//!
//! They stand beside the router, as a challenge is asked for more often than anything
//! that is not a document, and layers would cost as much as the answer.

use std::collections::BTreeMap;
use std::future::ready;
use std::pin::pin;
use std::sync::Arc;

use axum::BoxError;
use axum::body::HttpBody;
use axum::response::IntoResponse;
use bytes::Bytes;
use content::render::{Money, PaywallPage};
use http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_METHOD,
    ALLOW,
};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response};
use http_body_util::Either;
use order::checkout::{Desk, Fulfilment, Outcome, Walk};
use order::model::chain::Network;
use order::refusal::Refusal;
use pay::envelope::{Brought, Context, Envelope, Opened, Reader, Sealed};
use pay::mode::Mode;

use crate::browsers::Welcome;
use crate::draft::{self, MALFORMED, Unread};
use crate::front::FrontBody;
use crate::guard::{Limits, Making, read_body, too_slow};
use crate::known::Known;
use crate::patience::within;
use crate::paywall::{Asking, Wall};
use crate::problem::{self, METHOD_NOT_ALLOWED, NOT_CONFIGURED, Problem};
use crate::walks::Walks;

pub const X402: &str = "/api/x402/postcards";
pub const MPP: &str = "/api/mpp/postcards";

/// Says on every answer whether payments here are of real money.
pub const X_SERVICE_MODE: HeaderName = HeaderName::from_static("x-service-mode");

/// What a page of any origin may send to a door, and see of its answers.
#[derive(Clone, Copy)]
struct Manners {
    path: &'static str,
    welcome: Welcome,
    preflight: Preflight,
    exposed: &'static str,
    problems: Problems,
}

/// How a door says what went wrong before anybody opened the envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problems {
    Plain,
    /// As problem documents, like all that MPP refuses.
    Documents,
}

/// From whom OPTIONS is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Preflight {
    Always,
    /// Only from browsers that ask first, as the contract has 405 for all others.
    FromBrowsers,
}

const AT_X402: Manners = Manners {
    path: X402,
    welcome: Welcome {
        methods: "POST, OPTIONS",
        // The official client asks by a header of its request what the answer may show.
        headers: "content-type, idempotency-key, payment-signature, x-payment, \
                  access-control-expose-headers",
    },
    preflight: Preflight::Always,
    exposed: "PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, X-Request-Id, X-Service-Mode",
    problems: Problems::Plain,
};

const AT_MPP: Manners = Manners {
    path: MPP,
    welcome: Welcome {
        methods: "POST, OPTIONS",
        headers: "authorization, payment-authorization, payment-signature, accept-payment, \
                  content-type, idempotency-key, access-control-expose-headers",
    },
    preflight: Preflight::FromBrowsers,
    exposed: "WWW-Authenticate, Payment-Receipt, PAYMENT-REQUIRED, PAYMENT-RESPONSE, \
              Retry-After, X-Request-Id, X-Service-Mode",
    problems: Problems::Documents,
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

/// The doors, each at its own path. One behind which nobody carries money says so.
pub(crate) struct Doors([Arc<Counter>; 2]);

/// One door.
pub(crate) struct Counter {
    manners: Manners,
    limits: Limits,
    mode: Mode,
    clerk: Option<Clerk>,
}

/// Who serves at an open door.
struct Clerk {
    path: &'static str,
    desk: Arc<Desk>,
    envelope: Arc<dyn Envelope>,
    walks: Walks,
    /// For people, where there is a page to pay on.
    wall: Option<Wall>,
}

impl Doors {
    pub(crate) fn new(
        sending: Option<Sending>,
        page: PaywallPage,
        walks: Walks,
        limits: Limits,
        mode: Mode,
    ) -> Self {
        let (by_x402, by_mpp) = sending.map_or((None, None), |sending| {
            let Sending { desk, x402, mpp, money, nodes } = sending;
            let by_mpp = mpp.map(|envelope| {
                let (desk, walks) = (desk.clone(), walks.clone());
                Clerk { path: MPP, desk, envelope, walks, wall: None }
            });
            let wall = Some(Wall { page, money, nodes });
            (Some(Clerk { path: X402, desk, envelope: x402, walks, wall }), by_mpp)
        });
        let doors = [(AT_X402, by_x402), (AT_MPP, by_mpp)];
        Self(doors.map(|(manners, clerk)| Arc::new(Counter { manners, limits, mode, clerk })))
    }

    pub(crate) fn at(&self, path: &str) -> Option<&Arc<Counter>> {
        self.0.iter().find(|counter| counter.manners.path == path)
    }
}

impl Counter {
    pub(crate) fn path(&self) -> &'static str {
        self.manners.path
    }

    /// Whatever is asked at this door.
    pub(crate) fn serve<B>(self: Arc<Self>, request: Request<B>) -> Making
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        if *request.method() != Method::POST {
            return Box::pin(ready(self.manners.not_posted(&request).map(Either::Right)));
        }
        // Only what is needed goes into the box.
        let (Parts { headers, .. }, body) = request.into_parts();
        Box::pin(async move {
            let mut response = match self.send(&headers, body).await {
                Ok(sealed) => letter(sealed),
                Err(problem) => self.manners.told(problem).map(Either::Right),
            };
            let headers = response.headers_mut();
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            let exposed = HeaderValue::from_static(self.manners.exposed);
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
            headers.insert(X_SERVICE_MODE, HeaderValue::from_static(self.mode.word()));
            response
        })
    }

    async fn send<B>(&self, headers: &HeaderMap, body: B) -> Result<Sealed, Problem>
    where
        B: HttpBody<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        // It has a time of its own.
        let body = read_body(body, self.limits).await?;
        let Some(clerk) = &self.clerk else { return Err(NOT_CONFIGURED) };
        // Pinned where it is, or all its room would be carried around.
        let answer = pin!(clerk.answer(headers, &body));
        within(self.limits.request_time, answer).await.map_err(|_| too_slow())
    }
}

impl Manners {
    /// The contract has 405 for every method but POST. A browser that asks first is
    /// told what it may send.
    fn not_posted<B>(&self, request: &Request<B>) -> axum::response::Response {
        if *request.method() == Method::OPTIONS && self.preflight.is_taken(request.headers()) {
            return self.welcome.preflight();
        }
        let mut refused = METHOD_NOT_ALLOWED.into_response();
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        refused
    }

    fn told(&self, told: Problem) -> axum::response::Response {
        match self.problems {
            Problems::Plain => told.into_response(),
            Problems::Documents => problem::document(told),
        }
    }
}

impl Preflight {
    fn is_taken(self, headers: &HeaderMap) -> bool {
        match self {
            Self::Always => true,
            Self::FromBrowsers => headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD),
        }
    }
}

/// Whoever reads the log should get from a payer's bad answer to the order.
fn note_doubt(said: &Result<Outcome, Refusal>) {
    if let Err(Refusal::PaymentUnconfirmed(order) | Refusal::SubmissionUnresolved(order)) = said {
        tracing::warn!(order.id = %order, "An order is in doubt, and will be looked into");
    }
    if let Ok(Outcome::Paid { order, fulfilment: Fulfilment::NeedsReconciliation, .. }) = said {
        tracing::warn!(order.id = %order, "A paid card is not known to be with the provider");
    }
}

fn letter(sealed: Sealed) -> Response<FrontBody> {
    let Sealed { status, headers, body } = sealed;
    let mut response = Response::new(Either::Left(Known::whole(body.into())));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

impl Clerk {
    async fn answer(&self, headers: &HeaderMap, body: &[u8]) -> Sealed {
        let opened = match self.envelope.open(headers, body) {
            Ok(opened) => opened,
            Err(muddle) => return self.envelope.turn_away(&muddle),
        };
        let Opened { credential, reader } = opened;
        let brought = if credential.is_some() { Brought::Credential } else { Brought::Nothing };
        let asking = Asking { path: self.path, headers, body };
        let asked = match draft::read(self.desk.names.as_ref(), headers, body) {
            Ok(asked) => asked,
            Err(Unread::Refused(refusal)) => {
                return self.seal(&Err(refusal), reader, brought, &asking);
            }
            Err(Unread::Malformed) => return self.envelope.turn_away(&MALFORMED),
        };
        let said = self.walk(asked.with(credential)).await;
        note_doubt(&said);
        self.seal(&said, reader, brought, &asking)
    }

    fn seal(
        &self,
        said: &Result<Outcome, Refusal>,
        reader: Reader,
        brought: Brought,
        asking: &Asking<'_>,
    ) -> Sealed {
        let context = Context { reader, brought, body: asking.body, now: self.desk.clock.now() };
        let mut sealed = self.envelope.seal(said, &context);
        if let (Ok(Outcome::Due(offer)), Reader::Person, Some(wall)) = (said, reader, &self.wall) {
            wall.cover(&mut sealed, offer, asking);
        }
        sealed
    }

    /// Whoever brings money is served to the end, also when they hang up.
    fn walk(&self, request: order::checkout::Request) -> Walk<'_> {
        if request.credential.is_none() {
            return self.desk.send(&*self.envelope, request);
        }
        let (desk, envelope) = (self.desk.clone(), self.envelope.clone());
        let walk = Box::pin(async move { desk.send(&*envelope, request).await });
        match self.walks.start(walk) {
            // Whatever broke, what it had begun is written down.
            Ok(walk) => Box::pin(async { walk.await.unwrap_or(Err(Refusal::Internal)) }),
            Err(_) => Box::pin(ready(Err(Refusal::PaymentUnavailable))),
        }
    }
}

#[cfg(test)]
mod tests;
