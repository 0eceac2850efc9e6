//! Quotes against charges, by the prices of the emulated provider.

use order::checkout::Request;
use order::checkout::preview::{CardPreview, Previews, PriceCall};
use order::model::card::Postcard;
use order::model::country::CountryCode;
use order::model::identity::quote::CardQuote;
use order::model::money::{CEILING, Cents, Price, Usdc};
use order::model::payment::TenderKind;
use order::outcome::Outcome;
use order::refusal::Refusal;
use order::testing::fakes::cards::card_to;
use order::testing::fakes::tender::{CREDENTIAL_SECONDS, FakeCredential};
use sandbox::provider::fault::operation::ProviderOperation;
use sandbox::provider::state::price::COUNTRY_ABOVE_THE_CEILING;

use super::fixture::{CheckoutFixture, Dialect, status};

const RAILS: [(TenderKind, Price); 2] =
    [(TenderKind::X402, Price::UpTo(CEILING)), (TenderKind::Mpp, Price::Fixed(CEILING))];
/// After this, a payment asks for the price again and the provider's rate limit is free.
const MINUTE: u64 = 61;

async fn preview(fixture: &CheckoutFixture, card: &Postcard) -> CardPreview {
    let (checkout, world) = (&fixture.process.checkout, &fixture.world);
    let previews = Previews {
        provider: checkout.writer.provider.clone(),
        names: world.clone(),
        sellers: checkout.sellers.clone(),
        identity: checkout.identity.clone(),
        clock: world.clone(),
        prices: RAILS.to_vec(),
    };
    previews.show(card, &|| PriceCall::Allowed).await.unwrap()
}

async fn quote(fixture: &CheckoutFixture, card: &Postcard, rail: TenderKind) -> CardQuote {
    *preview(fixture, card).await.quote(rail).expect("a quote")
}

async fn pay(
    fixture: &CheckoutFixture,
    card: &Postcard,
    rail: TenderKind,
    quote: CardQuote,
    nonce: u64,
) -> Result<Outcome, Refusal> {
    let payee = *fixture.world.seller_address.lock().unwrap();
    let deadline = fixture.world.time().0 + CREDENTIAL_SECONDS;
    let signed = FakeCredential { nonce, most: CEILING.atomic(), deadline, payee };
    let request = Request {
        seller: None,
        operation_id: None,
        card: card.clone(),
        quote: Some(quote.id),
        credential: Some(signed.credential()),
    };
    fixture.process.send(&fixture.world.tender(rail), request).await
}

fn charged(outcome: &Result<Outcome, Refusal>) -> Usdc {
    match outcome {
        Ok(Outcome::Paid { settlement, .. }) => settlement.amount,
        other => panic!("{other:?}"),
    }
}

/// Every country that a card can go to.
fn countries() -> Vec<String> {
    let letters = || 'A'..='Z';
    let codes = letters().flat_map(|one| letters().map(move |other| format!("{one}{other}")));
    codes.filter(|code| CountryCode::parse(code).is_ok()).collect()
}

#[tokio::test]
async fn the_charge_is_the_quote_for_every_country_on_both_rails() {
    let fixture = CheckoutFixture::open(Dialect::ThanksIo, "every country").await;
    let countries = countries();
    assert_eq!(countries.len(), 250);
    let mut nonce = 0;
    for country in &countries {
        for (rail, _) in RAILS {
            fixture.advance(MINUTE);
            nonce += 1;
            let card = card_to(country, &format!("{rail:?}"));
            if (country.as_str(), rail) == (COUNTRY_ABOVE_THE_CEILING, TenderKind::X402) {
                let shown = preview(&fixture, &card).await;
                assert_eq!(shown.quote(rail), None, "{country}");
                assert!(shown.warnings.iter().any(|it| it.code.as_str() == "price_above_maximum"));
                continue;
            }
            let quote = quote(&fixture, &card, rail).await;
            assert_eq!((quote.country.as_str(), quote.maximum), (country.as_str(), CEILING));
            let outcome = pay(&fixture, &card, rail, quote, nonce).await;
            assert_eq!(charged(&outcome), quote.charge, "{country} {rail:?}");
        }
    }
    let (settled, transfers) = fixture.money();
    assert_eq!((settled, transfers), (499, 499));
    assert_eq!(fixture.provider_emulator.report().accepted, 499);
}

#[tokio::test]
async fn lob_charges_its_configured_price_as_quoted() {
    let fixture = CheckoutFixture::open(Dialect::Lob, "two prices").await;
    for (nonce, country, cents) in [(1, "GB", 185), (2, "DE", 185)] {
        let card = card_to(country, "hello");
        let quote = quote(&fixture, &card, TenderKind::X402).await;
        assert_eq!(quote.charge, Usdc::from_atomic(cents * 12_100), "{country}");
        let outcome = pay(&fixture, &card, TenderKind::X402, quote, nonce).await;
        assert_eq!(charged(&outcome), quote.charge, "{country}");
    }
}

#[tokio::test]
async fn a_price_that_rises_in_between_is_a_conflict_and_nothing_moves() {
    for (rail, later) in [(TenderKind::X402, 199), (TenderKind::Mpp, 351)] {
        let fixture = CheckoutFixture::open(Dialect::ThanksIo, "a price that rises").await;
        let card = card_to("BR", "hello");
        let quote = quote(&fixture, &card, rail).await;
        fixture.provider_emulator.change(|settings| {
            settings.prices.insert("BR".into(), Cents(later));
        });
        fixture.advance(MINUTE);
        let outcome = pay(&fixture, &card, rail, quote, 1).await;
        assert_eq!(status(&outcome), 409, "{rail:?}: {outcome:?}");
        fixture.assert_nothing_moved();
        // A fixed price does not rise; a card that costs more than it is not sold.
        match (rail, outcome) {
            (TenderKind::X402, Err(Refusal::QuoteExceeded { quote: new, .. })) => {
                assert_eq!(new.charge, Usdc::from_atomic(199 * 12_100));
                let outcome = pay(&fixture, &card, rail, new, 1).await;
                assert_eq!(charged(&outcome), new.charge);
            }
            (TenderKind::Mpp, Err(Refusal::PriceAboveCeiling(_))) => {}
            (_, other) => panic!("{rail:?}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_price_that_falls_in_between_lowers_the_charge() {
    let fixture = CheckoutFixture::open(Dialect::ThanksIo, "a price that falls").await;
    let card = card_to("BR", "hello");
    let quote = quote(&fixture, &card, TenderKind::X402).await;
    fixture.provider_emulator.change(|settings| {
        settings.prices.insert("BR".into(), Cents(150));
    });
    fixture.advance(MINUTE);
    let outcome = pay(&fixture, &card, TenderKind::X402, quote, 1).await;
    assert_eq!(charged(&outcome), Usdc::from_atomic(150 * 12_100));
    assert!(charged(&outcome) < quote.charge);
}

#[tokio::test]
async fn the_price_of_a_country_is_requested_once() {
    let fixture = CheckoutFixture::open(Dialect::ThanksIo, "one price").await;
    for message in ["one", "two", "three"] {
        quote(&fixture, &card_to("BR", message), TenderKind::X402).await;
    }
    let calls = fixture.provider_emulator.journal();
    let count = |operation| calls.iter().filter(|call| call.operation == Some(operation)).count();
    assert_eq!(count(ProviderOperation::Preview), 3);
    assert_eq!(count(ProviderOperation::Estimate), 1);
}
