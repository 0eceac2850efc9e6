//! Checks the Host header against DNS rebinding.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Response, header};
use axum::middleware::Next;
use serde_json::json;
use url::{Host, Url};

use crate::http::response::EmulatedResponse;
use crate::provider::state::SharedState;

/// Cards in a sandbox may contain real addresses. A foreign page could resolve its own name
/// to this machine and read them; the Host header reveals it.
pub(crate) async fn guard(
    State(shared): State<Arc<SharedState>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let base = shared.lock().base.clone();
    if is_ours(request.headers(), &base) {
        return next.run(request).await;
    }
    let words = "This sandbox answers to 127.0.0.1 and localhost only.";
    EmulatedResponse::json(421, &json!({ "message": words })).into_response()
}

fn is_ours(headers: &HeaderMap, base: &str) -> bool {
    let Some(named) = headers.get(header::HOST) else { return true };
    let Some(url) =
        named.to_str().ok().and_then(|named| Url::parse(&format!("http://{named}/")).ok())
    else {
        return false;
    };
    let public = Url::parse(base).ok();
    match url.host() {
        Some(Host::Ipv4(address)) if address.is_loopback() => true,
        Some(Host::Ipv6(address)) if address.is_loopback() => true,
        Some(Host::Domain("localhost")) => true,
        host => host.is_some() && host == public.as_ref().and_then(Url::host),
    }
}

/// Whether a form was sent from a page of this server. Browsers send Origin; clients without
/// it are not browsers.
pub(crate) fn is_same_origin(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    match (text(header::ORIGIN), text(header::HOST)) {
        (None, _) => true,
        (Some(origin), Some(host)) => origin.split_once("://").is_some_and(|(_, own)| own == host),
        (Some(_), None) => false,
    }
}
