//! A request that names a quote is charged no more than quoted.

use super::spent::SpentElsewhere;
use super::*;
use crate::model::identity::quote::{CardQuote, QUOTE_VALID_SECONDS, QuoteId};
use crate::model::money::Price;

/// The quote that a preview of this card would return now.
fn quote_of(world: &FakeWorld, process: &FakeProcess, message: &str, price: Price) -> CardQuote {
    let cost = world.provider.lock().unwrap().total;
    process.checkout.identity.quote(&card(message), price, cost, world.time()).unwrap()
}

fn up_to(world: &FakeWorld, process: &FakeProcess, message: &str) -> CardQuote {
    quote_of(world, process, message, Price::UpTo(Usdc::from_cents(Cents(350))))
}

fn paid(world: &FakeWorld, nonce: u64, quote: QuoteId) -> Request {
    let credential = Some(promise(world, nonce).credential());
    Request { quote: Some(quote), ..request("hello", credential) }
}

fn charged(said: &Result<Outcome, Refusal>) -> Usdc {
    match said {
        Ok(Outcome::Paid { settlement, .. }) => settlement.amount,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_charge_is_the_quote_or_less() {
    for (later, charge) in [(200, 2_420_000), (150, 1_815_000)] {
        let (world, _) = good_world();
        let process = world.process();
        let quote = up_to(&world, &process, "hello");
        world.provider.lock().unwrap().total = Cents(later);
        let said = send(&world, &process, paid(&world, 1, quote.id));
        assert_eq!(charged(&said), Usdc::from_atomic(charge), "{later}");
        assert!(charged(&said) <= quote.charge);
    }
}

#[test]
fn a_price_that_has_risen_moves_nothing_and_answers_with_the_new_quote() {
    let (world, _) = good_world();
    let process = world.process();
    let quote = up_to(&world, &process, "hello");
    world.provider.lock().unwrap().total = Cents(201);
    let said = send(&world, &process, paid(&world, 1, quote.id));
    let Err(Refusal::QuoteExceeded { quote: new, .. }) = said else { panic!("{said:?}") };
    assert_eq!(new, up_to(&world, &process, "hello"));
    assert_eq!(new.charge, Usdc::from_atomic(2_432_100));
    assert_eq!(world.chain.lock().unwrap().settle_calls, 0);
    assert!(world.store.orders().is_empty());
    // The same payment buys the card once its payer accepts the new price, or names none.
    let said = send(&world, &process, paid(&world, 1, new.id));
    assert_eq!(charged(&said), new.charge);
}

#[test]
fn a_quote_of_one_way_of_paying_limits_the_other_too() {
    let (world, _) = good_world();
    let process = world.process();
    let low = up_to(&world, &process, "hello").id;
    let fixed = Price::Fixed(Usdc::from_cents(Cents(350)));
    let high = quote_of(&world, &process, "hello", fixed).id;
    let tender = world.tender(TenderKind::Mpp);
    let said = poll_once(process.send(&tender, paid(&world, 1, low))).unwrap();
    assert!(
        matches!(said, Err(Refusal::QuoteExceeded { quote, .. }) if quote.id == high),
        "{said:?}"
    );
    let said = poll_once(process.send(&tender, paid(&world, 1, high))).unwrap();
    assert_eq!(charged(&said), Usdc::from_cents(Cents(350)));
}

#[test]
fn a_forged_quote_and_one_of_another_card_are_refused_before_any_outside_call() {
    let (world, _) = good_world();
    let process = world.process();
    let other = up_to(&world, &process, "goodbye").id;
    let forged: QuoteId = "0f".repeat(32).parse().unwrap();
    for quote in [other, forged] {
        for request in
            [paid(&world, 1, quote), Request { quote: Some(quote), ..request("hello", None) }]
        {
            assert_eq!(send(&world, &process, request), Err(Refusal::QuoteInvalid));
        }
    }
    assert_eq!(world.chain.lock().unwrap().settle_calls, 0);
    assert!(world.store.orders().is_empty());
}

#[test]
fn an_expired_quote_is_refused_with_and_without_a_payment() {
    let (world, still) = good_world();
    let process = world.process();
    let quote = up_to(&world, &process, "hello").id;
    let order = order_of(&send(&world, &process, request("hello", None)));
    still.advance(QUOTE_VALID_SECONDS);
    for request in
        [paid(&world, 1, quote), Request { quote: Some(quote), ..request("hello", None) }]
    {
        assert_eq!(send(&world, &process, request), Err(Refusal::QuoteExpired(order)));
    }
    assert_eq!(world.chain.lock().unwrap().settle_calls, 0);
}

#[test]
fn a_paid_order_is_answered_whatever_quote_the_repeated_request_names() {
    let (world, still) = good_world();
    let process = world.process();
    let quote = up_to(&world, &process, "hello").id;
    let other = up_to(&world, &process, "goodbye").id;
    let first = send(&world, &process, paid(&world, 1, quote));
    assert!(matches!(first, Ok(Outcome::Paid { paid: When::Now, .. })), "{first:?}");
    still.advance(QUOTE_VALID_SECONDS);
    for quote in [quote, other] {
        let repeated = paid(&world, 1, quote);
        let unpaid = Request { quote: Some(quote), ..request("hello", None) };
        for repeated in [repeated, unpaid] {
            let said = send(&world, &process, repeated);
            assert!(matches!(said, Ok(Outcome::Paid { paid: When::Earlier, .. })), "{said:?}");
        }
    }
}

#[test]
fn a_charge_above_the_quote_is_no_conflict_for_an_order_that_was_paid_meanwhile() {
    let (world, _) = good_world();
    let process = world.process();
    let lower = Price::UpTo(Usdc::from_cents(Cents(350)));
    let lower = process.checkout.identity.quote(&card("hello"), lower, Cents(150), world.time());
    let request = paid(&world, 1, lower.unwrap().id);
    let same = Request { quote: None, ..paid(&world, 1, request.quote.unwrap()) };
    let tender = SpentElsewhere::while_verified(&world, (world.process(), same));
    let said = poll_once(process.send(&tender, request)).unwrap();
    assert!(matches!(said, Ok(Outcome::Paid { paid: When::Earlier, .. })), "{said:?}");
    assert_eq!(world.chain.lock().unwrap().transfers.len(), 1);
}
