//! Valid messages of both protocol versions, and some invalid ones.

use serde_json::{Value, json};

pub(super) struct Sample {
    pub(super) message: String,
    pub(super) headers: Vec<(&'static str, String)>,
}

/// Methods, params and the value of the `Mcp-Name` header.
fn questions() -> Vec<(&'static str, Value, Option<&'static str>)> {
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    let half = json!({
        "ref": { "type": "ref/resource", "uri": "shop://products/{slug}" },
        "argument": { "name": "slug", "value": "signer-" },
    });
    let page = "page://site/invest";
    vec![
        ("initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {} }), None),
        ("ping", json!({}), None),
        ("server/discover", json!({}), None),
        ("tools/list", json!({}), None),
        ("resources/list", json!({ "cursor": null }), None),
        ("resources/templates/list", json!({}), None),
        ("resources/read", json!({ "uri": page }), Some(page)),
        ("completion/complete", half, None),
        ("prompts/list", json!({}), None),
        ("tools/call", call("list_shop_products", json!({})), Some("list_shop_products")),
        ("tools/call", call("get_product", json!({ "slug": "signer-mini" })), Some("get_product")),
        (
            "tools/call",
            call("search_support_faq", json!({ "query": "Where is my postcrad?" })),
            Some("search_support_faq"),
        ),
        (
            "tools/call",
            call(
                "search_public_pages",
                json!({ "query": "Überweisung", "language": "de", "limit": 3 }),
            ),
            Some("search_public_pages"),
        ),
    ]
}

pub(super) fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for (method, params, name) in questions() {
        let legacy = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        samples.push(Sample { message: legacy.to_string(), headers: Vec::new() });
        let mut params = params;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let modern = json!({ "jsonrpc": "2.0", "id": "seven", "method": method, "params": params });
        let mut headers = vec![
            ("mcp-protocol-version", "2026-07-28".to_owned()),
            ("mcp-method", method.to_owned()),
        ];
        headers.extend(name.map(|name| ("mcp-name", name.to_owned())));
        samples.push(Sample { message: modern.to_string(), headers });
    }
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for message in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(),
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":"\ud83d\ude00","method":"ping"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1e400,"method":"ping","params":{"x":-1e-400}}"#.to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"x":{deep}}}}}"#),
    ] {
        samples.push(Sample { message, headers: Vec::new() });
    }
    samples
}
