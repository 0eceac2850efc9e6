//! Cases that need requests which no HTTP client sends.

use super::*;
use crate::mcp::fixtures::{body, request, server, server_at};

const PING: &str = r#"{"jsonrpc":"2.0","id":"\u00e9","method":"ping"}"#;

async fn status_of(server: &McpServer, request: axum::extract::Request) -> StatusCode {
    server.respond(request).await.status()
}

#[tokio::test]
async fn the_host_of_the_url_is_checked_like_the_host_header() {
    let server = server(McpProfile::Node);
    for (address, host, expected) in [
        ("/mcp", None, StatusCode::OK),
        ("http://shop.example.org/mcp", None, StatusCode::OK),
        ("http://SHOP.example.org:8402/mcp", Some("shop.example.org:8402"), StatusCode::OK),
        ("http://localhost:1/mcp", Some("[::1]:7"), StatusCode::OK),
        ("http://evil.example/mcp", None, StatusCode::FORBIDDEN),
        ("http://evil.example/mcp", Some("shop.example.org"), StatusCode::FORBIDDEN),
        ("http://shop.example.org/mcp", Some("evil.example"), StatusCode::FORBIDDEN),
        ("/mcp", Some("localhost:1@evil.example"), StatusCode::FORBIDDEN),
        ("/mcp", Some("evil@localhost"), StatusCode::FORBIDDEN),
        ("/mcp", Some("localhost.evil.example"), StatusCode::FORBIDDEN),
        ("/mcp", Some(""), StatusCode::FORBIDDEN),
    ] {
        let mut post = request(&[], PING);
        *post.uri_mut() = address.parse().unwrap();
        post.headers_mut().extend(host.map(|host| (HOST, host.parse().unwrap())));
        assert_eq!(status_of(&server, post).await, expected, "{address} {host:?}");
    }
}

#[tokio::test]
async fn on_a_network_any_host_is_accepted_and_on_loopback_only_known_hosts() {
    let network = server_at(McpProfile::Node, ListenScope::Network);
    for host in ["evil.example", "10.0.0.7:8080", ""] {
        assert_eq!(status_of(&network, request(&[("host", host)], PING)).await, StatusCode::OK);
    }
    let loopback = server_at(McpProfile::Node, ListenScope::Loopback);
    for (host, expected) in [
        ("shop.example.org", StatusCode::OK),
        ("shop.example.org:443", StatusCode::OK),
        ("evil.example", StatusCode::FORBIDDEN),
    ] {
        assert_eq!(
            status_of(&loopback, request(&[("host", host)], PING)).await,
            expected,
            "{host}"
        );
    }
}

#[tokio::test]
async fn every_error_has_retry_advice() {
    let server = server(McpProfile::Node);
    for (headers, message) in [
        (&[("host", "evil.example")][..], PING),
        (&[("origin", "nowhere")], PING),
        (&[], "{"),
        (&[], r#"{"jsonrpc":"2.0","id":1,"method":"moon"}"#),
    ] {
        let error = body(server.respond(request(headers, message)).await).await;
        let error: serde_json::Value = serde_json::from_str(&error).unwrap();
        assert_eq!(error["error"]["retry"], "never", "{error}");
    }
}

#[tokio::test]
async fn a_panic_answers_500_with_the_id_and_the_discovery_headers() {
    let mut server = server(McpProfile::Node);
    server.prepared.tools.add_panicking_tool();
    let call = r#"{"jsonrpc":"2.0","id":70,"method":"tools/call","params":{"name":"broken"}}"#;
    let response = server.respond(request(&[], call)).await;
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(response.headers()["x-service-api-version"], "1");
    assert!(response.headers().contains_key("ratelimit"));
    let body_text: serde_json::Value = serde_json::from_str(&body(response).await).unwrap();
    assert_eq!(
        (&body_text["id"], &body_text["error"]["code"]),
        (&70.into(), &INTERNAL_ERROR.into())
    );
}

#[tokio::test]
async fn the_id_is_returned_byte_for_byte() {
    let server = server(McpProfile::Node);
    for id in ["1", "-0", "123456789012345678901234567890", r#""\u00e9\/""#, r#""""#] {
        for method in ["ping", "moon"] {
            let message = format!(r#"{{"jsonrpc":"2.0","method":"{method}", "id" : {id} }}"#);
            let body_text = body(server.respond(request(&[], message)).await).await;
            assert!(
                body_text.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"#)),
                "{body_text}"
            );
        }
    }
}
