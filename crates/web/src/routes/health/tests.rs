//! The health checks, called in memory.

use axum::body::{Body, to_bytes};
use http::{Method, Request};
use order::testing::fakes::store::{FakeStore, PingResult};
use tower::ServiceExt;

use super::*;

async fn ask(pulse: PingResult, method: Method, path: &str) -> (Response, String) {
    ask_with(Dependencies::default(), pulse, method, path).await
}

async fn ask_with(
    dependencies: Dependencies,
    pulse: PingResult,
    method: Method,
    path: &str,
) -> (Response, String) {
    let store = Arc::new(FakeStore::with_ping(pulse));
    let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
    let mut response = routes(store, dependencies).oneshot(request).await.unwrap();
    let body = std::mem::take(response.body_mut());
    let text = String::from_utf8(to_bytes(body, 1024).await.unwrap().to_vec()).unwrap();
    (response, text)
}

#[tokio::test]
async fn healthz_answers_200_without_a_store() {
    let (response, body) = ask(PingResult::Lost, Method::GET, "/healthz").await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
    assert_eq!(response.headers()[CACHE_CONTROL], "no-store");
    assert_eq!(body, r#"{"status":"alive"}"#);
}

#[tokio::test]
async fn readyz_answers_200_if_the_store_answers() {
    let (response, body) = ask(PingResult::Alive, Method::GET, "/readyz").await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()[CACHE_CONTROL], "no-store");
    assert_eq!(
        body,
        r#"{"status":"ready","details":{"node":"not_configured","provider":"not_configured"}}"#
    );
}

#[tokio::test]
async fn readyz_reports_a_node_and_a_provider_that_fail_and_stays_ready() {
    let last = |call: LastCall| -> Option<LastCallReader> { Some(Arc::new(move || call)) };
    for (node, provider, details) in [
        (LastCall::Lost, LastCall::Refused, r#"{"node":"lost","provider":"refused"}"#),
        (LastCall::Answered, LastCall::NotMade, r#"{"node":"answered","provider":"not_called"}"#),
    ] {
        let dependencies = Dependencies { node: last(node), provider: last(provider) };
        let (response, body) =
            ask_with(dependencies, PingResult::Alive, Method::GET, "/readyz").await;
        assert_eq!(response.status(), StatusCode::OK, "{body}");
        assert_eq!(body, format!(r#"{{"status":"ready","details":{details}}}"#));
    }
}

#[tokio::test]
async fn readyz_answers_503_if_the_store_is_busy() {
    let (response, body) = ask(PingResult::Lost, Method::GET, "/readyz").await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(response.headers()[RETRY_AFTER], RETRY_AFTER_SECONDS);
    assert_eq!(response.headers()[CACHE_CONTROL], "no-store");
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["status"], "unavailable");
    assert_eq!(body["missing"], serde_json::json!(["store"]));
    assert_eq!(body["details"]["node"], "not_configured");
}

#[tokio::test(start_paused = true)]
async fn readyz_waits_two_seconds_for_the_store() {
    let asked = tokio::time::Instant::now();
    let (response, _) = ask(PingResult::NoAnswer, Method::GET, "/readyz").await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(asked.elapsed().as_secs(), 2);
}

#[tokio::test]
async fn head_answers_like_get_without_a_body() {
    for path in ["/healthz", "/readyz"] {
        let (response, body) = ask(PingResult::Alive, Method::HEAD, path).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(response.headers()[CACHE_CONTROL], "no-store", "{path}");
        assert_eq!(body, "", "{path}");
    }
}
