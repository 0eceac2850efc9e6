//! The front of the house: hands out what is known at once, and lets the rest through the doors.
//!
//! What is known needs no router, no layer and no task: a lookup, a copy of its
//! headers, and the bytes as they are.

use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::response::IntoResponse;
use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Either;
use tower::Service;

use crate::document::{EXPOSED, Sent};
use crate::documents::{Documents, Place, only_reading};
use crate::guard::{Guard, Making, Watched, X_REQUEST_ID, measure_head};
use crate::known::Known;
use crate::mcp;
use crate::postcards;
use crate::problem;
use crate::quota::{self, Quota};
use crate::request_id::RequestIds;
use crate::surface;
use crate::version::{self, Asked};
use crate::window::{Entry, Turn};

pub(crate) const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");
pub(crate) const RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Known bytes, or what came through a door.
pub type FrontBody = Either<Known, Body>;

/// The whole site as one service, cheap to clone.
#[derive(Clone)]
pub struct Front {
    documents: Arc<Documents>,
    quota: Arc<Quota>,
    ids: Arc<RequestIds>,
    doors: Router,
    beside: Arc<Beside>,
    guard: Guard,
}

/// The doors beside the router: what is asked for most, after the documents.
pub(crate) struct Beside {
    pub(crate) mcp: mcp::Desk,
    pub(crate) sending: postcards::Doors,
}

impl Front {
    pub(crate) fn new(
        documents: Arc<Documents>,
        quota: Arc<Quota>,
        doors: Router,
        beside: Beside,
        guard: Guard,
    ) -> Self {
        Self { documents, quota, ids: guard.ids(), doors, beside: Arc::new(beside), guard }
    }

    /// Answers, at once if the answer is known.
    pub fn call<B>(&self, request: Request<B>) -> Answering
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let path = request.uri().path();
        if mcp::PATHS.contains(&path) {
            let beside = self.beside.clone();
            let answer =
                |request| -> Making { Box::pin(async move { beside.mcp.answer(request).await }) };
            return Answering::Beside(self.guard.watch(mcp::PATHS[0], request, answer));
        }
        if let Some(counter) = self.beside.sending.at(path) {
            let answer = |request| counter.clone().serve(request);
            return Answering::Beside(self.guard.watch(counter.path(), request, answer));
        }
        match self.documents.find(path) {
            Some(place) => Answering::Known(ready(Ok(self.hand_out(place, &request)))),
            None => {
                let request = request.map(Body::new);
                Answering::Door(Box::pin(self.doors.clone().call(request)))
            }
        }
    }

    fn hand_out<B>(&self, place: &Place, request: &Request<B>) -> Response<FrontBody> {
        let (method, asked) = (request.method(), request.headers());
        let mut response = if let Err(problem) = measure_head(request.uri(), asked) {
            problem.into_response().map(Either::Right)
        } else if *method == Method::GET || *method == Method::HEAD {
            let sent = self.read(place, asked);
            let refused = |refused: Refused| refused.map(Either::Right);
            sent.map_or_else(refused, |sent| response(sent, method))
        } else if *method == Method::OPTIONS {
            preflight()
        } else {
            let mut refused = problem::METHOD_NOT_ALLOWED.into_response();
            refused.headers_mut().extend([only_reading()]);
            refused.map(Either::Right)
        };
        let id = self.ids.next();
        response.headers_mut().insert(X_REQUEST_ID, id.header());
        // A line for each of these would cost more than the answer.
        tracing::debug!(
            target: "request",
            status = response.status().as_u16(),
            request_id = id.as_str(),
            "handed out"
        );
        response
    }

    fn read(&self, place: &Place, asked: &HeaderMap) -> Result<Sent, Refused> {
        match place.quota {
            surface::Quota::Free => Ok(place.document(asked).send(asked)),
            surface::Quota::Discovery => {
                let turn = admit(&self.quota, asked)?;
                let mut sent = place.document(asked).send(asked);
                stamp(&mut sent.headers, &self.quota, turn);
                Ok(sent)
            }
        }
    }
}

/// A whole answer, in a box since it is large and rare.
pub(crate) type Refused = Box<axum::response::Response>;

/// The quota first, then the version, then everything else.
pub(crate) fn admit(quota: &Quota, asked: &HeaderMap) -> Result<Turn, Refused> {
    let turn = quota.take();
    let mut response = match (turn.entry, version::asked(asked)) {
        (Entry::Exhausted, _) => problem::quota_exhausted(turn.reset_seconds),
        (Entry::Admitted, Asked::Unknown) => problem::unknown_version(),
        (Entry::Admitted, Asked::Current) => return Ok(turn),
    };
    stamp(response.headers_mut(), quota, turn);
    Err(Box::new(response))
}

/// What every answer of a discovery route carries.
pub(crate) fn stamp(headers: &mut HeaderMap, quota: &Quota, turn: Turn) {
    headers.insert(RATELIMIT, quota::header(turn));
    headers.insert(RATELIMIT_POLICY, quota.policy());
    headers.insert(version::HEADER, version::CURRENT);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
}

fn response(sent: Sent, method: &Method) -> Response<FrontBody> {
    let body = if *method == Method::HEAD { Bytes::new() } else { sent.body };
    let mut response = Response::new(Either::Left(Known::whole(body)));
    *response.status_mut() = sent.status;
    *response.headers_mut() = sent.headers;
    response
}

/// Anybody's script may read what is public.
fn preflight() -> Response<FrontBody> {
    let mut response = Response::new(Either::Left(Known::default()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    response.headers_mut().extend([
        (ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*")),
        (ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, HEAD, OPTIONS")),
        (
            ACCESS_CONTROL_ALLOW_HEADERS,
            HeaderValue::from_static(
                "accept, authorization, content-type, if-none-match, x-service-api-version",
            ),
        ),
        (ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400")),
        only_reading(),
    ]);
    response
}

/// An answer on its way.
pub enum Answering {
    Known(Ready<Result<Response<FrontBody>, Infallible>>),
    Door(Pin<Box<<Router as Service<Request<Body>>>::Future>>),
    Beside(Watched),
}

impl Future for Answering {
    type Output = Result<Response<FrontBody>, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.get_mut() {
            Self::Known(known) => Pin::new(known).poll(context),
            Self::Door(door) => {
                door.as_mut().poll(context).map_ok(|answer| answer.map(Either::Right))
            }
            Self::Beside(watched) => Pin::new(watched).poll(context).map(Ok),
        }
    }
}
