//! Faults while the provider is asked for its price: nothing is settled, whatever happens.

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
            let order = shop.order().id();
            assert_eq!(said, Err(Refusal::PriceAboveCeiling(order)), "{}", shop.about);
            shop.nothing_moved();
        }
        503 => {
            assert_eq!(
                said,
                Err(Refusal::ProviderUnavailable.about(shop.order().id())),
                "{}",
                shop.about
            );
            shop.nothing_moved();
        }
        _ => shop.nothing_moved(),
    }
    // The same signature buys the card once the provider has recovered.
    shop.office.clear_faults();
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

#[tokio::test]
async fn a_provider_who_is_not_there_sells_nothing() {
    let mut shop = Shop::open(Dialect::ThanksIo, "connection refused").await;
    let credential = shop.signed();
    let port = shop.shut().await;
    assert_eq!(
        shop.pay(&credential).await,
        Err(Refusal::ProviderUnreachable.about(shop.order().id()))
    );
    shop.nothing_moved();
    shop.reopen(port).await;
    assert_eq!(status(&shop.pay(&credential).await), 200);
    shop.one_card_for_one_payment(&credential).await;
}
