//! Transitions keep what the next state needs, and drop what it must not have.

use super::*;
use crate::lifecycle::schedule::Attention;
use crate::model::chain::{EvmAddress, Network};
use crate::model::identity::Identity;
use crate::model::ids::Timestamp;
use crate::model::mail::{Delivery, Mailpiece, ProviderQuote, Stage};
use crate::model::money::{Cents, Usdc};
use crate::model::payment::{
    Authorization, Credential, Finality, Payment, PaymentKey, Preparation, Receipt, Settlement,
    TenderKind,
};
use crate::model::seller::Username;
use crate::testing::fakes::cards::card;

const NOW: Timestamp = Timestamp(1_000);

fn offered() -> Order<Offered> {
    let identity = Identity::new([1; 32]);
    let operation = identity.operation(&Username::kept("alice".into()), &card("hello"), None);
    Order::offer(identity.order_id(&operation), operation, NOW)
}

fn settling() -> Order<Settling> {
    let credential = Credential(b"signed".to_vec());
    let authorization = Authorization {
        tender: TenderKind::X402,
        network: Network::Base,
        payer: EvmAddress::from_bytes([3; 20]),
        pay_to: EvmAddress::from_bytes([4; 20]),
        most: Usdc::from_atomic(3_500_000),
        deadline: NOW.plus(300),
        keys: vec![PaymentKey([5; 32])],
        digest: credential.digest(),
        credential,
    };
    let charge = Usdc::from_atomic(2_420_000);
    let payment = Payment { authorization, charge, preparation: Preparation(b"raw".to_vec()) };
    offered().begin_settlement(card("hello"), ProviderQuote::new(Cents(200)).unwrap(), payment, NOW)
}

fn settlement(finality: Finality) -> Settlement {
    let (transaction, amount) = ("0x01".to_owned(), Usdc::from_atomic(2_420_000));
    Settlement { transaction, amount, at: NOW, finality, receipt: Receipt::default() }
}

fn submitting() -> Order<Submitting> {
    settling().settled(settlement(Finality::Provisional), NOW)
}

#[test]
fn a_declined_payment_leaves_the_offer_as_it_was() {
    let order = settling().declined(NOW);
    assert_eq!(order, offered());
}

#[test]
fn what_could_execute_a_payment_is_forgotten_once_the_payment_is_final() {
    let kept = submitting().state.paid.payment;
    assert!(!kept.authorization.credential.0.is_empty() && !kept.preparation.0.is_empty());
    let paid = settling().settled(settlement(Finality::Final), NOW).state.paid;
    assert_eq!(paid.standing, Standing::Final);
    assert!(paid.payment.authorization.credential.0.is_empty());
    assert!(paid.payment.preparation.0.is_empty());
    // But not which credential it was: the payer may ask again.
    assert_eq!(paid.payment.authorization.digest, Credential(b"signed".to_vec()).digest());
}

#[test]
fn a_refusal_after_a_lost_answer_leaves_the_doubt() {
    let refused = submitting().failed(Setback::Refused, NOW);
    assert!(matches!(refused.state.shortfall, Shortfall::Refused(_)));
    let lost = submitting().failed(Setback::Lost, NOW);
    let Reopened::Owed(again) = lost.reopen() else { panic!("the card's text is there") };
    let refused_later = again.again(NOW).failed(Setback::Refused, NOW);
    assert!(matches!(refused_later.state.shortfall, Shortfall::Lost(_)));
}

#[test]
fn a_card_whose_text_is_gone_cannot_be_mailed_again() {
    let mailed = submitting().accepted(Mailpiece("7".into()), NOW);
    assert!(matches!(mailed.undelivered(NOW).reopen(), Reopened::Ended(_)));
}

#[test]
fn another_payment_for_the_same_order_has_another_submission_key() {
    let one = submitting();
    let mut other = submitting();
    other.state.paid.payment.authorization.keys = vec![PaymentKey([6; 32])];
    assert_eq!(one.submission_key(), submitting().submission_key());
    assert_ne!(one.submission_key(), other.submission_key());
}

#[test]
fn a_mailed_card_is_left_alone_once_it_has_arrived_and_its_money_is_final() {
    let arrived = Delivery { stage: Stage::Delivered, at: NOW };
    let provisional = submitting().accepted(Mailpiece("7".into()), NOW).followed(arrived, NOW);
    assert!(provisional.attention.due.is_some());
    let paid = settling().settled(settlement(Finality::Final), NOW);
    let done = paid.accepted(Mailpiece("7".into()), NOW).followed(arrived, NOW);
    assert_eq!(done.attention, Attention::NONE);
}

#[test]
fn the_lists_for_queries_have_the_states_that_the_domain_means() {
    for order in crate::testing::contract::samples::every_state(1) {
        let state = order.headline();
        assert_eq!(Stored::IN_PLAY.contains(&state), order.is_in_play(), "{state}");
        let waits = order.is_in_flight() || matches!(order, Stored::Unconfirmed(_));
        assert_eq!(order.is_recovered_at_once(), waits, "{state}");
    }
}

/// From, function and to, of each row of the table of transitions.
fn documented() -> Vec<(String, String, String)> {
    let rows = include_str!("../lifecycle.rs").lines().filter(|line| line.starts_with("//! | `"));
    let cells = rows.map(|row| row.split('`').skip(1).step_by(2).map(str::to_owned).collect());
    cells
        .map(|cells: Vec<String>| match cells.as_slice() {
            [from, function, to] => (from.clone(), function.clone(), to.clone()),
            _ => panic!("a row has three names: {cells:?}"),
        })
        .collect()
}

/// The same of each function that consumes an order and returns one in another state.
fn written() -> Vec<(String, String, String)> {
    let text = include_str!("transitions.rs").replace("Reopened {", "Order<Submitting> {");
    let mut transitions = Vec::new();
    for part in text.split("impl Order<").skip(1) {
        let (from, body) = part.split_once('>').unwrap();
        for function in body.split("pub fn ").skip(1) {
            let (name, rest) = function.split_once('(').unwrap();
            let (parameters, rest) = rest.split_once(')').unwrap();
            let result = rest.split_once('{').unwrap().0;
            let by_value = !parameters.contains("&self") && parameters.contains("self");
            if let Some((_, to)) = result.split_once("Order<").filter(|_| by_value) {
                let to = to.split_once('>').unwrap().0;
                transitions.push((from.to_owned(), name.to_owned(), to.to_owned()));
            }
        }
    }
    transitions
}

#[test]
fn the_table_of_transitions_has_every_function_that_changes_the_state() {
    let sorted = |mut rows: Vec<_>| {
        rows.sort();
        rows
    };
    assert_eq!(sorted(documented()), sorted(written()));
}
