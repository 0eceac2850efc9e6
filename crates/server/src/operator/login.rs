//! `/login`: a browser sends the token once, and gets a cookie for its session.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use crate::operator::console::pages::{self, login_page};
use crate::operator::state::OperatorState;

const PATH: &str = "/login";
const LOGOUT: &str = "/logout";
pub(crate) const SESSION_COOKIE: &str = "pennyblack_operator";
const COOKIE_LIMITS: &str = "HttpOnly; SameSite=Strict; Path=/";
const FORM_BYTES_MAX: usize = 4 * 1024;

/// Whether a path needs no session.
pub(crate) fn is_public(path: &str) -> bool {
    path == PATH || pages::is_public(path)
}

pub(crate) fn routes(state: Arc<OperatorState>) -> Router {
    Router::new()
        .route(PATH, get(show).post(log_in))
        .route(LOGOUT, post(log_out))
        .layer(DefaultBodyLimit::max(FORM_BYTES_MAX))
        .with_state(state)
}

async fn show() -> Response {
    login_page(StatusCode::OK, None)
}

async fn log_in(State(state): State<Arc<OperatorState>>, form: Bytes) -> Response {
    let fields: BTreeMap<_, _> = url::form_urlencoded::parse(&form).into_owned().collect();
    let text = |name: &str| fields.get(name).map_or("", |value| value.trim());
    if !state.sessions.is_token(text("token")) {
        return login_page(StatusCode::UNAUTHORIZED, Some("This is not the token."));
    }
    let Ok(operator) = text("operator").parse() else {
        let problem = "A name has 1 to 64 letters, digits, dots, hyphens, underscores or @.";
        return login_page(StatusCode::BAD_REQUEST, Some(problem));
    };
    match state.sessions.begin(operator, state.clock.now()) {
        Some(id) => to("/", &format!("{SESSION_COOKIE}={id}; {COOKIE_LIMITS}")),
        None => {
            let problem = "The service has no random bytes. Try again.";
            login_page(StatusCode::SERVICE_UNAVAILABLE, Some(problem))
        }
    }
}

async fn log_out(State(state): State<Arc<OperatorState>>, headers: HeaderMap) -> Response {
    if let Some(id) = session_id(&headers) {
        state.sessions.end(id);
    }
    to(PATH, &format!("{SESSION_COOKIE}=; Max-Age=0; {COOKIE_LIMITS}"))
}

/// The id of the browser's session, if it sends one.
pub(crate) fn session_id(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';')).map(str::trim);
    pairs.find_map(|pair| pair.strip_prefix(SESSION_COOKIE)?.strip_prefix('='))
}

fn to(location: &'static str, cookie: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static(location));
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_is_found_among_other_cookies() {
        let mut headers = HeaderMap::new();
        assert_eq!(session_id(&headers), None);
        headers
            .insert(header::COOKIE, HeaderValue::from_static("a=b; pennyblack_operator=x1; c=d"));
        assert_eq!(session_id(&headers), Some("x1"));
    }
}
