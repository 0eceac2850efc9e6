//! The adapter against a scripted server.

use std::num::NonZero;

use order::model::mail::Stage;
use order::testing::contract::samples;
use order::testing::fakes::cards::card_to;

use super::*;
use crate::http::test_server::{Reply, Server};
use crate::provider::testing::{
    ExhaustedBudget, QuoteSource, SubmitFailure, client, every_fault, paid, submit_failure,
};
use order::testing::manual_clock::ManualClock;

mod accepted;
mod list;

fn settings(base: HttpUrl, mode: AccountMode) -> ThanksIoSettings {
    ThanksIoSettings {
        previews: PreviewLocations::new(vec![base.clone()]),
        base,
        token: Zeroizing::new("secret-token".into()),
        sender: ReturnAddress { name: "The Post Room".into(), ..ReturnAddress::default() },
        mode,
    }
}

fn provider_with_client(client: HttpClient, settings: ThanksIoSettings) -> ThanksIo {
    ThanksIo::new(settings, client, Arc::new(ManualClock::default()))
}

fn provider_with(base: HttpUrl, mode: AccountMode) -> ThanksIo {
    provider_with_client(client(), settings(base, mode))
}

fn provider(base: HttpUrl) -> ThanksIo {
    provider_with(base.below(&["api", "v2"]), AccountMode::Live)
}

async fn serving(replies: impl IntoIterator<Item = Reply>) -> (Server, ThanksIo) {
    let server = Server::start(replies).await;
    let provider = provider(server.address.clone());
    (server, provider)
}

fn estimate(total: &str) -> Reply {
    let data = format!(r#"{{"total_cost_in_cents":{total},"test_mode":false}}"#);
    Reply::good(&format!(r#"{{"message":"OK","data":{data}}}"#))
}

async fn quote_of(reply: Reply) -> Result<u64, Unanswered> {
    let (_server, provider) = serving([reply]).await;
    provider.quote(&paid().state.card).await.map(|quote| quote.total().0)
}

#[tokio::test]
async fn every_fault_of_a_server_is_classified() {
    let make = |base, client| provider_with_client(client, settings(base, AccountMode::Live));
    every_fault(make, QuoteSource::Provider).await;
}

#[tokio::test]
async fn a_quote_is_a_whole_positive_number_of_cents() {
    assert_eq!(quote_of(estimate("118")).await, Ok(118));
    assert_eq!(quote_of(estimate("18446744073709551615")).await, Ok(u64::MAX));
    for bad in
        ["\"118\"", "118.0", "1.18", "-118", "0", "18446744073709551616", "1e3", "null", "[]"]
    {
        assert_eq!(quote_of(estimate(bad)).await, Err(Unanswered::Unusable), "{bad}");
    }
    let missing = Reply::good(r#"{"message":"OK","data":{"total_cost":"$1.18"}}"#);
    assert_eq!(quote_of(missing).await, Err(Unanswered::Unusable));
}

#[tokio::test]
async fn the_price_of_a_country_is_asked_for_once_a_minute() {
    let clock = Arc::new(ManualClock::default());
    let server = Server::start([estimate("118")]).await;
    let base = server.address.clone();
    let provider = ThanksIo::new(settings(base, AccountMode::Live), client(), clock.clone());
    for (country, seconds, asked) in
        [("GB", 0, 1), ("GB", 59, 1), ("US", 0, 2), ("GB", 1, 3), ("US", 0, 3), ("GB", 58, 3)]
    {
        clock.advance(seconds);
        let card = card_to(country, "hello");
        assert_eq!(provider.is_quoted(&card), asked == server.heard().len(), "{country}");
        // All handles share it.
        assert!(provider.for_reconciler().quote(&card).await.is_ok());
        assert_eq!(server.heard().len(), asked, "{country} {seconds}");
    }
}

#[tokio::test]
async fn a_card_is_validated_while_two_thirds_of_the_calls_are_left() {
    let (server, provider) = serving([estimate("118")]).await;
    let card = paid().state.card;
    for _ in 0..RATE.calls() {
        assert_eq!(provider.validate(&card).await, Ok(()));
    }
    assert_eq!(server.heard().len(), RATE.calls() / 3);
    // Its price is known from then on.
    assert_eq!(provider.quote(&card).await.map(|quote| quote.total().0), Ok(118));
}

#[tokio::test]
async fn a_card_that_an_estimate_rejects_is_not_valid_although_the_price_is_known() {
    let (_server, provider) = serving([estimate("118"), Reply::json(422, "{}")]).await;
    let card = paid().state.card;
    assert!(provider.quote(&card).await.is_ok() && provider.is_quoted(&card));
    assert_eq!(provider.validate(&card).await, Err(Unanswered::Unusable));
}

#[tokio::test]
async fn the_price_of_a_preview_may_be_ten_minutes_old() {
    let clock = Arc::new(ManualClock::default());
    let server = Server::start([estimate("118"), estimate("119"), estimate("120")]).await;
    let base = server.address.clone();
    let paid = ThanksIo::new(settings(base, AccountMode::Live), client(), clock.clone());
    let (previews, card) = (paid.for_previews(), card_to("GB", "hello"));
    let price = async |provider: &ThanksIo| provider.quote(&card).await.unwrap().total().0;
    assert_eq!(price(&previews).await, 118);
    clock.advance(599);
    assert!(previews.is_quoted(&card) && !paid.is_quoted(&card));
    assert_eq!(price(&previews).await, 118);
    // A payment asks again, and its price is known to previews.
    assert_eq!((price(&paid).await, price(&previews).await), (119, 119));
    clock.advance(600);
    assert_eq!(price(&previews).await, 120);
}

#[tokio::test]
async fn a_price_that_could_not_be_read_is_asked_for_again() {
    let (server, provider) = serving([estimate("0"), estimate("118")]).await;
    let card = paid().state.card;
    assert_eq!(provider.quote(&card).await, Err(Unanswered::Unusable));
    assert!(!provider.is_quoted(&card) && provider.quote(&card).await.is_ok());
    assert_eq!(server.heard().len(), 2);
}

#[tokio::test]
async fn an_account_whose_balance_does_not_cover_the_card_quotes_no_price() {
    let with = |covered: &str| {
        let data = format!(r#""total_cost_in_cents":118,"covered_by_balance":{covered}"#);
        Reply::good(&format!(r#"{{"data":{{{data}}}}}"#))
    };
    assert_eq!(quote_of(with("true")).await, Ok(118));
    assert_eq!(quote_of(with("null")).await, Ok(118));
    let (server, provider) = serving([with("false"), with("true")]).await;
    let card = paid().state.card;
    assert_eq!(provider.quote(&card).await, Err(Unanswered::Unavailable));
    // Once the account is topped up, the next buyer is served.
    assert_eq!(provider.quote(&card).await.map(|quote| quote.total().0), Ok(118));
    assert_eq!(server.heard().len(), 2);
}

#[tokio::test]
async fn an_account_in_testing_quotes_no_price_where_payments_are_real() {
    let testing = Reply::good(r#"{"data":{"total_cost_in_cents":118,"test_mode":true}}"#);
    assert_eq!(quote_of(testing.clone()).await, Err(Unanswered::Unavailable));
    let (server, strict) = serving([testing]).await;
    assert_eq!(strict.mode().await, Ok(AccountMode::Testing));
    assert_eq!(AccountMode::Testing.for_real_payments(), Err(crate::provider::TestAccount));
    assert_eq!(AccountMode::Live.for_real_payments(), Ok(()));
    let tolerant = provider_with(server.address.clone(), AccountMode::Testing);
    assert!(tolerant.quote(&paid().state.card).await.is_ok());
    let (_server, live) = serving([estimate("118")]).await;
    assert_eq!(live.mode().await, Ok(AccountMode::Live));
}

#[tokio::test]
async fn a_preview_is_a_list_of_urls_in_allowed_locations() {
    let server = Server::start([Reply::Nothing]).await;
    let here = server.address.to_text();
    for (previews, good) in [
        (format!(r#"["{here}api/v2/1.png","{here}api/v2/2.png"]"#), Some(2)),
        ("[]".into(), None),
        ("\"one\"".into(), None),
        ("{}".into(), None),
        (format!(r#"["{here}elsewhere.png"]"#), None),
        (r#"["http://images.example.org/1.png"]"#.into(), None),
        (r#"["http://10.0.0.1/1.png"]"#.into(), None),
        ("[null]".into(), None),
    ] {
        let body = format!(r#"{{"success":true,"data":{{"previews":{previews}}}}}"#);
        let other = Server::start([Reply::good(&body)]).await;
        let settings = ThanksIoSettings {
            base: other.address.clone(),
            token: Zeroizing::new("t".into()),
            sender: ReturnAddress::default(),
            previews: PreviewLocations::new(vec![server.address.below(&["api", "v2"])]),
            mode: AccountMode::Live,
        };
        let provider = ThanksIo::new(settings, client(), Arc::new(ManualClock::default()));
        let seen = provider.preview(&paid().state.card).await.map(|preview| preview.urls.len());
        assert_eq!(seen, good.ok_or(Unanswered::Unusable), "{previews}");
        assert!(other.heard()[0].contains(r#""preview":true"#));
    }
}

#[tokio::test]
async fn a_card_is_submitted_with_its_reference_and_without_the_accounts_defaults() {
    let order = paid();
    let body = format!(
        r#"{{"id":42665,"status":"reviewing","authorization_total":175,
            "metadata":{{"public_order_id":"{}","attempt":1}}}}"#,
        order.id
    );
    let (server, provider) = serving([Reply::good(&body)]).await;
    assert_eq!(provider.submit(&order).await, Ok(Mailpiece("42665".into())));
    let heard = &server.heard()[0];
    assert!(heard.starts_with("POST /api/v2/send/postcard HTTP/1.1\r\n"), "{heard}");
    assert!(heard.contains("authorization: Bearer secret-token\r\n"), "{heard}");
    let reference = format!(r#""metadata":{{"public_order_id":"{}","attempt":1}}"#, order.id);
    for part in [
        reference.as_str(),
        r#""size":"4x6""#,
        r#""qrcode_url":"""#,
        r#""return_name":"The Post Room","return_address":"","return_address2":"""#,
        r#""send_standard_mail":false"#,
    ] {
        assert!(heard.contains(part), "{part} in {heard}");
    }
    assert!(!heard.contains("preview"), "{heard}");
}

#[tokio::test]
async fn an_id_proves_the_submission_unless_it_is_of_another_order() {
    let order = paid();
    for (body, expected) in [
        (r#"{"id":7}"#, Ok("7")),
        (r#"{"id":7,"authorization_total":"1.75","metadata":[]}"#, Ok("7")),
        (r#"{"id":7,"authorization_total":-3}"#, Ok("7")),
        (r#"{"id":7,"metadata":{"public_order_id":"another order"}}"#, Err(SubmitFailure::Lost)),
        (r#"{"id":7,"status":"cancelled"}"#, Err(SubmitFailure::Lost)),
        (r#"{"id":7,"id":8}"#, Err(SubmitFailure::Lost)),
        (r#"{"message":"Accepted"}"#, Err(SubmitFailure::Lost)),
    ] {
        let (_server, provider) = serving([Reply::good(body)]).await;
        let submitted = submit_failure(provider.submit(&order).await);
        assert_eq!(submitted, expected.map(|id| Mailpiece(id.to_owned())), "{body}");
    }
}

#[tokio::test]
async fn a_card_is_tracked_by_its_item() {
    let tracked = |status: &str| {
        Reply::good(&format!(r#"{{"data":{{"id":7,"order":{{"status":"{status}"}}}}}}"#))
    };
    let items = |status: &str| Reply::good(&format!(r#"{{"data":[{{"status":"{status}"}}]}}"#));
    let stages = [
        ("Printed", Stage::Mailed),
        ("In Transit", Stage::Mailed),
        ("In Local Area", Stage::Mailed),
        ("Processed for Delivery", Stage::Mailed),
        ("Re-routed", Stage::Mailed),
        ("Delivered", Stage::Delivered),
        ("Returned to Sender", Stage::Returned),
        ("Failed", Stage::Failed),
    ];
    for (status, stage) in stages {
        assert_eq!(stage_of(vec![items(status)]).await, Ok(Some(stage)), "{status}");
    }
    for (replies, stage) in [
        (vec![items("Processing"), tracked("Reviewing")], Stage::Accepted),
        (vec![items("Processing"), tracked("Cancelled")], Stage::Failed),
        (vec![Reply::good(r#"{"data":[]}"#), tracked("reviewing")], Stage::Accepted),
        (vec![Reply::good(r#"{"data":[]}"#), tracked("cancelled")], Stage::Failed),
    ] {
        assert_eq!(stage_of(replies).await, Ok(Some(stage)));
    }
    assert_eq!(stage_of(vec![Reply::json(404, "{}")]).await, Ok(None));
    assert!(stage_of(vec![items("Eaten by a dog")]).await.is_err());
    assert!(stage_of(vec![Reply::json(503, "{}")]).await.is_err());
}

async fn stage_of(replies: Vec<Reply>) -> Result<Option<Stage>, Failure> {
    let (_server, provider) = serving(replies).await;
    let delivery = provider.track(&Mailpiece("7".into())).await?;
    Ok(delivery.map(|delivery| delivery.stage))
}

#[tokio::test]
async fn a_card_is_cancelled_or_it_is_too_late() {
    let order =
        |status: &str| Reply::good(&format!(r#"{{"data":{{"order":{{"status":"{status}"}}}}}}"#));
    let no = Reply::json(400, r#"{"message":"Only an order in review can be cancelled."}"#);
    for (replies, expected) in [
        (vec![Reply::good(r#"{"order":{"status":"cancelled"}}"#)], Some(Cancellation::Cancelled)),
        (vec![no.clone(), order("Printed")], Some(Cancellation::TooLate)),
        // The response to an earlier attempt was lost.
        (vec![no.clone(), order("Cancelled")], Some(Cancellation::Cancelled)),
        (vec![Reply::json(404, "{}")], Some(Cancellation::TooLate)),
        (vec![no, Reply::json(500, "{}")], None),
        (vec![Reply::good("<html>done</html>")], None),
        (vec![Reply::json(500, "{}")], None),
        (vec![Reply::json(429, "{}")], None),
    ] {
        let (server, provider) = serving(replies.clone()).await;
        let cancelled = provider.cancel(&Mailpiece("7".into())).await;
        assert_eq!(cancelled.ok(), expected, "{replies:?}");
        assert!(server.heard()[0].starts_with("PUT /api/v2/orders/7/cancel HTTP/1.1\r\n"));
    }
}

#[tokio::test]
async fn an_exhausted_budget_makes_no_calls_and_previews_cannot_use_the_payers_share() {
    let (server, provider) = serving([estimate("118")]).await;
    let (previews, card) = (provider.for_previews(), paid().state.card);
    for _ in 0..RATE.preview {
        let _ = previews.preview(&card).await;
    }
    let asked = server.heard().len();
    assert_eq!(previews.preview(&card).await, Err(Unanswered::Unavailable));
    assert_eq!(server.heard().len(), asked);
    // A buyer has a call for the card after the estimate.
    let buyers = provider.account_client.for_quotes();
    for _ in 0..RATE.paid / 2 {
        assert!(provider.estimate(&buyers, &card).await.is_ok());
        assert_eq!(provider.reserve_call().await, Ok(()));
    }
    assert_eq!(provider.quote(&card).await, Err(Unanswered::Unavailable));
    let refused = Failure::Refused("budget used up".into());
    for _ in 0..RATE.paid / 2 {
        assert_ne!(provider.submit(&paid()).await, Err(refused.clone()));
    }
    let reconciler = provider.for_reconciler();
    for _ in 0..RATE.reconciler / 3 {
        assert_ne!(reconciler.find(paid().id, samples::NOW).await, Err(refused.clone()));
    }
    assert_eq!(reconciler.find(paid().id, samples::NOW).await, Err(refused.clone()));
    // Lookups leave the calls for owed cards.
    for _ in 0..RATE.reconciler * 2 / 3 {
        assert_ne!(reconciler.submit(&paid()).await, Err(refused.clone()));
    }
    assert_eq!(provider.submit(&paid()).await, Err(refused));
    assert_eq!(server.heard().len(), RATE.calls());
}

#[test]
fn an_account_is_a_digest_of_its_key_unless_the_operator_names_it() {
    let at = HttpUrl::parse("https://api.example").unwrap();
    let named = |token, name| account(&at, token, name);
    assert_ne!(named("old", None), named("new", None));
    assert_eq!(named("new", Some(named("old", None).name())), named("old", None));
    let provider = provider(at.clone()).named(Some("main"));
    assert_eq!(provider.account().0, "thanks.io https://api.example main");
    assert_eq!(provider.for_reconciler().account(), provider.account());
}

#[tokio::test]
async fn a_process_can_start_while_buyers_have_used_their_calls() {
    let (_server, provider) = serving([estimate("118")]).await;
    for _ in 0..RATE.calls() {
        let _ = provider.reserve_call().await;
    }
    assert!(provider.mode().await.is_ok());
}

#[tokio::test]
async fn every_handle_uses_the_shared_budget() {
    let (server, provider) = serving([estimate("118")]).await;
    let base = provider.settings.base.origin();
    let provider = provider.sharing(|account| {
        assert_eq!(account, format!("thanks.io {base}"), "no key in it");
        Some(Arc::new(ExhaustedBudget))
    });
    let card = paid().state.card;
    // A rate that is set later keeps it shared.
    let provider = provider.calling(NonZero::new(2).unwrap());
    assert_eq!(provider.quote(&card).await, Err(Unanswered::Unavailable));
    assert_eq!(provider.reserve_call().await, Err(Unanswered::Unavailable));
    assert_eq!(provider.for_previews().preview(&card).await, Err(Unanswered::Unavailable));
    let refused = Failure::Refused("budget used up".into());
    assert_eq!(provider.submit(&paid()).await, Err(refused.clone()));
    assert_eq!(provider.for_reconciler().find(paid().id, samples::NOW).await, Err(refused));
    assert!(server.heard().is_empty());
}
