//! Faults while the provider is asked for its price: nothing is settled, whatever happens.

use order::model::chain::EvmAddress;
use order::testing::fakes::cards::card_to;
use order::testing::fakes::chain::Till;

use super::*;

/// The status of a paid request while the provider has this fault.
fn expected(kind: Kind) -> u16 {
    match kind {
        Kind::TimeoutBefore
        | Kind::TimeoutAfter
        | Kind::StatusBefore
        | Kind::StatusAfter
        | Kind::ResetBefore
        | Kind::ResetAfter
        | Kind::HtmlAfter
        | Kind::Malformed
        | Kind::Truncated
        | Kind::Empty
        | Kind::Html
        | Kind::Array
        | Kind::Deep
        | Kind::Huge
        | Kind::Gzip
        | Kind::DupContentLength
        | Kind::SlowLoris
        | Kind::SlowHeaders
        | Kind::MissingTotal
        | Kind::StringTotal
        | Kind::FloatTotal
        | Kind::NegativeTotal
        | Kind::ZeroTotal
        | Kind::OverflowTotal => 502,
        Kind::HugeTotal => 409,
        Kind::Unauthorized | Kind::PaymentDisabled | Kind::RateLimited => 503,
        // No meaning for a price, or a price like any other.
        Kind::MissingPreviews
        | Kind::EmptyPreviews
        | Kind::NotListPreviews
        | Kind::HttpPreviews
        | Kind::PrivatePreviews
        | Kind::TotalDrift
        | Kind::DuplicateAccept
        | Kind::ListLag
        | Kind::ListEmpty => 200,
    }
}

async fn thanks_io_with(kind: Kind) {
    let shop = Shop::open(Dialect::ThanksIo, kind.written()).await;
    let credential = shop.signed();
    shop.arm(kind, Operation::Estimate);
    let said = shop.pay(&credential).await;
    assert_eq!(status(&said), expected(kind), "{}: {said:?}", shop.about);
    match expected(kind) {
        200 => {}
        409 => {
            let order = shop.order_id().await;
            assert_eq!(said, Err(Refusal::PriceAboveCeiling(order)), "{}", shop.about);
            shop.nothing_moved();
        }
        503 => {
            assert_eq!(
                said,
                Err(Refusal::ProviderUnavailable.about(shop.order_id().await)),
                "{}",
                shop.about
            );
            shop.nothing_moved();
        }
        _ => shop.nothing_moved(),
    }
    // The same signature buys the card once the provider has recovered, and its price of a
    // minute ago is forgotten.
    shop.office.clear_faults();
    shop.pass(61);
    assert_eq!(status(&shop.pay(&credential).await), 200, "{}", shop.about);
    shop.one_card_for_one_payment(&credential).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_of_a_price_has_its_status_and_settles_nothing() {
    every_kind(thanks_io_with).await;
}

/// Lob has no prices to ask for: they are in our settings.
#[tokio::test(flavor = "multi_thread")]
async fn a_price_of_lob_is_at_home_and_meets_no_fault() {
    every_kind(|kind| async move {
        let shop = Shop::open(Dialect::Lob, kind.written()).await;
        let credential = shop.signed();
        shop.arm(kind, Operation::Estimate);
        assert_eq!(status(&shop.pay(&credential).await), 200, "{}", shop.about);
        shop.one_card_for_one_payment(&credential).await;
    })
    .await;
}

#[tokio::test]
async fn a_price_of_lob_above_the_ceiling_is_a_conflict() {
    for (cents, status_expected) in [(289, 200), (290, 409), (0, 502)] {
        let prices = Prices { international: Cents(cents), ..PRICES };
        let shop = Shop::with_prices(Dialect::Lob, prices, "prices").await;
        let said = shop.pay(&shop.signed()).await;
        assert_eq!(status(&said), status_expected, "{cents}: {said:?}");
        if status_expected != 200 {
            shop.nothing_moved();
        }
    }
}

/// A request for a card to this country, by this payer, with a promise that nothing spends.
async fn ask_for(shop: &Shop, payer: u8, country: &str) -> Result<Outcome, Refusal> {
    let payer = EvmAddress::from_bytes([payer; 20]);
    let till = Till { payer, ..shop.world.till(TenderKind::X402) };
    let (card, credential) = (card_to(country, "hello"), Some(shop.signed()));
    shop.desk.send(&till, Request { seller: None, operation_id: None, card, credential }).await
}

fn estimates(shop: &Shop) -> usize {
    let calls = shop.office.journal();
    calls.iter().filter(|call| call.operation == Some(Operation::Estimate)).count()
}

#[tokio::test]
async fn a_credential_that_is_never_spent_keeps_no_other_buyer_waiting() {
    let shop = Shop::open(Dialect::ThanksIo, "one country").await;
    shop.arm(Kind::HugeTotal, Operation::Estimate);
    for _ in 0..100 {
        assert_eq!(status(&ask_for(&shop, 1, "GB").await), 409);
    }
    assert_eq!(estimates(&shop), 1);
    shop.office.clear_faults();
    assert_eq!(status(&ask_for(&shop, 2, "US").await), 200);
}

#[tokio::test]
async fn a_payer_who_asks_for_many_countries_is_stopped_alone() {
    let shop = Shop::open(Dialect::ThanksIo, "many countries").await;
    shop.arm(Kind::HugeTotal, Operation::Estimate);
    let countries = ["GB", "DE", "FR", "IT", "ES", "PT", "AT", "CH", "NL", "BE", "DK", "SE"];
    let mut said = Vec::new();
    for country in countries {
        said.push(status(&ask_for(&shop, 1, country).await));
    }
    assert_eq!(said.iter().filter(|status| **status == 409).count(), estimates(&shop));
    assert!(estimates(&shop) < 10 && said.ends_with(&[503]), "{said:?}");
    let refused = ask_for(&shop, 1, "NO").await;
    assert!(matches!(refused, Err(Refusal::QuoteLimit(_))), "{refused:?}");
    shop.office.clear_faults();
    assert_eq!(status(&ask_for(&shop, 2, "NO").await), 200);
    // A minute later the payer is as good as any other.
    shop.pass(61);
    assert_eq!(status(&ask_for(&shop, 1, "FI").await), 200);
}

#[tokio::test]
async fn a_provider_who_is_not_there_sells_nothing() {
    let mut shop = Shop::open(Dialect::ThanksIo, "connection refused").await;
    let credential = shop.signed();
    let port = shop.shut().await;
    assert_eq!(
        shop.pay(&credential).await,
        Err(Refusal::ProviderUnreachable.about(shop.order_id().await))
    );
    shop.nothing_moved();
    shop.reopen(port).await;
    assert_eq!(status(&shop.pay(&credential).await), 200);
    shop.one_card_for_one_payment(&credential).await;
}
