//! Documents offer only what is configured, and every sandbox offer is marked as one.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::encoding::base64_json;
use crate::fixture::http_client::MCP_HEADERS;
use crate::fixture::sandbox::card;
use crate::fixture::test_app::{TestApp, pennyblack};

const NO_PROVIDER: &str = "[provider]\nkind = \"none\"\n[sandbox]\nmixed = \"yes\"\n";
const NO_PAYMENTS: &str = "[payments]\nkind = \"none\"\n[sandbox]\nmixed = \"yes\"\n";

fn service_info(app: &TestApp) -> Value {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_postcard_service_info","arguments":{}}}"#;
    app.request("POST /mcp", MCP_HEADERS, call).json()["result"]["structuredContent"].clone()
}

#[test]
fn every_offer_of_the_sandbox_is_marked_as_sandbox() {
    let app = TestApp::start("");
    assert_eq!(app.get("/api/x402").json()["mode"], "sandbox");
    assert_eq!(service_info(&app)["mode"], "sandbox");
    for path in ["/api/x402/postcards", "/api/mpp/postcards"] {
        let asked = app.request(&format!("POST {path}"), &[], &card().to_string());
        assert_eq!((asked.status, asked.header("x-service-mode")), (402, "sandbox"), "{path}");
        assert_eq!(asked.json()["mode"], "sandbox", "{path}");
        let required = base64_json(asked.header("payment-required"));
        for offer in required["accepts"].as_array().unwrap() {
            assert_eq!(offer["extra"]["mode"], "sandbox", "{path}");
        }
        let exposed = asked.header("access-control-expose-headers");
        assert!(exposed.contains("X-Service-Mode"), "{exposed}");
    }
    let asked = app.request("POST /api/mpp/postcards", &[], &card().to_string());
    assert!(asked.header("www-authenticate").contains("sandbox"));
}

#[test]
fn pay_signs_nothing_for_a_sandbox_with_a_real_key() {
    let app = TestApp::start("");
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("card.json"), card().to_string()).unwrap();
    let key = folder.path().join("payer.key");
    fs::write(&key, format!("0x{}\n", "7".repeat(64))).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let service = format!("http://{}", app.address);
    for rail in ["x402", "mpp"] {
        let mut command = pennyblack(&folder, "", &[]);
        command.args(["pay", "--rail", rail, "--body", "card.json", "--base-url", &service]);
        let told = command.args(["--key-file", "payer.key", "--yes"]).output().unwrap();
        let words = String::from_utf8_lossy(&told.stderr).into_owned()
            + &String::from_utf8_lossy(&told.stdout);
        assert!(!told.status.success(), "{words}");
        assert!(words.contains("Nothing was signed") && words.contains("sandbox"), "{words}");
        assert!(!folder.path().join("card.json.payment").exists(), "{rail}");
    }
}

#[test]
fn a_quote_that_is_not_settled_says_so_and_sold_out_products_are_not_quoted() {
    let app = TestApp::start("");
    let sold_out = app.get("/shop/feed.json").json()["products"]
        .as_array()
        .unwrap()
        .iter()
        .find(|product| product.to_string().contains("out_of_stock"))
        .map(|product| product["id"].as_str().unwrap().to_owned())
        .unwrap();
    let gone = format!("/shop/checkout?sku={sold_out}");
    for (path, offers) in [("/api", 3), ("/shop/checkout?sku=signer-mini", 3), (&gone, 0)] {
        let quote = app.get(path);
        assert_eq!(quote.status, 402, "{path}");
        let header = base64_json(quote.header("payment-required"));
        for told in [&quote.json(), &header] {
            assert_eq!(told["settles"], false, "{path}");
            assert_eq!(told["accepts"].as_array().unwrap().len(), offers, "{path}");
        }
    }
    assert_eq!(app.get(&gone).json()["product"]["availability"], "out_of_stock");
    assert_eq!(app.get("/api").json()["product"]["availability"], "in_stock");
}

#[test]
fn an_endpoint_that_returns_503_is_not_offered() {
    for (toml, preview) in [(NO_PROVIDER, 503), (NO_PAYMENTS, 200)] {
        let app = TestApp::start(toml);
        let look = app.request("POST /api/x402/postcards/preview", &[], &card().to_string());
        assert_eq!(look.status, preview, "{toml}");
        for path in ["/api/x402/postcards", "/api/mpp/postcards"] {
            assert_eq!(app.request(&format!("POST {path}"), &[], &card().to_string()).status, 503);
            for document in ["/api/x402", "/llms.txt"] {
                let text = app.get(document).text();
                assert!(!text.contains(&format!("{path}\"")), "{document} offers {path}: {toml}");
                assert!(!text.contains(&format!("{path}.")), "{document} offers {path}: {toml}");
            }
        }
        assert_eq!(app.get("/api/x402").text().contains("postcards/preview"), preview == 200);
        assert_eq!(app.get("/llms.txt").text().contains("postcards/preview"), preview == 200);
        let info = service_info(&app);
        assert_eq!(info["payment_protocols"], json!([]), "{toml}");
        assert_eq!(info["preview_endpoint"].is_null(), preview == 503, "{toml}");
        for (page, words) in [("/", "not accepted"), ("/de/", "nicht angenommen")] {
            let markdown = app.get_with(page, &[("Accept", "text/markdown")]).text();
            assert!(markdown.contains(words), "{page} says nothing: {toml}");
            assert!(app.get(page).text().contains(words), "{page} says nothing: {toml}");
        }
    }
    assert!(!TestApp::start("").get("/").text().contains("not accepted"));
}

#[test]
fn disabled_registration_is_not_offered() {
    let app = TestApp::start("[agents]\nanonymous = \"no\"\n");
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server"]
    {
        let told = &app.get(path).json()["agent_auth"];
        assert_eq!(told["identity_types_supported"], json!([]), "{path}");
        assert!(told.get("anonymous").is_none(), "{path}");
    }
    assert!(app.get("/auth.md").text().contains("switched off"));
    assert!(!app.get("/llms.txt").text().contains("Agent registration"));
    let open = TestApp::start("");
    assert!(open.get("/llms.txt").text().contains("Agent registration"));
}

/// The documents that list operations, skills or networks.
fn catalogs(app: &TestApp) -> Vec<(&'static str, String)> {
    let documents = [
        "/openapi.json",
        "/api/x402",
        "/llms.txt",
        "/.well-known/api-catalog",
        "/.well-known/agent-card.json",
        "/.well-known/ai-catalog.json",
        "/.well-known/agent-skills/index.json",
    ];
    documents.map(|path| (path, app.get(path).text())).into()
}

/// The documents that contain this text.
fn containing(app: &TestApp, what: &str) -> Vec<&'static str> {
    let catalogs = catalogs(app).into_iter();
    catalogs.filter(|(_, text)| text.contains(what)).map(|(path, _)| path).collect()
}

#[test]
fn catalogs_list_only_enabled_operations_and_skills() {
    for (toml, preview) in [(NO_PROVIDER, false), (NO_PAYMENTS, true)] {
        let app = TestApp::start(toml);
        let paths = app.get("/openapi.json").json()["paths"].clone();
        for (path, open) in [
            ("/api/x402/postcards/preview", preview),
            ("/api/x402/postcards", false),
            ("/api/mpp/postcards", false),
            ("/api/x402/orders/{publicOrderId}", true),
            ("/agent/auth", true),
        ] {
            assert_eq!(paths.get(path).is_some(), open, "{path}: {toml}");
        }
        for closed in ["/api/x402/postcards\"", "/api/x402/postcards ", "/api/mpp/postcards"] {
            assert_eq!(containing(&app, closed), [""; 0], "{closed}: {toml}");
        }
        assert_eq!(containing(&app, "send-a-postcard"), [""; 0], "{toml}");
        assert_eq!(containing(&app, "browse-the-shop").len(), 3);
        let skill = app.get("/.well-known/agent-skills/send-a-postcard/SKILL.md");
        assert_eq!(skill.status, 404, "{toml}");
        let described = app.get("/openapi.json").text();
        assert!(!described.contains("PAYMENT-SIGNATURE"), "a component of a closed operation");
        assert_eq!(app.get("/api/x402").json()["networks"], json!([]), "{toml}");
    }
    let app = TestApp::start("[agents]\nanonymous = \"no\"\n");
    let paths = app.get("/openapi.json").json()["paths"].clone();
    assert!(paths.get("/agent/auth").is_none() && paths.get("/auth.md").is_some());
    assert!(!app.get("/.well-known/api-catalog").text().contains("/agent/auth\""));
    let open = TestApp::start("");
    assert_eq!(containing(&open, "send-a-postcard").len(), 3);
    assert!(open.get("/openapi.json").json()["paths"].get("/agent/auth").is_some());
}

#[test]
fn only_networks_with_a_node_are_offered_and_mpp_requires_base() {
    let toml = "[payments]\nkind = \"settler\"\nrpc = [\"polygon=http://127.0.0.1:1\"]\n\
                [sandbox]\nmixed = \"yes\"\n";
    let key = "7".repeat(64);
    let app = TestApp::start_with(toml, &[("PENNYBLACK_SETTLER_KEY", key.as_str())]);
    let catalog = app.get("/api/x402").json();
    assert_eq!(catalog["networks"].as_array().unwrap().len(), 1);
    let payments = &catalog["services"][0]["payments"];
    assert_eq!(payments.as_array().unwrap().len(), 1);
    assert_eq!(payments[0]["networks"], json!(["eip155:137"]));
    let info = service_info(&app);
    assert_eq!(info["payment_protocols"].as_array().unwrap().len(), 1);
    assert_eq!(info["payment_protocols"][0]["networks"], json!(["eip155:137"]));
    assert!(app.get("/llms.txt").text().contains("on eip155:137."));
    assert_eq!(app.request("POST /api/mpp/postcards", &[], &card().to_string()).status, 503);
    let paths = app.get("/openapi.json").json()["paths"].clone();
    assert!(paths.get("/api/mpp/postcards").is_none());
    assert!(paths.get("/api/x402/postcards").is_some());
    assert_eq!(containing(&app, "/api/mpp/postcards"), [""; 0]);
}
