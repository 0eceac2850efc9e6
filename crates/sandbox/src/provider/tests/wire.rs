//! Faults that reach the wire, seen from a raw socket: each is what it says it is.

use std::io::ErrorKind;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::super::PostOffice;
use super::super::fault::kind::Kind;
use super::super::fault::operation::Operation;
use super::super::fault::rule::Rule;
use super::client::*;

const SEND: &str = "POST /api/v2/send/postcard";

async fn struck(office: &PostOffice, rule: Rule) -> TcpStream {
    office.clear_faults();
    office.add_fault(rule.once());
    sent(office, SEND, &bearer(), "", &card("order-1").to_string()).await
}

async fn answered(office: &PostOffice, rule: Rule) -> Answer {
    let mut stream = struck(office, rule).await;
    let (bytes, ended) = all_of(&mut stream).await;
    ended.unwrap();
    read(&bytes)
}

#[tokio::test]
async fn a_timeout_is_silence_before_or_after_the_card_was_accepted() {
    for (kind, accepted) in [(Kind::TimeoutBefore, 0), (Kind::TimeoutAfter, 1)] {
        let office = open().await;
        let mut stream = struck(&office, Rule::new(kind)).await;
        let mut byte = [0];
        let heard = timeout(Duration::from_millis(300), stream.read(&mut byte)).await;
        assert!(heard.is_err(), "{kind:?} must say nothing, and not end either");
        assert_eq!(office.report().accepted, accepted);
        // Closing ends the silence, and does not wait for the caller.
        timeout(PATIENCE, office.close()).await.expect("a prompt close").unwrap();
        assert_eq!(all_of(&mut stream).await.0, b"");
    }
}

#[tokio::test]
async fn a_reset_is_a_reset_before_or_after_the_card_was_accepted() {
    for (kind, accepted) in [(Kind::ResetBefore, 0), (Kind::ResetAfter, 1)] {
        let office = open().await;
        let mut stream = struck(&office, Rule::new(kind)).await;
        let (bytes, ended) = all_of(&mut stream).await;
        assert_eq!(bytes, b"");
        assert_eq!(ended.unwrap_err().kind(), ErrorKind::ConnectionReset);
        assert_eq!(office.report().accepted, accepted);
    }
}

#[tokio::test]
async fn any_status_comes_before_or_after_the_card_was_accepted() {
    for (kind, accepted) in [(Kind::StatusBefore, 0), (Kind::StatusAfter, 1)] {
        for status in [500, 503, 302, 418] {
            let office = open().await;
            assert_eq!(answered(&office, Rule::new(kind).status(status)).await.status, status);
            assert_eq!(office.report().accepted, accepted);
        }
    }
}

#[tokio::test]
async fn an_account_that_is_refused_or_must_wait_has_had_nothing_done() {
    let office = open().await;
    let refused = answered(&office, Rule::new(Kind::Unauthorized)).await;
    assert_eq!((refused.status, &refused.json()["message"]), (401, &"Unauthenticated.".into()));
    let unpaid = answered(&office, Rule::new(Kind::PaymentDisabled)).await;
    assert_eq!(unpaid.status, 402);
    assert_eq!(unpaid.json()["code"], "api_disabled_payment_failures");
    let waiting = answered(&office, Rule::new(Kind::RateLimited).seconds(17)).await;
    assert_eq!((waiting.status, waiting.header("retry-after")), (429, Some("17")));
    assert_eq!(office.report().accepted, 0);
}

#[tokio::test]
async fn a_page_comes_in_place_of_json() {
    for (kind, status) in [(Kind::HtmlAfter, 502), (Kind::Html, 200)] {
        let office = open().await;
        let answer = answered(&office, Rule::new(kind)).await;
        assert_eq!(answer.status, status);
        assert!(answer.header("content-type").unwrap().starts_with("text/html"));
        assert!(answer.text().starts_with("<!doctype html>"));
        assert_eq!(office.report().accepted, 1);
    }
}

#[tokio::test]
async fn bodies_are_malformed_empty_wrapped_deep_or_huge() {
    let office = open().await;
    let body = |kind| {
        let office = &office;
        async move {
            let answer = answered(office, Rule::new(kind)).await;
            assert_eq!(answer.status, 200, "{kind:?}");
            let length: usize = answer.header("content-length").unwrap().parse().unwrap();
            assert_eq!(answer.body.len(), length, "{kind:?}");
            answer.body
        }
    };
    let malformed = body(Kind::Malformed).await;
    assert!(malformed.len() > 100 && serde_json::from_slice::<Value>(&malformed).is_err());
    assert_eq!(body(Kind::Empty).await, b"");
    let array: Value = serde_json::from_slice(&body(Kind::Array).await).unwrap();
    assert!(array[0]["id"].is_u64());
    let deep = body(Kind::Deep).await;
    assert!(deep.starts_with(&[b'['; 10_000]) && deep.ends_with(&[b']'; 10_000]));
    let huge = body(Kind::Huge).await;
    assert!(huge.len() > 8 * 1024 * 1024);
    assert!(serde_json::from_slice::<Value>(&huge).unwrap()["id"].is_u64());
    assert_eq!(office.report().accepted, 5);
}

#[tokio::test]
async fn a_compressed_body_is_gzip_around_the_good_answer() {
    let office = open().await;
    let answer = answered(&office, Rule::new(Kind::Gzip)).await;
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
    assert_eq!(answer.body[..3], [0x1f, 0x8b, 8]);
    // One stored block: ten bytes of head, five of the block's, eight behind.
    let inner = &answer.body[15..answer.body.len() - 8];
    assert!(serde_json::from_slice::<Value>(inner).unwrap()["id"].is_u64());
}

#[tokio::test]
async fn a_truncated_body_ends_short_of_its_length() {
    let office = open().await;
    let answer = answered(&office, Rule::new(Kind::Truncated)).await;
    let length: usize = answer.header("content-length").unwrap().parse().unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.body.len(), length / 2);
    assert_eq!(office.report().accepted, 1);
}

#[tokio::test]
async fn two_lengths_that_differ_are_sent() {
    let office = open().await;
    let answer = answered(&office, Rule::new(Kind::DupContentLength)).await;
    let lengths: Vec<&str> =
        answer.head.lines().filter_map(|line| line.strip_prefix("content-length: ")).collect();
    assert_eq!(lengths.len(), 2);
    assert_ne!(lengths[0], lengths[1]);
}

#[tokio::test]
async fn slow_headers_and_a_slow_body_come_byte_by_byte() {
    for (kind, promptly) in [(Kind::SlowHeaders, false), (Kind::SlowLoris, true)] {
        let office = open().await;
        let mut stream = struck(&office, Rule::new(kind).milliseconds(40)).await;
        let mut heard: Vec<u8> = Vec::new();
        let mut reads = 0;
        while heard.len() < 8 || promptly && reads < 8 {
            let mut bytes = [0; 4_096];
            let count = timeout(PATIENCE, stream.read(&mut bytes)).await.unwrap().unwrap();
            heard.extend(&bytes[..count]);
            reads += 1;
        }
        let head_is_whole = heard.windows(4).any(|four| four == b"\r\n\r\n");
        assert_eq!(head_is_whole, promptly, "{kind:?}");
        assert!(reads >= 4, "{kind:?} came in {reads} pieces");
        assert_eq!(office.report().accepted, 1);
    }
}

#[tokio::test]
async fn a_slow_answer_that_is_not_slow_is_whole() {
    let office = open().await;
    for kind in [Kind::SlowHeaders, Kind::SlowLoris] {
        let answer = answered(&office, Rule::new(kind).milliseconds(0)).await;
        assert!(answer.json()["id"].is_u64(), "{kind:?}");
    }
}

#[tokio::test]
async fn faults_strike_every_operation_and_the_next_call_is_well_again() {
    let office = open().await;
    let id = send_one(&office, "order-0").await;
    for (operation, line) in [
        (Operation::Estimate, "POST /api/v2/estimate/postcard".to_owned()),
        (Operation::List, "GET /api/v2/orders/list".to_owned()),
        (Operation::Track, format!("GET /api/v2/orders/{id}/track")),
        (Operation::Items, format!("GET /api/v2/orders/{id}/items")),
        (Operation::Cancel, format!("PUT /api/v2/orders/{id}/cancel")),
    ] {
        office.add_fault(Rule::new(Kind::ResetBefore).on(operation).once());
        let mut stream = sent(&office, &line, &bearer(), "", &card("order-1").to_string()).await;
        assert!(all_of(&mut stream).await.1.is_err(), "{operation:?}");
        assert_eq!(call(&office, &line, &card("order-1")).await.status, 200, "{operation:?}");
    }
    let broken: Vec<u64> = office.faults().iter().map(|(_, broken)| *broken).collect();
    assert_eq!(broken, [1; 5]);
}

#[tokio::test]
async fn an_office_that_is_dropped_lets_nobody_in_any_more() {
    let office = open().await;
    let address = office.address();
    drop(office);
    let refused = async {
        while TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, refused).await.expect("the door closes");
}

#[tokio::test]
async fn closing_does_not_wait_for_a_caller_who_never_finishes() {
    let office = open().await;
    let mut stream = TcpStream::connect(office.address()).await.unwrap();
    let half =
        "POST /api/v2/send/postcard HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 99\r\n\r\n{";
    stream.write_all(half.as_bytes()).await.unwrap();
    timeout(PATIENCE, office.close()).await.expect("a close").unwrap();
}

#[tokio::test]
async fn the_other_dialect_is_struck_too() {
    let office = open().await;
    let basic = "Basic c2FuZGJveC10b2tlbi10aGF0LW1vdmVzLW5vLW1vbmV5Og==";
    office.add_fault(Rule::new(Kind::ResetAfter).on(Operation::List).once());
    let mut stream = sent(&office, "GET /v1/postcards", basic, "", "").await;
    assert_eq!(all_of(&mut stream).await.1.unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(call_as(&office, "GET /v1/postcards", basic, "", &Value::Null).await.status, 200);
}

#[tokio::test]
async fn a_connection_that_is_kept_open_is_struck_at_its_second_call_or_closed_when_idle() {
    let office = open().await;
    let request = format!(
        "GET /api/v2/orders/7/track HTTP/1.1\r\nhost: localhost\r\nauthorization: {}\r\n\r\n",
        bearer()
    );
    let mut idle = TcpStream::connect(office.address()).await.unwrap();
    let mut struck = TcpStream::connect(office.address()).await.unwrap();
    for socket in [&mut idle, &mut struck] {
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut bytes = [0; 4_096];
        let heard = timeout(PATIENCE, socket.read(&mut bytes)).await.unwrap().unwrap();
        let answer = read(&bytes[..heard]);
        assert_eq!((answer.status, answer.header("connection")), (404, None));
    }
    office.add_fault(Rule::new(Kind::ResetBefore).once());
    struck.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(all_of(&mut struck).await.1.unwrap_err().kind(), ErrorKind::ConnectionReset);
    timeout(PATIENCE, office.close()).await.expect("a close").unwrap();
    let (bytes, ended) = all_of(&mut idle).await;
    assert!(bytes.is_empty() && ended.is_ok());
}
