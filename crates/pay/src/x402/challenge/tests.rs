//! The challenge of x402, byte for byte.

use order::model::seller::Payees;

use super::super::fixture::{FACILITATOR, FakeSettler, SELLER, decoded, offer, resource, x402};
use super::super::{PERMIT2, UPTO_PROXY};
use super::*;

/// The longest header that common proxies pass.
const HEADER_BYTES_MAX: usize = 6 * 1_000;

fn asked(settler: FakeSettler, offer: &Offer) -> Option<Value> {
    let (x402, settler) = x402(settler);
    let challenge = x402.challenge(offer, "Payment required").map(|made| decoded(made.header));
    assert!(settler.calls().is_empty(), "a challenge is made of memory");
    challenge
}

/// With the longer of the two modes.
fn endpoint<'a>(resource: &'a Resource, extensions: &'a Extensions) -> EndpointDescription<'a> {
    EndpointDescription { resource, extensions, mode: PaymentMode::Sandbox }
}

#[test]
fn every_network_is_offered_with_its_token_payee_and_facilitator() {
    let challenge = asked(FakeSettler::good(), &offer()).unwrap();
    assert_eq!(challenge["x402Version"], 2);
    assert_eq!(challenge["error"], "Payment required");
    assert_eq!(
        challenge["resource"],
        json!({
            "url": "https://cards.example/api/x402/postcards",
            "description": "One 4x6 physical postcard",
            "mimeType": "application/json",
            "serviceName": "Pennyblack",
            "tags": ["postcard", "mail"],
        })
    );
    let accepts = challenge["accepts"].as_array().unwrap();
    assert_eq!(accepts.len(), 3);
    for (accept, network) in accepts.iter().zip(Network::ALL) {
        assert_eq!(
            *accept,
            json!({
                "scheme": "upto",
                "network": network.caip2(),
                "amount": "3500000",
                "asset": network.usdc().to_string(),
                "payTo": SELLER.to_string(),
                "maxTimeoutSeconds": 600,
                "extra": {
                    "name": "USD Coin",
                    "version": "2",
                    "assetTransferMethod": "permit2",
                    "facilitatorAddress": FACILITATOR.to_string(),
                },
            })
        );
    }
    let extensions = challenge["extensions"].as_object().unwrap();
    let names: Vec<_> = extensions.keys().map(String::as_str).collect();
    assert_eq!(names, ["bazaar", "eip2612GasSponsoring", "payment-identifier"]);
    for extension in extensions.values() {
        assert!(extension["info"].is_object() && extension["schema"].is_object());
    }
    assert_eq!(extensions["payment-identifier"]["info"], json!({ "required": false }));
}

#[test]
fn a_network_without_a_payee_or_a_facilitator_is_not_offered() {
    let settler =
        FakeSettler { networks: vec![Network::Base, Network::Polygon], ..FakeSettler::good() };
    let paid = [Network::Polygon, Network::Arbitrum].map(|network| (network, SELLER));
    let offer = Offer { payees: Payees::new(paid.to_vec()).unwrap(), ..offer() };
    let challenge = asked(settler, &offer).unwrap();
    let accepts = challenge["accepts"].as_array().unwrap();
    assert_eq!(accepts.len(), 1);
    assert_eq!(accepts[0]["network"], "eip155:137");
}

#[test]
fn there_is_no_challenge_if_no_network_is_supported() {
    assert_eq!(asked(FakeSettler { networks: Vec::new(), ..FakeSettler::good() }, &offer()), None);
}

#[test]
fn gas_sponsoring_is_offered_only_if_a_network_has_it() {
    let settler = FakeSettler { sponsoring: GasSponsoring::NotOffered, ..FakeSettler::good() };
    let challenge = asked(settler, &offer()).unwrap();
    assert!(challenge["extensions"].get("eip2612GasSponsoring").is_none());
    assert!(challenge["extensions"].get("payment-identifier").is_some());
}

#[test]
fn the_header_is_short_enough_with_the_longest_texts() {
    let (x402, settler) = x402(FakeSettler::good());
    let challenge_cache = x402.challenge(&offer(), "Payment required").unwrap();
    assert!(challenge_cache.header.len() <= 5_000, "{}", challenge_cache.header.len());

    let url = format!("https://{}", "u".repeat(292));
    let (name, tag) = ("n".repeat(32), "t".repeat(32));
    let longest = Resource::parse(&url, &"d".repeat(200), &name, &[tag.as_str(); 5]).unwrap();
    let settler: &dyn Permit2Settler = settler.as_ref();
    let extensions = Extensions::new();
    let missing =
        challenge(&offer(), settler, endpoint(&longest, &extensions), allowance::REQUIRED);
    let missing = missing.unwrap().header;
    assert!(missing.len() <= HEADER_BYTES_MAX, "{}", missing.len());
    for letter in ["r", "\"", "\\", "é", "🐧", "\u{1}"] {
        let reason = letter.repeat(5_000);
        let made =
            challenge(&offer(), settler, endpoint(&longest, &Extensions::new()), &reason).unwrap();
        assert!(made.header.len() <= HEADER_BYTES_MAX, "{letter} {}", made.header.len());
        assert_eq!(decoded(&made.header)["error"].as_str().unwrap().len(), 500);
    }
}

#[test]
fn a_name_and_tags_are_printable_ascii_and_may_have_spaces() {
    let parse = |name: &str, tag: &str| Resource::parse("https://a.example", "Cards", name, &[tag]);
    assert!(parse("Penny black", "by mail").is_ok());
    for text in ["é", "a\tb", "\u{7f}"] {
        assert!(parse(text, "mail").is_err() && parse("Cards", text).is_err(), "{text:?}");
    }
}

#[test]
fn the_header_is_padded_standard_base64_of_compact_json() {
    let (x402, _) = x402(FakeSettler::good());
    // One of three lengths needs no padding.
    for reason in ["a", "ab", "abc"] {
        let header = x402.challenge(&offer(), reason).unwrap().header;
        assert!(header.len().is_multiple_of(4));
        let json = String::from_utf8(STANDARD.decode(&header).unwrap()).unwrap();
        assert_eq!(json.len(), serde_json::from_str::<Value>(&json).unwrap().to_string().len());
    }
}

#[test]
fn the_contract_addresses_are_the_official_ones() {
    assert_eq!(PERMIT2.to_string(), "0x000000000022D473030F116dDEE9F6B43aC78BA3");
    assert_eq!(UPTO_PROXY.to_string(), "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002");
}

#[test]
fn a_cached_challenge_is_replaced_for_another_seller_or_facilitator() {
    let (challenge_cache, resource, extensions) =
        (ChallengeCache::default(), resource(), Extensions::new());
    let asked = |settler: &FakeSettler, offer: &Offer| {
        let made = challenge_cache.challenge(
            offer,
            settler,
            endpoint(&resource, &extensions),
            "Payment required",
        );
        let straight =
            challenge(offer, settler, endpoint(&resource, &extensions), "Payment required");
        assert_eq!(made.as_deref(), straight.as_ref());
        made
    };
    let (settler, unsupported) =
        (FakeSettler::good(), FakeSettler { networks: Vec::new(), ..FakeSettler::good() });
    let other = Payees::new(vec![(Network::Base, FACILITATOR)]).unwrap();
    let first = asked(&settler, &offer()).unwrap();
    assert!(Arc::ptr_eq(&first, &asked(&settler, &offer()).unwrap()));
    assert_ne!(asked(&settler, &Offer { payees: other, ..offer() }).unwrap(), first);
    assert_eq!(asked(&unsupported, &offer()), None);
    let unsponsored = FakeSettler { sponsoring: GasSponsoring::NotOffered, ..FakeSettler::good() };
    assert_ne!(asked(&unsponsored, &offer()).unwrap(), first);
    assert_eq!(asked(&settler, &offer()).unwrap(), first);
}
