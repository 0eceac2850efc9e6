//! Every row of the contract for previews, and that none of them changes anything.

use std::sync::Arc;

use adapters::clock::SystemClock;
use sandbox::chain::{ChainId, Chains, Settings, UNIVERSAL_RESOLVER};
use serde_json::{Value, json};

use super::{DIALECTS, JSON, Mailbox, PREVIEW, card, code, preview, speaking};
use crate::house::House;
use crate::public::{Reply, ask};

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

fn send(house: &House, body: &str) -> Reply {
    house.request(&format!("POST {PREVIEW}"), &[JSON], body)
}

fn faulty_fields(reply: &Reply) -> Vec<String> {
    assert_eq!((reply.status, code(reply).as_str()), (400, "invalid_postcard"), "{}", reply.text());
    let said = reply.json();
    let fields = said["error"]["fields"].as_array().expect("fields").iter();
    fields.map(|fault| fault["field"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_good_card_is_shown_from_both_sides_and_mailed_from_neither() {
    for dialect in DIALECTS {
        let house = House::open(&speaking(dialect));
        let mailbox = Mailbox::of(&house);
        let reply = preview(&house, &card());
        assert_eq!(reply.status, 200, "{dialect}: {}", reply.text());
        assert_eq!(reply.header("cache-control"), "no-store");
        assert_eq!(reply.header("access-control-allow-origin"), "*");
        let said = reply.json();
        let urls = said["preview_urls"].as_array().unwrap();
        assert_eq!(urls.len(), 2, "{dialect}: {said}");
        for url in urls {
            let (_, path) = url.as_str().unwrap().split_once(&mailbox.0.to_string()).unwrap();
            let picture = ask(mailbox.0, &format!("GET {path}"), &[], "");
            assert_eq!(picture.status, 200, "{dialect}: {url}");
            assert!(picture.header("content-type").starts_with("image/"), "{dialect}: {url}");
        }
        let (accepted, calls) = (mailbox.cards_accepted(), mailbox.calls());
        assert_eq!((accepted, calls), (0, 1), "{dialect}: one call, and no card");
    }
}

#[test]
fn a_bad_card_hears_of_every_fault_at_once_and_the_provider_of_none() {
    let house = House::open("");
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
        let reply = preview(&house, &body);
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
        assert_eq!(preview(&house, &only).status, 400, "{field}");
        let named = faulty_fields(&preview(&house, &with_another));
        assert!(named.contains(&field.to_owned()), "{field}: {named:?}");
        assert!(named.contains(&"recipient.country".to_owned()), "{field}: {named:?}");
    }
    for body in ["[]", "null", "7", "\"card\""] {
        assert_eq!(faulty_fields(&send(&house, body)), ["body"], "{body}");
    }
    assert_eq!(Mailbox::of(&house).calls(), 0);
}

#[test]
fn a_seller_who_does_not_sell_here_is_refused_before_the_provider_is_told() {
    let house = House::open("[sellers]\ndefault = \"alice\"\nenabled = [\"alice\", \"bob\"]\n");
    for (seller, status) in [("alice", 200), ("bob", 200), ("@bob", 200), ("mallory", 403)] {
        let mut card = card();
        card["seller"] = json!(seller);
        let reply = preview(&house, &card);
        assert_eq!(reply.status, status, "{seller}: {}", reply.text());
        if status == 403 {
            assert_eq!(code(&reply), "seller_not_enabled");
        }
    }
    assert_eq!(Mailbox::of(&house).calls(), 3);
}

/// A house that looks names up on a chain outside of it.
fn looking_at(node: &str) -> House {
    House::open(&format!(
        "[sandbox]\nmixed = \"yes\"\n[names]\nkind = \"ens\"\nrpc = [\"{node}\"]\n\
         universal_resolver = \"{UNIVERSAL_RESOLVER}\"\n"
    ))
}

fn refused_before_the_provider_is_asked(house: &House) -> (u16, String) {
    let reply = preview(house, &card());
    assert_eq!(Mailbox::of(house).calls(), 0);
    (reply.status, code(&reply))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seller_without_an_address_is_not_found_and_a_dead_chain_is_our_trouble() {
    let clock = Arc::new(SystemClock::start());
    let chains = Chains::open(Settings::new(clock)).await.unwrap();
    let node = chains.rpc_url(ChainId::Ethereum);
    let refused =
        tokio::task::block_in_place(|| refused_before_the_provider_is_asked(&looking_at(&node)));
    assert_eq!(refused, (404, "seller_not_resolved".to_owned()));
    chains.close().await;
    let refused =
        tokio::task::block_in_place(|| refused_before_the_provider_is_asked(&looking_at(&node)));
    assert_eq!(refused, (500, "internal_error".to_owned()));
}

#[test]
fn what_is_no_json_or_too_much_of_it_is_answered_as_the_contract_says() {
    let house = House::open("");
    for body in [" ", "{", "{\"message\": }", "front_image_url=x", "{} {}", "\u{feff}{}"] {
        let reply = send(&house, body);
        assert_eq!((reply.status, code(&reply).as_str()), (500, "malformed_json"), "{body:?}");
    }
    let padded = |bytes: usize| {
        let card = card().to_string();
        let space = " ".repeat(bytes - card.len());
        send(&house, &format!("{card}{space}"))
    };
    assert_eq!(padded(16 * 1024).status, 200);
    let reply = padded(16 * 1024 + 1);
    assert_eq!((reply.status, code(&reply).as_str()), (500, "body_too_large"));
    assert_eq!(reply.json()["error"]["retry"], "never");
    assert_eq!(Mailbox::of(&house).calls(), 1);
}

#[test]
fn a_house_without_a_provider_says_that_it_has_none() {
    let house = House::open("[provider]\nkind = \"none\"\n[sandbox]\nmixed = \"yes\"\n");
    assert!(!house.banner.contains("mailbox"), "{}", house.banner);
    for body in [card(), Value::Null] {
        let reply = preview(&house, &body);
        assert_eq!((reply.status, code(&reply).as_str()), (503, "not_configured"));
        // It is not a matter of time.
        assert_eq!(
            (reply.header("retry-after"), &reply.json()["error"]["retry"]),
            ("", &json!("never"))
        );
    }
    let asked = [("Origin", "https://page.example"), ("Access-Control-Request-Method", "POST")];
    assert_eq!(house.request(&format!("OPTIONS {PREVIEW}"), &asked, "").status, 204);
}

#[test]
fn a_page_may_ask_first_and_another_method_is_told_what_is_taken() {
    let house = House::open("");
    let asked = [("Origin", "https://page.example"), ("Access-Control-Request-Method", "POST")];
    let reply = house.request(&format!("OPTIONS {PREVIEW}"), &asked, "");
    assert_eq!(reply.status, 204);
    assert_eq!(reply.header("access-control-allow-origin"), "*");
    assert_eq!(reply.header("access-control-allow-methods"), "POST, OPTIONS");
    assert_eq!(reply.header("access-control-allow-headers"), "content-type");
    for method in ["GET", "PUT", "DELETE", "PATCH"] {
        let reply = house.request(&format!("{method} {PREVIEW}"), &[], "");
        assert_eq!((reply.status, reply.header("allow")), (405, "POST"), "{method}");
    }
}

/// Callers share the provider's minute; nobody is refused with 429, which the
/// contract does not have here.
#[test]
fn the_sixteenth_preview_in_a_minute_is_asked_to_wait() {
    let house = House::open("");
    let replies: Vec<Reply> = (0..16).map(|_| preview(&house, &card())).collect();
    let (last, shown) = replies.split_last().unwrap();
    assert!(shown.iter().all(|reply| reply.status == 200));
    assert_eq!((last.status, code(last).as_str()), (503, "preview_busy"));
    let seconds: u64 = last.header("retry-after").parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
    let mailbox = Mailbox::of(&house);
    assert_eq!((mailbox.calls(), mailbox.cards_accepted()), (15, 0));
}
