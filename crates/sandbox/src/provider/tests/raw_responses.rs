//! Faults of the connection and of raw responses, seen from a raw socket.

use std::io::ErrorKind;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::provider::ProviderEmulator;
use crate::provider::fault::kind::ProviderFault;
use crate::provider::fault::operation::ProviderOperation;
use crate::provider::fault::rule::ProviderFaultRule;
use crate::provider::tests::client::*;

const SEND: &str = "POST /api/v2/send/postcard";

async fn broken_call(provider: &ProviderEmulator, rule: ProviderFaultRule) -> TcpStream {
    provider.clear_faults();
    provider.add_fault(rule.once());
    sent(provider, SEND, &bearer(), "", &card("order-1").to_string()).await
}

async fn answered(provider: &ProviderEmulator, rule: ProviderFaultRule) -> EmulatedResponse {
    let mut stream = broken_call(provider, rule).await;
    let (bytes, ended) = all_of(&mut stream).await;
    ended.unwrap();
    read(&bytes)
}

#[tokio::test]
async fn a_timeout_sends_nothing_before_or_after_acceptance() {
    for (kind, accepted) in [(ProviderFault::TimeoutBefore, 0), (ProviderFault::TimeoutAfter, 1)] {
        let provider = open().await;
        let mut stream = broken_call(&provider, ProviderFaultRule::new(kind)).await;
        let mut byte = [0];
        let received = timeout(Duration::from_millis(300), stream.read(&mut byte)).await;
        assert!(received.is_err(), "{kind:?} must say nothing, and not end either");
        assert_eq!(provider.report().accepted, accepted);
        // Closing ends the silence, and does not wait for the caller.
        timeout(PATIENCE, provider.close()).await.expect("a prompt close").unwrap();
        assert_eq!(all_of(&mut stream).await.0, b"");
    }
}

#[tokio::test]
async fn a_reset_closes_the_connection_before_or_after_acceptance() {
    for (kind, accepted) in [(ProviderFault::ResetBefore, 0), (ProviderFault::ResetAfter, 1)] {
        let provider = open().await;
        let mut stream = broken_call(&provider, ProviderFaultRule::new(kind)).await;
        let (bytes, ended) = all_of(&mut stream).await;
        assert_eq!(bytes, b"");
        assert_eq!(ended.unwrap_err().kind(), ErrorKind::ConnectionReset);
        assert_eq!(provider.report().accepted, accepted);
    }
}

#[tokio::test]
async fn any_status_is_sent_before_or_after_acceptance() {
    for (kind, accepted) in [(ProviderFault::StatusBefore, 0), (ProviderFault::StatusAfter, 1)] {
        for status in [500, 503, 302, 418] {
            let provider = open().await;
            assert_eq!(
                answered(&provider, ProviderFaultRule::new(kind).status(status)).await.status,
                status
            );
            assert_eq!(provider.report().accepted, accepted);
        }
    }
}

#[tokio::test]
async fn refused_and_rate_limited_calls_have_no_effect() {
    let provider = open().await;
    let refused = answered(&provider, ProviderFaultRule::new(ProviderFault::Unauthorized)).await;
    assert_eq!((refused.status, &refused.json()["message"]), (401, &"Unauthenticated.".into()));
    let unpaid = answered(&provider, ProviderFaultRule::new(ProviderFault::PaymentDisabled)).await;
    assert_eq!(unpaid.status, 402);
    assert_eq!(unpaid.json()["code"], "api_disabled_payment_failures");
    let waiting =
        answered(&provider, ProviderFaultRule::new(ProviderFault::RateLimited).seconds(17)).await;
    assert_eq!((waiting.status, waiting.header("retry-after")), (429, Some("17")));
    assert_eq!(provider.report().accepted, 0);
}

#[tokio::test]
async fn html_is_sent_instead_of_json() {
    for (kind, status) in [(ProviderFault::HtmlAfter, 502), (ProviderFault::Html, 200)] {
        let provider = open().await;
        let answer = answered(&provider, ProviderFaultRule::new(kind)).await;
        assert_eq!(answer.status, status);
        assert!(answer.header("content-type").unwrap().starts_with("text/html"));
        assert!(answer.text().starts_with("<!doctype html>"));
        assert_eq!(provider.report().accepted, 1);
    }
}

#[tokio::test]
async fn bodies_are_malformed_empty_wrapped_deep_or_huge() {
    let provider = open().await;
    let body = |kind| {
        let provider = &provider;
        async move {
            let answer = answered(provider, ProviderFaultRule::new(kind)).await;
            assert_eq!(answer.status, 200, "{kind:?}");
            let length: usize = answer.header("content-length").unwrap().parse().unwrap();
            assert_eq!(answer.body.len(), length, "{kind:?}");
            answer.body
        }
    };
    let malformed = body(ProviderFault::Malformed).await;
    assert!(malformed.len() > 100 && serde_json::from_slice::<Value>(&malformed).is_err());
    assert_eq!(body(ProviderFault::Empty).await, b"");
    let array: Value = serde_json::from_slice(&body(ProviderFault::Array).await).unwrap();
    assert!(array[0]["id"].is_u64());
    let deep = body(ProviderFault::Deep).await;
    assert!(deep.starts_with(&[b'['; 10_000]) && deep.ends_with(&[b']'; 10_000]));
    let huge = body(ProviderFault::Huge).await;
    assert!(huge.len() > 8 * 1024 * 1024);
    assert!(serde_json::from_slice::<Value>(&huge).unwrap()["id"].is_u64());
    assert_eq!(provider.report().accepted, 5);
}

#[tokio::test]
async fn a_compressed_body_is_gzip_around_the_good_answer() {
    let provider = open().await;
    let answer = answered(&provider, ProviderFaultRule::new(ProviderFault::Gzip)).await;
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
    assert_eq!(answer.body[..3], [0x1f, 0x8b, 8]);
    // One stored block: ten bytes of head, five of the block's, eight behind.
    let inner = &answer.body[15..answer.body.len() - 8];
    assert!(serde_json::from_slice::<Value>(inner).unwrap()["id"].is_u64());
}

#[tokio::test]
async fn a_truncated_body_ends_short_of_its_length() {
    let provider = open().await;
    let answer = answered(&provider, ProviderFaultRule::new(ProviderFault::Truncated)).await;
    let length: usize = answer.header("content-length").unwrap().parse().unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.body.len(), length / 2);
    assert_eq!(provider.report().accepted, 1);
}

#[tokio::test]
async fn two_lengths_that_differ_are_sent() {
    let provider = open().await;
    let answer = answered(&provider, ProviderFaultRule::new(ProviderFault::DupContentLength)).await;
    let lengths: Vec<&str> =
        answer.head.lines().filter_map(|line| line.strip_prefix("content-length: ")).collect();
    assert_eq!(lengths.len(), 2);
    assert_ne!(lengths[0], lengths[1]);
}

#[tokio::test]
async fn slow_headers_and_a_slow_body_come_byte_by_byte() {
    for (kind, promptly) in [(ProviderFault::SlowHeaders, false), (ProviderFault::SlowLoris, true)]
    {
        let provider = open().await;
        let mut stream =
            broken_call(&provider, ProviderFaultRule::new(kind).milliseconds(40)).await;
        let mut received: Vec<u8> = Vec::new();
        let mut reads = 0;
        while received.len() < 8 || promptly && reads < 8 {
            let mut bytes = [0; 4_096];
            let count = timeout(PATIENCE, stream.read(&mut bytes)).await.unwrap().unwrap();
            received.extend(&bytes[..count]);
            reads += 1;
        }
        let head_is_whole = received.windows(4).any(|four| four == b"\r\n\r\n");
        assert_eq!(head_is_whole, promptly, "{kind:?}");
        assert!(reads >= 4, "{kind:?} came in {reads} pieces");
        assert_eq!(provider.report().accepted, 1);
    }
}

#[tokio::test]
async fn a_slow_response_without_pause_is_complete() {
    let provider = open().await;
    for kind in [ProviderFault::SlowHeaders, ProviderFault::SlowLoris] {
        let answer = answered(&provider, ProviderFaultRule::new(kind).milliseconds(0)).await;
        assert!(answer.json()["id"].is_u64(), "{kind:?}");
    }
}

#[tokio::test]
async fn faults_apply_to_every_operation_and_the_next_call_succeeds() {
    let provider = open().await;
    let id = send_one(&provider, "order-0").await;
    for (operation, line) in [
        (ProviderOperation::Estimate, "POST /api/v2/estimate/postcard".to_owned()),
        (ProviderOperation::List, "GET /api/v2/orders/list".to_owned()),
        (ProviderOperation::Track, format!("GET /api/v2/orders/{id}/track")),
        (ProviderOperation::Items, format!("GET /api/v2/orders/{id}/items")),
        (ProviderOperation::Cancel, format!("PUT /api/v2/orders/{id}/cancel")),
    ] {
        provider.add_fault(ProviderFaultRule::new(ProviderFault::ResetBefore).on(operation).once());
        let mut stream = sent(&provider, &line, &bearer(), "", &card("order-1").to_string()).await;
        assert!(all_of(&mut stream).await.1.is_err(), "{operation:?}");
        assert_eq!(call(&provider, &line, &card("order-1")).await.status, 200, "{operation:?}");
    }
    let broken: Vec<u64> = provider.faults().iter().map(|(_, broken)| *broken).collect();
    assert_eq!(broken, [1; 5]);
}

#[tokio::test]
async fn a_dropped_provider_accepts_no_connection() {
    let provider = open().await;
    let address = provider.address();
    drop(provider);
    let refused = async {
        while TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, refused).await.expect("the connection closes");
}

#[tokio::test]
async fn closing_does_not_wait_for_a_client_that_never_finishes() {
    let provider = open().await;
    let mut stream = TcpStream::connect(provider.address()).await.unwrap();
    let half =
        "POST /api/v2/send/postcard HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 99\r\n\r\n{";
    stream.write_all(half.as_bytes()).await.unwrap();
    timeout(PATIENCE, provider.close()).await.expect("a close").unwrap();
}

#[tokio::test]
async fn faults_apply_to_lob_too() {
    let provider = open().await;
    let basic = "Basic c2FuZGJveC10b2tlbi10aGF0LW1vdmVzLW5vLW1vbmV5Og==";
    provider.add_fault(
        ProviderFaultRule::new(ProviderFault::ResetAfter).on(ProviderOperation::List).once(),
    );
    let mut stream = sent(&provider, "GET /v1/postcards", basic, "", "").await;
    assert_eq!(all_of(&mut stream).await.1.unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(call_as(&provider, "GET /v1/postcards", basic, "", &Value::Null).await.status, 200);
}

#[tokio::test]
async fn a_keep_alive_connection_can_fail_at_its_second_call_or_is_closed_when_idle() {
    let provider = open().await;
    let request = format!(
        "GET /api/v2/orders/7/track HTTP/1.1\r\nhost: localhost\r\nauthorization: {}\r\n\r\n",
        bearer()
    );
    let mut idle = TcpStream::connect(provider.address()).await.unwrap();
    let mut broken = TcpStream::connect(provider.address()).await.unwrap();
    for socket in [&mut idle, &mut broken] {
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut bytes = [0; 4_096];
        let received = timeout(PATIENCE, socket.read(&mut bytes)).await.unwrap().unwrap();
        let answer = read(&bytes[..received]);
        assert_eq!((answer.status, answer.header("connection")), (404, None));
    }
    provider.add_fault(ProviderFaultRule::new(ProviderFault::ResetBefore).once());
    broken.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(all_of(&mut broken).await.1.unwrap_err().kind(), ErrorKind::ConnectionReset);
    timeout(PATIENCE, provider.close()).await.expect("a close").unwrap();
    let (bytes, ended) = all_of(&mut idle).await;
    assert!(bytes.is_empty() && ended.is_ok());
}
