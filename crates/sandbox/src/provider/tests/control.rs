//! The control interface, as a test in another process uses it.

use serde_json::{Value, json};

use crate::provider::tests::client::*;

#[tokio::test]
async fn a_rule_is_added_counted_and_cleared_over_http() {
    let provider = open().await;
    let rule = json!({ "kind": "status_after", "operation": "send", "status": 503, "times": 1 });
    assert_eq!(call(&provider, "POST /__sandbox/faults", &rule).await.status, 200);
    assert_eq!(send(&provider, &card("x")).await.status, 503);
    let faults = get(&provider, "/__sandbox/faults").await.json()["faults"].clone();
    assert_eq!(
        (&faults[0]["kind"], &faults[0]["broken_calls"]),
        (&json!("status_after"), &json!(1))
    );
    call(&provider, "DELETE /__sandbox/faults", &Value::Null).await;
    assert!(provider.faults().is_empty());
    let several = json!([{ "kind": "huge" }, { "kind": "list_lag", "seconds": 9, "percent": 50, "seed": 3,
        "skip": 1, "milliseconds": 5, "reference": "a*" }]);
    call(&provider, "POST /__sandbox/faults", &several).await;
    let (rule, _) = &provider.faults()[1];
    assert_eq!((rule.seconds, rule.percent, rule.seed, rule.skip), (9, 50, 3, 1));
    assert_eq!((rule.milliseconds, rule.reference.as_deref()), (5, Some("a*")));
}

#[tokio::test]
async fn all_invalid_fields_of_a_rule_are_reported_and_no_rule_is_added() {
    let provider = open().await;
    let rules = json!([{ "kind": "huge" },
        { "kind": "explode", "operation": 7, "percent": 101, "status": 42, "tiems": 1 }]);
    let answer = call(&provider, "POST /__sandbox/faults", &rules).await;
    assert_eq!(answer.status, 422);
    let errors = answer.json()["errors"].as_object().unwrap().clone();
    let named: Vec<&str> = errors.keys().map(String::as_str).collect();
    assert_eq!(named, ["kind", "operation", "percent", "status", "tiems"]);
    assert!(errors["kind"][0].as_str().unwrap().contains("timeout_before"));
    assert_eq!(call(&provider, "POST /__sandbox/faults", &json!({})).await.status, 422);
    assert!(provider.faults().is_empty());
}

#[tokio::test]
async fn clock_settings_and_report_work_over_http() {
    let provider = open().await;
    let id = send_one(&provider, "a").await;
    let clock =
        call(&provider, "POST /__sandbox/clock", &json!({ "advance_seconds": 7_200 })).await.json();
    assert_eq!(clock["ahead_seconds"], 7_200);
    assert_eq!(get(&provider, "/__sandbox/clock").await.json()["ahead_seconds"], 7_200);
    let report =
        call(&provider, "POST /__sandbox/report", &json!({ "expected": ["a", "b"] })).await.json();
    assert_eq!((&report["live"], &report["missing"]), (&json!(1), &json!(["b"])));
    let outcome = format!("POST /__sandbox/cards/{id}/fate");
    assert_eq!(call(&provider, &outcome, &json!({ "fate": "fails" })).await.status, 200);
    assert_eq!(call(&provider, &outcome, &json!({ "fate": "sinks" })).await.status, 422);
    assert_eq!(
        call(&provider, "POST /__sandbox/cards/1/fate", &json!({ "fate": "fails" })).await.status,
        404
    );
    assert_eq!(get(&provider, "/__sandbox/report").await.json()["undelivered"], 1);
    let changed = json!({ "review_seconds": 5, "test_mode": true, "prices": { "gb": 199 } });
    let settings = call(&provider, "PATCH /__sandbox/settings", &changed).await.json();
    assert_eq!(
        (&settings["review_seconds"], &settings["list_lag_seconds"]),
        (&json!(5), &json!(0))
    );
    assert_eq!(send(&provider, &card("b")).await.json()["authorization_total"], 199);
    let nonsense = json!({ "review_seconds": -1, "prices": { "Narnia": 1 } });
    assert_eq!(call(&provider, "PATCH /__sandbox/settings", &nonsense).await.status, 422);
    assert_eq!(get(&provider, "/__sandbox/settings").await.json()["review_seconds"], 5);
    call(&provider, "DELETE /__sandbox/cards", &Value::Null).await;
    assert_eq!(get(&provider, "/api/v2/orders/list").await.json()["meta"]["total"], 0);
    call(&provider, "DELETE /__sandbox/journal", &Value::Null).await;
    assert_eq!(get(&provider, "/__sandbox/journal").await.json()["journal"], json!([]));
}

#[tokio::test]
async fn a_foreign_page_is_refused() {
    let provider = open().await;
    let forged = "POST /__sandbox/clock HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: text/plain\r\n\
                  content-length: 23\r\nconnection: close\r\n\r\n{\"advance_seconds\":3600}";
    let rebound = "GET / HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n";
    let button = "POST /let-an-hour-pass HTTP/1.1\r\nhost: 127.0.0.1\r\norigin: https://evil.example\r\n\
                  content-length: 0\r\nconnection: close\r\n\r\n";
    for (request, status) in [(forged, 415), (rebound, 421), (button, 403)] {
        let mut stream = tokio::net::TcpStream::connect(provider.address()).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, request.as_bytes()).await.unwrap();
        assert_eq!(read(&all_of(&mut stream).await.0).status, status);
    }
    assert_eq!(get(&provider, "/__sandbox/clock").await.json()["ahead_seconds"], 0);
}

#[tokio::test]
async fn every_response_has_the_sandbox_header() {
    let provider = open().await;
    send_one(&provider, "x").await;
    for path in
        ["/", "/nothing", "/__sandbox", "/__sandbox/report", "/api/v2/orders/list", "/v1/postcards"]
    {
        let answer = get(&provider, path).await;
        let notice = answer.header("x-sandbox").unwrap();
        assert_eq!(notice, "This is a sandbox: no money moves, no card is mailed.", "{path}");
    }
    assert!(provider.address().ip().is_loopback());
}
