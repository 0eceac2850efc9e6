//! What HTTP demands before a message is read, and how its answer is sent.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use bytes::Bytes;
use http::header::{
    ACCEPT, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW,
    CACHE_CONTROL, CONTENT_TYPE, HOST,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::Value;

use super::dispatch::{Asked, dispatch};
use super::era::{self, Era};
use super::library::Library;
use super::message::{
    self, Fault, HEADER_MISMATCH, INVALID_REQUEST, METHOD_NOT_FOUND, Message, PARSE_ERROR,
    UNSUPPORTED_VERSION,
};
use crate::front::{admit, stamp};
use crate::problem::METHOD_NOT_ALLOWED;
use crate::quota::Quota;

const JSON: &str = "application/json";
const STREAM: &str = "text/event-stream";
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, OPTIONS");

/// Everything that the door needs.
pub(crate) struct Desk {
    pub(crate) library: Library,
    pub(crate) quota: Arc<Quota>,
}

/// With and without the slash, since a redirect would lose what was posted.
pub(crate) fn routes(desk: Desk) -> Router {
    let desk = Arc::new(desk);
    Router::new().route("/mcp", any(answer)).route("/mcp/", any(answer)).with_state(desk)
}

async fn answer(State(desk): State<Arc<Desk>>, request: Request) -> Response {
    if request.method() == Method::OPTIONS {
        return preflight();
    }
    let ticket = match admit(&desk.quota, request.headers()) {
        Ok(ticket) => ticket,
        Err(refusal) => return *refusal,
    };
    let (parts, body) = request.into_parts();
    let mut response = if is_elsewhere(&desk.library, &parts.headers) {
        refuse(StatusCode::FORBIDDEN, INVALID_REQUEST, "Host: is not the name of this server.")
    } else {
        match parts.method {
            Method::POST => post(&desk.library, &parts.headers, body).await,
            Method::HEAD => StatusCode::OK.into_response(),
            _ => not_posted(),
        }
    };
    let headers = response.headers_mut();
    stamp(headers, &desk.quota, ticket);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    let exposed = "RateLimit, RateLimit-Policy, Retry-After, X-Service-API-Version, X-Request-Id";
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(exposed));
    response
}

async fn post(library: &Library, headers: &HeaderMap, body: Body) -> Response {
    if !accepts(headers, JSON) || !accepts(headers, STREAM) {
        let words = "Accept: must name application/json and text/event-stream.";
        return refuse(StatusCode::NOT_ACCEPTABLE, INVALID_REQUEST, words);
    }
    if !is_json(headers) {
        let words = "Content-Type: must be application/json.";
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST, words);
    }
    // The guard has read it and held it against the limit.
    let Ok(body) = axum::body::to_bytes(body, usize::MAX).await else {
        return refuse(StatusCode::BAD_REQUEST, PARSE_ERROR, "The body broke off.");
    };
    match message::read(&body) {
        Err(fault) => said(StatusCode::BAD_REQUEST, fault.body()),
        Ok(Message::Response) => {
            let words = "This server asks nothing, so it takes no answers.";
            refuse(StatusCode::BAD_REQUEST, INVALID_REQUEST, words)
        }
        Ok(Message::Notification) => match era::notification(headers) {
            Ok(()) => StatusCode::ACCEPTED.into_response(),
            Err(fault) => said(StatusCode::BAD_REQUEST, fault.body()),
        },
        Ok(Message::Request { id, method, params }) => {
            let judged = era::judge(headers, &id, &method, &params);
            match judged {
                Err(fault) => said(StatusCode::BAD_REQUEST, fault.body()),
                Ok(era) => {
                    let asked = Asked { era, id: &id, method: &method, params: &params };
                    served(era, &id, dispatch(library, &asked))
                }
            }
        }
    }
}

fn served(era: Era, id: &Value, outcome: Result<Value, Fault>) -> Response {
    match outcome {
        Ok(result) => said(StatusCode::OK, message::answer(id, &result)),
        Err(fault) => said(status(era, &fault), fault.body()),
    }
}

/// The old revisions put every error of a request into a 200; the new one
/// gives an unknown method a status of its own.
fn status(era: Era, fault: &Fault) -> StatusCode {
    match (era, fault.code) {
        (Era::Modern, METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        (Era::Modern, HEADER_MISMATCH | UNSUPPORTED_VERSION) => StatusCode::BAD_REQUEST,
        (Era::Legacy | Era::Modern, _) => StatusCode::OK,
    }
}

/// There is no stream to read: the server speaks when spoken to.
fn not_posted() -> Response {
    let mut refused = METHOD_NOT_ALLOWED.into_response();
    refused.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    refused
}

/// A page of somebody else's that got a name to point at us could otherwise
/// make a browser speak to a server on its own machine.
fn is_elsewhere(library: &Library, headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else { return false };
    let name = |authority: &str| {
        let end = authority.rfind(':').filter(|_| !authority.ends_with(']'));
        authority[..end.unwrap_or(authority.len())].to_ascii_lowercase()
    };
    let base = library.premises.base_url.split("://").nth(1).unwrap_or_default();
    let host = name(host);
    let loopback = ["localhost", "127.0.0.1", "[::1]"].contains(&host.as_str());
    !loopback && host != name(base)
}

fn accepts(headers: &HeaderMap, wanted: &str) -> bool {
    let lines = headers.get_all(ACCEPT).into_iter().filter_map(|line| line.to_str().ok());
    let mut types = lines.flat_map(|line| line.split(',')).map(essence);
    types.any(|found| found.eq_ignore_ascii_case(wanted))
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| essence(kind).eq_ignore_ascii_case(JSON))
}

/// A media type without its parameters.
fn essence(text: &str) -> &str {
    text.split(';').next().unwrap_or_default().trim()
}

fn refuse(status: StatusCode, code: i64, words: &str) -> Response {
    said(status, Fault::new(&Value::Null, code, words).body())
}

fn said(status: StatusCode, body: String) -> Response {
    let mut response = (status, Bytes::from(body)).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

fn preflight() -> Response {
    let allowed = "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, \
                   mcp-protocol-version, mcp-session-id, x-service-api-version";
    let mut response = StatusCode::NO_CONTENT.into_response();
    response.headers_mut().extend([
        (ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*")),
        (ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(allowed)),
        (ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400")),
    ]);
    response
}
