//! All cards of a period, against the emulated provider.

use serde_json::json;

use super::*;
use crate::provider::budget::CallPurpose;
use crate::provider::testing::{CardPeriod, EmulatedAccount};

/// More than a page, and more than the calls of a minute.
const CARDS: u64 = 103;

/// Each card has a minute of its own.
async fn open() -> EmulatedAccount<ThanksIo> {
    EmulatedAccount::open(61, |emulator, clock| {
        let base = HttpUrl::parse(&emulator.base_url()).unwrap().below(&["api", "v2"]);
        let token = Zeroizing::new(emulator.token());
        let settings = ThanksIoSettings { token, ..settings(base, AccountMode::Live) };
        ThanksIo::new(settings, client(), clock)
    })
    .await
}

async fn submit_without_reference(provider: &ThanksIo) -> Mailpiece {
    let card = samples::card_of(1);
    let body = json!({
        "front_image_url": card.front.as_str(),
        "message": card.message.as_str(),
        "recipients": [{
            "name": card.recipient.name.as_str(),
            "address": card.recipient.address.as_str(),
            "city": card.recipient.city.as_str(),
            "province": card.recipient.province.as_str(),
            "postal_code": card.recipient.postal_code.as_str(),
            "country": card.recipient.country.as_str(),
        }],
    });
    let at = provider.account_client.url(&["send", "postcard"]);
    let sent: SubmittedOrder =
        provider.account_client.submit(HttpCall::post(PEER, at, &body)).await.unwrap();
    Mailpiece(sent.id.to_string())
}

#[tokio::test]
async fn every_card_of_the_period_is_listed_with_its_reference() {
    let account = open().await;
    let period = account.fill_period(CARDS, submit_without_reference(&account.provider)).await;
    let CardPeriod { from, until, early, late, cards } = period;
    let accepted = account.accepted(from, until).await;
    let found: Vec<_> = accepted.iter().map(|card| (card.mailpiece.clone(), card.order)).collect();
    assert_eq!(found, cards);
    assert!(accepted.iter().all(|card| from <= card.at && card.at < until && card.total.is_some()));
    let all = account.accepted(Timestamp(0), until.plus(1_000)).await;
    let edges = (all.first().map(|card| &card.mailpiece), all.last().map(|card| &card.mailpiece));
    assert_eq!(edges, (Some(&early), Some(&late)));
    assert_eq!(u64::try_from(all.len()).unwrap(), CARDS + 3);
}

#[tokio::test]
async fn a_list_waits_for_free_calls_and_leaves_those_of_paid_cards() {
    let account = open().await;
    account.submit(1).await;
    account.clock.advance(61);
    let lookups = account.provider.account_client.with_purpose(CallPurpose::Look);
    let at = || HttpCall::get(PEER, lookups.url(&["orders", "list"]));
    while lookups.read::<wire::ListPage>(at()).await.is_ok() {}
    let before = account.clock.uptime();
    assert_eq!(account.accepted(Timestamp(0), Timestamp(u64::MAX)).await.len(), 1);
    assert!(account.clock.uptime() > before, "it did not wait");
    assert_eq!(account.provider.reserve_call().await, Ok(()));
}

#[tokio::test]
async fn a_card_whose_time_cannot_be_read_has_no_period() {
    let row = r#"{"id":1,"status":"Printed","metadata":null,"created_at":"yesterday"}"#;
    let body = format!(r#"{{"data":[{row}],"meta":{{"last_page":1}}}}"#);
    let (_server, provider) = serving([Reply::good(&body)]).await;
    let found = provider.accepted(Timestamp(0), Timestamp(u64::MAX)).await;
    assert!(matches!(found, Err(Failure::Lost(_))), "{found:?}");
}
