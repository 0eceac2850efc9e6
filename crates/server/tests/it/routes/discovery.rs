//! The discovery documents: status, media type, HEAD, and one base URL in all of them.

use crate::fixture::encoding::{base64_json, sha256_hex};
use crate::fixture::test_app::TestApp;

#[test]
fn every_document_of_the_contract_has_its_status_and_media_type() {
    let app = TestApp::start("");
    for (path, status, media_type) in [
        ("/openapi.json", 200, "application/json"),
        ("/api", 402, "application/json"),
        ("/api/x402", 200, "application/json"),
        (
            "/.well-known/api-catalog",
            200,
            "application/linkset+json; profile=\"https://www.rfc-editor.org/info/rfc9727\"",
        ),
        ("/.well-known/agent-card.json", 200, "application/json"),
        ("/.well-known/mcp/server-card.json", 200, "application/json"),
        ("/invest/index.json", 200, "application/json"),
        ("/shop/feed.json", 200, "application/json"),
        ("/.well-known/agentic-commerce.json", 200, "application/json"),
        ("/.well-known/oauth-protected-resource", 200, "application/json"),
        ("/.well-known/oauth-protected-resource/mcp", 200, "application/json"),
        ("/.well-known/oauth-authorization-server", 200, "application/json"),
        ("/.well-known/ai-catalog.json", 200, "application/json"),
        ("/.well-known/agent-skills/index.json", 200, "application/json"),
    ] {
        let reply = app.get(path);
        assert_eq!((reply.status, reply.header("content-type")), (status, media_type), "{path}");
        assert!(reply.json().is_object(), "{path}");
        let head = app.request(&format!("HEAD {path}"), &[], "");
        assert_eq!((head.status, head.body.len()), (status, 0), "{path}");
        assert_eq!(head.header("content-type"), media_type, "{path}");
        assert!(!reply.text().contains("{{"), "a placeholder is left in {path}");
    }
}

#[test]
fn the_quote_is_the_same_in_header_and_body() {
    let app = TestApp::start("");
    let reply = app.get("/api");
    let header = base64_json(reply.header("payment-required"));
    let body = reply.json();
    assert_eq!(header["x402Version"], 2);
    assert_eq!(
        (&body["x402Version"], &body["accepts"]),
        (&header["x402Version"], &header["accepts"])
    );
    assert_eq!(body["accepts"].as_array().unwrap().len(), 3);
    assert_eq!(header["resource"]["url"], format!("http://{}/api", app.address));
    assert_eq!(reply.header("cache-control"), "no-store");
    let rails = body["rails"].to_string();
    for rail in ["x402", "lightning", "bitcoin"] {
        assert!(rails.contains(rail), "{rail} is not in {rails}");
    }
}

#[test]
fn the_openapi_version_is_a_date_and_the_catalog_links_to_itself() {
    let app = TestApp::start("");
    let openapi = app.get("/openapi.json").json();
    assert_eq!(openapi["info"]["version"], "2026-08-29");
    assert!(openapi["openapi"].as_str().unwrap().starts_with("3.1"));
    let head = app.request("HEAD /.well-known/api-catalog", &[], "");
    assert!(head.header("link").contains("rel=\"api-catalog\""), "{}", head.header("link"));
}

#[test]
fn with_a_base_url_every_document_uses_that_url_only() {
    let app = TestApp::start("[server]\nbase_url = \"https://cards.example\"");
    for path in [
        "/",
        "/openapi.json",
        "/api",
        "/api/x402",
        "/.well-known/api-catalog",
        "/sitemap.xml",
        "/.well-known/agent-card.json",
        "/.well-known/mcp/server-card.json",
        "/server.json",
        "/shop/feed.json",
        "/robots.txt",
        "/llms.txt",
        "/auth.md",
        "/shop/signer-mini",
        "/docs",
    ] {
        let text = app.get(path).text();
        assert!(text.contains("https://cards.example"), "{path}");
        assert!(!text.contains("127.0.0.1") && !text.contains("localhost"), "{path}");
    }
    let page = app.get("/");
    assert!(page.header("strict-transport-security").starts_with("max-age="));
}

#[test]
fn skills_have_the_digests_of_the_index() {
    let app = TestApp::start("");
    let index = app.get("/.well-known/agent-skills/index.json").json();
    let skills = index["skills"].as_array().unwrap();
    assert!(!skills.is_empty());
    for skill in skills {
        let url = skill["url"].as_str().unwrap();
        let base = format!("http://{}", app.address);
        let bytes = app.get(url.strip_prefix(&base).unwrap_or(url)).body;
        assert_eq!(skill["digest"], format!("sha256:{}", sha256_hex(&bytes)));
    }
}

#[test]
fn security_txt_has_contact_and_expiry() {
    let app = TestApp::start("");
    let text = app.get("/.well-known/security.txt").text();
    assert!(text.contains("Contact: mailto:security@"), "{text}");
    assert!(
        text.lines().any(|line| line.starts_with("Expires: 20") && line.ends_with('Z')),
        "{text}"
    );
}

#[test]
fn a_preflight_is_allowed_wherever_reading_is_allowed() {
    let app = TestApp::start("");
    let order = format!("/api/x402/orders/{}", "0".repeat(32));
    let first = [("Origin", "https://a.example"), ("Access-Control-Request-Method", "GET")];
    for path in [
        "/",
        "/openapi.json",
        "/shop/checkout?sku=signer-mini",
        "/healthz",
        "/readyz",
        "/mcp",
        "/api/x402/resolve/demo",
        &order,
    ] {
        let reply = app.request(&format!("OPTIONS {path}"), &first, "");
        assert_eq!(
            (reply.status, reply.header("access-control-allow-origin")),
            (204, "*"),
            "{path}"
        );
        assert!(reply.header("access-control-allow-methods").contains("GET"), "{path}");
        assert_eq!(app.get(path).header("access-control-allow-origin"), "*", "{path}");
    }
}
