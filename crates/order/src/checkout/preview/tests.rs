//! What a preview tells beside its pictures.

use super::*;
use crate::model::ids::Timestamp;
use crate::model::mail::Promises;
use crate::model::money::{CEILING, Cents, Usdc};
use crate::testing::fakes::cards::card;
use crate::testing::fakes::fault_schedule::ExhaustiveFaults;
use crate::testing::fakes::manual_time::{ManualTime, poll_once};
use crate::testing::fakes::world::FakeWorld;

const PROMISES: Promises =
    Promises { idempotent_seconds: None, cancel_seconds: 0, visibility_lag_seconds: 0 };
const BOTH: [(TenderKind, Price); 2] =
    [(TenderKind::X402, Price::UpTo(CEILING)), (TenderKind::Mpp, Price::Fixed(CEILING))];

fn previews(world: &Arc<FakeWorld>, prices: &[(TenderKind, Price)]) -> Previews {
    let checkout = world.process().checkout;
    Previews {
        provider: world.clone(),
        names: world.clone(),
        sellers: checkout.sellers,
        identity: checkout.identity,
        clock: world.clone(),
        prices: prices.to_vec(),
    }
}

fn world() -> Arc<FakeWorld> {
    let still = Box::new(ManualTime::default());
    FakeWorld::new(Box::new(ExhaustiveFaults::default()), still, PROMISES)
}

fn show(world: &Arc<FakeWorld>, prices: &[(TenderKind, Price)]) -> CardPreview {
    let (previews, card) = (previews(world, prices), card("hello"));
    poll_once(previews.show(&card, &|| PriceCall::Allowed)).unwrap().unwrap()
}

fn codes(preview: &CardPreview) -> Vec<&'static str> {
    preview.warnings.iter().map(|warning| warning.code.as_str()).collect()
}

#[test]
fn each_way_of_paying_that_is_enabled_has_a_quote_that_the_checkout_accepts() {
    let world = world();
    let preview = show(&world, &BOTH);
    let quote = preview.quote(TenderKind::X402).unwrap();
    assert_eq!(quote.charge, Usdc::from_atomic(2_420_000));
    let quoted = world.process().checkout.identity.quoted(quote.id, &card("hello")).unwrap();
    assert_eq!(quoted.most, quote.charge);
    assert!(quoted.expires_at > Timestamp(world.time().0));
    assert_eq!(preview.quote(TenderKind::Mpp).map(|quote| quote.charge), Some(CEILING));
    assert_eq!(preview.warnings, []);
    let one = show(&world, &BOTH[..1]);
    assert!(one.quote(TenderKind::X402).is_some() && one.quote(TenderKind::Mpp).is_none());
    let none = show(&world, &[]);
    assert!(none.quote(TenderKind::X402).is_none() && none.warnings.is_empty());
}

#[test]
fn a_card_above_the_maximum_has_a_warning_for_each_way_that_cannot_pay_it() {
    let world = world();
    world.provider.lock().unwrap().total = Cents(340);
    let preview = show(&world, &BOTH);
    assert!(preview.quote(TenderKind::X402).is_none());
    assert_eq!(preview.quote(TenderKind::Mpp).map(|quote| quote.charge), Some(CEILING));
    assert_eq!(codes(&preview), ["price_above_maximum"]);
    assert!(preview.warnings[0].message.contains("x402"), "{preview:?}");
    world.provider.lock().unwrap().total = Cents(351);
    assert_eq!(codes(&show(&world, &BOTH)), ["price_above_maximum", "price_above_maximum"]);
}

#[test]
fn a_preview_without_a_price_is_shown_with_a_warning() {
    let world = world();
    world.provider.lock().unwrap().total = Cents(0);
    let preview = show(&world, &BOTH);
    assert!(!preview.urls.is_empty());
    assert!(preview.quote(TenderKind::X402).is_none());
    assert_eq!(codes(&preview), ["no_quote"]);
}
