//! The payer's own identifier of a payment, and payments whose order is not the challenged one.

use super::*;

const IDENTIFIER: &str = "pay_0123456789abcdef";

fn paid_order(said: &Result<Outcome, Refusal>) -> OrderId {
    assert!(matches!(said, Ok(Outcome::Paid { .. })), "{said:?}");
    order_of(said)
}

#[test]
fn an_identified_payment_pays_for_the_order_that_the_challenge_named() {
    let (world, _) = good_world();
    let process = world.process();
    let challenged = order_of(&send(&world, &process, request("hello", None)));
    let signed = promise(&world, 1).identified(IDENTIFIER);
    for credential in [Some(signed), None] {
        let said = send(&world, &process, request("hello", credential));
        assert_eq!(paid_order(&said), challenged);
    }
    assert_eq!(world.store.orders().len(), 1);
    assert_eq!(world.chain.lock().unwrap().transfers.len(), 1);
}

#[test]
fn an_identifier_belongs_to_one_card_for_ever() {
    let (world, still) = good_world();
    let process = world.process();
    let identified = |nonce| Some(promise(&world, nonce).identified(IDENTIFIER));
    let order = paid_order(&send(&world, &process, request("hello", identified(1))));
    // Whether the other card is paid for or not.
    let other = order_of(&send(&world, &process, request("goodbye", None)));
    let said = send(&world, &process, request("goodbye", identified(2)));
    assert_eq!(said, Err(Refusal::PaymentIdentifierUsed(other)));
    paid_order(&send(&world, &process, request("goodbye", Some(promise(&world, 3).credential()))));
    let said = send(&world, &process, request("goodbye", identified(4)));
    assert_eq!(said, Err(Refusal::PaymentIdentifierUsed(other)));
    // The same card is a new order after a month, and the identified payment stays the old one's.
    still.advance(31 * 24 * HOUR);
    let next = send(&world, &process, request("hello", None));
    assert!(matches!(next, Ok(Outcome::Due(_))), "{next:?}");
    assert_eq!(paid_order(&send(&world, &process, request("hello", identified(5)))), order);
    assert_eq!(world.chain.lock().unwrap().transfers.len(), 2);
}

#[test]
fn another_identifier_for_a_paid_card_is_answered_from_its_order() {
    let (world, _) = good_world();
    let process = world.process();
    let signed = promise(&world, 1).identified(IDENTIFIER);
    let order = paid_order(&send(&world, &process, request("hello", Some(signed))));
    let other = promise(&world, 2).identified("pay_of_another_attempt");
    assert_eq!(paid_order(&send(&world, &process, request("hello", Some(other)))), order);
    assert_eq!(world.chain.lock().unwrap().transfers.len(), 1);
}

#[test]
fn an_identifier_and_the_name_of_an_operation_are_independent() {
    let (world, _) = good_world();
    let process = world.process();
    let named = |name: Option<&str>, nonce| Request {
        operation_id: name.map(|name| name.parse().unwrap()),
        ..request("hello", Some(promise(&world, nonce).identified(IDENTIFIER)))
    };
    let order = paid_order(&send(&world, &process, named(Some("birthday-of-ada-1"), 1)));
    assert_eq!(paid_order(&send(&world, &process, named(None, 2))), order);
    let second = send(&world, &process, named(Some("birthday-of-ada-2"), 3));
    assert!(matches!(second, Err(Refusal::PaymentIdentifierUsed(_))), "{second:?}");
    assert_eq!(world.chain.lock().unwrap().transfers.len(), 1);
}

#[test]
fn an_identifier_that_two_cards_bring_at_once_pays_for_one() {
    let (world, _) = good_world();
    let (process, other) =
        (world.process(), order_of(&send(&world, &world.process(), request("bye", None))));
    let identified = |nonce| Some(promise(&world, nonce).identified(IDENTIFIER));
    let elsewhere = (world.process(), request("hello", identified(1)));
    let interrupted = spent::SpentElsewhere::interrupted(&world, elsewhere);
    let said = poll_once(process.send(&interrupted, request("bye", identified(2)))).unwrap();
    assert_eq!(said, Err(Refusal::PaymentIdentifierUsed(other)));
    assert_eq!(world.chain.lock().unwrap().transfers.len(), 1);
}

/// The same process after the operator has changed `sellers.default`.
fn with_default(world: &Arc<FakeWorld>, seller: &str) -> FakeProcess {
    let default = Username::kept(seller.into());
    let mut process = world.process();
    process.checkout.sellers = Sellers { default, enabled: Vec::new() };
    process
}

#[test]
fn a_paid_body_is_answered_from_its_order_after_the_default_seller_changes() {
    for rail in [TenderKind::X402, TenderKind::Mpp] {
        let (world, _) = good_world();
        let till = world.tender(rail);
        let signed = promise(&world, 1).credential();
        let ask = |process: &FakeProcess, card| {
            poll_once(process.send(&till, request(card, Some(signed.clone())))).unwrap()
        };
        let order = paid_order(&ask(&world.process(), "hello"));
        // The new seller has another address, so the old payment does not fit its terms.
        *world.seller_address.lock().unwrap() = 0xb2;
        let changed = with_default(&world, "bob");
        assert_eq!(paid_order(&ask(&changed, "hello")), order, "{rail:?}");
        let other = ask(&changed, "goodbye");
        assert_eq!(other, Err(Refusal::PaymentBoundElsewhere), "{rail:?}");
        let named = Request {
            seller: Some(Username::kept("bob".into())),
            ..request("hello", Some(signed.clone()))
        };
        let other = poll_once(changed.send(&till, named)).unwrap();
        assert_eq!(other, Err(Refusal::PaymentBoundElsewhere), "{rail:?}");
        assert_eq!(world.chain.lock().unwrap().transfers.len(), 1);
    }
}
