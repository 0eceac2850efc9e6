//! What HTTP demands before a message is read, and how its answer is sent.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use axum::BoxError;
use axum::response::IntoResponse;
use bytes::Bytes;
use http::header::{
    ACCEPT, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW,
    CACHE_CONTROL, CONTENT_TYPE, HOST, ORIGIN,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::Either;

use super::dispatch::{Asked, dispatch};
use super::era::{self, Era};
use super::library::Library;
use super::message::{
    self, Fault, HEADER_MISMATCH, INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, Message, Read,
    UNSUPPORTED_VERSION,
};
use super::shelf::Shelf;
use crate::document::EXPOSED;
use crate::front::{FrontBody, admit, stamp};
use crate::guard::{Limits, read_body};
use crate::known::Known;
use crate::premises::{Profile, Reach};
use crate::problem::{METHOD_NOT_ALLOWED, Problem};
use crate::quota::Quota;

/// With and without the slash, since a redirect would lose what was posted.
pub(crate) const PATHS: [&str; 2] = ["/mcp", "/mcp/"];

/// The methods that the contract counts against the quota.
const COUNTED: [Method; 3] = [Method::GET, Method::HEAD, Method::POST];

const JSON: &str = "application/json";
const STREAM: &str = "text/event-stream";
const BOTH: &str = "application/json, text/event-stream";
/// What the worker runtime of the contract says to a notification.
const NOTED: &str = r#"{"jsonrpc":"2.0","id":null,"result":{}}"#;
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, OPTIONS");
const ANYBODY: HeaderValue = HeaderValue::from_static("*");
/// Room for every header of an answer, so that the map need not grow.
const HEADERS: usize = 12;

/// Everything that the door needs.
pub(crate) struct Desk {
    shelf: Shelf,
    quota: Arc<Quota>,
    profile: Profile,
    /// The name under which callers know us.
    host: String,
    reach: Reach,
    limits: Limits,
}

/// An answer as it goes out: words that are known, or a problem's own.
type Response = http::Response<FrontBody>;

impl Desk {
    pub(crate) fn new(library: &Library, quota: Arc<Quota>, limits: Limits, reach: Reach) -> Self {
        let base = library.premises.base_url.split('/').nth(2).unwrap_or_default();
        Self {
            shelf: Shelf::new(library),
            quota,
            profile: library.premises.profile,
            host: name(base).to_owned(),
            reach,
            // The contract's list of this endpoint's answers has neither 413 nor 408.
            limits: Limits {
                body_overflow: StatusCode::BAD_REQUEST,
                body_timeout: StatusCode::BAD_REQUEST,
                ..limits
            },
        }
    }

    /// The quota first, then the version, then the name, the method and the message.
    pub(crate) async fn answer<B>(&self, request: Request<B>) -> Response
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        if request.method() == Method::OPTIONS {
            return preflight();
        }
        let mut response = if COUNTED.contains(request.method()) {
            self.counted(request).await
        } else {
            not_posted()
        };
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, ANYBODY);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        response
    }

    async fn counted<B>(&self, request: Request<B>) -> Response
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        let ticket = match admit(&self.quota, request.headers()) {
            Err(refusal) => return refusal.map(Either::Right),
            Ok(ticket) => ticket,
        };
        let mut response = self.admitted(request).await;
        stamp(response.headers_mut(), &self.quota, ticket);
        response
    }

    async fn admitted<B>(&self, request: Request<B>) -> Response
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        let (parts, body) = request.into_parts();
        if !self.is_meant(&parts) {
            let words = "Host: is not the name of this server.";
            return refuse(StatusCode::FORBIDDEN, INVALID_REQUEST, words);
        }
        if !parts.headers.get_all(ORIGIN).into_iter().all(is_origin) {
            let words = "Origin: must be the scheme and host of a site, once.";
            return refuse(StatusCode::FORBIDDEN, INVALID_REQUEST, words);
        }
        match parts.method {
            Method::POST => self.post(&parts.headers, body).await,
            Method::HEAD => sent(StatusCode::OK, Known::default()),
            _ => not_posted(),
        }
    }

    /// A page of somebody else's that got a name to point at us could otherwise
    /// make a browser speak to a server on its own machine. HTTP/2 has the name
    /// in the address, and may have it in the header too.
    fn is_meant(&self, parts: &Parts) -> bool {
        match self.reach {
            Reach::Loopback => {}
            // A proxy may pass whatever name it likes, and no browser takes us for its own
            // machine.
            Reach::Network => return true,
        }
        let lines = parts.headers.get_all(HOST).into_iter();
        let said = lines.map(|line| line.to_str().unwrap_or_default());
        let target = parts.uri.authority().map(|authority| authority.as_str());
        let ours = [self.host.as_str(), "localhost", "127.0.0.1", "[::1]"];
        let mut named = said.chain(target).map(name);
        named.all(|name| ours.iter().any(|ours| name.eq_ignore_ascii_case(ours)))
    }

    async fn post<B>(&self, headers: &HeaderMap, body: B) -> Response
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        if self.profile == Profile::Node {
            if !accepts_both(headers) {
                let words = "Accept: must name application/json and text/event-stream.";
                return refuse(StatusCode::NOT_ACCEPTABLE, INVALID_REQUEST, words);
            }
            if !is_json(headers) {
                let words = "Content-Type: must be application/json.";
                return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST, words);
            }
        }
        let body = match read_body(body, self.limits).await {
            Ok(body) => body,
            Err(problem) => {
                let Problem { status, message, retry, .. } = problem;
                let fault = Fault { retry, ..Fault::new(INVALID_REQUEST, message) };
                return said(status, fault.body(None));
            }
        };
        let read = message::read(&body);
        let id = read.id;
        // The caller knows the request by its id, which no layer above could tell.
        let replied = catch_unwind(AssertUnwindSafe(|| self.reply(headers, read)));
        replied.unwrap_or_else(|_| {
            let words = "Something broke on our side. X-Request-Id names this request in our log.";
            let fault = Fault::new(INTERNAL_ERROR, words);
            said(StatusCode::INTERNAL_SERVER_ERROR, fault.body(id))
        })
    }

    fn reply(&self, headers: &HeaderMap, read: Read<'_>) -> Response {
        let Read { id, message } = read;
        let (status, fault) = match message {
            Err(fault) => (StatusCode::BAD_REQUEST, fault),
            Ok(Message::Response) => {
                let words = "This server asks nothing, so it takes no answers.";
                (StatusCode::BAD_REQUEST, Fault::new(INVALID_REQUEST, words))
            }
            Ok(Message::Notification) => match era::notification(self.profile, headers) {
                Ok(()) => return self.noted(),
                Err(fault) => (StatusCode::BAD_REQUEST, fault),
            },
            Ok(Message::Request { method, params }) => {
                match era::judge(self.profile, headers, &method, &params) {
                    Err(fault) => (StatusCode::BAD_REQUEST, fault),
                    Ok(era) => {
                        let asked = Asked { era, method: &method, params: &params };
                        match dispatch(&self.shelf, &asked) {
                            Err(fault) => (status(era, &fault), fault),
                            Ok(result) => {
                                let id = id.unwrap_or("null");
                                let body = self.shelf.endings.body(era, id, &result);
                                return said(StatusCode::OK, body);
                            }
                        }
                    }
                }
            }
        };
        said(status, fault.body(id))
    }

    fn noted(&self) -> Response {
        match self.profile {
            Profile::Node => sent(StatusCode::ACCEPTED, Known::default()),
            Profile::Worker => said(StatusCode::OK, NOTED.to_owned()),
        }
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
    refused.map(Either::Right)
}

/// The host of an authority, without its port; nothing if a user is named too.
fn name(authority: &str) -> &str {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        Some(_) | None => authority,
    };
    if host.contains('@') { "" } else { host }
}

/// Every site may ask, since there is nothing here that is not public; what is no
/// site at all is not from a browser that tells the truth.
fn is_origin(line: &HeaderValue) -> bool {
    let text = line.to_str().unwrap_or_default();
    let site = text.split_once("://").filter(|(scheme, host)| {
        let letters = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        let is_free = |byte: u8| byte.is_ascii_graphic() && !b"/?#@,\\".contains(&byte);
        let named = !scheme.is_empty() && !host.is_empty();
        named && scheme.bytes().all(letters) && host.bytes().all(is_free)
    });
    text == "null" || site.is_some()
}

fn accepts_both(headers: &HeaderMap) -> bool {
    // As every official client writes it.
    headers.get(ACCEPT).is_some_and(|line| line == BOTH)
        || (accepts(headers, JSON) && accepts(headers, STREAM))
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

fn refuse(status: StatusCode, code: i64, words: impl Into<Cow<'static, str>>) -> Response {
    said(status, Fault::new(code, words).body(None))
}

fn said(status: StatusCode, body: impl Into<Known>) -> Response {
    let mut response = sent(status, body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

fn sent(status: StatusCode, body: impl Into<Known>) -> Response {
    let mut response = Response::new(Either::Left(body.into()));
    *response.status_mut() = status;
    *response.headers_mut() = HeaderMap::with_capacity(HEADERS);
    response
}

fn preflight() -> Response {
    let allowed = "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, \
                   mcp-protocol-version, mcp-session-id, x-service-api-version";
    let mut response = sent(StatusCode::NO_CONTENT, Known::default());
    response.headers_mut().extend([
        (ACCESS_CONTROL_ALLOW_ORIGIN, ANYBODY),
        (ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(allowed)),
        (ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED),
        (ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400")),
    ]);
    response
}

#[cfg(test)]
mod tests;
