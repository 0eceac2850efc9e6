//! Which requests may use the operator's interface: `Host`, `Origin`, token and session.
//!
//! The Unix socket is guarded by its file permissions. At the loopback listener, a page of another
//! origin can make the operator's browser send requests, so `Host` must name this machine, a
//! request that changes something must come from our own page, and a session must send its CSRF
//! token in the form.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::operator::console::pages::{self, login_page};
use crate::operator::console::session::ConsoleSession;
use crate::operator::error::OperatorError;
use crate::operator::login;
use crate::operator::state::OperatorState;
use crate::operator::token::is_same;

/// The largest form that is accepted.
pub(crate) const BODY_BYTES_MAX: usize = 64 * 1024;
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// By which listener a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entrance {
    Socket,
    Loopback,
}

/// Why a request is allowed.
enum OperatorAccess {
    Token,
    /// A browser that has sent the token.
    Session(ConsoleSession),
}

/// What the middleware needs.
#[derive(Clone)]
pub(crate) struct AccessCheck {
    pub(crate) state: Arc<OperatorState>,
    pub(crate) entrance: Entrance,
}

/// Lets a request pass to its handler, or answers it.
pub(crate) async fn check(
    State(check): State<AccessCheck>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match admit(&check, request).await {
        Ok(request) => next.run(request).await,
        Err(refused) => refused,
    };
    protect(response.headers_mut());
    response
}

/// Handlers of the console find the session among the request's extensions.
async fn admit(check: &AccessCheck, mut request: Request) -> Result<Request, Response> {
    if check.entrance == Entrance::Socket {
        return Ok(request);
    }
    let host = host(&request);
    if !host.as_deref().is_some_and(names_this_machine) {
        let status = StatusCode::MISDIRECTED_REQUEST;
        let message = "The operator's interface is only served as localhost, 127.0.0.1 or [::1].";
        return Err(refused(&request, OperatorError::new(status, "wrong_host", message)));
    }
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    if changes && !is_same_origin(request.headers(), host.as_deref().unwrap_or_default()) {
        let message = "This request comes from a page of another origin.";
        let error = OperatorError::new(StatusCode::FORBIDDEN, "other_origin", message);
        return Err(refused(&request, error));
    }
    if login::is_public(request.uri().path()) {
        return Ok(request);
    }
    match identify(&check.state, &request).ok_or_else(|| unauthorized(&request))? {
        OperatorAccess::Token => {}
        OperatorAccess::Session(session) => {
            if changes {
                request = with_csrf_token(request, &session).await?;
            }
            request.extensions_mut().insert(session);
        }
    }
    Ok(request)
}

/// The API takes the token, and the console takes sessions: a browser's cookie does not open the
/// API, and an action in the console names the operator who logged in.
fn identify(state: &OperatorState, request: &Request) -> Option<OperatorAccess> {
    if is_api(request.uri().path()) {
        let header = request.headers().get(header::AUTHORIZATION)?;
        let token = header.to_str().ok()?.strip_prefix("Bearer ")?;
        return state.sessions.is_token(token.trim()).then_some(OperatorAccess::Token);
    }
    let id = login::session_id(request.headers())?;
    state.sessions.find(id, state.clock.now()).map(OperatorAccess::Session)
}

fn is_api(path: &str) -> bool {
    path.starts_with("/v1/") || path == "/metrics"
}

/// The request again, if its form has the session's CSRF token.
async fn with_csrf_token(request: Request, session: &ConsoleSession) -> Result<Request, Response> {
    let (head, body) = request.into_parts();
    let refused = |status, text| pages::message(session, status, "Nothing was changed", text);
    let form = to_bytes(body, BODY_BYTES_MAX).await;
    let form = form.map_err(|_| refused(StatusCode::BAD_REQUEST, "The form is too large."))?;
    let mut fields = url::form_urlencoded::parse(&form);
    if !fields.any(|(name, value)| name == "csrf" && is_same(&value, &session.csrf)) {
        let text = "The form is not from a page of this session. Load the page again.";
        return Err(refused(StatusCode::FORBIDDEN, text));
    }
    Ok(Request::from_parts(head, Body::from(form)))
}

/// HTTP/2 has the host in the URI.
fn host(request: &Request) -> Option<String> {
    let header = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let authority = || request.uri().authority().map(ToString::to_string);
    header.map(str::to_owned).or_else(authority)
}

/// Whether a `Host` cannot be a name that another site's DNS points to this machine.
fn names_this_machine(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, port),
        Some(_) | None => (host, ""),
    };
    let plain = name.trim_start_matches('[').trim_end_matches(']');
    let loopback = plain.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    port.bytes().all(|digit| digit.is_ascii_digit())
        && (loopback || name.eq_ignore_ascii_case("localhost"))
}

/// Programs send neither header.
fn is_same_origin(headers: &HeaderMap, host: &str) -> bool {
    let site = headers.get(SEC_FETCH_SITE).is_none_or(|site| site == "same-origin");
    let origin = headers.get(header::ORIGIN);
    site && origin.is_none_or(|origin| origin == format!("http://{host}").as_str())
}

/// The API's clients get JSON, and a browser gets a page.
fn refused(request: &Request, error: OperatorError) -> Response {
    if is_api(request.uri().path()) {
        error.into_response()
    } else {
        pages::refusal(error.status, &error.message)
    }
}

/// A browser gets the form for the token.
fn unauthorized(request: &Request) -> Response {
    let mut response = if is_api(request.uri().path()) {
        let message = "Send the token as `Authorization: Bearer TOKEN`. It is in the file operator.token in the data folder.";
        OperatorError::new(StatusCode::UNAUTHORIZED, "unauthorized", message).into_response()
    } else {
        login_page(StatusCode::UNAUTHORIZED, None)
    };
    let scheme = HeaderValue::from_static("Bearer realm=\"operator\"");
    response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    response
}

/// Headers of every response. A page may set its own policy.
fn protect(headers: &mut HeaderMap) {
    let policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        // A form's `Origin` would be `null` without a referrer.
        (header::REFERRER_POLICY, "same-origin"),
        (header::CONTENT_SECURITY_POLICY, policy),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_hosts() {
        for host in
            ["localhost", "LOCALHOST:8404", "127.0.0.1:8404", "127.1.2.3", "[::1]:8404", "[::1]"]
        {
            assert!(names_this_machine(host), "{host}");
        }
        for host in [
            "",
            "cards.example",
            "localhost.cards.example",
            "127.0.0.1.cards.example",
            "127.0.0.1@cards.example:80",
            "10.0.0.1:8404",
            "0.0.0.0",
            "[::2]",
            "localhost:80:80",
            "localhost:cards.example",
        ] {
            assert!(!names_this_machine(host), "{host}");
        }
    }

    #[test]
    fn a_change_comes_from_our_own_page_or_from_a_program() {
        let headers = |pairs: &[(&'static str, &'static str)]| {
            pairs
                .iter()
                .map(|(name, value)| {
                    (HeaderName::from_static(name), HeaderValue::from_static(value))
                })
                .collect::<HeaderMap>()
        };
        let host = "localhost:8404";
        assert!(is_same_origin(&headers(&[]), host));
        let own = [("origin", "http://localhost:8404"), ("sec-fetch-site", "same-origin")];
        assert!(is_same_origin(&headers(&own), host));
        for other in [
            ("origin", "null"),
            ("origin", "http://localhost:8402"),
            ("origin", "https://localhost:8404"),
            ("origin", "http://cards.example"),
            ("sec-fetch-site", "same-site"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "none"),
        ] {
            assert!(!is_same_origin(&headers(&[other]), host), "{other:?}");
        }
    }
}
