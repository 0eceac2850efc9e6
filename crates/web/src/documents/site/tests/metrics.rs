//! What requests leave in the metrics, and what they must not.

use ::metrics::set_default_local_recorder;
use metrics_exporter_prometheus::PrometheusBuilder;

use super::*;
use crate::http::request_metrics::REQUEST_DURATION;
use crate::routes::postcards;

/// Makes the requests on one thread, and returns the lines with the counts.
async fn counts_after(requests: &[(&str, &str)]) -> Vec<String> {
    let recorder =
        PrometheusBuilder::new().set_buckets(&[0.1]).expect("there is a bucket").build_recorder();
    let _recording = set_default_local_recorder(&recorder);
    let app = app();
    for (method, path) in requests {
        status(&app, method, path).await;
    }
    let rendered = recorder.handle().render();
    let count = format!("{REQUEST_DURATION}_count{{");
    let mut lines: Vec<String> =
        rendered.lines().filter_map(|line| line.strip_prefix(&count)).map(str::to_owned).collect();
    lines.sort();
    lines
}

fn line(method: &str, route: &str, status: u16, count: u64) -> String {
    format!(
        r#"http_request_method="{method}",http_route="{route}",http_response_status_code="{status}"}} {count}"#
    )
}

#[tokio::test]
async fn every_request_is_measured_by_method_route_and_status() {
    let requests = [
        ("GET", "/llms.txt"),
        ("GET", "/llms.txt?to=canary"),
        ("HEAD", "/llms.txt"),
        ("DELETE", "/llms.txt"),
        ("GET", "/healthz"),
        ("GET", "/mcp"),
        ("POST", postcards::X402),
    ];
    let expected = [
        line("DELETE", "/llms.txt", 405, 1),
        line("GET", "/healthz", 200, 1),
        line("GET", "/llms.txt", 200, 2),
        line("GET", "/mcp", 405, 1),
        line("HEAD", "/llms.txt", 200, 1),
        line("POST", postcards::X402, 503, 1),
    ];
    assert_eq!(counts_after(&requests).await, expected);
}

#[tokio::test]
async fn no_label_contains_text_of_the_caller() {
    let order = offer(1).id.to_string();
    let order_path = format!("/api/x402/orders/{order}");
    let requests = [
        ("GET", order_path.as_str()),
        ("GET", "/api/x402/orders/canary"),
        ("GET", "/api/x402/resolve/canary"),
        ("GET", "/canary"),
        ("GET", "/canary/0x1111111111111111111111111111111111111111"),
        ("CANARY", "/canary"),
        ("CANARY", "/llms.txt"),
    ];
    let lines = counts_after(&requests).await;
    for word in ["canary", "0x1111", &order] {
        assert!(!lines.iter().any(|line| line.to_lowercase().contains(word)), "{lines:?}");
    }
    assert!(lines.contains(&line("GET", "other", 404, 2)), "{lines:?}");
    assert!(lines.contains(&line("_OTHER", "/llms.txt", 405, 1)), "{lines:?}");
    let orders = "/api/x402/orders/{publicOrderId}";
    assert!(lines.contains(&line("GET", orders, 400, 1)), "{lines:?}");
}
