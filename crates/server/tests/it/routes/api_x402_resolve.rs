//! `GET /api/x402/resolve/{username}`, with the emulated chain.

use serde_json::Value;

use crate::fixture::http_client::Reply;
use crate::fixture::test_app::TestApp;

fn resolve(app: &TestApp, name: &str) -> Reply {
    app.get(&format!("/api/x402/resolve/{name}"))
}

#[test]
fn all_spellings_are_one_seller_and_only_the_first_is_looked_up() {
    let app = TestApp::start("");
    let first = resolve(&app, "demo");
    assert_eq!((first.status, first.header("content-type")), (200, "application/json"));
    assert!(first.header("cache-control").starts_with("public, max-age="));
    assert_eq!(first.header("access-control-allow-origin"), "*");
    let mut seller = first.json();
    assert_eq!(seller["username"], "demo");
    assert_eq!(seller["ens_name"], "demo.pennyblack.eth");
    assert_eq!(seller["cached"], false);
    assert_eq!(seller["networks"].as_array().unwrap().len(), 3);
    assert_eq!(seller["address"], seller["networks"][0]["address"]);
    assert_eq!(seller["evidence"]["ccip_read"], serde_json::json!({ "used": false }));
    seller["cached"] = Value::Bool(true);
    for name in ["@demo", "demo.pennyblack.eth", "DEMO", "%40demo", "demo"] {
        let reply = resolve(&app, name);
        assert_eq!((reply.status, reply.json()), (200, seller.clone()), "{name}");
    }
}

#[test]
fn an_invalid_name_is_400_and_an_unknown_one_404() {
    let app = TestApp::start("");
    for name in ["a.b", "demo.other.eth", "%D0%B0lice", "a%20b", "%FF", "@@demo", "a%00"] {
        let reply = resolve(&app, name);
        assert_eq!(reply.status, 400, "{name}");
        assert_eq!(reply.json()["error"]["code"], "invalid_seller", "{name}");
    }
    for name in ["unknown", "@unknown", "unknown.pennyblack.eth"] {
        let reply = resolve(&app, name);
        assert_eq!(reply.status, 404, "{name}");
        assert_eq!(reply.json()["error"]["code"], "seller_not_resolved", "{name}");
    }
}

#[test]
fn head_is_get_without_the_body() {
    let app = TestApp::start("");
    // From here on the response is cached.
    assert_eq!(resolve(&app, "demo").status, 200);
    for (name, status) in [("demo", 200), ("unknown", 404), ("a.b", 400)] {
        let line = format!("HEAD /api/x402/resolve/{name}");
        let (head, get) = (app.request(&line, &[], ""), resolve(&app, name));
        assert_eq!((head.status, head.body.len()), (status, 0), "{name}");
        assert_eq!(head.header("content-length"), get.header("content-length"), "{name}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{name}");
    }
    assert_eq!(app.request("POST /api/x402/resolve/demo", &[], "").status, 405);
}
