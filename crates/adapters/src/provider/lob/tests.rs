//! The adapter against a scripted server.

use std::num::NonZero;

use order::model::card::Draft;
use order::model::mail::Stage;
use order::testing::contract::samples;

use super::*;
use crate::http::test_server::{Reply, Server};
use crate::provider::testing::{
    ExhaustedBudget, QuoteSource, SubmitFailure, client, every_fault, paid, submit_failure,
};
use order::testing::manual_clock::ManualClock;

mod accepted;

fn settings(base: HttpUrl, key: &str, cancel_seconds: u64) -> LobSettings {
    LobSettings {
        previews: PreviewLocations::new(vec![base.clone()]),
        base: base.below(&["v1"]),
        key: Zeroizing::new(key.into()),
        sender: None,
        prices: LobPrices { domestic: Cents(90), international: Cents(160) },
        cancel_seconds,
    }
}

fn provider_with_client(client: HttpClient, settings: LobSettings) -> Lob {
    Lob::new(settings, client, Arc::new(ManualClock::default()))
}

fn provider_with(base: HttpUrl, key: &str, cancel_seconds: u64) -> Lob {
    provider_with_client(client(), settings(base, key, cancel_seconds))
}

fn provider(base: HttpUrl) -> Lob {
    provider_with(base, "live_key", 0)
}

async fn serving(replies: impl IntoIterator<Item = Reply>) -> (Server, Lob) {
    let server = Server::start(replies).await;
    let provider = provider(server.address.clone());
    (server, provider)
}

/// A card of the order that [`paid`] is.
fn made(more: &str) -> String {
    format!(r#"{{"id":"psc_1","metadata":{{"public_order_id":"{}"}}{more}}}"#, paid().id)
}

#[tokio::test]
async fn every_fault_of_a_server_is_classified() {
    let make = |base, client| provider_with_client(client, settings(base, "live_key", 0));
    every_fault(make, QuoteSource::Contract).await;
}

const GOOD: Draft<'_> = Draft {
    front_image_url: Some("https://images.example.org/front.jpg"),
    message: Some("Hello."),
    name: Some("Ada Lovelace"),
    address: Some("1 Main Street"),
    city: Some("Springfield"),
    province: Some("IL"),
    postal_code: Some("62701"),
    country: Some("US"),
};

#[tokio::test]
async fn the_price_is_the_contracts_and_a_card_that_lob_would_refuse_has_no_price() {
    let (server, provider) = serving([Reply::Nothing]).await;
    let (mut prices, mut warned) = (Vec::new(), Vec::new());
    for draft in [
        GOOD,
        Draft { country: Some("DE"), ..GOOD },
        Draft { postal_code: Some("62701-0001"), ..GOOD },
        Draft { postal_code: Some("W1A 1AA"), ..GOOD },
        Draft { name: Some(&"a".repeat(41)), ..GOOD },
        Draft { address: Some(&"a".repeat(65)), ..GOOD },
        Draft { message: Some(&("a\n".repeat(40) + "a")), ..GOOD },
    ] {
        let card = Postcard::parse(&draft).unwrap();
        prices.push(provider.quote(&card).await.ok().map(|quote| quote.total().0));
        let warnings = provider.warnings(&card).into_iter();
        warned.push(warnings.map(|warning| warning.field).collect::<Vec<_>>());
    }
    assert_eq!(prices, [Some(90), Some(160), Some(90), None, None, None, None]);
    let fields = ["recipient.postal_code", "recipient.name", "recipient.address", "message"];
    let (sold, unsold) = warned.split_at(3);
    assert!(sold.iter().all(Vec::is_empty), "{sold:?}");
    assert_eq!(unsold.concat(), fields);
    assert_eq!(server.heard().len(), 0);
}

#[tokio::test]
async fn a_preview_waits_for_its_proof() {
    let server = Server::start([Reply::Nothing]).await;
    let here = server.address.to_text();
    let proof = |status: &str, thumbnails: &str| {
        let body = format!(r#"{{"id":"prf_1","status":"{status}","thumbnails":{thumbnails}}}"#);
        Reply::json(201, &body)
    };
    let pictures = format!(r#"[{{"large":"{here}front.png"}},{{"large":"{here}back.png"}}]"#);
    let (drawing, drawn) = (proof("processing", "[]"), proof("completed", &pictures));
    let evil = proof("completed", r#"[{"large":"https://evil.example/1.png"}]"#);
    for (replies, expected, calls) in [
        (vec![drawn.clone()], Ok(2), 1),
        (vec![drawing.clone(), drawing.clone(), drawn], Ok(2), 3),
        (vec![drawing], Err(Unanswered::Unreachable), 9),
        (vec![proof("failed", "[]")], Err(Unanswered::Unusable), 1),
        (vec![proof("completed", "[]")], Err(Unanswered::Unusable), 1),
        (vec![proof("unheard-of", "[]")], Err(Unanswered::Unusable), 1),
        (vec![evil], Err(Unanswered::Unusable), 1),
    ] {
        let lob = Server::start(replies.clone()).await;
        let mut provider = provider(lob.address.clone());
        let places = PreviewLocations::new(vec![server.address.clone()]);
        Arc::get_mut(&mut provider.settings).unwrap().previews = places;
        let preview = provider.for_previews().preview(&paid().state.card).await;
        assert_eq!(preview.map(|preview| preview.urls.len()), expected, "{replies:?}");
        assert_eq!(lob.heard().len(), calls, "{replies:?}");
        assert!(lob.heard()[0].starts_with("POST /v1/resource_proofs HTTP/1.1\r\n"));
    }
}

#[tokio::test]
async fn a_card_is_submitted_with_the_payments_idempotency_key() {
    let (server, provider) = serving([Reply::good(&made(""))]).await;
    let order = paid();
    assert_eq!(provider.submit(&order).await, Ok(Mailpiece("psc_1".into())));
    // Another attempt for the same payment has the same key; another payment has another key.
    provider.submit(&order.clone().again(samples::NOW)).await.unwrap();
    let _ = provider.submit(&samples::paid(2)).await;
    let heard = server.heard();
    let key = |heard: &str| {
        let key = heard.lines().find_map(|line| line.strip_prefix("idempotency-key: "));
        key.unwrap().to_owned()
    };
    assert_eq!(key(&heard[0]), key(&heard[1]));
    assert_ne!(key(&heard[0]), key(&heard[2]));
    assert_eq!(key(&heard[0]).len(), 64);
    let head = "POST /v1/postcards HTTP/1.1\r\n";
    assert!(heard[0].starts_with(head), "{}", heard[0]);
    let reference = format!(r#""metadata":{{"public_order_id":"{}","attempt":"1"}}"#, order.id);
    for part in [
        reference.as_str(),
        // The key and a colon, in base64.
        "authorization: Basic bGl2ZV9rZXk6\r\n",
        r#""size":"4x6""#,
        r#""use_type":"operational""#,
    ] {
        assert!(heard[0].contains(part), "{part} in {}", heard[0]);
    }
    assert!(heard[1].contains(r#""attempt":"2""#));
    assert!(!heard[0].contains("send_date"));
}

#[tokio::test]
async fn a_card_that_can_be_cancelled_has_a_send_date() {
    let server = Server::start([Reply::good(&made(""))]).await;
    let provider = provider_with(server.address.clone(), "live_key", 3_600);
    assert_eq!(provider.promises().cancel_seconds, 3_600);
    provider.submit(&paid()).await.unwrap();
    // It was paid three seconds after the time of the samples.
    assert!(server.heard()[0].contains(r#""send_date":"2030-03-17T18:46:43Z""#));
}

#[tokio::test]
async fn a_response_about_another_card_is_lost() {
    for body in [
        r#"{"id":"psc_1"}"#,
        r#"{"id":"psc_1","metadata":null}"#,
        r#"{"id":"psc_1","metadata":{"public_order_id":"other"}}"#,
        &made("").replace("psc_1", ""),
        &made("").replace("\"psc_1\"", "1"),
    ] {
        let (_server, provider) = serving([Reply::good(body)]).await;
        assert_eq!(
            submit_failure(provider.submit(&paid()).await),
            Err(SubmitFailure::Lost),
            "{body}"
        );
    }
}

#[tokio::test]
async fn cards_are_found_by_their_reference_only() {
    let other = r#"{"id":"psc_9","metadata":{"public_order_id":"other"}}"#;
    let gone = made(r#","deleted":true"#).replace("psc_1", "psc_2");
    for (body, expected) in [
        (format!(r#"{{"data":[{}]}}"#, made("")), Some(vec!["psc_1"])),
        (format!(r#"{{"data":[{other},{gone},{}]}}"#, made("")), Some(vec!["psc_1"])),
        (format!(r#"{{"data":[{other},{gone}],"next_url":null}}"#), Some(vec![])),
        (format!(r#"{{"data":[{other}],"next_url":"https://x"}}"#), None),
        (r#"{"object":"list"}"#.into(), None),
    ] {
        let (server, provider) = serving([Reply::good(&body)]).await;
        let found = provider.find(paid().id, samples::NOW).await.ok();
        let expected =
            expected.map(|ids| ids.iter().map(|id| Mailpiece((*id).into())).collect::<Vec<_>>());
        assert_eq!(found, expected, "{body}");
        let query = format!("metadata%5Bpublic_order_id%5D={}", paid().id);
        assert!(server.heard()[0].lines().next().unwrap().contains(&query));
    }
}

#[tokio::test]
async fn a_card_is_tracked_by_its_events() {
    let event = |names: &[&str]| {
        let events: Vec<_> = names.iter().map(|name| format!(r#"{{"name":"{name}"}}"#)).collect();
        made(&format!(r#","tracking_events":[{}]"#, events.join(",")))
    };
    for (body, stage) in [
        (made(""), Stage::Accepted),
        (made(r#","tracking_events":null"#), Stage::Accepted),
        (event(&["Mailed"]), Stage::Mailed),
        (event(&["In Transit", "Re-Routed"]), Stage::Mailed),
        (event(&["In Transit", "Delivered"]), Stage::Delivered),
        (event(&["In Transit", "Returned to Sender"]), Stage::Returned),
        (made(r#","deleted":true"#), Stage::Failed),
        (made(r#","status":"failed""#), Stage::Failed),
    ] {
        let (_server, provider) = serving([Reply::good(&body)]).await;
        let delivery = provider.track(&Mailpiece("psc_1".into())).await.unwrap();
        assert_eq!(delivery.map(|delivery| delivery.stage), Some(stage), "{body}");
    }
    let (_server, provider) = serving([Reply::json(404, "{}")]).await;
    assert_eq!(provider.track(&Mailpiece("psc_1".into())).await, Ok(None));
}

#[tokio::test]
async fn a_card_is_cancelled_or_it_is_too_late() {
    let no = Reply::json(422, r#"{"error":{"message":"It is printed."}}"#);
    for (replies, expected) in [
        (vec![Reply::good(r#"{"id":"psc_1","deleted":true}"#)], Some(Cancellation::Cancelled)),
        (vec![Reply::good(r#"{"id":"psc_1"}"#)], None),
        (vec![no.clone(), Reply::good(&made(""))], Some(Cancellation::TooLate)),
        (vec![no, Reply::good(&made(r#","deleted":true"#))], Some(Cancellation::Cancelled)),
        (vec![Reply::json(404, "{}")], Some(Cancellation::TooLate)),
        (vec![Reply::json(500, "{}")], None),
        (vec![Reply::Last(String::new())], None),
    ] {
        let (server, provider) = serving(replies.clone()).await;
        let cancelled = provider.cancel(&Mailpiece("psc_1".into())).await;
        assert_eq!(cancelled.ok(), expected, "{replies:?}");
        assert!(server.heard()[0].starts_with("DELETE /v1/postcards/psc_1 HTTP/1.1\r\n"));
    }
}

#[tokio::test]
async fn a_key_shows_whether_the_account_mails_cards() {
    let (server, live) = serving([Reply::Nothing]).await;
    assert_eq!(live.mode(), AccountMode::Live);
    let testing = provider_with(server.address.clone(), "test_key", 0);
    assert_eq!(testing.mode(), AccountMode::Testing);
}

#[tokio::test]
async fn every_handle_uses_the_shared_budget() {
    let (server, provider) = serving([Reply::good("{}")]).await;
    let base = provider.settings.base.origin();
    let provider = provider.sharing(|account| {
        assert_eq!(account, format!("Lob {base}"), "no key in it");
        Some(Arc::new(ExhaustedBudget))
    });
    // A rate that is set later keeps it shared.
    let provider = provider.calling(NonZero::new(2).unwrap());
    assert_eq!(provider.reserve_call().await, Err(Unanswered::Unavailable));
    let preview = provider.for_previews().preview(&paid().state.card).await;
    assert_eq!(preview, Err(Unanswered::Unavailable));
    let refused = Failure::Refused("budget used up".into());
    assert_eq!(provider.submit(&paid()).await, Err(refused.clone()));
    assert_eq!(provider.for_reconciler().find(paid().id, samples::NOW).await, Err(refused));
    assert!(server.heard().is_empty());
}
