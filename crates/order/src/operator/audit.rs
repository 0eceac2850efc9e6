//! Compares money and cards in a period with the orders, to the unit.

use std::collections::BTreeMap;

use crate::lifecycle::Stored;
use crate::model::chain::{EvmAddress, Network};
use crate::model::ids::{OrderId, Timestamp};
use crate::model::mail::{AcceptedCard, Mailpiece, ProviderAccount};
use crate::model::money::Usdc;
use crate::operator::transfers::ReceivedTransfer;

/// What an audit compares. Orders may lie outside of the period: a payment at its edge belongs
/// to an order that began before.
pub struct AuditedPeriod<'a> {
    pub from: Timestamp,
    pub until: Timestamp,
    pub orders: &'a [Stored],
    /// Orders of the period whose rows cannot be read.
    pub unreadable: &'a [OrderId],
    pub transfers: &'a [ReceivedTransfer],
    /// The cards of one provider account.
    pub cards: &'a [AcceptedCard],
    /// That account. None if its list was not read, so that cards are not compared.
    pub account: Option<&'a ProviderAccount>,
}

/// The result of an audit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditReport {
    pub orders: u64,
    pub charged: u64,
    pub transfers: u64,
    pub received: u64,
    pub cards: u64,
    pub differences: Vec<Difference>,
}

/// Something that the orders and the outside do not agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// USDC was transferred to a seller, and no order was paid with it.
    UnknownTransfer(ReceivedTransfer),
    /// An order was paid, and the chain has no such transfer.
    MissingTransfer { order: OrderId, network: Network, transaction: String, amount: Usdc },
    /// The transfer of an order has another amount than its charge.
    OtherAmount { order: OrderId, transaction: String, charged: Usdc, received: Usdc },
    /// The provider has a card that belongs to no order.
    UnknownCard { mailpiece: Mailpiece, reference: Option<OrderId> },
    /// The provider has more than one card for an order.
    SecondCard { order: OrderId, mailpiece: Mailpiece },
    /// An order is mailed, and the provider's list does not have its card.
    MissingCard { order: OrderId, mailpiece: Mailpiece },
    /// The provider has a card of an order that is not known to be mailed.
    UnrecordedCard { order: OrderId, mailpiece: Mailpiece },
    /// The order's row cannot be read, so that its money and card are not compared.
    UnreadableOrder { order: OrderId },
}

impl Difference {
    /// Machine-readable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UnknownTransfer(_) => "unknown_transfer",
            Self::MissingTransfer { .. } => "missing_transfer",
            Self::OtherAmount { .. } => "other_amount",
            Self::UnknownCard { .. } => "unknown_card",
            Self::SecondCard { .. } => "second_card",
            Self::MissingCard { .. } => "missing_card",
            Self::UnrecordedCard { .. } => "unrecorded_card",
            Self::UnreadableOrder { .. } => "unreadable_order",
        }
    }
}

/// The sellers' accounts that the orders were paid to.
pub fn accounts(orders: &[Stored], network: Network) -> Vec<EvmAddress> {
    let payments = orders.iter().filter_map(Stored::payment).map(|paid| &paid.authorization);
    let mut accounts: Vec<_> =
        payments.filter(|paid| paid.network == network).map(|paid| paid.pay_to).collect();
    accounts.sort_unstable();
    accounts.dedup();
    accounts
}

pub fn audit(period: &AuditedPeriod<'_>) -> AuditReport {
    let mut report = AuditReport::default();
    audit_money(period, &mut report);
    audit_cards(period, &mut report);
    let unreadable =
        period.unreadable.iter().map(|order| Difference::UnreadableOrder { order: *order });
    report.differences.extend(unreadable);
    report
}

fn audit_money(period: &AuditedPeriod<'_>, report: &mut AuditReport) {
    // One transaction may pay several orders, in the same amounts.
    let mut open: BTreeMap<(Network, String), Vec<&ReceivedTransfer>> = BTreeMap::new();
    for received in period.transfers {
        let hash = received.transaction.as_str().to_owned();
        open.entry((received.network, hash)).or_default().push(received);
    }
    for order in period.orders {
        let Some(paid) = order.paid() else { continue };
        let (settlement, authorization) = (&paid.settlement, &paid.payment.authorization);
        let counts = period.covers(settlement.at);
        if counts {
            report.orders += 1;
            report.charged += settlement.amount.atomic();
        }
        let hash = settlement.transaction.to_ascii_lowercase();
        let found = open.get_mut(&(authorization.network, hash));
        let matching = |received: &&ReceivedTransfer| {
            received.transfer.to == authorization.pay_to
                && received.transfer.from == authorization.payer
        };
        let taken = found.and_then(|all| all.iter().position(matching).map(|at| all.remove(at)));
        let (order, transaction) = (order.id(), settlement.transaction.clone());
        let (network, amount) = (authorization.network, settlement.amount);
        match taken {
            Some(received) if received.transfer.amount == amount => {}
            Some(received) => report.differences.push(Difference::OtherAmount {
                order,
                transaction,
                charged: amount,
                received: received.transfer.amount,
            }),
            None if counts => report.differences.push(Difference::MissingTransfer {
                order,
                network,
                transaction,
                amount,
            }),
            None => {}
        }
    }
    let counted = period.transfers.iter().filter(|received| period.covers(received.at));
    for received in counted {
        report.transfers += 1;
        report.received += received.transfer.amount.atomic();
    }
    let left = open.into_values().flatten().filter(|received| period.covers(received.at));
    report.differences.extend(left.cloned().map(Difference::UnknownTransfer));
}

fn audit_cards(period: &AuditedPeriod<'_>, report: &mut AuditReport) {
    let Some(account) = period.account else { return };
    let orders: BTreeMap<OrderId, &Stored> =
        period.orders.iter().map(|order| (order.id(), order)).collect();
    let listed: BTreeMap<&Mailpiece, &AcceptedCard> =
        period.cards.iter().map(|card| (&card.mailpiece, card)).collect();
    for card in period.cards.iter().filter(|card| period.covers(card.at)) {
        report.cards += 1;
        let mailpiece = card.mailpiece.clone();
        let order = card.order.and_then(|order| orders.get(&order).copied());
        report.differences.extend(match order {
            None => Some(Difference::UnknownCard { mailpiece, reference: card.order }),
            Some(order) => match recorded_card(order) {
                Some(recorded) if *recorded == mailpiece => None,
                Some(_) => Some(Difference::SecondCard { order: order.id(), mailpiece }),
                None => Some(Difference::UnrecordedCard { order: order.id(), mailpiece }),
            },
        });
    }
    for order in period.orders {
        let Stored::Mailed(mailed) = order else { continue };
        let (mailpiece, ours) =
            (&mailed.state.mailpiece, mailed.state.submitted_to.as_ref() == Some(account));
        if ours && period.covers(mailed.state.mailed_at) && !listed.contains_key(mailpiece) {
            let (order, mailpiece) = (order.id(), mailpiece.clone());
            report.differences.push(Difference::MissingCard { order, mailpiece });
        }
    }
}

/// The card that the order names.
fn recorded_card(order: &Stored) -> Option<&Mailpiece> {
    match order {
        Stored::Refunded(order) => order.state.mailpiece.as_ref(),
        Stored::Offered(_)
        | Stored::Settling(_)
        | Stored::Unconfirmed(_)
        | Stored::Submitting(_)
        | Stored::Unfulfilled(_)
        | Stored::Mailed(_)
        | Stored::Lapsed(_) => order.mailed().map(|mailed| &mailed.mailpiece),
    }
}

impl AuditedPeriod<'_> {
    fn covers(&self, at: Timestamp) -> bool {
        self.from <= at && at < self.until
    }
}
