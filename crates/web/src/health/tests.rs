//! The health doors, asked in memory.

use axum::body::{Body, to_bytes};
use http::{Method, Request};
use order::testing::fakes::store::{Pulse, Shelf};
use tower::ServiceExt;

use super::*;

async fn ask(pulse: Pulse, method: Method, path: &str) -> (Response, String) {
    let store = Arc::new(Shelf::with_pulse(pulse));
    let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
    let mut response = routes(store).oneshot(request).await.unwrap();
    let body = std::mem::take(response.body_mut());
    let text = String::from_utf8(to_bytes(body, 1024).await.unwrap().to_vec()).unwrap();
    (response, text)
}

#[tokio::test]
async fn alive_says_so_even_when_the_store_is_away() {
    let (response, body) = ask(Pulse::Busy, Method::GET, "/healthz").await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
    assert_eq!(response.headers()[CACHE_CONTROL], "no-store");
    assert_eq!(body, r#"{"status":"alive"}"#);
}

#[tokio::test]
async fn ready_says_so_when_the_store_answers() {
    let (response, body) = ask(Pulse::Steady, Method::GET, "/readyz").await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()[CACHE_CONTROL], "no-store");
    assert_eq!(body, r#"{"status":"ready"}"#);
}

#[tokio::test]
async fn a_busy_store_makes_us_unready_for_a_while() {
    let (response, body) = ask(Pulse::Busy, Method::GET, "/readyz").await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(response.headers()[RETRY_AFTER], RETRY_AFTER_SECONDS);
    assert_eq!(response.headers()[CACHE_CONTROL], "no-store");
    assert_eq!(body, r#"{"status":"unavailable","missing":["store"]}"#);
}

#[tokio::test(start_paused = true)]
async fn a_silent_store_is_given_two_seconds() {
    let asked = tokio::time::Instant::now();
    let (response, _) = ask(Pulse::None, Method::GET, "/readyz").await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(asked.elapsed().as_secs(), 2);
}

#[tokio::test]
async fn head_answers_like_get_but_without_a_body() {
    for path in ["/healthz", "/readyz"] {
        let (response, body) = ask(Pulse::Steady, Method::HEAD, path).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(response.headers()[CACHE_CONTROL], "no-store", "{path}");
        assert_eq!(body, "", "{path}");
    }
}
