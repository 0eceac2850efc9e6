//! Errors of `POST /mcp`: of HTTP, of JSON-RPC, and of each tool.

use serde_json::{Value, json};

use super::Snapshots;
use super::recording::Recording;
use super::service::{Answer, Service};
use crate::fixture::sandbox::JSON;

const BOTH: (&str, &str) = ("Accept", "application/json, text/event-stream");
const LINE: &str = "POST /mcp";
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const HANDSHAKE_FREE: &str = "2026-07-28";

pub(super) fn record(snapshots: &mut Snapshots) {
    let service = Service::start("");
    snapshots.insert("errors/mcp_http.txt".to_owned(), http(&service));
    snapshots.insert("errors/mcp_messages.txt".to_owned(), messages(&service));
    snapshots.insert("errors/mcp_methods.txt".to_owned(), methods(&service));
    snapshots.insert("errors/mcp_tools.txt".to_owned(), tools(&service));
}

fn call(service: &Service, method: &str, params: &Value) -> Answer {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    service.send(LINE, &[JSON, BOTH], &message.to_string())
}

fn http(service: &Service) -> String {
    let mut recording = Recording::default();
    for (title, headers) in [
        ("Accept without text/event-stream", vec![JSON, ("Accept", "application/json")]),
        ("no Accept", vec![JSON]),
        ("Content-Type: text/plain", vec![("Content-Type", "text/plain"), BOTH]),
        ("no Content-Type", vec![BOTH]),
        (
            "MCP-Protocol-Version: 1999-01-01",
            vec![JSON, BOTH, ("MCP-Protocol-Version", "1999-01-01")],
        ),
        (
            "a version without its metadata",
            vec![JSON, BOTH, ("MCP-Protocol-Version", HANDSHAKE_FREE)],
        ),
        ("Origin is not an origin", vec![JSON, BOTH, ("Origin", "nonsense")]),
        ("another discovery version", vec![JSON, BOTH, ("X-Service-API-Version", "2")]),
    ] {
        recording.add(title, &service.send(LINE, &headers, PING));
    }
    for line in ["GET /mcp", "PUT /mcp", "DELETE /mcp"] {
        recording.add(line, &service.send(line, &[JSON, BOTH], ""));
    }
    let long = " ".repeat(64 * 1024 + 1);
    recording.add("a body of 64 KiB and one byte", &service.send(LINE, &[JSON, BOTH], &long));
    recording.text()
}

fn messages(service: &Service) -> String {
    let mut recording = Recording::default();
    let deep = format!(r#"{{"x":{}{}}}"#, "[".repeat(40), "]".repeat(40));
    for body in [
        "",
        "{",
        "[]",
        "7",
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#,
        &deep,
    ] {
        recording.add(body, &service.send(LINE, &[JSON, BOTH], body));
    }
    recording.text()
}

fn methods(service: &Service) -> String {
    let mut recording = Recording::default();
    for (method, params) in [
        ("prompts/list", json!({})),
        ("tools/list", json!({ "cursor": "x" })),
        ("tools/call", json!({})),
        ("tools/call", json!({ "name": 7 })),
        ("tools/call", json!({ "name": "unknown" })),
        ("tools/call", json!({ "name": "get_product", "arguments": [] })),
        ("resources/list", json!({ "cursor": "x" })),
        ("resources/templates/list", json!({ "cursor": "x" })),
        ("resources/read", json!({})),
        ("resources/read", json!({ "uri": "page://site/unknown" })),
        ("resources/read", json!({ "uri": "file:///etc/passwd" })),
        ("completion/complete", json!({})),
        ("completion/complete", json!({ "ref": { "type": "ref/prompt", "name": "x" } })),
        ("initialize", json!({})),
        ("initialize", json!({ "protocolVersion": 7 })),
    ] {
        recording.add(&format!("{method} {params}"), &call(service, method, &params));
    }
    let worker = Service::start("[mcp]\nprofile = \"worker\"");
    for method in ["resources/templates/list", "completion/complete"] {
        recording.add(&format!("{method}, profile worker"), &call(&worker, method, &json!({})));
    }
    for (method, name, params) in [
        ("ping", "", json!({})),
        ("initialize", "", json!({})),
        ("tools/call", "", json!({ "name": "list_public_pages" })),
        ("tools/call", "get_product", json!({ "name": "list_public_pages" })),
        ("tools/call", "unknown", json!({ "name": "unknown" })),
        ("resources/read", "page://site/unknown", json!({ "uri": "page://site/unknown" })),
    ] {
        let title = format!("{method} {params}, version {HANDSHAKE_FREE}, Mcp-Name: {name}");
        recording.add(&title, &without_handshake(service, method, name, params));
    }
    recording.text()
}

/// A request of the protocol version that has no handshake.
fn without_handshake(service: &Service, method: &str, name: &str, mut params: Value) -> Answer {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": HANDSHAKE_FREE,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let mut headers = vec![JSON, BOTH, ("MCP-Protocol-Version", HANDSHAKE_FREE)];
    headers.push(("Mcp-Method", method));
    if !name.is_empty() {
        headers.push(("Mcp-Name", name));
    }
    service.send(LINE, &headers, &message.to_string())
}

/// Each tool with arguments that it does not take.
fn tools(service: &Service) -> String {
    let mut recording = Recording::default();
    let listed = call(service, "tools/list", &json!({})).json();
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let properties = tool["inputSchema"]["properties"].as_object();
        let members = properties.into_iter().flat_map(|properties| properties.keys());
        let mut attempts = vec![json!({ "unknown_argument": 1 })];
        for member in members {
            attempts.push(json!({}));
            attempts.push(json!({ member: {} }));
            attempts.push(json!({ member: "" }));
            attempts.push(json!({ member: "unknown-value" }));
        }
        attempts.dedup();
        for arguments in attempts {
            let params = json!({ "name": name, "arguments": arguments });
            let answer = call(service, "tools/call", &params);
            let is_error = answer.json()["result"]["isError"] != json!(false);
            if is_error {
                recording.add(&format!("{name} {arguments}"), &answer);
            }
        }
    }
    recording.text()
}
