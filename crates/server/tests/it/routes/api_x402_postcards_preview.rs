//! `POST /api/x402/postcards/preview`: every status of the contract; no preview mails a card.

use std::sync::Arc;

use adapters::clock::SystemClock;
use sandbox::chain::{ChainEmulator, ChainId, ChainSettings, UNIVERSAL_RESOLVER};
use serde_json::{Value, json};

use crate::fixture::http_client::{Reply, send_request};
use crate::fixture::sandbox::{
    DIALECTS, JSON, PREVIEW, ProviderControl, card, code, preview, with_dialect,
};
use crate::fixture::test_app::TestApp;

const FIELDS: [&str; 8] = [
    "front_image_url",
    "message",
    "recipient.name",
    "recipient.address",
    "recipient.city",
    "recipient.province",
    "recipient.postal_code",
    "recipient.country",
];

fn send(app: &TestApp, body: &str) -> Reply {
    app.request(&format!("POST {PREVIEW}"), &[JSON], body)
}

fn faulty_fields(reply: &Reply) -> Vec<String> {
    assert_eq!((reply.status, code(reply).as_str()), (400, "invalid_postcard"), "{}", reply.text());
    let said = reply.json();
    let fields = said["error"]["fields"].as_array().expect("fields").iter();
    fields.map(|fault| fault["field"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_valid_card_gets_two_preview_urls_and_is_not_mailed() {
    for dialect in DIALECTS {
        let app = TestApp::start(&with_dialect(dialect));
        let provider = ProviderControl::of(&app);
        let reply = preview(&app, &card());
        assert_eq!(reply.status, 200, "{dialect}: {}", reply.text());
        assert_eq!(reply.header("cache-control"), "no-store");
        assert_eq!(reply.header("access-control-allow-origin"), "*");
        let said = reply.json();
        let urls = said["preview_urls"].as_array().unwrap();
        assert_eq!(urls.len(), 2, "{dialect}: {said}");
        for url in urls {
            let (_, path) = url.as_str().unwrap().split_once(&provider.0.to_string()).unwrap();
            let picture = send_request(provider.0, &format!("GET {path}"), &[], "");
            assert_eq!(picture.status, 200, "{dialect}: {url}");
            assert!(picture.header("content-type").starts_with("image/"), "{dialect}: {url}");
        }
        // Lob's price is configured; thanks.io is asked for it.
        let price_calls = usize::from(dialect == "thanks_io");
        let (accepted, calls) = (provider.cards_accepted(), provider.calls());
        assert_eq!((accepted, calls), (0, 1 + price_calls), "{dialect}: no card");
        assert_eq!(preview(&app, &card()).status, 200);
        assert_eq!(provider.calls(), calls + 1, "{dialect}: the price is known");
    }
}

#[test]
fn an_invalid_card_gets_every_fault_and_the_provider_is_not_called() {
    let app = TestApp::start("");
    let everything_wrong = json!({
        "front_image_url": "http://10.0.0.1/",
        "message": "",
        "recipient": {
            "name": "\u{7}", "address": 7, "city": null, "province": "x".repeat(101),
            "postal_code": [], "country": "Atlantis",
        },
    });
    for body in
        [json!({}), json!({ "recipient": {} }), json!({ "recipient": [] }), everything_wrong]
    {
        let reply = preview(&app, &body);
        assert_eq!(faulty_fields(&reply), FIELDS, "{body}");
        assert_eq!(reply.header("access-control-allow-origin"), "*");
    }
    for (field, wrong) in [
        ("front_image_url", json!("https://localhost/")),
        ("message", json!("x".repeat(1_001))),
        ("seller", json!("two words")),
        ("operation_id", json!("short")),
    ] {
        let (mut only, mut with_another) = (card(), card());
        only[field] = wrong.clone();
        with_another[field] = wrong;
        with_another["recipient"]["country"] = json!("XX");
        assert_eq!(preview(&app, &only).status, 400, "{field}");
        let named = faulty_fields(&preview(&app, &with_another));
        assert!(named.contains(&field.to_owned()), "{field}: {named:?}");
        assert!(named.contains(&"recipient.country".to_owned()), "{field}: {named:?}");
    }
    for body in ["[]", "null", "7", "\"card\""] {
        assert_eq!(faulty_fields(&send(&app, body)), ["body"], "{body}");
    }
    assert_eq!(ProviderControl::of(&app).calls(), 0);
}

#[test]
fn a_seller_that_is_not_enabled_is_refused_before_the_provider_is_called() {
    let app = TestApp::start("[sellers]\ndefault = \"alice\"\nenabled = [\"alice\", \"bob\"]\n");
    for (seller, status) in [("alice", 200), ("bob", 200), ("@bob", 200), ("mallory", 403)] {
        let mut card = card();
        card["seller"] = json!(seller);
        let reply = preview(&app, &card);
        assert_eq!(reply.status, status, "{seller}: {}", reply.text());
        if status == 403 {
            assert_eq!(code(&reply), "seller_not_enabled");
        }
    }
    // One preview each, and one price.
    assert_eq!(ProviderControl::of(&app).calls(), 4);
}

/// A service that resolves names on this node.
fn app_with_node(node: &str) -> TestApp {
    TestApp::start(&format!(
        "[sandbox]\nmixed = \"yes\"\n[names]\nkind = \"ens\"\nrpc = [\"{node}\"]\n\
         universal_resolver = \"{UNIVERSAL_RESOLVER}\"\n"
    ))
}

fn refused_before_the_provider_is_called(app: &TestApp) -> (u16, String) {
    let reply = preview(app, &card());
    assert_eq!(ProviderControl::of(app).calls(), 0);
    (reply.status, code(&reply))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seller_without_an_address_is_404_and_an_unreachable_node_500() {
    let clock = Arc::new(SystemClock::start());
    let chains = ChainEmulator::open(ChainSettings::new(clock)).await.unwrap();
    let node = chains.rpc_url(ChainId::Ethereum);
    let refused = tokio::task::block_in_place(|| {
        refused_before_the_provider_is_called(&app_with_node(&node))
    });
    assert_eq!(refused, (404, "seller_not_resolved".to_owned()));
    chains.close().await;
    let refused = tokio::task::block_in_place(|| {
        refused_before_the_provider_is_called(&app_with_node(&node))
    });
    assert_eq!(refused, (500, "internal_error".to_owned()));
}

#[test]
fn malformed_json_and_large_bodies_get_the_errors_of_the_contract() {
    let app = TestApp::start("");
    for body in [" ", "{", "{\"message\": }", "front_image_url=x", "{} {}", "\u{feff}{}"] {
        let reply = send(&app, body);
        assert_eq!((reply.status, code(&reply).as_str()), (500, "malformed_json"), "{body:?}");
    }
    let padded = |bytes: usize| {
        let card = card().to_string();
        let space = " ".repeat(bytes - card.len());
        send(&app, &format!("{card}{space}"))
    };
    assert_eq!(padded(16 * 1024).status, 200);
    let reply = padded(16 * 1024 + 1);
    assert_eq!((reply.status, code(&reply).as_str()), (500, "body_too_large"));
    assert_eq!(reply.json()["error"]["retry"], "never");
    assert_eq!(ProviderControl::of(&app).calls(), 2);
}

#[test]
fn without_a_provider_previews_are_not_configured() {
    let app = TestApp::start("[provider]\nkind = \"none\"\n[sandbox]\nmixed = \"yes\"\n");
    assert!(!app.banner.contains("mailbox"), "{}", app.banner);
    for body in [card(), Value::Null] {
        let reply = preview(&app, &body);
        assert_eq!((reply.status, code(&reply).as_str()), (503, "not_configured"));
        // Waiting does not help.
        assert_eq!(
            (reply.header("retry-after"), &reply.json()["error"]["retry"]),
            ("", &json!("never"))
        );
    }
    let asked = [("Origin", "https://page.example"), ("Access-Control-Request-Method", "POST")];
    assert_eq!(app.request(&format!("OPTIONS {PREVIEW}"), &asked, "").status, 204);
}

#[test]
fn a_preflight_is_answered_and_another_method_is_405() {
    let app = TestApp::start("");
    let asked = [("Origin", "https://page.example"), ("Access-Control-Request-Method", "POST")];
    let reply = app.request(&format!("OPTIONS {PREVIEW}"), &asked, "");
    assert_eq!(reply.status, 204);
    assert_eq!(reply.header("access-control-allow-origin"), "*");
    assert_eq!(reply.header("access-control-allow-methods"), "POST, OPTIONS");
    assert_eq!(reply.header("access-control-allow-headers"), "content-type");
    for method in ["GET", "PUT", "DELETE", "PATCH"] {
        let reply = app.request(&format!("{method} {PREVIEW}"), &[], "");
        assert_eq!((reply.status, reply.header("allow")), (405, "POST"), "{method}");
    }
}

/// All clients share the provider's rate limit. The contract has no 429 here.
#[test]
fn the_sixteenth_call_in_a_minute_is_503_with_retry_after() {
    let app = TestApp::start("");
    // The first preview needs a price too.
    let replies: Vec<Reply> = (0..15).map(|_| preview(&app, &card())).collect();
    let (last, shown) = replies.split_last().unwrap();
    assert!(shown.iter().all(|reply| reply.status == 200));
    assert_eq!((last.status, code(last).as_str()), (503, "preview_busy"));
    let seconds: u64 = last.header("retry-after").parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
    let provider = ProviderControl::of(&app);
    assert_eq!((provider.calls(), provider.cards_accepted()), (15, 0));
}

#[test]
fn the_last_call_of_a_minute_is_spent_on_the_picture_and_not_on_the_price() {
    let app = TestApp::start("");
    let mut elsewhere = card();
    elsewhere["recipient"]["country"] = json!("FR");
    elsewhere["recipient"]["postal_code"] = json!("75001");
    let replies: Vec<Reply> = (0..13).map(|_| preview(&app, &card())).collect();
    assert!(replies.iter().all(|reply| !reply.json()["quote"].is_null()));
    let said = preview(&app, &elsewhere).json();
    assert_eq!((said["preview_urls"].as_array().unwrap().len(), &said["quote"]), (2, &Value::Null));
    assert_eq!(said["warnings"][0]["code"], "no_quote", "{said}");
    assert_eq!(ProviderControl::of(&app).calls(), 15);
}

#[test]
fn a_preview_quotes_both_protocols_and_a_paid_endpoint_takes_the_quote() {
    let app = TestApp::start("");
    let said = preview(&app, &card()).json();
    assert_eq!(
        (&said["quote"]["charge"], &said["mpp_quote"]["charge"]),
        (&json!("2.0812"), &json!("3.50"))
    );
    assert_eq!(said["warnings"], json!([]));
    let id = said["quote"]["id"].as_str().unwrap();
    let mut other = card();
    other["message"] = json!("Another card.");
    let forged = format!("{}{}", &id[..63], if id.ends_with('0') { '1' } else { '0' });
    for endpoint in ["/api/x402/postcards", "/api/mpp/postcards"] {
        let post = |card: &Value, header: Option<&str>| {
            let quote = header.map(|id| ("Quote-Id", id));
            let headers: Vec<_> = [JSON].into_iter().chain(quote).collect();
            app.request(&format!("POST {endpoint}"), &headers, &card.to_string())
        };
        let mut named = card();
        named["quote_id"] = json!(id);
        let asked = post(&card(), None).json()["public_order_id"].clone();
        for reply in [post(&card(), Some(id)), post(&named, None), post(&named, Some(id))] {
            assert_eq!(reply.status, 402, "{endpoint}: {}", reply.text());
            assert_eq!(reply.json()["public_order_id"], asked, "the same operation");
        }
        for reply in [post(&other, Some(id)), post(&card(), Some(&forged))] {
            assert_eq!((reply.status, code(&reply).as_str()), (400, "invalid_quote"), "{endpoint}");
        }
        for reply in [post(&card(), Some("7")), post(&named, Some(&forged))] {
            assert_eq!(faulty_fields(&reply), ["quote_id"], "{endpoint}");
        }
    }
}
