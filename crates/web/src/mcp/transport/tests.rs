//! What only a caller inside of the process can bring about.

use super::*;
use crate::mcp::samples::{body, door, door_at, request};

const PING: &str = r#"{"jsonrpc":"2.0","id":"\u00e9","method":"ping"}"#;

async fn status_of(door: &Desk, request: axum::extract::Request) -> StatusCode {
    door.answer(request).await.status()
}

#[tokio::test]
async fn the_name_in_the_address_is_judged_like_the_one_in_the_header() {
    let door = door(Profile::Node);
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
        let mut asked = request(&[], PING);
        *asked.uri_mut() = address.parse().unwrap();
        asked.headers_mut().extend(host.map(|host| (HOST, host.parse().unwrap())));
        assert_eq!(status_of(&door, asked).await, expected, "{address} {host:?}");
    }
}

#[tokio::test]
async fn behind_a_proxy_no_name_is_refused_and_on_loopback_that_of_the_base_url_is_not() {
    let abroad = door_at(Profile::Node, Reach::Network);
    for host in ["evil.example", "10.0.0.7:8080", ""] {
        assert_eq!(status_of(&abroad, request(&[("host", host)], PING)).await, StatusCode::OK);
    }
    let home = door_at(Profile::Node, Reach::Loopback);
    for (host, expected) in [
        ("shop.example.org", StatusCode::OK),
        ("shop.example.org:443", StatusCode::OK),
        ("evil.example", StatusCode::FORBIDDEN),
    ] {
        assert_eq!(status_of(&home, request(&[("host", host)], PING)).await, expected, "{host}");
    }
}

#[tokio::test]
async fn every_error_says_whether_to_try_again() {
    let door = door(Profile::Node);
    for (headers, message) in [
        (&[("host", "evil.example")][..], PING),
        (&[("origin", "nowhere")], PING),
        (&[], "{"),
        (&[], r#"{"jsonrpc":"2.0","id":1,"method":"moon"}"#),
    ] {
        let told = body(door.answer(request(headers, message)).await).await;
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["error"]["retry"], "never", "{told}");
    }
}

#[tokio::test]
async fn what_breaks_inside_is_a_500_under_the_id_and_with_the_headers_of_the_contract() {
    let mut door = door(Profile::Node);
    door.shelf.tools.break_down();
    let call = r#"{"jsonrpc":"2.0","id":70,"method":"tools/call","params":{"name":"broken"}}"#;
    let response = door.answer(request(&[], call)).await;
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(response.headers()["x-service-api-version"], "1");
    assert!(response.headers().contains_key("ratelimit"));
    let said: serde_json::Value = serde_json::from_str(&body(response).await).unwrap();
    assert_eq!((&said["id"], &said["error"]["code"]), (&70.into(), &INTERNAL_ERROR.into()));
}

#[tokio::test]
async fn an_id_goes_back_as_it_was_written() {
    let door = door(Profile::Node);
    for id in ["1", "-0", "123456789012345678901234567890", r#""\u00e9\/""#, r#""""#] {
        for method in ["ping", "moon"] {
            let message = format!(r#"{{"jsonrpc":"2.0","method":"{method}", "id" : {id} }}"#);
            let said = body(door.answer(request(&[], message)).await).await;
            assert!(said.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"#)), "{said}");
        }
    }
}
