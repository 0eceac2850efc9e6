//! Discovery documents: statuses, types, heads without bodies, and one address for everything.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::house::House;

#[test]
fn every_document_of_the_contract_is_there_with_its_type() {
    let house = House::open("");
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
        ("/.well-known/oauth-authorization-server", 200, "application/json"),
        ("/.well-known/ai-catalog.json", 200, "application/json"),
        ("/.well-known/agent-skills/index.json", 200, "application/json"),
    ] {
        let reply = house.get(path);
        assert_eq!((reply.status, reply.header("content-type")), (status, media_type), "{path}");
        assert!(reply.json().is_object(), "{path}");
        let head = house.request(&format!("HEAD {path}"), &[], "");
        assert_eq!((head.status, head.body.len()), (status, 0), "{path}");
        assert_eq!(head.header("content-type"), media_type, "{path}");
        assert!(!reply.text().contains("{{"), "a mark is left in {path}");
    }
}

#[test]
fn the_quote_says_the_same_in_header_and_body() {
    let house = House::open("");
    let reply = house.get("/api");
    let header = BASE64_STANDARD.decode(reply.header("payment-required")).unwrap();
    let header: serde_json::Value = serde_json::from_slice(&header).unwrap();
    let body = reply.json();
    assert_eq!(header["x402Version"], 2);
    assert_eq!(
        (&body["x402Version"], &body["accepts"]),
        (&header["x402Version"], &header["accepts"])
    );
    assert_eq!(body["accepts"].as_array().unwrap().len(), 3);
    assert_eq!(header["resource"]["url"], format!("http://{}/api", house.address));
    assert_eq!(reply.header("cache-control"), "no-store");
    let rails = body["rails"].to_string();
    for rail in ["x402", "lightning", "bitcoin"] {
        assert!(rails.contains(rail), "{rail} is not in {rails}");
    }
}

#[test]
fn the_contract_carries_its_date_and_the_catalog_links_to_itself() {
    let house = House::open("");
    let openapi = house.get("/openapi.json").json();
    assert_eq!(openapi["info"]["version"], "2026-08-29");
    assert!(openapi["openapi"].as_str().unwrap().starts_with("3.1"));
    let head = house.request("HEAD /.well-known/api-catalog", &[], "");
    assert!(head.header("link").contains("rel=\"api-catalog\""), "{}", head.header("link"));
}

#[test]
fn behind_a_public_address_every_document_speaks_of_that_address_only() {
    let house = House::open("[server]\nbase_url = \"https://cards.example\"");
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
        let text = house.get(path).text();
        assert!(text.contains("https://cards.example"), "{path}");
        assert!(!text.contains("127.0.0.1") && !text.contains("localhost"), "{path}");
    }
    let page = house.get("/");
    assert!(page.header("strict-transport-security").starts_with("max-age="));
}

#[test]
fn skills_have_the_digests_that_the_index_gives_them() {
    use sha2::{Digest, Sha256};
    let house = House::open("");
    let index = house.get("/.well-known/agent-skills/index.json").json();
    let skills = index["skills"].as_array().unwrap();
    assert!(!skills.is_empty());
    for skill in skills {
        let url = skill["url"].as_str().unwrap();
        let base = format!("http://{}", house.address);
        let bytes = house.get(url.strip_prefix(&base).unwrap_or(url)).body;
        let digest: String =
            Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(skill["digest"], format!("sha256:{digest}"));
    }
}

#[test]
fn security_txt_holds_for_less_than_a_year() {
    let house = House::open("");
    let text = house.get("/.well-known/security.txt").text();
    assert!(text.contains("Contact: mailto:security@"), "{text}");
    assert!(
        text.lines().any(|line| line.starts_with("Expires: 20") && line.ends_with('Z')),
        "{text}"
    );
}

#[test]
fn a_script_of_every_origin_may_ask_first_wherever_it_may_read() {
    let house = House::open("");
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
        let reply = house.request(&format!("OPTIONS {path}"), &first, "");
        assert_eq!(
            (reply.status, reply.header("access-control-allow-origin")),
            (204, "*"),
            "{path}"
        );
        assert!(reply.header("access-control-allow-methods").contains("GET"), "{path}");
        assert_eq!(house.get(path).header("access-control-allow-origin"), "*", "{path}");
    }
}
