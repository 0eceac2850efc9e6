//! The back door, as a test in another process uses it.

use serde_json::{Value, json};

use super::client::*;

#[tokio::test]
async fn a_rule_is_made_counted_and_taken_back_over_http() {
    let office = open().await;
    let rule = json!({ "kind": "status_after", "operation": "send", "status": 503, "times": 1 });
    assert_eq!(call(&office, "POST /__sandbox/faults", &rule).await.status, 200);
    assert_eq!(send(&office, &card("x")).await.status, 503);
    let faults = get(&office, "/__sandbox/faults").await.json()["faults"].clone();
    assert_eq!(
        (&faults[0]["kind"], &faults[0]["broken_calls"]),
        (&json!("status_after"), &json!(1))
    );
    call(&office, "DELETE /__sandbox/faults", &Value::Null).await;
    assert!(office.faults().is_empty());
    let several = json!([{ "kind": "huge" }, { "kind": "list_lag", "seconds": 9, "percent": 50, "seed": 3,
        "skip": 1, "milliseconds": 5, "reference": "a*" }]);
    call(&office, "POST /__sandbox/faults", &several).await;
    let (rule, _) = &office.faults()[1];
    assert_eq!((rule.seconds, rule.percent, rule.seed, rule.skip), (9, 50, 3, 1));
    assert_eq!((rule.milliseconds, rule.reference.as_deref()), (5, Some("a*")));
}

#[tokio::test]
async fn every_faulty_field_of_a_rule_is_named_and_nothing_is_half_done() {
    let office = open().await;
    let rules = json!([{ "kind": "huge" },
        { "kind": "explode", "operation": 7, "percent": 101, "status": 42, "tiems": 1 }]);
    let answer = call(&office, "POST /__sandbox/faults", &rules).await;
    assert_eq!(answer.status, 422);
    let errors = answer.json()["errors"].as_object().unwrap().clone();
    let named: Vec<&str> = errors.keys().map(String::as_str).collect();
    assert_eq!(named, ["kind", "operation", "percent", "status", "tiems"]);
    assert!(errors["kind"][0].as_str().unwrap().contains("timeout_before"));
    assert_eq!(call(&office, "POST /__sandbox/faults", &json!({})).await.status, 422);
    assert!(office.faults().is_empty());
}

#[tokio::test]
async fn the_clock_the_settings_and_the_report_answer_over_http() {
    let office = open().await;
    let id = send_one(&office, "a").await;
    let clock =
        call(&office, "POST /__sandbox/clock", &json!({ "advance_seconds": 7_200 })).await.json();
    assert_eq!(clock["ahead_seconds"], 7_200);
    assert_eq!(get(&office, "/__sandbox/clock").await.json()["ahead_seconds"], 7_200);
    let report =
        call(&office, "POST /__sandbox/report", &json!({ "expected": ["a", "b"] })).await.json();
    assert_eq!((&report["live"], &report["missing"]), (&json!(1), &json!(["b"])));
    let fate = format!("POST /__sandbox/cards/{id}/fate");
    assert_eq!(call(&office, &fate, &json!({ "fate": "fails" })).await.status, 200);
    assert_eq!(call(&office, &fate, &json!({ "fate": "sinks" })).await.status, 422);
    assert_eq!(
        call(&office, "POST /__sandbox/cards/1/fate", &json!({ "fate": "fails" })).await.status,
        404
    );
    assert_eq!(get(&office, "/__sandbox/report").await.json()["undelivered"], 1);
    let changed = json!({ "review_seconds": 5, "test_mode": true, "prices": { "gb": 199 } });
    let settings = call(&office, "PATCH /__sandbox/settings", &changed).await.json();
    assert_eq!(
        (&settings["review_seconds"], &settings["list_lag_seconds"]),
        (&json!(5), &json!(0))
    );
    assert_eq!(send(&office, &card("b")).await.json()["authorization_total"], 199);
    let nonsense = json!({ "review_seconds": -1, "prices": { "Narnia": 1 } });
    assert_eq!(call(&office, "PATCH /__sandbox/settings", &nonsense).await.status, 422);
    assert_eq!(get(&office, "/__sandbox/settings").await.json()["review_seconds"], 5);
    call(&office, "DELETE /__sandbox/cards", &Value::Null).await;
    assert_eq!(get(&office, "/api/v2/orders/list").await.json()["meta"]["total"], 0);
    call(&office, "DELETE /__sandbox/journal", &Value::Null).await;
    assert_eq!(get(&office, "/__sandbox/journal").await.json()["journal"], json!([]));
}

#[tokio::test]
async fn a_page_elsewhere_cannot_reach_in() {
    let office = open().await;
    let forged = "POST /__sandbox/clock HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: text/plain\r\n\
                  content-length: 23\r\nconnection: close\r\n\r\n{\"advance_seconds\":3600}";
    let rebound = "GET / HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n";
    let button = "POST /let-an-hour-pass HTTP/1.1\r\nhost: 127.0.0.1\r\norigin: https://evil.example\r\n\
                  content-length: 0\r\nconnection: close\r\n\r\n";
    for (request, status) in [(forged, 415), (rebound, 421), (button, 403)] {
        let mut stream = tokio::net::TcpStream::connect(office.address()).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, request.as_bytes()).await.unwrap();
        assert_eq!(read(&all_of(&mut stream).await.0).status, status);
    }
    assert_eq!(get(&office, "/__sandbox/clock").await.json()["ahead_seconds"], 0);
}

#[tokio::test]
async fn every_answer_says_that_it_is_a_sandbox() {
    let office = open().await;
    send_one(&office, "x").await;
    for path in
        ["/", "/nothing", "/__sandbox", "/__sandbox/report", "/api/v2/orders/list", "/v1/postcards"]
    {
        let answer = get(&office, path).await;
        let notice = answer.header("x-sandbox").unwrap();
        assert_eq!(notice, "This is a sandbox: no money moves, no card is mailed.", "{path}");
    }
    assert!(office.address().ip().is_loopback());
}
