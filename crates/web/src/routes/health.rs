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

/// The outcome of the last call to another system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastCall {
    /// There was no call since the start.
    NotMade,
    Answered,
    Refused,
    Lost,
}

/// Reads the last outcome from memory: `/readyz` is public and must not cause calls.
pub type LastCallReader = Arc<dyn Fn() -> LastCall + Send + Sync>;

/// The systems that `/readyz` reports beside the store. None if one is not configured.
#[derive(Clone, Default)]
pub struct Dependencies {
    pub node: Option<LastCallReader>,
    pub provider: Option<LastCallReader>,
}

#[derive(Clone)]
struct HealthState {
    store: Arc<dyn Store>,
    dependencies: Dependencies,
}

pub fn routes(store: Arc<dyn Store>, dependencies: Dependencies) -> Router {
    let routes = Router::new().route("/healthz", get(alive)).route("/readyz", get(ready));
    READ_ONLY.apply(routes.with_state(HealthState { store, dependencies }))
}

/// Checks no dependency: a process that can answer should not be restarted because a dependency
/// fails.
async fn alive() -> Response {
    report(StatusCode::OK, r#"{"status":"alive"}"#.to_owned())
}

/// Only the store decides: without a node or a provider, documents, challenges and the status of
/// orders are still served.
async fn ready(State(HealthState { store, dependencies }): State<HealthState>) -> Response {
    let details = details(&dependencies);
    match timeout(STORE_TIMEOUT, store.ping()).await {
        Ok(Ok(())) => {
            report(StatusCode::OK, format!(r#"{{"status":"ready","details":{details}}}"#))
        }
        Ok(Err(_)) | Err(_) => {
            let mut response = report(
                StatusCode::SERVICE_UNAVAILABLE,
                format!(r#"{{"status":"unavailable","missing":["store"],"details":{details}}}"#),
            );
            response.headers_mut().insert(RETRY_AFTER, RETRY_AFTER_SECONDS);
            response
        }
    }
}

fn details(dependencies: &Dependencies) -> String {
    let read = |reader: &Option<LastCallReader>| {
        reader.as_ref().map_or("not_configured", |last_call| last_call().word())
    };
    let (node, provider) = (read(&dependencies.node), read(&dependencies.provider));
    format!(r#"{{"node":"{node}","provider":"{provider}"}}"#)
}

impl LastCall {
    const fn word(self) -> &'static str {
        match self {
            Self::NotMade => "not_called",
            Self::Answered => "answered",
            Self::Refused => "refused",
            Self::Lost => "lost",
        }
    }
}

fn report(status: StatusCode, body: String) -> Response {
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests;
