//! What the process says, case by case; [`walk`] then breaks everything in every way.

use async_trait::async_trait;

use super::*;
use crate::lifecycle::OFFER_SECONDS;
use crate::model::ids::{OrderId, WorkerId};
use crate::model::mail::Promises;
use crate::model::money::{Cents, Usdc};
use crate::model::payment::TenderKind;
use crate::model::resolution::Resolution;
use crate::model::seller::NotAUsername;
use crate::outcome::{Fulfilment, When};
use crate::ports::{Failure, Store};
use crate::testing::contract::samples;
use crate::testing::fakes::cards::card;
use crate::testing::fakes::fault_schedule::ExhaustiveFaults;
use crate::testing::fakes::manual_time::{ManualTime, poll_once};
use crate::testing::fakes::process::FakeProcess;
use crate::testing::fakes::tender::{CREDENTIAL_SECONDS, FakeCredential};
use crate::testing::fakes::world::FakeWorld;

mod acknowledgement;
mod identifiers;
mod quoted;
mod spent;
mod walk;

const HOUR: u64 = 60 * 60;

/// As thanks.io: nothing but a list and an hour to cancel.
pub(super) const LISTING: Promises =
    Promises { idempotent_seconds: None, cancel_seconds: HOUR, visibility_lag_seconds: 30 };
/// As Lob: the same order twice is one card.
pub(super) const IDEMPOTENT: Promises = Promises { idempotent_seconds: Some(24 * HOUR), ..LISTING };

/// A world in which everything works, and the hand on its clock.
fn good_world() -> (Arc<FakeWorld>, ManualTime) {
    let still = ManualTime::default();
    (FakeWorld::new(Box::new(ExhaustiveFaults::default()), Box::new(still.clone()), LISTING), still)
}

fn promise(world: &FakeWorld, nonce: u64) -> FakeCredential {
    let payee = *world.seller_address.lock().unwrap();
    let deadline = world.time().0 + CREDENTIAL_SECONDS;
    FakeCredential { nonce, most: 3_500_000, deadline, payee }
}

fn request(message: &str, credential: Option<Credential>) -> Request {
    Request { seller: None, operation_id: None, card: card(message), quote: None, credential }
}

fn send(
    world: &Arc<FakeWorld>,
    process: &FakeProcess,
    request: Request,
) -> Result<Outcome, Refusal> {
    poll_once(process.send(&world.tender(TenderKind::X402), request))
        .expect("no crash in a good world")
}

fn order_of(said: &Result<Outcome, Refusal>) -> OrderId {
    match said {
        Ok(Outcome::Due(offer)) => offer.order,
        Ok(Outcome::Paid { order, .. }) => *order,
        Err(refusal) => panic!("{refusal:?}"),
    }
}

#[test]
fn an_unpaid_request_is_told_the_price_and_leaves_nothing_behind() {
    let (world, _) = good_world();
    let said = send(&world, &world.process(), request("hello", None)).unwrap();
    let Outcome::Due(offer) = said else { panic!("{said:?}") };
    assert_eq!(offer.price.ceiling(), Usdc::from_cents(Cents(350)));
    assert!(world.store.orders().is_empty());
}

#[test]
fn the_same_unpaid_request_is_the_same_order() {
    let (world, _) = good_world();
    let process = world.process();
    let one = order_of(&send(&world, &process, request("hello", None)));
    let two = order_of(&send(&world, &process, request("hello", None)));
    let other = order_of(&send(&world, &process, request("goodbye", None)));
    assert_eq!(one, two);
    assert_ne!(one, other);
}

#[test]
fn a_paid_card_is_mailed_once_however_often_it_is_asked_for() {
    let (world, _) = good_world();
    let process = world.process();
    let (signed, other) = (promise(&world, 1).credential(), promise(&world, 2).credential());
    for (credential, when) in [
        (Some(signed.clone()), When::Now),
        (Some(signed), When::Earlier),
        (Some(other), When::Earlier),
        (None, When::Earlier),
    ] {
        let said = send(&world, &process, request("hello", credential)).unwrap();
        let Outcome::Paid { fulfilment, paid, settlement, .. } = said else { panic!("{said:?}") };
        assert_eq!((fulfilment, paid), (Fulfilment::Submitted, when));
        assert_eq!(settlement.amount, Usdc::from_atomic(2_420_000));
    }
    assert_eq!(world.provider.lock().unwrap().mailpieces.len(), 1);
    assert_eq!(world.chain.lock().unwrap().transfers.len(), 1);
}

#[test]
fn a_card_paid_by_one_rail_is_paid_on_the_other() {
    let (world, _) = good_world();
    let process = world.process();
    let paid = send(&world, &process, request("hello", Some(promise(&world, 1).credential())));
    let again = request("hello", Some(promise(&world, 2).credential()));
    let said = poll_once(process.send(&world.tender(TenderKind::Mpp), again)).unwrap();
    assert_eq!(order_of(&said), order_of(&paid));
    assert_eq!(world.chain.lock().unwrap().transfers.len(), 1);
}

fn offer_of(world: &Arc<FakeWorld>, process: &FakeProcess, message: &str) -> Offer {
    match send(world, process, request(message, None)) {
        Ok(Outcome::Due(offer)) => offer,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_card_that_costs_too_much_is_refused_before_anything_moves() {
    let (world, _) = good_world();
    let process = world.process();
    let order = order_of(&send(&world, &process, request("hello", None)));
    world.provider.lock().unwrap().total = Cents(290);
    let said = send(&world, &process, request("hello", Some(promise(&world, 1).credential())));
    assert_eq!(said, Err(Refusal::PriceAboveCeiling(order)));
    world.provider.lock().unwrap().total = Cents(0);
    let said = send(&world, &process, request("hello", Some(promise(&world, 1).credential())));
    assert_eq!(said, Err(Refusal::ProviderUnusable.about(order)));
    assert!(world.chain.lock().unwrap().transfers.is_empty());
}

#[test]
fn a_seller_who_moved_is_not_paid_at_the_old_address_nor_at_one_that_nobody_signed() {
    let (world, _) = good_world();
    let process = world.process();
    let order = order_of(&send(&world, &process, request("hello", None)));
    let old = promise(&world, 1).credential();
    *world.seller_address.lock().unwrap() = 0xb2;
    let said = send(&world, &process, request("hello", Some(old)));
    assert_eq!(said, Err(Refusal::SellerAddressChanged(order)));
    // The next challenge names the new address, and paying that works.
    let offer = offer_of(&world, &process, "hello");
    assert_eq!((offer.order, offer.payees), (order, world.payees()));
    let new = promise(&world, 2).credential();
    assert!(matches!(
        send(&world, &process, request("hello", Some(new))),
        Ok(Outcome::Paid { .. })
    ));
}

/// Knows the seller's address only from earlier, as when no node answers.
struct Forgetful(Arc<FakeWorld>);

#[async_trait]
impl NameService for Forgetful {
    fn read(&self, text: &str) -> Result<Username, NotAUsername> {
        self.0.read(text)
    }

    async fn resolve(
        &self,
        seller: &Username,
        purpose: Purpose,
    ) -> Result<Option<Resolution>, Failure> {
        match purpose {
            Purpose::Offer => self.0.resolve(seller, purpose).await,
            Purpose::Payment => Err(Failure::Lost("no node answers".into())),
        }
    }
}

#[test]
fn an_old_address_is_good_enough_to_ask_for_payment_and_not_to_take_it() {
    let (world, _) = good_world();
    let mut process = world.process();
    process.checkout.names = Arc::new(Forgetful(world.clone()));
    let asked = send(&world, &process, request("hello", None));
    assert!(matches!(asked, Ok(Outcome::Due(_))), "{asked:?}");
    let promise = promise(&world, 1);
    let paid = send(&world, &process, request("hello", Some(promise.credential())));
    assert_eq!(paid, Err(Refusal::NameServiceFailed));
}

#[test]
fn a_credential_that_does_not_hold_is_answered_with_the_offer() {
    let (world, _) = good_world();
    let process = world.process();
    let offer = offer_of(&world, &process, "hello");
    let little = FakeCredential { most: 1, ..promise(&world, 1) }.credential();
    let said = send(&world, &process, request("hello", Some(little)));
    assert_eq!(said, Err(Refusal::CredentialInvalid { offer, reason: "too little".into() }));
}

#[test]
fn a_named_operation_takes_one_card_only_and_lapses_for_good() {
    let (world, still) = good_world();
    let process = world.process();
    let named = |message: &str| Request {
        operation_id: Some("birthday-of-ada-1".parse().unwrap()),
        ..request(message, None)
    };
    let order = order_of(&send(&world, &process, named("hello")));
    assert_eq!(send(&world, &process, named("goodbye")), Err(Refusal::DifferentRequest));
    still.advance(OFFER_SECONDS);
    assert_eq!(send(&world, &process, named("hello")), Err(Refusal::OperationLapsed(order)));
    assert_eq!(send(&world, &process, named("goodbye")), Err(Refusal::OperationLapsed(order)));
}

#[test]
fn an_automatic_offer_never_lapses_and_next_years_card_is_a_new_order() {
    let (world, still) = good_world();
    let process = world.process();
    let first = order_of(&send(&world, &process, request("hello", None)));
    still.advance(100 * OFFER_SECONDS);
    assert_eq!(order_of(&send(&world, &process, request("hello", None))), first);
    let paid = send(&world, &process, request("hello", Some(promise(&world, 1).credential())));
    assert_eq!(order_of(&paid), first);
    still.advance(29 * 24 * HOUR);
    assert_eq!(order_of(&send(&world, &process, request("hello", None))), first);
    still.advance(2 * 24 * HOUR);
    let next = send(&world, &process, request("hello", None));
    assert!(matches!(next, Ok(Outcome::Due(_))));
    assert_ne!(order_of(&next), first);
}

#[test]
fn an_offer_whose_payment_was_declined_keeps_its_id_for_ever() {
    let (world, still) = good_world();
    let process = world.process();
    let message = "Greetings, number 1.";
    let first = order_of(&send(&world, &process, request(message, None)));
    let offer = samples::offer_of(samples::operation(1), world.time());
    let settling = samples::begun(offer, 1);
    let version =
        poll_once(world.store.record(&settling.clone().into(), &Actor::Checkout)).unwrap();
    let declined = Order { version: version.unwrap(), ..settling.declined(samples::NOW) };
    poll_once(world.store.record(&declined.into(), &Actor::Checkout)).unwrap().unwrap();
    still.advance(100 * OFFER_SECONDS);
    assert_eq!(order_of(&send(&world, &process, request(message, None))), first);
    assert!(matches!(world.store.get(first), Some(Stored::Offered(_))));
}

#[test]
fn a_payment_in_doubt_is_never_answered_402_however_old_it_is() {
    let (world, still) = good_world();
    let process = world.process();
    let message = "Greetings, number 1.";
    let first = order_of(&send(&world, &process, request(message, None)));
    let settling = samples::begun(samples::offer_of(samples::operation(1), world.time()), 1);
    let version = poll_once(world.store.record(&settling.clone().into(), &Actor::Checkout));
    let version = version.unwrap().unwrap();
    still.advance(100 * OFFER_SECONDS);
    let unpaid = send(&world, &process, request(message, None));
    assert_eq!(unpaid, Err(Refusal::PaymentInPlay(first)));
    let unconfirmed = Order { version, ..settling.lost(world.time()) };
    poll_once(world.store.record(&unconfirmed.into(), &Actor::Checkout)).unwrap().unwrap();
    still.advance(100 * OFFER_SECONDS);
    let unpaid = send(&world, &process, request(message, None));
    assert_eq!(unpaid, Err(Refusal::PaymentInPlay(first)));
}

#[test]
fn a_seller_who_is_not_enabled_is_not_sold_for() {
    let (world, _) = good_world();
    let stranger =
        Request { seller: Some(Username::kept("mallory".into())), ..request("hello", None) };
    assert_eq!(send(&world, &world.process(), stranger), Err(Refusal::SellerNotEnabled));
    assert!(world.store.orders().is_empty());
}

#[test]
fn every_process_makes_the_same_offer_without_a_row() {
    let (world, _) = good_world();
    let (one, other) = (world.process(), world.process());
    assert_eq!(offer_of(&world, &one, "hello"), offer_of(&world, &other, "hello"));
    assert!(world.store.orders().is_empty());
}
