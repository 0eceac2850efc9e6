//! Tests of the pages: what they show, what they escape, and what they offer.

use axum::http::{StatusCode, header};
use minijinja::context;
use minijinja::value::Value;
use order::lifecycle::event::{Actor, Event};
use order::lifecycle::{Setback, Stored};
use order::model::ids::{OrderId, Timestamp};
use order::model::mail::{Delivery, Mailpiece, Stage};
use order::model::money::Usdc;
use order::model::payment::{Finality, Trace};
use order::operator::evidence::OrderEvidence;
use order::operator::filter::{ATTENTION_LOOKS, needs_attention};
use order::operator::page::{OrderPage, UnreadableOrder};
use order::operator::transfers::{ChainTransaction, ChainTransfer, FinalTransaction};
use order::testing::contract::samples::{NOW, card_of, every_state, mailed, paid, settlement};

use super::filters::ListQuery;
use super::orders::{OrderListPage, order_values};
use super::session::ConsoleSession;
use super::{acting, evidence, labels, pages, view};
use crate::operator::action_kind::ActionKind;

/// What the sample cards and credentials contain.
const PRIVATE: [&str; 9] = [
    "Greetings",
    "Ada",
    "Lovelace",
    "James",
    "London",
    "SW1Y",
    "images.example.org",
    "signed promise",
    "signed transaction",
];
const SCRIPT: &str = "\"'><script>alert(1)</script>";

fn session() -> ConsoleSession {
    ConsoleSession { operator: "ada@ops".parse().unwrap(), csrf: "0123abcd".into() }
}

fn html(template: &str, values: Value) -> String {
    pages::html(&session(), template, values)
        .unwrap_or_else(|fault| panic!("{template}: {fault:#}"))
}

fn later() -> Timestamp {
    NOW.plus(24 * 60 * 60)
}

fn order_page(order: &Stored) -> String {
    let events = [Event::of(order, 1, &Actor::Reconciler)].iter().map(view::event).collect();
    html("order.html", order_values(order, events, later()))
}

fn assert_private(page: &str) {
    for word in PRIVATE {
        assert!(!page.contains(word), "{word}: {page}");
    }
}

#[test]
fn every_state_has_a_page_without_anything_of_its_card() {
    for order in every_state(0) {
        let page = order_page(&order);
        assert!(page.contains(&order.id().to_string()));
        assert!(page.contains(labels::state(order.headline()).0), "{}", order.headline());
        assert_private(&page);
    }
}

#[test]
fn the_list_shows_every_state_without_anything_of_the_cards() {
    let orders: Vec<Stored> = every_state(0);
    let attention = orders.iter().filter(|order| needs_attention(order, later())).cloned();
    let attention: Vec<Stored> = attention.collect();
    assert!(!attention.is_empty());
    let counts = vec![("unfulfilled_lost".to_owned(), 7)];
    let damaged = UnreadableOrder {
        id: OrderId::from_bytes([7; 16]),
        created_at: NOW,
        state: "unfulfilled_lost".to_owned(),
    };
    let (attention, orders) = (
        OrderPage { orders: attention, ..OrderPage::default() },
        OrderPage { orders, unreadable: vec![damaged.clone()], next: None },
    );
    let list = OrderListPage { attention: Some(attention), orders, counts };
    let page = html("list.html", list.value(&ListQuery::parse("", later()), later()));
    assert!(page.contains("Outcome unknown (7)") && page.contains("Settling (0)"));
    assert!(page.contains(">Mailed</option>"), "orders at rest are not counted");
    assert!(page.contains("2.1175 <small>USDC</small>"));
    assert!(page.contains("1 order cannot be read") && page.contains(&damaged.id.to_string()));
    assert!(page.contains("<time datetime=\"2030-03-17T17:46:40Z\">2030-03-17 17:46</time>"));
    assert_private(&page);
}

#[test]
fn a_list_links_to_the_next_page_only_if_there_is_one() {
    let orders: Vec<Stored> = (0..51).map(|seed| mailed(seed).into()).collect();
    let query = ListQuery::parse("state=mailed", NOW);
    let page = |count: usize| {
        let orders = OrderPage::of(orders[..count].iter().cloned().map(Ok).collect(), 50);
        let list = OrderListPage { attention: None, orders, counts: Vec::new() };
        html("list.html", list.value(&query, NOW))
    };
    let last = orders[49].id();
    let link = format!("?state=mailed&amp;after={}-{last}\"", orders[49].created_at().0);
    let full = page(51);
    assert!(full.contains(&link), "{full}");
    assert!(!full.contains(&orders[50].id().to_string()), "it is on the next page");
    assert!(!page(50).contains("Older"));
}

#[test]
fn what_others_wrote_is_escaped() {
    let order = Stored::from(mailed(1));
    let mut event = Event::of(&order, 1, &Actor::Checkout);
    for text in [&mut event.actor, &mut event.state, &mut event.evidence, &mut event.note] {
        SCRIPT.clone_into(text);
    }
    let page = html("order.html", order_values(&order, vec![view::event(&event)], NOW));
    assert!(!page.contains("<script") && page.contains("&lt;script"), "{page}");
    let query = format!("payer={SCRIPT}&state={SCRIPT}&since={SCRIPT}");
    let list = OrderListPage { attention: None, orders: OrderPage::default(), counts: Vec::new() };
    let page = html("list.html", list.value(&ListQuery::parse(&query, NOW), NOW));
    assert!(!page.contains("<script") && page.contains("&lt;script"), "{page}");
    assert_eq!(page.matches("role=\"alert\"").count(), 3, "{page}");
}

/// The actions that the page of an order offers.
fn offered(order: &Stored) -> Vec<&'static str> {
    let page = order_page(order);
    let names = ActionKind::ALL.map(ActionKind::name);
    let is_offered = |name: &&str| page.contains(&format!("/{name}\""));
    names.into_iter().filter(is_offered).collect()
}

#[test]
fn actions_are_offered_only_where_they_are_possible() {
    let lost = Stored::from(paid(1).failed(Setback::Lost, NOW));
    let all = ["resubmit", "attach", "refund", "acknowledge", "erase", "reveal"];
    assert_eq!(offered(&lost), all);
    let refused = Stored::from(paid(1).failed(Setback::Refused, NOW));
    assert_eq!(offered(&refused), ["resubmit", "attach", "refund", "erase", "reveal"]);
    let erased = Stored::from(paid(1).erased(NOW));
    assert_eq!(offered(&erased), ["attach", "refund", "acknowledge"]);
    let undelivered = Stored::from(mailed(1).undelivered(NOW));
    assert_eq!(offered(&undelivered), ["refund", "acknowledge"]);
    for order in every_state(0) {
        let actions = offered(&order);
        let expected: &[&str] = match &order {
            Stored::Unfulfilled(_) => continue,
            Stored::Mailed(_) if needs_attention(&order, later()) => &["refund", "acknowledge"],
            Stored::Mailed(_) => &["refund"],
            Stored::Offered(_)
            | Stored::Settling(_)
            | Stored::Unconfirmed(_)
            | Stored::Submitting(_)
            | Stored::Refunded(_)
            | Stored::Lapsed(_) => &[],
        };
        assert_eq!(actions, expected, "{}", order.headline());
    }
}

#[test]
fn an_acknowledged_order_is_not_acknowledged_again() {
    let mut order = Stored::from(mailed(1).undelivered(NOW));
    let mut attention = order.attention();
    attention.acknowledged = Some(NOW);
    order.set_attention(attention);
    assert_eq!(offered(&order), ["refund"]);
    let page = order_page(&order);
    assert!(page.contains("Acknowledged") && !page.contains("Needs attention"));
}

#[test]
fn an_order_that_is_examined_in_vain_says_how_often() {
    let mut order = Stored::from(paid(1).failed(Setback::Refused, NOW));
    let mut attention = order.attention();
    attention.looks = ATTENTION_LOOKS;
    order.set_attention(attention);
    assert!(order_page(&order).contains("Examined 9 times without a result."));
}

#[test]
fn every_form_that_changes_something_has_the_csrf_token_and_the_version() {
    let mut order = Stored::from(paid(1).failed(Setback::Lost, NOW));
    order.set_version(42);
    let page = order_page(&order);
    let forms = page.matches("method=\"post\"").count();
    assert_eq!(forms, 1 + ActionKind::ALL.len(), "log out, and the actions");
    assert_eq!(page.matches("name=\"csrf\" value=\"0123abcd\"").count(), forms);
    assert_eq!(page.matches("name=\"version\" value=\"42\"").count(), forms - 1);
}

#[test]
fn the_confirmation_states_the_effect_and_repeats_what_was_typed() {
    let order = Stored::from(paid(1).failed(Setback::Lost, NOW));
    for action in ActionKind::ALL {
        let values = acting::tests::confirmation(action, &order, SCRIPT);
        let page = html("confirm.html", values);
        assert!(!page.contains("<script") && page.contains("&lt;script"), "{page}");
        assert!(page.contains("name=\"confirmed\""));
        assert_eq!(page.matches("name=\"csrf\"").count(), 2, "log out, and the action");
        assert_private(&page);
    }
}

#[test]
fn evidence_is_shown_as_it_was_found() {
    let address = |byte| order::model::chain::EvmAddress::from_bytes([byte; 20]);
    let transfer =
        ChainTransfer { from: address(5), to: address(6), amount: Usdc::from_atomic(2_117_500) };
    let found =
        FinalTransaction { at: NOW, sender: address(7), fee_wei: 91, transfers: vec![transfer] };
    let traces = [
        None,
        Some(Trace::Open),
        Some(Trace::Void),
        Some(Trace::Moved(settlement(Finality::Provisional))),
        Some(Trace::Moved(settlement(Finality::Final))),
    ];
    let transactions = [
        None,
        Some(ChainTransaction::Unknown),
        Some(ChainTransaction::Reverted),
        Some(ChainTransaction::NotFinal),
        Some(ChainTransaction::Final(found)),
    ];
    for order in every_state(0) {
        for (payment, transaction) in traces.iter().zip(&transactions) {
            let evidence = OrderEvidence {
                order: order.clone(),
                events: Vec::new(),
                collected_at: NOW,
                payment: payment.clone(),
                transaction: transaction.clone(),
                refund: transaction.clone(),
                cards: payment.as_ref().map(|_| vec![Mailpiece(SCRIPT.into())]),
                delivery: Some(Delivery { stage: Stage::Returned, at: NOW }),
            };
            let page = html("evidence.html", evidence::value(&evidence, NOW));
            assert!(!page.contains("<script"));
            assert_eq!(page.contains("&lt;script"), payment.is_some());
            assert_private(&page);
        }
    }
}

#[test]
fn a_revealed_card_is_shown_in_full_and_escaped() {
    let page = html("card.html", acting::tests::revealed(&card_of(7)));
    for text in ["Greetings, number 7.", "Ada Lovelace", "12 St James&#x27;s Square", "SW1Y 4LB"] {
        assert!(page.contains(text), "{text}: {page}");
    }
}

#[test]
fn every_state_has_a_label() {
    for order in every_state(0) {
        assert!(labels::STATES.iter().any(|(code, ..)| *code == order.headline()));
    }
}

#[test]
fn no_page_is_cached_framed_or_runs_a_script() {
    let values = context! { title => "A", text => "B", order => Value::from(()), failed => false };
    let shown = pages::page(&session(), StatusCode::OK, "result.html", values);
    for page in [shown, pages::login_page(StatusCode::UNAUTHORIZED, Some("This is not the token."))]
    {
        let text = |name| page.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(text(header::CACHE_CONTROL), "no-store");
        assert_eq!(text(header::X_FRAME_OPTIONS), "DENY");
        let policy = text(header::CONTENT_SECURITY_POLICY);
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert!(!policy.contains("script-src"), "{policy}");
    }
}

#[test]
fn no_template_has_a_script_or_an_inline_style() {
    for (name, text) in pages::TEMPLATES {
        for banned in ["<script", "style=", "<style", " onclick", "| safe", "|safe"] {
            assert!(!text.contains(banned), "{name}: {banned}");
        }
    }
}
