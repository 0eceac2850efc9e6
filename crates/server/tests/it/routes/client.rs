//! `GET /client/pennyblack.mjs` and its hash: the command-line client matches the server's tools.

use serde_json::{Value, json};

use crate::fixture::encoding::sha256_hex;
use crate::fixture::http_client::Reply;
use crate::fixture::test_app::TestApp;

const PROGRAM: &str = "/client/pennyblack.mjs";
const HASH: &str = "/client/pennyblack.mjs.sha256";

/// The table of tools inside the client, which is JSON.
fn table(program: &str) -> Vec<Value> {
    let (_, rest) = program.split_once("const TOOLS = ").expect("the client has a table");
    let (table, _) = rest.split_once(";\n").expect("the table has an end");
    serde_json::from_str(table).expect("the table is JSON")
}

#[test]
fn it_is_a_download_with_etag_and_compression() {
    let app = TestApp::start("");
    let reply = app.get(PROGRAM);
    assert_eq!(
        (reply.status, reply.header("content-type")),
        (200, "text/javascript; charset=utf-8")
    );
    assert_eq!(reply.header("content-disposition"), "attachment; filename=\"pennyblack.mjs\"");
    assert_eq!(reply.header("cache-control"), "no-cache");
    assert_eq!(reply.header("x-content-type-options"), "nosniff");
    assert_eq!(reply.header("ratelimit"), "", "a download is not counted");
    let etag = reply.header("etag");
    assert!(etag.starts_with('"') && etag.len() > 10, "{etag}");
    let again = app.get_with(PROGRAM, &[("If-None-Match", etag)]);
    assert_eq!((again.status, again.body.len()), (304, 0));
    for (coding, most) in [("gzip", reply.body.len() / 2), ("br", reply.body.len() / 2)] {
        let packed = app.get_with(PROGRAM, &[("Accept-Encoding", coding)]);
        assert_eq!(packed.header("content-encoding"), coding);
        assert!(packed.body.len() < most, "{coding}: {}", packed.body.len());
    }
    let head = app.request(&format!("HEAD {PROGRAM}"), &[], "");
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(app.request(&format!("POST {PROGRAM}"), &[], "").status, 405);
}

#[test]
fn it_calls_the_site_that_serves_it_and_the_hash_matches() {
    for (settings, base_url) in [
        ("", None),
        ("[server]\nbase_url = \"https://cards.example\"", Some("https://cards.example")),
    ] {
        let app = TestApp::start(settings);
        let own = format!("http://{}", app.address);
        let base_url = base_url.unwrap_or(&own);
        let Reply { body: program, .. } = app.get(PROGRAM);
        let text = String::from_utf8(program.clone()).unwrap();
        assert!(text.contains(&format!("const HOME = \"{base_url}\";")), "{base_url}");
        assert!(!text.contains("{{"), "a placeholder is left");
        let hash = app.get(HASH);
        assert_eq!((hash.status, hash.header("content-type")), (200, "text/plain; charset=utf-8"));
        assert_eq!(hash.header("cache-control"), "no-cache");
        assert_eq!(hash.text(), format!("{}  pennyblack.mjs\n", sha256_hex(&program)));
        for accept in ["text/html", "text/markdown"] {
            let page = app.get_with("/developers", &[("Accept", accept)]).text();
            assert!(page.contains(&sha256_hex(&program)), "the page has another hash: {accept}");
            assert!(page.contains(&format!("{base_url}{HASH}")), "{accept}");
        }
    }
}

#[test]
fn its_tools_and_flags_match_the_server() {
    let app = TestApp::start("");
    let known: Vec<Value> = table(&app.get(PROGRAM).text())
        .into_iter()
        .map(|tool| {
            assert!(tool["says"].as_str().is_some_and(|says| !says.is_empty()), "{tool}");
            json!([tool["name"], tool["flags"], tool["required"]])
        })
        .collect();
    let headers = [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2025-11-25"),
    ];
    let question = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let listed = app.request("POST /mcp", &headers, &question.to_string()).json();
    let listed: Vec<Value> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| {
            let input = &tool["inputSchema"];
            let required = input.get("required").cloned().unwrap_or_else(|| json!([]));
            json!([tool["name"], input["properties"], required])
        })
        .collect();
    assert_eq!(listed.len(), 9);
    assert_eq!(known, listed);
}
