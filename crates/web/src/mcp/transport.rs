//! HTTP requirements of the MCP endpoint, and its responses.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use axum::BoxError;
use axum::response::IntoResponse;
use bytes::Bytes;
use http::header::{
    ACCEPT, ACCESS_CONTROL_EXPOSE_HEADERS, ALLOW, CACHE_CONTROL, CONTENT_TYPE, HOST, ORIGIN,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::Either;

use super::dispatch::{RpcRequest, dispatch};
use super::message::{
    self, HEADER_MISMATCH, INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, Message,
    ParsedMessage, RpcError, UNSUPPORTED_VERSION,
};
use super::prepared::PreparedResults;
use super::protocol_version::{self, ProtocolVersion};
use super::public_content::PublicContent;
use crate::http::cors::{CorsPolicy, DISCOVERY_EXPOSED};
use crate::http::limits::{RequestLimits, read_body};
use crate::http::prepared_body::{PreparedBody, ResponseBody};
use crate::http::problem::{METHOD_NOT_ALLOWED, Problem};
use crate::http::quota::DiscoveryQuota;
use crate::site_facts::{ListenScope, McpProfile};

/// With and without the slash, because a redirect would lose the body.
pub(crate) const PATHS: [&str; 2] = ["/mcp", "/mcp/"];

/// The methods that the contract counts against the quota.
const COUNTED: [Method; 3] = [Method::GET, Method::HEAD, Method::POST];

const JSON: &str = "application/json";
const STREAM: &str = "text/event-stream";
const BOTH: &str = "application/json, text/event-stream";
/// The response of the worker profile to a notification.
const NOTIFICATION_RESULT: &str = r#"{"jsonrpc":"2.0","id":null,"result":{}}"#;
const CORS: CorsPolicy = CorsPolicy {
    allow_methods: "GET, HEAD, POST, OPTIONS",
    allow_headers: "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, \
                    mcp-protocol-version, mcp-session-id, x-service-api-version",
    expose_headers: None,
};
/// The number of headers of a response, so that the map does not grow.
const HEADERS: usize = 12;

/// The MCP endpoint.
pub(crate) struct McpServer {
    prepared: PreparedResults,
    quota: Arc<DiscoveryQuota>,
    profile: McpProfile,
    /// The public host name.
    host: String,
    reach: ListenScope,
    limits: RequestLimits,
}

/// A response with a prepared body or a problem.
type Response = http::Response<ResponseBody>;

impl McpServer {
    pub(crate) fn new(
        content: &PublicContent,
        quota: Arc<DiscoveryQuota>,
        limits: RequestLimits,
        reach: ListenScope,
    ) -> Self {
        let base = content.facts.base_url.split('/').nth(2).unwrap_or_default();
        Self {
            prepared: PreparedResults::new(content),
            quota,
            profile: content.facts.profile,
            host: host_name(base).to_owned(),
            reach,
            // The contract lists neither 413 nor 408 for this endpoint.
            limits: RequestLimits {
                body_overflow: StatusCode::BAD_REQUEST,
                body_timeout: StatusCode::BAD_REQUEST,
                ..limits
            },
        }
    }

    /// Checks the quota first, then the version, the host, the method and the message.
    pub(crate) async fn respond<B>(&self, request: Request<B>) -> Response
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        if request.method() == Method::OPTIONS {
            return preflight();
        }
        let mut response = if COUNTED.contains(request.method()) {
            self.with_quota(request).await
        } else {
            method_not_allowed()
        };
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, DISCOVERY_EXPOSED);
        CORS.set_headers(headers);
        response
    }

    async fn with_quota<B>(&self, request: Request<B>) -> Response
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        let state = match self.quota.admit(request.headers()) {
            Err(rejection) => return rejection.map(Either::Right),
            Ok(state) => state,
        };
        let mut response = self.admitted(request).await;
        self.quota.set_headers(response.headers_mut(), state);
        response
    }

    async fn admitted<B>(&self, request: Request<B>) -> Response
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        let (parts, body) = request.into_parts();
        if !self.is_own_host(&parts) {
            let message = "Host: must be the name of this server.";
            return error_response(StatusCode::FORBIDDEN, INVALID_REQUEST, message);
        }
        if !parts.headers.get_all(ORIGIN).into_iter().all(is_origin) {
            let message = "Origin: must be one origin, such as https://example.org.";
            return error_response(StatusCode::FORBIDDEN, INVALID_REQUEST, message);
        }
        match parts.method {
            Method::POST => self.post(&parts.headers, body).await,
            Method::HEAD => response(StatusCode::OK, PreparedBody::default()),
            _ => method_not_allowed(),
        }
    }

    /// Prevents DNS rebinding: a page of another site could otherwise make a browser call a server
    /// on its own machine. HTTP/2 has the name in the URL, and may have it in the header too.
    fn is_own_host(&self, parts: &Parts) -> bool {
        match self.reach {
            ListenScope::Loopback => {}
            // A proxy may send any name, and DNS rebinding does not apply.
            ListenScope::Network => return true,
        }
        let lines = parts.headers.get_all(HOST).into_iter();
        let hosts = lines.map(|line| line.to_str().unwrap_or_default());
        let target = parts.uri.authority().map(|authority| authority.as_str());
        let own_names = [self.host.as_str(), "localhost", "127.0.0.1", "[::1]"];
        let mut named = hosts.chain(target).map(host_name);
        named.all(|name| own_names.iter().any(|own| name.eq_ignore_ascii_case(own)))
    }

    async fn post<B>(&self, headers: &HeaderMap, body: B) -> Response
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        if self.profile == McpProfile::Node {
            if !accepts_both(headers) {
                let message = "Accept: must include application/json and text/event-stream.";
                return error_response(StatusCode::NOT_ACCEPTABLE, INVALID_REQUEST, message);
            }
            if !is_json(headers) {
                let message = "Content-Type: must be application/json.";
                return error_response(
                    StatusCode::UNSUPPORTED_MEDIA_TYPE,
                    INVALID_REQUEST,
                    message,
                );
            }
        }
        let body = match read_body(body, self.limits).await {
            Ok(body) => body,
            Err(problem) => {
                let Problem { status, message, retry, .. } = problem;
                let fault = RpcError { retry, ..RpcError::new(INVALID_REQUEST, message) };
                return json_response(status, fault.body(None));
            }
        };
        let read = message::parse(&body);
        let id = read.id;
        // Handled here, because the error must contain the id of the message.
        let replied = catch_unwind(AssertUnwindSafe(|| self.reply(headers, read)));
        replied.unwrap_or_else(|_| {
            let message = "Internal error. Contact support with the X-Request-Id of this response.";
            let fault = RpcError::new(INTERNAL_ERROR, message);
            json_response(StatusCode::INTERNAL_SERVER_ERROR, fault.body(id))
        })
    }

    fn reply(&self, headers: &HeaderMap, read: ParsedMessage<'_>) -> Response {
        let ParsedMessage { id, message } = read;
        let (status, fault) = match message {
            Err(fault) => (StatusCode::BAD_REQUEST, fault),
            Ok(Message::Response) => {
                let message = "JSON-RPC responses are not accepted.";
                (StatusCode::BAD_REQUEST, RpcError::new(INVALID_REQUEST, message))
            }
            Ok(Message::Notification) => {
                match protocol_version::check_notification(self.profile, headers) {
                    Ok(()) => return self.notification_response(),
                    Err(fault) => (StatusCode::BAD_REQUEST, fault),
                }
            }
            Ok(Message::Request { method, params }) => {
                match protocol_version::for_request(self.profile, headers, &method, &params) {
                    Err(fault) => (StatusCode::BAD_REQUEST, fault),
                    Ok(version) => {
                        let rpc = RpcRequest { version, method: &method, params: &params };
                        match dispatch(&self.prepared, &rpc) {
                            Err(fault) => (status(version, &fault), fault),
                            Ok(result) => {
                                let id = id.unwrap_or("null");
                                let body = self.prepared.endings.body(version, id, &result);
                                return json_response(StatusCode::OK, body);
                            }
                        }
                    }
                }
            }
        };
        json_response(status, fault.body(id))
    }

    fn notification_response(&self) -> Response {
        match self.profile {
            McpProfile::Node => response(StatusCode::ACCEPTED, PreparedBody::default()),
            McpProfile::Worker => json_response(StatusCode::OK, NOTIFICATION_RESULT.to_owned()),
        }
    }
}

/// The legacy versions answer 200 with every error of a request; the modern one has a status for an
/// unknown method.
fn status(version: ProtocolVersion, fault: &RpcError) -> StatusCode {
    match (version, fault.code) {
        (ProtocolVersion::Modern, METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        (ProtocolVersion::Modern, HEADER_MISMATCH | UNSUPPORTED_VERSION) => StatusCode::BAD_REQUEST,
        (ProtocolVersion::Legacy | ProtocolVersion::Modern, _) => StatusCode::OK,
    }
}

/// GET is not offered, because there is no stream to read.
fn method_not_allowed() -> Response {
    let mut refused = METHOD_NOT_ALLOWED.into_response();
    refused.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    refused.map(Either::Right)
}

/// The host of an authority without its port; empty if it contains a user.
fn host_name(authority: &str) -> &str {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        Some(_) | None => authority,
    };
    if host.contains('@') { "" } else { host }
}

/// Every origin is allowed, because all is public. A value that is not an origin is rejected.
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
    // The value of every official client.
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

fn error_response(
    status: StatusCode,
    code: i64,
    message: impl Into<Cow<'static, str>>,
) -> Response {
    json_response(status, RpcError::new(code, message).body(None))
}

fn json_response(status: StatusCode, body: impl Into<PreparedBody>) -> Response {
    let mut response = response(status, body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

fn response(status: StatusCode, body: impl Into<PreparedBody>) -> Response {
    let mut response = Response::new(Either::Left(body.into()));
    *response.status_mut() = status;
    *response.headers_mut() = HeaderMap::with_capacity(HEADERS);
    response
}

fn preflight() -> Response {
    let mut response = CORS.preflight();
    response.headers_mut().insert(ACCESS_CONTROL_EXPOSE_HEADERS, DISCOVERY_EXPOSED);
    response.map(Either::Right)
}

#[cfg(test)]
mod tests;
