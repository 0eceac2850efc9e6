//! `GET /healthz` and `GET /readyz`.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use order::ports::Store;
use tokio::time::timeout;

use crate::http::cors::READ_ONLY;
use crate::http::problem::RETRY_AFTER_SECONDS;

/// A store that needs longer could not serve a paid request in time either.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);

pub fn routes(store: Arc<dyn Store>) -> Router {
    let routes = Router::new().route("/healthz", get(alive)).route("/readyz", get(ready));
    READ_ONLY.apply(routes.with_state(store))
}

/// Checks no dependency: a process that can answer should not be restarted because a dependency
/// fails.
async fn alive() -> Response {
    report(StatusCode::OK, r#"{"status":"alive"}"#)
}

async fn ready(State(store): State<Arc<dyn Store>>) -> Response {
    match timeout(STORE_TIMEOUT, store.ping()).await {
        Ok(Ok(())) => report(StatusCode::OK, r#"{"status":"ready"}"#),
        Ok(Err(_)) | Err(_) => {
            let mut response = report(
                StatusCode::SERVICE_UNAVAILABLE,
                r#"{"status":"unavailable","missing":["store"]}"#,
            );
            response.headers_mut().insert(RETRY_AFTER, RETRY_AFTER_SECONDS);
            response
        }
    }
}

fn report(status: StatusCode, body: &'static str) -> Response {
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests;
