//! Faults while the provider is asked for its price: nothing is settled.

use adapters::provider::lob::LobPrices;
use order::checkout::Request;
use order::model::chain::EvmAddress;
use order::model::money::Cents;
use order::model::payment::TenderKind;
use order::outcome::Outcome;
use order::refusal::Refusal;
use order::testing::fakes::cards::card_to;
use order::testing::fakes::tender::FakeTender;
use sandbox::provider::fault::kind::ProviderFault;
use sandbox::provider::fault::operation::ProviderOperation;

use super::fixture::{CheckoutFixture, Dialect, PRICES, for_every_fault, status};

/// The status of a paid request while the provider has this fault.
fn expected(kind: ProviderFault) -> u16 {
    match kind {
        ProviderFault::TimeoutBefore
        | ProviderFault::TimeoutAfter
        | ProviderFault::StatusBefore
        | ProviderFault::StatusAfter
        | ProviderFault::ResetBefore
        | ProviderFault::ResetAfter
        | ProviderFault::HtmlAfter
        | ProviderFault::Malformed
        | ProviderFault::Truncated
        | ProviderFault::Empty
        | ProviderFault::Html
        | ProviderFault::Array
        | ProviderFault::Deep
        | ProviderFault::Huge
        | ProviderFault::Gzip
        | ProviderFault::DupContentLength
        | ProviderFault::SlowLoris
        | ProviderFault::SlowHeaders
        | ProviderFault::MissingTotal
        | ProviderFault::StringTotal
        | ProviderFault::FloatTotal
        | ProviderFault::NegativeTotal
        | ProviderFault::ZeroTotal
        | ProviderFault::OverflowTotal => 502,
        ProviderFault::HugeTotal => 409,
        ProviderFault::Unauthorized
        | ProviderFault::PaymentDisabled
        | ProviderFault::RateLimited => 503,
        // The fault does not affect prices, or the price is valid.
        ProviderFault::MissingPreviews
        | ProviderFault::EmptyPreviews
        | ProviderFault::NotListPreviews
        | ProviderFault::HttpPreviews
        | ProviderFault::PrivatePreviews
        | ProviderFault::TotalDrift
        | ProviderFault::DuplicateAccept
        | ProviderFault::ListLag
        | ProviderFault::ListEmpty => 200,
    }
}

async fn thanks_io_with(kind: ProviderFault) {
    let fixture = CheckoutFixture::open(Dialect::ThanksIo, kind.written()).await;
    let credential = fixture.credential();
    fixture.add_fault(kind, ProviderOperation::Estimate);
    let outcome = fixture.pay(&credential).await;
    assert_eq!(status(&outcome), expected(kind), "{}: {outcome:?}", fixture.about);
    match expected(kind) {
        200 => {}
        409 => {
            let order = fixture.order_id().await;
            assert_eq!(outcome, Err(Refusal::PriceAboveCeiling(order)), "{}", fixture.about);
            fixture.assert_nothing_moved();
        }
        503 => {
            assert_eq!(
                outcome,
                Err(Refusal::ProviderUnavailable.about(fixture.order_id().await)),
                "{}",
                fixture.about
            );
            fixture.assert_nothing_moved();
        }
        _ => fixture.assert_nothing_moved(),
    }
    // The same credential buys the card after the provider has recovered and the cached price
    // has expired.
    fixture.provider_emulator.clear_faults();
    fixture.advance(61);
    assert_eq!(status(&fixture.pay(&credential).await), 200, "{}", fixture.about);
    fixture.assert_one_card_for_one_payment(&credential).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_of_a_price_has_its_status_and_settles_nothing() {
    for_every_fault(thanks_io_with).await;
}

/// Lob has no API for prices: they are in our configuration.
#[tokio::test(flavor = "multi_thread")]
async fn a_price_of_lob_is_configured_and_has_no_faults() {
    for_every_fault(|kind| async move {
        let fixture = CheckoutFixture::open(Dialect::Lob, kind.written()).await;
        let credential = fixture.credential();
        fixture.add_fault(kind, ProviderOperation::Estimate);
        assert_eq!(status(&fixture.pay(&credential).await), 200, "{}", fixture.about);
        fixture.assert_one_card_for_one_payment(&credential).await;
    })
    .await;
}

#[tokio::test]
async fn a_price_of_lob_above_the_ceiling_is_a_conflict() {
    for (cents, status_expected) in [(289, 200), (290, 409), (0, 502)] {
        let prices = LobPrices { international: Cents(cents), ..PRICES };
        let fixture = CheckoutFixture::with_prices(Dialect::Lob, prices, "prices").await;
        let outcome = fixture.pay(&fixture.credential()).await;
        assert_eq!(status(&outcome), status_expected, "{cents}: {outcome:?}");
        if status_expected != 200 {
            fixture.assert_nothing_moved();
        }
    }
}

/// A request for a card to this country by this payer, with a credential that is not spent.
async fn ask_for(fixture: &CheckoutFixture, payer: u8, country: &str) -> Result<Outcome, Refusal> {
    let payer = EvmAddress::from_bytes([payer; 20]);
    let till = FakeTender { payer, ..fixture.world.tender(TenderKind::X402) };
    let (card, credential) = (card_to(country, "hello"), Some(fixture.credential()));
    fixture
        .process
        .send(&till, Request { seller: None, operation_id: None, card, quote: None, credential })
        .await
}

fn estimates(fixture: &CheckoutFixture) -> usize {
    let calls = fixture.provider_emulator.journal();
    calls.iter().filter(|call| call.operation == Some(ProviderOperation::Estimate)).count()
}

#[tokio::test]
async fn an_unspent_credential_does_not_delay_other_payers() {
    let fixture = CheckoutFixture::open(Dialect::ThanksIo, "one country").await;
    fixture.add_fault(ProviderFault::HugeTotal, ProviderOperation::Estimate);
    for _ in 0..100 {
        assert_eq!(status(&ask_for(&fixture, 1, "GB").await), 409);
    }
    // One for the price, and five to validate a card.
    assert_eq!(estimates(&fixture), 6);
    fixture.provider_emulator.clear_faults();
    assert_eq!(status(&ask_for(&fixture, 2, "US").await), 200);
}

#[tokio::test]
async fn a_card_that_the_provider_does_not_validate_is_not_charged_although_its_price_is_known() {
    let fixture = CheckoutFixture::open(Dialect::ThanksIo, "a card that is not validated").await;
    let price = fixture.process.checkout.writer.provider.quote(&card_to("GB", "another")).await;
    assert!(price.is_ok());
    fixture.add_fault(ProviderFault::Malformed, ProviderOperation::Estimate);
    assert_eq!(status(&ask_for(&fixture, 1, "GB").await), 502);
    fixture.assert_nothing_moved();
}

#[tokio::test]
async fn a_payer_that_requests_many_countries_is_limited_alone() {
    let fixture = CheckoutFixture::open(Dialect::ThanksIo, "many countries").await;
    fixture.add_fault(ProviderFault::HugeTotal, ProviderOperation::Estimate);
    let countries = ["GB", "DE", "FR", "IT", "ES", "PT", "AT", "CH", "NL", "BE", "DK", "SE"];
    let mut outcome = Vec::new();
    for country in countries {
        outcome.push(status(&ask_for(&fixture, 1, country).await));
    }
    assert_eq!(outcome.iter().filter(|status| **status == 409).count(), estimates(&fixture));
    assert!(estimates(&fixture) < 10 && outcome.ends_with(&[503]), "{outcome:?}");
    let refused = ask_for(&fixture, 1, "NO").await;
    assert!(matches!(refused, Err(Refusal::QuoteLimit(_))), "{refused:?}");
    fixture.provider_emulator.clear_faults();
    assert_eq!(status(&ask_for(&fixture, 2, "NO").await), 200);
    // After a minute the limit has expired.
    fixture.advance(61);
    assert_eq!(status(&ask_for(&fixture, 1, "FI").await), 200);
}

#[tokio::test]
async fn an_unreachable_provider_settles_nothing() {
    let mut fixture = CheckoutFixture::open(Dialect::ThanksIo, "connection refused").await;
    let credential = fixture.credential();
    let port = fixture.stop_provider().await;
    assert_eq!(
        fixture.pay(&credential).await,
        Err(Refusal::ProviderUnreachable.about(fixture.order_id().await))
    );
    fixture.assert_nothing_moved();
    fixture.restart_provider(port).await;
    assert_eq!(status(&fixture.pay(&credential).await), 200);
    fixture.assert_one_card_for_one_payment(&credential).await;
}
