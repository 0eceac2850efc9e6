//! `POST /mcp`: both protocol revisions, and every status of the contract.

use serde_json::{Value, json};

use crate::fixture::http_client::{MCP_HEADERS, Reply};
use crate::fixture::test_app::TestApp;

const BOTH: &str = "application/json, text/event-stream";

fn post(app: &TestApp, body: &str) -> Reply {
    app.request("POST /mcp", MCP_HEADERS, body)
}

fn call(app: &TestApp, method: &str, params: Value) -> Value {
    let message = json!({ "jsonrpc": "2.0", "id": "a", "method": method, "params": params });
    let reply = post(app, &message.to_string());
    assert_eq!((reply.status, reply.header("content-type")), (200, "application/json"), "{method}");
    let body = reply.json();
    assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &json!("a")));
    body
}

/// A request of the protocol revision without a handshake.
fn call_without_handshake(
    app: &TestApp,
    method: &str,
    mut params: Value,
    headers: &[(&str, &str)],
) -> Reply {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    let mut all = MCP_HEADERS.to_vec();
    all.extend([("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)]);
    all.extend(headers);
    app.request("POST /mcp", &all, &message.to_string())
}

#[test]
fn a_client_initializes_lists_and_calls() {
    let app = TestApp::start("");
    for (asked, answered) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-03-26", "2025-03-26"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let hello = json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": {} });
        let result = &call(&app, "initialize", hello)["result"];
        assert_eq!(result["protocolVersion"], answered);
        assert_eq!(
            result["capabilities"],
            json!({ "tools": {}, "resources": {}, "completions": {} })
        );
    }
    let tools = call(&app, "tools/list", json!({}));
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 9);
    let get_product = json!({ "name": "get_product", "arguments": { "slug": "signer-mini" } });
    let product = call(&app, "tools/call", get_product);
    assert_eq!(product["result"]["structuredContent"]["slug"], "signer-mini");
    assert_eq!(call(&app, "ping", json!({}))["result"], json!({}));
    let hello = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let noted = post(&app, &hello.to_string());
    assert_eq!((noted.status, noted.body.len()), (202, 0));
    assert_eq!(noted.header("mcp-session-id"), "");
    assert_eq!(noted.header("x-service-api-version"), "1");
}

#[test]
fn resources_are_listed_read_and_completed() {
    let app = TestApp::start("");
    let listed = call(&app, "resources/list", json!({}));
    let mut count = [0; 3];
    for resource in listed["result"]["resources"].as_array().unwrap() {
        let read = call(&app, "resources/read", json!({ "uri": resource["uri"] }));
        let content = &read["result"]["contents"][0];
        assert_eq!(content["uri"], resource["uri"]);
        assert_eq!(content["mimeType"], resource["mimeType"]);
        let (uri, text) = (resource["uri"].as_str().unwrap(), content["text"].as_str().unwrap());
        let kinds = ["page://site/", "shop://products/", "support://answers/"];
        let kind = kinds.iter().position(|kind| uri.starts_with(kind)).unwrap();
        count[kind] += 1;
        assert!(text.starts_with(if kind == 1 { "{" } else { "# " }), "{uri}");
    }
    let pages = call(&app, "tools/call", json!({ "name": "list_public_pages" }));
    let pages = pages["result"]["structuredContent"]["pages"].as_array().unwrap().len();
    let products = call(&app, "tools/call", json!({ "name": "list_shop_products" }));
    let products = products["result"]["structuredContent"]["count"].as_u64().unwrap();
    assert_eq!(count, [pages, usize::try_from(products).unwrap(), 75]);
    let templates = call(&app, "resources/templates/list", json!({}));
    assert_eq!(templates["result"]["resourceTemplates"].as_array().unwrap().len(), 3);
    let half = json!({
        "ref": { "type": "ref/resource", "uri": "shop://products/{slug}" },
        "argument": { "name": "slug", "value": "signer-" },
    });
    let completion = &call(&app, "completion/complete", half)["result"]["completion"];
    assert_eq!(completion["values"], json!(["signer-mini", "signer-pane"]));
    let unknown = call(&app, "resources/read", json!({ "uri": "page://site/moon" }));
    assert_eq!(unknown["error"]["code"], -32_002);
}

#[test]
fn the_revision_without_a_handshake_is_supported() {
    let app = TestApp::start("");
    let found = call_without_handshake(&app, "server/discover", json!({}), &[]);
    assert_eq!(found.status, 200);
    let result = &found.json()["result"];
    assert_eq!(result["supportedVersions"][0], "2026-07-28");
    assert_eq!(
        (&result["resultType"], &result["cacheScope"]),
        (&json!("complete"), &json!("public"))
    );
    let called = call_without_handshake(
        &app,
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
        let reply = call_without_handshake(&app, method, params, headers);
        assert_eq!(
            (reply.status, &reply.json()["error"]["code"]),
            (status, &json!(code)),
            "{method}"
        );
        assert_eq!(reply.json()["id"], 7);
    }
}

/// A ping whose params hold so many levels, which stand in two of their own.
fn nested(levels: usize) -> String {
    let deep = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{deep}}}}}"#)
}

#[test]
fn an_invalid_message_gets_its_error_code() {
    let app = TestApp::start("");
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
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"a":1}}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\ud800"}}"#, -32_700),
        (&nested(31), -32_600),
    ] {
        let reply = post(&app, body);
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!(code)), "{body}");
    }
    assert_eq!(post(&app, &nested(30)).status, 200);
    for (method, params, code) in [
        ("prompts/list", json!({}), -32_601),
        ("tools/call", json!({ "name": "buy" }), -32_602),
        ("tools/list", json!({ "cursor": "x" }), -32_602),
    ] {
        assert_eq!(call(&app, method, params)["error"]["code"], code, "{method}");
    }
}

#[test]
fn headers_are_checked() {
    let app = TestApp::start("");
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
        let reply = app.request("POST /mcp", &headers, ping);
        assert_eq!(reply.status, status, "{headers:?}");
        assert_eq!(reply.header("access-control-allow-origin"), "*", "{headers:?}");
    }
    assert_eq!(
        app.request("POST /mcp/", MCP_HEADERS, ping).status,
        200,
        "with a slash, no redirect"
    );
    let preflight = app.request("OPTIONS /mcp", &[("Origin", "https://a.example")], "");
    assert_eq!(preflight.status, 204);
    assert!(preflight.header("access-control-allow-headers").contains("mcp-protocol-version"));
    let mut stranger = app.connect();
    stranger.send(&format!(
        "POST /mcp HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nAccept: {BOTH}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{ping}",
        ping.len()
    ));
    assert!(stranger.receive_all().starts_with("HTTP/1.1 403 "));
}

/// The headers of every response of this endpoint, except to a preflight.
fn has_the_headers_of_the_contract(reply: &Reply, what: &str) {
    assert_eq!(reply.header("ratelimit-policy"), "\"public-discovery\";q=600;w=60", "{what}");
    assert!(reply.header("ratelimit").starts_with("\"public-discovery\";r="), "{what}");
    assert_eq!(reply.header("x-service-api-version"), "1", "{what}");
    assert_eq!(reply.header("access-control-allow-origin"), "*", "{what}");
    assert!(reply.header("access-control-expose-headers").contains("Retry-After"), "{what}");
    assert_eq!(reply.header("cache-control"), "no-store", "{what}");
    assert_eq!(reply.header("mcp-session-id"), "", "{what}");
    assert_eq!(reply.header("www-authenticate"), "", "{what}");
    assert_eq!(reply.header("x-request-id").len(), 32, "{what}");
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const NOTICE: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A method and path, headers, a body, and the status that each profile gives.
type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str, [u16; 2]);

#[test]
fn both_profiles_return_every_status_of_the_contract_with_its_headers() {
    let large = format!("{PING}{}", " ".repeat(65_536));
    let json_only = [("Content-Type", "application/json"), ("Accept", "application/json")];
    let text = [("Content-Type", "text/plain"), ("Accept", BOTH)];
    let unknown = [MCP_HEADERS, &[("MCP-Protocol-Version", "1999-01-01")]].concat();
    let twice = [MCP_HEADERS, &[("MCP-Protocol-Version", "2025-06-18"); 2]].concat();
    let other_contract = [MCP_HEADERS, &[("X-Service-API-Version", "2")]].concat();
    let bad_origin = [MCP_HEADERS, &[("Origin", "not an origin")]].concat();
    let rows: [Row<'_>; 17] = [
        ("POST /mcp", MCP_HEADERS, PING, [200, 200]),
        ("POST /mcp/", MCP_HEADERS, PING, [200, 200]),
        ("POST /mcp", MCP_HEADERS, NOTICE, [202, 200]),
        ("POST /mcp", &unknown, PING, [400, 200]),
        ("POST /mcp", &unknown, NOTICE, [400, 200]),
        ("POST /mcp", &twice, PING, [400, 200]),
        ("POST /mcp", &other_contract, PING, [400, 400]),
        ("POST /mcp", MCP_HEADERS, "{", [400, 400]),
        ("POST /mcp", MCP_HEADERS, &large, [400, 400]),
        ("POST /mcp", &bad_origin, PING, [403, 403]),
        ("GET /mcp", &[("Accept", "text/event-stream")], "", [405, 405]),
        ("GET /mcp", &[], "", [405, 405]),
        ("HEAD /mcp", &[], "", [200, 200]),
        ("HEAD /mcp/", &[], "", [200, 200]),
        ("POST /mcp", &json_only, PING, [406, 200]),
        ("POST /mcp", &[], PING, [406, 200]),
        ("POST /mcp", &text, PING, [415, 200]),
    ];
    for (place, profile) in ["node", "worker"].into_iter().enumerate() {
        let app = TestApp::start(&format!("[mcp]\nprofile = \"{profile}\""));
        for (line, headers, body, statuses) in rows {
            let reply = app.request(line, headers, body);
            let what = format!("{profile}: {line} {headers:?} {:.60}", body);
            assert_eq!(reply.status, statuses[place], "{what}");
            has_the_headers_of_the_contract(&reply, &what);
            if line.starts_with("HEAD") || reply.status == 202 {
                assert_eq!(reply.body.len(), 0, "{what}");
            }
            if reply.status == 405 {
                assert_eq!(reply.header("allow"), "POST", "{what}");
            }
        }
    }
}

#[test]
fn the_worker_profile_responds_to_notifications_and_has_no_templates_or_completion() {
    let app = TestApp::start("[mcp]\nprofile = \"worker\"");
    let noted = app.request("POST /mcp", &[], NOTICE);
    assert_eq!(noted.header("content-type"), "application/json");
    assert_eq!(noted.json(), json!({ "jsonrpc": "2.0", "id": null, "result": {} }));
    let half = json!({
        "ref": { "type": "ref/resource", "uri": "shop://products/{slug}" },
        "argument": { "name": "slug", "value": "" },
    });
    for (method, params) in [("resources/templates/list", json!({})), ("completion/complete", half)]
    {
        assert_eq!(call(&app, method, params.clone())["error"]["code"], -32_601, "{method}");
        let modern = call_without_handshake(&app, method, params, &[]);
        assert_eq!((modern.status, &modern.json()["error"]["code"]), (404, &json!(-32_601)));
    }
    let without = json!({ "tools": {}, "resources": {} });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {} });
    assert_eq!(call(&app, "initialize", hello)["result"]["capabilities"], without);
    let found = call_without_handshake(&app, "server/discover", json!({}), &[]).json();
    assert_eq!(found["result"]["capabilities"], without);
    assert_eq!(app.get("/mcp/server-card").json()["capabilities"], without);
    let listed = call(&app, "resources/list", json!({}));
    assert!(listed["result"]["resources"].as_array().unwrap().len() > 100);
}

#[test]
fn an_exhausted_quota_is_checked_before_everything_but_a_preflight() {
    for profile in ["node", "worker"] {
        let app = TestApp::start(&format!(
            "[limits]\ndiscovery_quota = 2\n[mcp]\nprofile = \"{profile}\""
        ));
        for _ in 0..2 {
            assert_eq!(post(&app, PING).status, 200);
        }
        for line in ["POST /mcp", "HEAD /mcp", "GET /mcp", "POST /mcp/"] {
            let reply = app.request(line, &[("X-Service-API-Version", "2")], "{");
            assert_eq!(reply.status, 429, "{line}");
            let wait: u32 = reply.header("retry-after").parse().unwrap();
            assert!((1..=60).contains(&wait), "{wait}");
            assert_eq!(reply.header("ratelimit"), format!("\"public-discovery\";r=0;t={wait}"));
            assert_eq!(reply.header("x-service-api-version"), "1");
            assert!(reply.header("access-control-expose-headers").contains("Retry-After"));
            assert_eq!(line.starts_with("HEAD"), reply.body.is_empty(), "{line}");
        }
        let preflight = app.request("OPTIONS /mcp", &[("Origin", "https://a.example")], "");
        assert_eq!((preflight.status, preflight.header("ratelimit")), (204, ""));
        assert_eq!(preflight.header("access-control-max-age"), "86400");
        for allowed in ["mcp-protocol-version", "mcp-method", "mcp-name", "x-service-api-version"] {
            assert!(preflight.header("access-control-allow-headers").contains(allowed));
        }
        assert!(preflight.header("access-control-allow-methods").contains("POST"));
    }
}

#[test]
fn contract_and_protocol_version_are_checked_separately() {
    let app = TestApp::start("");
    for (contract, protocol, status) in
        [("1", "2025-11-25", 200), ("1", "x", 400), ("2", "2025-11-25", 400), ("2", "x", 400)]
    {
        let more = [("X-Service-API-Version", contract), ("MCP-Protocol-Version", protocol)];
        let reply = app.request("POST /mcp", &[MCP_HEADERS, &more].concat(), PING);
        assert_eq!(reply.status, status, "{more:?}");
        let is_problem = reply.header("content-type") == "application/problem+json";
        assert_eq!(is_problem, contract == "2", "the contract version is checked first: {more:?}");
    }
}

#[test]
fn the_server_card_has_two_urls_and_the_headers_of_its_specification() {
    let app = TestApp::start("");
    let known = app.get("/.well-known/mcp/server-card.json");
    let beside = app.get("/mcp/server-card");
    assert_eq!(known.header("content-type"), "application/json");
    assert_eq!(beside.header("content-type"), "application/mcp-server-card+json");
    assert_eq!(known.body, beside.body);
    for card in [&known, &beside] {
        assert_eq!(card.status, 200);
        assert_eq!(card.header("access-control-allow-origin"), "*");
        assert_eq!(card.header("access-control-allow-methods"), "GET");
        assert_eq!(card.header("access-control-allow-headers"), "Content-Type, If-None-Match");
        assert!(card.header("access-control-expose-headers").contains("ETag"));
        assert_eq!(card.header("cache-control"), "public, max-age=3600");
        assert_eq!(card.header("ratelimit"), "", "the contract does not count it");
    }
    let again = app.get_with("/mcp/server-card", &[("If-None-Match", beside.header("etag"))]);
    assert_eq!((again.status, again.body.len()), (304, 0));
    let head = app.request("HEAD /mcp/server-card", &[], "");
    assert_eq!((head.status, head.body.len()), (200, 0));
    let preflight = app.request("OPTIONS /mcp/server-card", &[], "");
    assert!(preflight.header("access-control-allow-headers").contains("if-none-match"));
    let catalog = app.get("/.well-known/ai-catalog.json").json();
    let url = catalog["entries"][0]["url"].as_str().unwrap();
    assert!(url.ends_with("/mcp/server-card"), "{url}");
}

#[test]
fn no_document_says_that_this_endpoint_requires_a_login() {
    let app = TestApp::start("");
    for path in [
        "/.well-known/oauth-authorization-server/mcp",
        "/.well-known/openid-configuration/mcp",
        "/mcp/.well-known/oauth-protected-resource",
    ] {
        assert_eq!(app.get(path).status, 404, "{path}");
    }
    let metadata = app.get("/.well-known/oauth-protected-resource").json();
    assert!(!metadata["resource"].as_str().unwrap().ends_with("/mcp"));
    let of_mcp = app.get("/.well-known/oauth-protected-resource/mcp").json();
    assert!(of_mcp.get("authorization_servers").is_none(), "{of_mcp}");
    let server = app.get("/.well-known/oauth-authorization-server").json();
    for absent in ["authorization_endpoint", "token_endpoint", "registration_endpoint"] {
        assert!(server.get(absent).is_none(), "{absent}");
    }
}
