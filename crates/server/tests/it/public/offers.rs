//! What is offered is what is open, and what is play money says so.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::house::{House, pennyblack};
use crate::world::card;

const NO_PROVIDER: &str = "[provider]\nkind = \"none\"\n[sandbox]\nmixed = \"yes\"\n";
const NO_PAYMENTS: &str = "[payments]\nkind = \"none\"\n[sandbox]\nmixed = \"yes\"\n";

fn service_info(house: &House) -> Value {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_postcard_service_info","arguments":{}}}"#;
    let headers =
        [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    house.request("POST /mcp", &headers, call).json()["result"]["structuredContent"].clone()
}

#[test]
fn every_offer_of_the_sandbox_says_that_it_is_one() {
    let house = House::open("");
    assert_eq!(house.get("/api/x402").json()["mode"], "sandbox");
    assert_eq!(service_info(&house)["mode"], "sandbox");
    for path in ["/api/x402/postcards", "/api/mpp/postcards"] {
        let asked = house.request(&format!("POST {path}"), &[], &card().to_string());
        assert_eq!((asked.status, asked.header("x-service-mode")), (402, "sandbox"), "{path}");
        assert_eq!(asked.json()["mode"], "sandbox", "{path}");
        let required = BASE64_STANDARD.decode(asked.header("payment-required")).unwrap();
        let required: Value = serde_json::from_slice(&required).unwrap();
        for offer in required["accepts"].as_array().unwrap() {
            assert_eq!(offer["extra"]["mode"], "sandbox", "{path}");
        }
        let exposed = asked.header("access-control-expose-headers");
        assert!(exposed.contains("X-Service-Mode"), "{exposed}");
    }
    let asked = house.request("POST /api/mpp/postcards", &[], &card().to_string());
    assert!(asked.header("www-authenticate").contains("sandbox"));
}

#[test]
fn a_real_key_signs_nothing_for_a_sandbox() {
    let house = House::open("");
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("card.json"), card().to_string()).unwrap();
    let key = folder.path().join("payer.key");
    fs::write(&key, format!("0x{}\n", "7".repeat(64))).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let service = format!("http://{}", house.address);
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
fn a_quote_that_settles_nothing_says_so_at_its_top_and_what_is_sold_out_is_not_quoted() {
    let house = House::open("");
    let sold_out = house.get("/shop/feed.json").json()["products"]
        .as_array()
        .unwrap()
        .iter()
        .find(|product| product.to_string().contains("out_of_stock"))
        .map(|product| product["id"].as_str().unwrap().to_owned())
        .unwrap();
    let gone = format!("/shop/checkout?sku={sold_out}");
    for (path, offers) in [("/api", 3), ("/shop/checkout?sku=signer-mini", 3), (&gone, 0)] {
        let quote = house.get(path);
        assert_eq!(quote.status, 402, "{path}");
        let header = BASE64_STANDARD.decode(quote.header("payment-required")).unwrap();
        let header: Value = serde_json::from_slice(&header).unwrap();
        for told in [&quote.json(), &header] {
            assert_eq!(told["settles"], false, "{path}");
            assert_eq!(told["accepts"].as_array().unwrap().len(), offers, "{path}");
        }
    }
    assert_eq!(house.get(&gone).json()["product"]["availability"], "out_of_stock");
    assert_eq!(house.get("/api").json()["product"]["availability"], "in_stock");
}

#[test]
fn what_answers_503_is_offered_nowhere() {
    for (toml, preview) in [(NO_PROVIDER, 503), (NO_PAYMENTS, 200)] {
        let house = House::open(toml);
        let look = house.request("POST /api/x402/postcards/preview", &[], &card().to_string());
        assert_eq!(look.status, preview, "{toml}");
        for path in ["/api/x402/postcards", "/api/mpp/postcards"] {
            assert_eq!(
                house.request(&format!("POST {path}"), &[], &card().to_string()).status,
                503
            );
            for document in ["/api/x402", "/llms.txt"] {
                let text = house.get(document).text();
                assert!(!text.contains(&format!("{path}\"")), "{document} offers {path}: {toml}");
                assert!(!text.contains(&format!("{path}.")), "{document} offers {path}: {toml}");
            }
        }
        assert_eq!(house.get("/api/x402").text().contains("postcards/preview"), preview == 200);
        assert_eq!(house.get("/llms.txt").text().contains("postcards/preview"), preview == 200);
        let info = service_info(&house);
        assert_eq!(info["payment_protocols"], json!([]), "{toml}");
        assert_eq!(info["preview_endpoint"].is_null(), preview == 503, "{toml}");
        for (page, words) in [("/", "not accepted"), ("/de/", "nicht angenommen")] {
            let markdown = house.get_with(page, &[("Accept", "text/markdown")]).text();
            assert!(markdown.contains(words), "{page} says nothing: {toml}");
            assert!(house.get(page).text().contains(words), "{page} says nothing: {toml}");
        }
    }
    assert!(!House::open("").get("/").text().contains("not accepted"));
}

#[test]
fn registration_that_is_switched_off_is_offered_nowhere() {
    let house = House::open("[agents]\nanonymous = \"no\"\n");
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server"]
    {
        let told = &house.get(path).json()["agent_auth"];
        assert_eq!(told["identity_types_supported"], json!([]), "{path}");
        assert!(told.get("anonymous").is_none(), "{path}");
    }
    assert!(house.get("/auth.md").text().contains("switched off"));
    assert!(!house.get("/llms.txt").text().contains("Agent registration"));
    let open = House::open("");
    assert!(open.get("/llms.txt").text().contains("Agent registration"));
}

/// Every address of the documents that list operations, skills or networks.
fn catalogs(house: &House) -> Vec<(&'static str, String)> {
    let documents = [
        "/openapi.json",
        "/api/x402",
        "/llms.txt",
        "/.well-known/api-catalog",
        "/.well-known/agent-card.json",
        "/.well-known/ai-catalog.json",
        "/.well-known/agent-skills/index.json",
    ];
    documents.map(|path| (path, house.get(path).text())).into()
}

/// The documents that name this.
fn naming(house: &House, what: &str) -> Vec<&'static str> {
    let catalogs = catalogs(house).into_iter();
    catalogs.filter(|(_, text)| text.contains(what)).map(|(path, _)| path).collect()
}

#[test]
fn catalogs_list_only_operations_and_skills_that_are_open() {
    for (toml, preview) in [(NO_PROVIDER, false), (NO_PAYMENTS, true)] {
        let house = House::open(toml);
        let paths = house.get("/openapi.json").json()["paths"].clone();
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
            assert_eq!(naming(&house, closed), [""; 0], "{closed}: {toml}");
        }
        assert_eq!(naming(&house, "send-a-postcard"), [""; 0], "{toml}");
        assert_eq!(naming(&house, "browse-the-shop").len(), 3);
        let skill = house.get("/.well-known/agent-skills/send-a-postcard/SKILL.md");
        assert_eq!(skill.status, 404, "{toml}");
        let described = house.get("/openapi.json").text();
        assert!(!described.contains("PAYMENT-SIGNATURE"), "a component of a closed operation");
        assert_eq!(house.get("/api/x402").json()["networks"], json!([]), "{toml}");
    }
    let house = House::open("[agents]\nanonymous = \"no\"\n");
    let paths = house.get("/openapi.json").json()["paths"].clone();
    assert!(paths.get("/agent/auth").is_none() && paths.get("/auth.md").is_some());
    assert!(!house.get("/.well-known/api-catalog").text().contains("/agent/auth\""));
    let open = House::open("");
    assert_eq!(naming(&open, "send-a-postcard").len(), 3);
    assert!(open.get("/openapi.json").json()["paths"].get("/agent/auth").is_some());
}

#[test]
fn only_networks_with_a_node_are_offered_and_mpp_only_with_one_of_base() {
    let toml = "[payments]\nkind = \"settler\"\nrpc = [\"polygon=http://127.0.0.1:1\"]\n\
                [sandbox]\nmixed = \"yes\"\n";
    let key = "7".repeat(64);
    let house = House::open_with(toml, &[("PENNYBLACK_SETTLER_KEY", key.as_str())]);
    let catalog = house.get("/api/x402").json();
    assert_eq!(catalog["networks"].as_array().unwrap().len(), 1);
    let payments = &catalog["services"][0]["payments"];
    assert_eq!(payments.as_array().unwrap().len(), 1);
    assert_eq!(payments[0]["networks"], json!(["eip155:137"]));
    let info = service_info(&house);
    assert_eq!(info["payment_protocols"].as_array().unwrap().len(), 1);
    assert_eq!(info["payment_protocols"][0]["networks"], json!(["eip155:137"]));
    assert!(house.get("/llms.txt").text().contains("on eip155:137."));
    assert_eq!(house.request("POST /api/mpp/postcards", &[], &card().to_string()).status, 503);
    let paths = house.get("/openapi.json").json()["paths"].clone();
    assert!(paths.get("/api/mpp/postcards").is_none());
    assert!(paths.get("/api/x402/postcards").is_some());
    assert_eq!(naming(&house, "/api/mpp/postcards"), [""; 0]);
}
