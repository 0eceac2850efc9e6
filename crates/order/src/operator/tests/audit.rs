//! The audit finds every difference, and none where there is none.

use super::*;
use crate::model::mail::{AcceptedCard, Mailpiece};
use crate::model::money::Usdc;
use crate::operator::audit::{AuditReport, AuditedPeriod, Difference, audit};
use crate::operator::transfers::ChainTransfer;

/// Everything that agrees with the one order of a shop.
struct Books {
    orders: Vec<Stored>,
    unreadable: Vec<OrderId>,
    transfers: Vec<ReceivedTransfer>,
    cards: Vec<AcceptedCard>,
    shop: Shop,
}

impl Books {
    fn of(shop: Shop) -> Self {
        let order = shop.stored();
        let paid = order.paid().unwrap();
        let authorization = &paid.payment.authorization;
        let hash = format!("0x{}", "ab".repeat(32));
        let transfer = ReceivedTransfer {
            network: authorization.network,
            transaction: TransactionHash::parse(&hash).unwrap(),
            at: paid.settlement.at,
            transfer: ChainTransfer {
                from: authorization.payer,
                to: authorization.pay_to,
                amount: paid.settlement.amount,
            },
        };
        let mut orders = vec![order];
        set_transaction(&mut orders[0], &hash);
        let cards = shop.world.provider.lock().unwrap().mailpieces.clone();
        let card = |card: &crate::testing::fakes::provider::FakeMailpiece| AcceptedCard {
            mailpiece: card.id.clone(),
            order: Some(card.order),
            at: card.accepted_at,
            total: None,
        };
        let cards = cards.iter().map(card).collect();
        Self { orders, unreadable: Vec::new(), transfers: vec![transfer], cards, shop }
    }

    fn audit(&self) -> AuditReport {
        let account = self.shop.actions.writer.provider.account();
        let now = self.shop.world.time();
        audit(&AuditedPeriod {
            from: Timestamp(now.0 - 3_600),
            until: now.plus(3_600),
            orders: &self.orders,
            unreadable: &self.unreadable,
            transfers: &self.transfers,
            cards: &self.cards,
            account: Some(&account),
        })
    }

    fn codes(&self) -> Vec<&'static str> {
        self.audit().differences.iter().map(Difference::code).collect()
    }
}

fn set_transaction(order: &mut Stored, hash: &str) {
    let Stored::Mailed(order) = order else { panic!("{order:?}") };
    order.state.paid.settlement.transaction = hash.to_owned();
}

#[test]
fn an_order_that_cannot_be_read_is_a_difference() {
    let mut books = Books::of(Shop::after(SimulatedFault::None));
    books.unreadable.push(OrderId::from_bytes([9; 16]));
    assert_eq!(books.codes(), ["unreadable_order"]);
}

#[test]
fn books_that_agree_have_no_difference() {
    let books = Books::of(Shop::after(SimulatedFault::None));
    let report = books.audit();
    assert_eq!(report.differences, []);
    assert_eq!((report.orders, report.transfers, report.cards), (1, 1, 1));
    assert_eq!((report.charged, report.received), (2_420_000, 2_420_000));
}

#[test]
fn each_difference_is_listed() {
    let books = || Books::of(Shop::after(SimulatedFault::None));
    let mut planted = books();
    planted.transfers.push(ReceivedTransfer {
        transaction: TransactionHash::parse(&format!("0x{}", "cd".repeat(32))).unwrap(),
        ..planted.transfers[0].clone()
    });
    assert_eq!(planted.codes(), ["unknown_transfer"]);
    // A second transfer in the same transaction pays for nothing either.
    let mut twice = books();
    twice.transfers.push(twice.transfers[0].clone());
    assert_eq!(twice.codes(), ["unknown_transfer"]);
    let mut missing = books();
    missing.transfers.clear();
    assert_eq!(missing.codes(), ["missing_transfer"]);
    let mut less = books();
    less.transfers[0].transfer.amount = Usdc::from_atomic(2_419_999);
    assert_eq!(less.codes(), ["other_amount"]);
    let mut elsewhere = books();
    elsewhere.transfers[0].network = Network::Polygon;
    assert_eq!(elsewhere.codes(), ["missing_transfer", "unknown_transfer"]);
}

#[test]
fn each_difference_between_cards_and_orders_is_listed() {
    let books = || Books::of(Shop::after(SimulatedFault::None));
    let mut planted = books();
    let strange = AcceptedCard {
        mailpiece: Mailpiece("planted".into()),
        order: None,
        ..planted.cards[0].clone()
    };
    planted.cards.push(strange.clone());
    assert_eq!(planted.codes(), ["unknown_card"]);
    let mut second = books();
    let order = Some(second.shop.order);
    second.cards.push(AcceptedCard { order, ..strange });
    assert_eq!(second.codes(), ["second_card"]);
    let mut missing = books();
    missing.cards.clear();
    assert_eq!(missing.codes(), ["missing_card"]);
    let lost = Shop::after(SimulatedFault::None);
    let mut unrecorded = Books::of(lost);
    let Stored::Mailed(order) = unrecorded.orders[0].clone() else { panic!("it is mailed") };
    unrecorded.orders[0] = order.undelivered(Timestamp(1)).into();
    assert_eq!(unrecorded.codes(), [""; 0], "an undelivered order names its card");
}

#[test]
fn what_lies_outside_of_the_period_is_matched_and_not_counted() {
    let mut books = Books::of(Shop::after(SimulatedFault::None));
    let early = Timestamp(books.shop.world.time().0 - 3_601);
    books.transfers[0].at = early;
    let report = books.audit();
    assert_eq!((report.transfers, report.differences), (0, Vec::new()));
}
