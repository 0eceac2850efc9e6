//! All cards of a period, against the emulated provider.

use order::model::mail::AcceptedCard;
use serde_json::json;

use super::*;
use crate::provider::testing::{CardPeriod, EmulatedAccount};

/// More than a page.
const CARDS: u64 = 103;
/// How long a card can be cancelled.
const CANCEL_SECONDS: u64 = 3_600;

async fn open() -> EmulatedAccount<Lob> {
    EmulatedAccount::open(6, |emulator, clock| {
        let base = HttpUrl::parse(&emulator.base_url()).unwrap();
        let settings = settings(base, &emulator.token(), CANCEL_SECONDS);
        Lob::new(settings, client(), clock)
    })
    .await
}

async fn submit_without_reference(provider: &Lob) -> Mailpiece {
    let card = samples::card_of(1);
    let body = json!({
        "use_type": "operational",
        "front": card.front.as_str(),
        "back": "https://images.example.org/back.jpg",
        "to": {
            "name": card.recipient.name.as_str(),
            "address_line1": card.recipient.address.as_str(),
            "address_city": card.recipient.city.as_str(),
            "address_state": card.recipient.province.as_str(),
            "address_zip": card.recipient.postal_code.as_str(),
            "address_country": card.recipient.country.as_str(),
        },
    });
    let at = provider.account_client.url(&["postcards"]);
    let made: LobPostcard =
        provider.account_client.submit(HttpCall::post(PEER, at, &body)).await.unwrap();
    Mailpiece(made.id)
}

fn sorted(cards: &[AcceptedCard]) -> Vec<(Mailpiece, Option<OrderId>)> {
    let mut found: Vec<_> = cards.iter().map(|card| (card.mailpiece.clone(), card.order)).collect();
    found.sort();
    found
}

#[tokio::test]
async fn every_card_of_the_period_is_listed_with_its_reference() {
    let account = open().await;
    let period = account.fill_period(CARDS, submit_without_reference(&account.provider)).await;
    let CardPeriod { from, until, mut cards, .. } = period;
    let found = account.accepted(from, until).await;
    cards.sort();
    assert_eq!(sorted(&found), cards);
    assert!(found.iter().all(|card| from <= card.at && card.at < until));
    let all = account.accepted(Timestamp(0), until.plus(1_000)).await;
    assert_eq!(u64::try_from(all.len()).unwrap(), CARDS + 3);
}

#[tokio::test]
async fn only_the_cursor_of_the_next_url_is_used() {
    let card = |id: &str| {
        format!(r#"{{"id":"{id}","date_created":"2030-03-17T17:46:45.000Z","metadata":{{}}}}"#)
    };
    let pages = [
        format!(
            r#"{{"data":[{}],"next_url":"https://evil.example/v1/postcards?after=c%2B1&limit=9"}}"#,
            card("psc_1")
        ),
        format!(r#"{{"data":[{}],"next_url":null}}"#, card("psc_2")),
    ];
    let (server, provider) = serving(pages.map(|page| Reply::good(&page))).await;
    let cards = provider.accepted(Timestamp(0), Timestamp(u64::MAX)).await.unwrap();
    assert_eq!(cards.len(), 2);
    let second = server.heard()[1].lines().next().unwrap().to_owned();
    assert!(second.contains("after=c%2B1") && second.contains("limit=100"), "{second}");
    let filter = "date_created%5Bgte%5D=1970-01-01T00%3A00%3A00Z";
    assert!(second.contains(filter), "{second}");
}

#[tokio::test]
async fn a_page_that_cannot_be_read_is_an_error() {
    let good = r#"{"id":"psc_1","date_created":"2030-03-17T17:46:45.000Z"}"#;
    for body in [
        r#"{"data":[{"id":"psc_1"}]}"#.to_owned(),
        r#"{"data":[{"id":"","date_created":"2030-03-17T17:46:45.000Z"}]}"#.to_owned(),
        format!(r#"{{"data":[{good}],"next_url":"https://x"}}"#),
    ] {
        let (_server, provider) = serving([Reply::good(&body)]).await;
        let found = provider.accepted(Timestamp(0), Timestamp(u64::MAX)).await;
        assert!(matches!(found, Err(Failure::Lost(_))), "{body}: {found:?}");
    }
}
