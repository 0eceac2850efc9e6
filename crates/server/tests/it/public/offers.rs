//! What is offered is what is open, and what is play money says so.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::house::{House, pennyblack};

const NO_PROVIDER: &str = "[provider]\nkind = \"none\"\n[sandbox]\nmixed = \"yes\"\n";
const NO_PAYMENTS: &str = "[payments]\nkind = \"none\"\n[sandbox]\nmixed = \"yes\"\n";

fn card() -> String {
    json!({
        "front_image_url": "https://images.example.org/sea.jpg",
        "message": "The sea says hello.",
        "recipient": {
            "name": "Ada Lovelace", "address": "12 St James's Square", "city": "London",
            "province": "London", "postal_code": "SW1Y 4JH", "country": "GB",
        },
    })
    .to_string()
}

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
        let asked = house.request(&format!("POST {path}"), &[], &card());
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
    let asked = house.request("POST /api/mpp/postcards", &[], &card());
    assert!(asked.header("www-authenticate").contains("sandbox"));
}

#[test]
fn a_real_key_signs_nothing_for_a_sandbox() {
    let house = House::open("");
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("card.json"), card()).unwrap();
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
        let look = house.request("POST /api/x402/postcards/preview", &[], &card());
        assert_eq!(look.status, preview, "{toml}");
        for path in ["/api/x402/postcards", "/api/mpp/postcards"] {
            assert_eq!(house.request(&format!("POST {path}"), &[], &card()).status, 503);
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
