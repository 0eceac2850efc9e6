//! MCP over real HTTP: both eras, and every status of the contract.

use serde_json::{Value, json};

use super::Reply;
use crate::house::House;

const BOTH: &str = "application/json, text/event-stream";
const USUAL: &[(&str, &str)] = &[("Content-Type", "application/json"), ("Accept", BOTH)];

fn post(house: &House, body: &str) -> Reply {
    house.request("POST /mcp", USUAL, body)
}

fn ask(house: &House, method: &str, params: Value) -> Value {
    let message = json!({ "jsonrpc": "2.0", "id": "a", "method": method, "params": params });
    let reply = post(house, &message.to_string());
    assert_eq!((reply.status, reply.header("content-type")), (200, "application/json"), "{method}");
    let body = reply.json();
    assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &json!("a")));
    body
}

/// A request of the revision without a handshake.
fn ask_modern(house: &House, method: &str, mut params: Value, headers: &[(&str, &str)]) -> Reply {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    let mut all = USUAL.to_vec();
    all.extend([("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)]);
    all.extend(headers);
    house.request("POST /mcp", &all, &message.to_string())
}

#[test]
fn a_client_shakes_hands_lists_and_calls() {
    let house = House::open("");
    for (asked, answered) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-03-26", "2025-03-26"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let hello = json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": {} });
        let result = &ask(&house, "initialize", hello)["result"];
        assert_eq!(result["protocolVersion"], answered);
        assert_eq!(
            result["capabilities"],
            json!({ "tools": {}, "resources": {}, "completions": {} })
        );
    }
    let tools = ask(&house, "tools/list", json!({}));
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 9);
    let call = json!({ "name": "get_product", "arguments": { "slug": "signer-mini" } });
    let product = ask(&house, "tools/call", call);
    assert_eq!(product["result"]["structuredContent"]["slug"], "signer-mini");
    assert_eq!(ask(&house, "ping", json!({}))["result"], json!({}));
    let hello = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let noted = post(&house, &hello.to_string());
    assert_eq!((noted.status, noted.body.len()), (202, 0));
    assert_eq!(noted.header("mcp-session-id"), "");
    assert_eq!(noted.header("x-service-api-version"), "1");
}

#[test]
fn resources_are_listed_read_and_completed() {
    let house = House::open("");
    let listed = ask(&house, "resources/list", json!({}));
    for resource in listed["result"]["resources"].as_array().unwrap() {
        let read = ask(&house, "resources/read", json!({ "uri": resource["uri"] }));
        assert!(read["result"]["contents"][0]["text"].as_str().unwrap().starts_with("# "));
    }
    let templates = ask(&house, "resources/templates/list", json!({}));
    assert_eq!(templates["result"]["resourceTemplates"].as_array().unwrap().len(), 3);
    let half = json!({
        "ref": { "type": "ref/resource", "uri": "shop://products/{slug}" },
        "argument": { "name": "slug", "value": "signer-" },
    });
    let completion = &ask(&house, "completion/complete", half)["result"]["completion"];
    assert_eq!(completion["values"], json!(["signer-mini", "signer-pane"]));
    let nowhere = ask(&house, "resources/read", json!({ "uri": "page://site/moon" }));
    assert_eq!(nowhere["error"]["code"], -32_002);
}

#[test]
fn the_revision_without_a_handshake_is_served_too() {
    let house = House::open("");
    let found = ask_modern(&house, "server/discover", json!({}), &[]);
    assert_eq!(found.status, 200);
    let result = &found.json()["result"];
    assert_eq!(result["supportedVersions"][0], "2026-07-28");
    assert_eq!(
        (&result["resultType"], &result["cacheScope"]),
        (&json!("complete"), &json!("public"))
    );
    let called = ask_modern(
        &house,
        "tools/call",
        json!({ "name": "list_public_pages" }),
        &[("Mcp-Name", "list_public_pages")],
    );
    assert_eq!((called.status, &called.json()["result"]["isError"]), (200, &json!(false)));
    for (method, params, headers, status, code) in [
        ("ping", json!({}), &[][..], 404, -32_601),
        ("initialize", json!({}), &[], 404, -32_601),
        ("tools/call", json!({ "name": "list_public_pages" }), &[], 400, -32_020),
        (
            "resources/read",
            json!({ "uri": "page://site/moon" }),
            &[("Mcp-Name", "page://site/moon")],
            200,
            -32_602,
        ),
    ] {
        let reply = ask_modern(&house, method, params, headers);
        assert_eq!(
            (reply.status, &reply.json()["error"]["code"]),
            (status, &json!(code)),
            "{method}"
        );
        assert_eq!(reply.json()["id"], 7);
    }
}

#[test]
fn what_is_no_message_is_refused_with_the_right_words() {
    let house = House::open("");
    for (body, code) in [
        ("{", -32_700),
        ("", -32_700),
        ("[]", -32_600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32_600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#, -32_602),
    ] {
        let reply = post(&house, body);
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!(code)), "{body}");
    }
    for (method, params, code) in [
        ("prompts/list", json!({}), -32_601),
        ("tools/call", json!({ "name": "buy" }), -32_602),
        ("tools/list", json!({ "cursor": "x" }), -32_602),
    ] {
        assert_eq!(ask(&house, method, params)["error"]["code"], code, "{method}");
    }
}

#[test]
fn headers_are_held_against_the_contract() {
    let house = House::open("");
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let json_type = ("Content-Type", "application/json");
    for (headers, status) in [
        (vec![json_type, ("Accept", "application/json")], 406),
        (vec![json_type, ("Accept", "*/*")], 406),
        (vec![json_type], 406),
        (vec![json_type, ("Accept", "application/json"), ("Accept", "Text/Event-Stream;q=1")], 200),
        (vec![("Content-Type", "application/jsonp"), ("Accept", BOTH)], 415),
        (vec![("Content-Type", "Application/JSON; charset=utf-8"), ("Accept", BOTH)], 200),
        (vec![json_type, ("Accept", BOTH), ("MCP-Protocol-Version", "1999-01-01")], 400),
        (vec![json_type, ("Accept", BOTH), ("MCP-Protocol-Version", "2025-06-18")], 200),
        (vec![json_type, ("Accept", BOTH), ("MCP-Protocol-Version", "2026-07-28")], 400),
        (vec![json_type, ("Accept", BOTH), ("X-Service-API-Version", "2")], 400),
        (vec![json_type, ("Accept", BOTH), ("Origin", "https://anybody.example")], 200),
    ] {
        let reply = house.request("POST /mcp", &headers, ping);
        assert_eq!(reply.status, status, "{headers:?}");
        assert_eq!(reply.header("access-control-allow-origin"), "*", "{headers:?}");
    }
    assert_eq!(house.request("POST /mcp/", USUAL, ping).status, 200, "with a slash, no redirect");
    let preflight = house.request("OPTIONS /mcp", &[("Origin", "https://a.example")], "");
    assert_eq!(preflight.status, 204);
    assert!(preflight.header("access-control-allow-headers").contains("mcp-protocol-version"));
    let mut stranger = house.call();
    stranger.say(&format!(
        "POST /mcp HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nAccept: {BOTH}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{ping}",
        ping.len()
    ));
    assert!(stranger.hear_all().starts_with("HTTP/1.1 403 "));
}
