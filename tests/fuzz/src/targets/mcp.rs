//! A message to the MCP endpoint: every answer is valid JSON-RPC with the id of the message or none.

use axum::body::Body;
use axum::http::Request;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use serde_json::Value;

use super::site::{Answer, site};

const STATUSES: [u16; 4] = [200, 202, 400, 404];
const VERSIONS: [&str; 4] = ["2025-06-18", "2026-07-28", "1999-01-01", "=?base64?////?="];

pub(crate) fn run(data: &[u8]) {
    let Some((choice, message)) = super::choice(data) else { return };
    let mut request = Request::post("/mcp")
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, text/event-stream");
    if choice & 1 == 1 {
        request = request.header("mcp-protocol-version", VERSIONS[usize::from(choice >> 1) % 4]);
    }
    if choice & 8 == 8 {
        let read: Value = serde_json::from_slice(message).unwrap_or_default();
        let name = &read["params"]["name"];
        for (header, value) in [("mcp-method", &read["method"]), ("mcp-name", name)] {
            request = request
                .header(header, value.as_str().filter(|text| is_visible(text)).unwrap_or("none"));
        }
    }
    let answer = site().send(request.body(Body::from(message.to_vec())).expect("a request"));
    check(&answer, message);
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    super::texts(&[
        r#"0{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}"#,
        r#"0{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{}}"#,
        r#"0{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_product","arguments":{"slug":"signer-mini"}}}"#,
        r#"0{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_public_pages","arguments":{"query":"Überweisung","language":"de","limit":3}}}"#,
        r#"0{"jsonrpc":"2.0","id":3,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"shop://products/{slug}"},"argument":{"name":"slug","value":"si"}}}"#,
        r#"0{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"page://site/invest"}}"#,
        r#"0{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"0[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
        r#"0{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
        r#"0{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#,
        r#";{"jsonrpc":"2.0","id":"seven","method":"tools/call","params":{"name":"list_shop_products","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    ])
}

fn is_visible(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn check(answer: &Answer, message: &[u8]) {
    let shown = String::from_utf8_lossy(&answer.body);
    assert!(STATUSES.contains(&answer.status), "{} {shown}", answer.status);
    if answer.status == 202 {
        return;
    }
    let said = answer.json();
    let whole = match (&said["result"], &said["error"]) {
        (result, Value::Null) => result.is_object() && answer.status == 200,
        (Value::Null, error) => error["code"].is_i64() && error["message"].is_string(),
        (_, _) => false,
    };
    let members = said.as_object().map_or(0, serde_json::Map::len);
    assert!(said["jsonrpc"] == "2.0" && members == 3 && whole, "{} {shown}", answer.status);
    let id = &said["id"];
    assert!(id.is_null() || id.is_string() || id.is_number(), "{shown}");
    // With two ids, or an escaped name, the two parsers may see different ones.
    let text = String::from_utf8_lossy(message);
    if let (Ok(read), 0..=1) =
        (serde_json::from_slice::<Value>(message), text.matches("id\"").count())
        && !text.contains('\\')
    {
        assert!(id.is_null() || *id == read["id"], "{shown}");
    }
}
