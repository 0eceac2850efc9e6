//! The guard in memory and, where the wire matters, over a loopback socket.

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
use crate::guarded;
use crate::problem;
use crate::request_id::RequestId;

mod log;
mod watch;

fn site() -> Router {
    let everyday = Guard::new(Limits { body_bytes: 100, ..Limits::default() });
    let roomy = everyday.with(Limits {
        body_bytes: 200,
        body_overflow: StatusCode::INTERNAL_SERVER_ERROR,
        ..Limits::default()
    });
    let open = Router::new()
        .route("/echo", post(|body: Bytes| async { body }))
        .route("/orders/{order}", get(|| async { "an order" }))
        .route("/stuck", get(std::future::pending::<()>))
        .route("/broken", get(break_down))
        .route(
            "/name",
            get(|Extension(id): Extension<RequestId>| async move { id.as_str().to_owned() }),
        )
        .fallback(|| async { problem::NOT_FOUND });
    let large = Router::new().route("/large", post(|body: Bytes| async { body }));
    guarded(open, everyday).merge(guarded(large, roomy))
}

async fn break_down() -> StatusCode {
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

/// The code and the advice of an error, whose shape is checked on the way.
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
async fn every_answer_has_an_id_of_ours_and_is_not_sniffed() {
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
async fn a_handler_knows_the_id_that_the_caller_will_see() {
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
async fn a_long_address_counts_as_head() {
    let path = format!("/orders/1?{}", "q".repeat(16 * 1024));
    let response = send(ask(Method::GET, &path).body(Body::empty()).unwrap()).await;
    assert_eq!(response.status(), StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
}

#[tokio::test]
async fn a_body_may_fill_its_limit_and_no_more() {
    assert_eq!(post_bytes("/echo", 100).await, StatusCode::OK);
    let body = Body::from(vec![b'x'; 101]);
    let refused = problem_of(send(ask(Method::POST, "/echo").body(body).unwrap()).await).await;
    assert_eq!(refused, expected(413, "body_too_large", "never"));
}

#[test]
fn a_body_that_is_too_large_is_told_how_large_it_may_be() {
    let said = |body_bytes| too_large(Limits { body_bytes, ..Limits::default() }).message;
    assert_eq!(said(16 * 1024), "The body is too large: this endpoint takes at most 16 KiB.");
    assert!(said(BODY_BYTES).ends_with("at most 64 KiB."));
    assert!(said(20_000).ends_with("at most 20000 bytes."));
}

#[tokio::test]
async fn a_route_may_have_other_limits_and_another_answer() {
    assert_eq!(post_bytes("/large", 200).await, StatusCode::OK);
    assert_eq!(post_bytes("/large", 201).await, StatusCode::INTERNAL_SERVER_ERROR);
}

#[tokio::test(start_paused = true)]
async fn a_stuck_answer_is_given_up_after_thirty_seconds() {
    let asked = tokio::time::Instant::now();
    let response = send(ask(Method::GET, "/stuck").body(Body::empty()).unwrap()).await;
    assert_eq!(asked.elapsed().as_secs(), 30);
    assert!(response.headers().contains_key(RETRY_AFTER));
    assert_eq!(problem_of(response).await, expected(503, "request_timed_out", "same"));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_stalls_is_given_up_after_ten_seconds() {
    let asked = tokio::time::Instant::now();
    let response = send(ask(Method::POST, "/echo").body(stalled()).unwrap()).await;
    assert_eq!(asked.elapsed().as_secs(), 10);
    assert_eq!(problem_of(response).await, expected(408, "body_too_slow", "same"));
}

#[tokio::test]
async fn a_handler_that_panics_still_answers() {
    let response = send(ask(Method::GET, "/broken").body(Body::empty()).unwrap()).await;
    assert_eq!(problem_of(response).await, expected(500, "internal_error", "same"));
}

#[tokio::test]
async fn an_unknown_address_and_a_wrong_method_are_explained() {
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
async fn chunks_are_counted_although_nobody_announced_them() {
    let chunk = format!("32\r\n{}\r\n", "x".repeat(0x32));
    let head = "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    let fits = format!("{head}{chunk}{chunk}0\r\n\r\n");
    assert!(over_the_wire(&fits).await.starts_with("HTTP/1.1 200"));
    let overflows = format!("{head}{chunk}{chunk}{chunk}0\r\n\r\n");
    assert!(over_the_wire(&overflows).await.starts_with("HTTP/1.1 413"));
}

#[tokio::test]
async fn a_wrong_transfer_coding_is_the_callers_fault() {
    let said = "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n";
    let heard = over_the_wire(said).await;
    assert!(heard.starts_with("HTTP/1.1 400"), "{heard}");
    assert!(heard.contains("body_unreadable"), "{heard}");
}

#[tokio::test]
async fn a_large_body_is_refused_before_it_is_sent() {
    let heard =
        over_the_wire("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n").await;
    assert!(heard.starts_with("HTTP/1.1 413"), "{heard}");
}

#[tokio::test]
async fn head_has_no_body_on_the_wire() {
    for path in ["/orders/1", "/nowhere"] {
        let heard = over_the_wire(&format!("HEAD {path} HTTP/1.1\r\nHost: x\r\n\r\n")).await;
        assert!(heard.ends_with("\r\n\r\n"), "{heard}");
    }
}

async fn open_shop() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, site()).await });
    address
}

/// Says one request, asks for the connection to be closed after it, and hears
/// everything until it is.
async fn over_the_wire(said: &str) -> String {
    let said = said.replacen("Host: x\r\n", "Host: x\r\nConnection: close\r\n", 1);
    let mut stream = TcpStream::connect(open_shop().await).await.unwrap();
    stream.write_all(said.as_bytes()).await.unwrap();
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).await.unwrap();
    String::from_utf8(heard).unwrap()
}

/// A body whose end never comes.
fn stalled() -> Body {
    let begun = http_body_util::Full::new(Bytes::from_static(b"{"));
    Body::new(begun.with_trailers(std::future::pending()))
}
