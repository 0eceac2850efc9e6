//! The layer in memory and, where the wire format matters, over a loopback socket.

use std::net::SocketAddr;

use axum::body::Bytes;
use axum::routing::{get, post};
use axum::{Extension, Router};
use http::Method;
use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER};
use http_body_util::BodyExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tower::ServiceExt;

use super::*;
use crate::app::layered;
use crate::http::limits::{BODY_BYTES, HEADER_PUNCTUATION_BYTES, too_large};
use crate::http::problem;
use crate::http::request_id::RequestId;

mod log;
mod tracked;

fn site() -> Router {
    let layer = RequestLayer::new(RequestLimits { body_bytes: 100, ..RequestLimits::default() });
    let large_layer = layer.with(RequestLimits {
        body_bytes: 200,
        body_overflow: StatusCode::INTERNAL_SERVER_ERROR,
        ..RequestLimits::default()
    });
    let routes = Router::new()
        .route("/echo", post(|body: Bytes| async { body }))
        .route("/orders/{order}", get(|| async { "an order" }))
        .route("/stuck", get(std::future::pending::<()>))
        .route("/broken", get(panics))
        .route(
            "/name",
            get(|Extension(id): Extension<RequestId>| async move { id.as_str().to_owned() }),
        )
        .fallback(|| async { problem::NOT_FOUND });
    let large = Router::new().route("/large", post(|body: Bytes| async { body }));
    layered(routes, layer).merge(layered(large, large_layer))
}

async fn panics() -> StatusCode {
    panic!("on purpose")
}

fn ask(method: Method, path: &str) -> http::request::Builder {
    Request::builder().method(method).uri(path)
}

async fn send(request: Request) -> Response {
    site().oneshot(request).await.unwrap()
}

async fn post_bytes(path: &str, count: usize) -> StatusCode {
    send(ask(Method::POST, path).body(Body::from(vec![b'x'; count])).unwrap()).await.status()
}

/// Code and retry advice of an error. Checks its format.
async fn problem_of(response: Response) -> (StatusCode, String, String) {
    let status = response.status();
    assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let json: serde_json::Value = serde_json::from_slice(&body).unwrap();
    let error = &json["error"];
    assert!(error["message"].as_str().is_some_and(|message| message.len() > 20), "{json}");
    let word = |name: &str| error[name].as_str().unwrap().to_owned();
    (status, word("code"), word("retry"))
}

fn expected(status: u16, code: &str, retry: &str) -> (StatusCode, String, String) {
    (StatusCode::from_u16(status).unwrap(), code.to_owned(), retry.to_owned())
}

#[tokio::test]
async fn every_response_has_a_request_id_and_nosniff() {
    let forged = "f".repeat(32);
    for path in ["/orders/1", "/nowhere", "/echo", "/broken"] {
        let request =
            ask(Method::GET, path).header("x-request-id", &forged).body(Body::empty()).unwrap();
        let response = send(request).await;
        let id = response.headers()["x-request-id"].to_str().unwrap();
        assert_eq!(id.len(), 32, "{path}");
        assert_ne!(id, forged, "{path}");
        assert_eq!(response.headers()[X_CONTENT_TYPE_OPTIONS], "nosniff", "{path}");
        assert_eq!(response.headers().get_all("x-request-id").iter().count(), 1, "{path}");
    }
}

#[tokio::test]
async fn a_handler_sees_the_request_id_of_the_response() {
    let response = send(ask(Method::GET, "/name").body(Body::empty()).unwrap()).await;
    let id = response.headers()["x-request-id"].clone();
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), id.as_bytes());
}

#[tokio::test]
async fn sixty_four_headers_pass_and_one_more_does_not() {
    let with = |count: usize| {
        let named = (0..count).fold(ask(Method::GET, "/orders/1"), |request, number| {
            request.header(format!("x-{number}"), "1")
        });
        send(named.body(Body::empty()).unwrap())
    };
    assert_eq!(with(64).await.status(), StatusCode::OK);
    assert_eq!(problem_of(with(65).await).await, expected(431, "headers_too_large", "never"));
}

#[tokio::test]
async fn a_head_of_sixteen_kibibytes_passes_and_one_byte_more_does_not() {
    let spent = "/orders/1".len() + "x".len() + HEADER_PUNCTUATION_BYTES;
    let with = |size: usize| {
        let value = "v".repeat(size - spent);
        send(ask(Method::GET, "/orders/1").header("x", value).body(Body::empty()).unwrap())
    };
    assert_eq!(with(16 * 1024).await.status(), StatusCode::OK);
    let refused = problem_of(with(16 * 1024 + 1).await).await;
    assert_eq!(refused, expected(431, "headers_too_large", "never"));
}

#[tokio::test]
async fn a_long_url_counts_as_head() {
    let path = format!("/orders/1?{}", "q".repeat(16 * 1024));
    let response = send(ask(Method::GET, &path).body(Body::empty()).unwrap()).await;
    assert_eq!(response.status(), StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
}

#[tokio::test]
async fn a_body_may_have_the_size_of_its_limit_and_no_more() {
    assert_eq!(post_bytes("/echo", 100).await, StatusCode::OK);
    let body = Body::from(vec![b'x'; 101]);
    let refused = problem_of(send(ask(Method::POST, "/echo").body(body).unwrap()).await).await;
    assert_eq!(refused, expected(413, "body_too_large", "never"));
}

#[test]
fn the_error_for_a_large_body_names_the_limit() {
    let message =
        |body_bytes| too_large(RequestLimits { body_bytes, ..RequestLimits::default() }).message;
    assert_eq!(message(16 * 1024), "The body is too large: this endpoint accepts at most 16 KiB.");
    assert!(message(BODY_BYTES).ends_with("at most 64 KiB."));
    assert!(message(20_000).ends_with("at most 20000 bytes."));
}

#[tokio::test]
async fn a_route_can_have_other_limits_and_another_status() {
    assert_eq!(post_bytes("/large", 200).await, StatusCode::OK);
    assert_eq!(post_bytes("/large", 201).await, StatusCode::INTERNAL_SERVER_ERROR);
}

#[tokio::test(start_paused = true)]
async fn a_handler_times_out_after_thirty_seconds() {
    let asked = tokio::time::Instant::now();
    let response = send(ask(Method::GET, "/stuck").body(Body::empty()).unwrap()).await;
    assert_eq!(asked.elapsed().as_secs(), 30);
    assert!(response.headers().contains_key(RETRY_AFTER));
    assert_eq!(problem_of(response).await, expected(503, "request_timed_out", "same"));
}

#[tokio::test(start_paused = true)]
async fn a_stalled_body_times_out_after_nine_seconds() {
    let asked = tokio::time::Instant::now();
    let response = send(ask(Method::POST, "/echo").body(stalled()).unwrap()).await;
    assert_eq!(asked.elapsed().as_secs(), 9);
    assert_eq!(problem_of(response).await, expected(408, "body_too_slow", "same"));
}

#[tokio::test]
async fn a_handler_that_panics_answers_500() {
    let response = send(ask(Method::GET, "/broken").body(Body::empty()).unwrap()).await;
    assert_eq!(problem_of(response).await, expected(500, "internal_error", "same"));
}

#[tokio::test]
async fn an_unknown_path_and_a_wrong_method_are_errors_with_a_code() {
    let lost = send(ask(Method::GET, "/nowhere").body(Body::empty()).unwrap()).await;
    assert_eq!(problem_of(lost).await, expected(404, "not_found", "never"));

    for (path, method, allow) in [
        ("/echo", Method::GET, "POST"),
        ("/large", Method::DELETE, "POST"),
        ("/orders/1", Method::TRACE, "GET,HEAD"),
        ("/orders/1", Method::from_bytes(b"BREW").unwrap(), "GET,HEAD"),
    ] {
        let response = send(ask(method, path).body(Body::empty()).unwrap()).await;
        assert_eq!(response.headers()[ALLOW], allow, "{path}");
        assert_eq!(problem_of(response).await, expected(405, "method_not_allowed", "never"));
    }
}

#[tokio::test]
async fn the_limit_applies_to_chunked_bodies() {
    let chunk = format!("32\r\n{}\r\n", "x".repeat(0x32));
    let head = "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    let fits = format!("{head}{chunk}{chunk}0\r\n\r\n");
    assert!(over_the_wire(&fits).await.starts_with("HTTP/1.1 200"));
    let overflows = format!("{head}{chunk}{chunk}{chunk}0\r\n\r\n");
    assert!(over_the_wire(&overflows).await.starts_with("HTTP/1.1 413"));
}

#[tokio::test]
async fn an_invalid_transfer_coding_answers_400() {
    let request =
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n";
    let response = over_the_wire(request).await;
    assert!(response.starts_with("HTTP/1.1 400"), "{response}");
    assert!(response.contains("body_unreadable"), "{response}");
}

#[tokio::test]
async fn a_large_body_is_rejected_by_its_content_length() {
    let response =
        over_the_wire("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n").await;
    assert!(response.starts_with("HTTP/1.1 413"), "{response}");
}

#[tokio::test]
async fn head_has_no_body_on_the_wire() {
    for path in ["/orders/1", "/nowhere"] {
        let response = over_the_wire(&format!("HEAD {path} HTTP/1.1\r\nHost: x\r\n\r\n")).await;
        assert!(response.ends_with("\r\n\r\n"), "{response}");
    }
}

async fn start_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, site()).await });
    address
}

/// Sends one request with `Connection: close` and reads until the connection is closed.
async fn over_the_wire(request: &str) -> String {
    let request = request.replacen("Host: x\r\n", "Host: x\r\nConnection: close\r\n", 1);
    let mut stream = TcpStream::connect(start_server().await).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    String::from_utf8(response).unwrap()
}

/// A body that never ends.
fn stalled() -> Body {
    let begun = http_body_util::Full::new(Bytes::from_static(b"{"));
    Body::new(begun.with_trailers(std::future::pending()))
}
