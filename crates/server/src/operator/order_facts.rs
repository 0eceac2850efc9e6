//! An order as operators see it, in JSON: what is owed and what can be done. Nothing of the card
//! is read here, except the country that it goes to.

use std::hash::{DefaultHasher, Hash, Hasher};

use order::lifecycle::event::Event;
use order::lifecycle::{Paid, Shortfall, Standing, Stored, Submitting};
use order::model::card::Postcard;
use order::model::ids::Timestamp;
use order::model::mail::{Delivery, Stage};
use order::model::payment::{Payment, TenderKind};
use order::operator::filter::needs_attention;
use order::operator::page::UnreadableOrder;
use order::ports::NumberedEvent;
use serde_json::{Value, json};

use crate::operator::action_kind::ActionKind;

/// The states of orders for which a payment began.
pub(crate) const LISTED_STATES: [&str; 9] = [
    "settling",
    "unconfirmed",
    "submitting",
    "unfulfilled_refused",
    "unfulfilled_lost",
    "unfulfilled_undelivered",
    "unfulfilled_erased",
    "mailed",
    "refunded",
];

/// Everything about an order that is not personal data.
pub(crate) fn summary(order: &Stored, now: Timestamp) -> Value {
    let attention = order.attention();
    let mut facts = decisive_facts(order, now);
    facts["facts_digest"] = json!(digest_of(&facts));
    facts["version"] = json!(order.version());
    facts["examined_next_at"] = json!(attention.due.map(|at| at.to_string()));
    facts["examinations"] = json!(attention.looks);
    facts
}

/// The same as long as nothing changes by which an operator decides, also if the reconciler
/// examines the order without a result. Another version of the service may have another one for
/// the same order, which only makes an operator look again.
pub(crate) fn facts_digest(order: &Stored, now: Timestamp) -> String {
    digest_of(&decisive_facts(order, now))
}

fn digest_of(facts: &Value) -> String {
    let mut hasher = DefaultHasher::new();
    facts.to_string().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// What an operator decides by: everything but the version and the schedule of examinations.
fn decisive_facts(order: &Stored, now: Timestamp) -> Value {
    let actions = possible_actions(order).into_iter().map(ActionKind::name);
    json!({
        "id": order.id().to_string(),
        "state": order.headline(),
        "seller": order.operation().seller.as_str(),
        "created_at": order.created_at().to_string(),
        "updated_at": order.updated_at().to_string(),
        "needs_attention": needs_attention(order, now),
        "acknowledged_at": order.attention().acknowledged.map(|at| at.to_string()),
        "owed": owed(order),
        "possible_actions": actions.collect::<Vec<_>>(),
        "payment": order.payment().map(payment),
        "settlement": order.paid().map(settlement),
        "card": card_facts(order),
        "refund": refund(order),
    })
}

/// All that is known of an order whose row is damaged or encrypted with a missing key.
pub(crate) fn unreadable(order: &UnreadableOrder) -> Value {
    json!({
        "id": order.id.to_string(),
        "created_at": order.created_at.to_string(),
        "state": order.state,
    })
}

/// What is owed to the payer, in one sentence.
pub(crate) fn owed(order: &Stored) -> String {
    let text = match order {
        Stored::Offered(_) | Stored::Lapsed(_) => "Nothing. It is not paid.",
        Stored::Settling(_) => "Nothing yet. The payment is being settled.",
        Stored::Unconfirmed(_) => {
            "Perhaps a card. It is not known whether the payment moved; the reconciler asks the chain."
        }
        Stored::Submitting(_) => "A card. It is being submitted to the provider.",
        Stored::Unfulfilled(order) => match &order.state.shortfall {
            Shortfall::Refused(_) => {
                "A card. The provider refused it; the reconciler submits it again."
            }
            Shortfall::Lost(_) => {
                "A card, unless the provider has it: its answer was lost. Look at the provider's list, then attach the card or resubmit it."
            }
            Shortfall::Undelivered(was) => return refund_due(&was.paid),
            Shortfall::Erased(was) => return refund_due(&was.paid),
        },
        Stored::Mailed(order) => match (order.state.paid.standing, order.state.delivery.stage) {
            (Standing::Reversed, _) => {
                "Nothing. The card is mailed, but the chain was reorganised without the payment: the charge is lost."
            }
            (Standing::Provisional | Standing::Final, Stage::Returned) => {
                "Nothing more. The card was returned to the sender."
            }
            (
                Standing::Provisional | Standing::Final,
                Stage::Accepted | Stage::Mailed | Stage::Delivered | Stage::Failed,
            ) => "Nothing. The provider has the card.",
        },
        Stored::Refunded(_) => "Nothing. The charge was returned.",
    };
    text.to_owned()
}

fn refund_due(paid: &Paid) -> String {
    let authorization = &paid.payment.authorization;
    format!(
        "A refund: {} USDC from {} to {} on {}.",
        paid.settlement.amount, authorization.pay_to, authorization.payer, authorization.network
    )
}

/// The actions that the order's state allows.
pub(crate) fn possible_actions(order: &Stored) -> Vec<ActionKind> {
    use ActionKind::{Acknowledge, Attach, Refund};
    match order {
        Stored::Offered(_) | Stored::Lapsed(_) | Stored::Refunded(_) => Vec::new(),
        Stored::Settling(_) | Stored::Submitting(_) => Vec::new(),
        Stored::Unconfirmed(_) => vec![Acknowledge],
        Stored::Unfulfilled(order) => match order.state.shortfall {
            Shortfall::Refused(_) | Shortfall::Lost(_) => ActionKind::ALL.to_vec(),
            Shortfall::Undelivered(_) => vec![Refund, Acknowledge],
            Shortfall::Erased(_) => vec![Attach, Refund, Acknowledge],
        },
        Stored::Mailed(_) => vec![Refund, Acknowledge],
    }
}

fn payment(payment: &Payment) -> Value {
    let authorization = &payment.authorization;
    json!({
        "protocol": protocol(authorization.tender),
        "network": authorization.network.caip2(),
        "payer": authorization.payer.to_string(),
        "pay_to": authorization.pay_to.to_string(),
        "authorized": authorization.most.to_string(),
        "charge": payment.charge.to_string(),
        "valid_until": authorization.deadline.to_string(),
    })
}

pub(crate) const fn protocol(tender: TenderKind) -> &'static str {
    match tender {
        TenderKind::X402 => "x402",
        TenderKind::Mpp => "mpp",
    }
}

fn settlement(paid: &Paid) -> Value {
    json!({
        "transaction": paid.settlement.transaction,
        "amount": paid.settlement.amount.to_string(),
        "settled_at": paid.settlement.at.to_string(),
        "standing": match paid.standing {
            Standing::Provisional => "provisional",
            Standing::Final => "final",
            Standing::Reversed => "reversed",
        },
    })
}

/// Cost, provider and progress of the card.
fn card_facts(order: &Stored) -> Value {
    let Some(paid) = order.paid() else { return Value::Null };
    let mut facts = json!({
        "country": paid.country.as_str(),
        "cost_cents": paid.quote.total().0,
        "provider_account": order.submitted_to().map(|account| account.0.as_str()),
    });
    if let Some(submitting) = submitting(order) {
        facts["attempt"] = json!(submitting.attempt);
        facts["attempted_at"] = json!(submitting.attempted_at.to_string());
    }
    if let Some(mailed) = order.mailed() {
        facts["mailpiece"] = json!(mailed.mailpiece.0);
        facts["mailed_at"] = json!(mailed.mailed_at.to_string());
        facts["delivery"] = delivery(mailed.delivery);
    }
    facts
}

fn submitting(order: &Stored) -> Option<&Submitting> {
    match order {
        Stored::Submitting(order) => Some(&order.state),
        Stored::Unfulfilled(order) => match &order.state.shortfall {
            Shortfall::Refused(was) | Shortfall::Lost(was) => Some(was),
            Shortfall::Undelivered(_) | Shortfall::Erased(_) => None,
        },
        Stored::Offered(_)
        | Stored::Settling(_)
        | Stored::Unconfirmed(_)
        | Stored::Mailed(_)
        | Stored::Refunded(_)
        | Stored::Lapsed(_) => None,
    }
}

pub(crate) fn delivery(delivery: Delivery) -> Value {
    json!({
        "stage": match delivery.stage {
            Stage::Accepted => "accepted",
            Stage::Mailed => "mailed",
            Stage::Delivered => "delivered",
            Stage::Returned => "returned",
            Stage::Failed => "failed",
        },
        "at": delivery.at.to_string(),
    })
}

pub(crate) fn refund(order: &Stored) -> Value {
    match order {
        Stored::Refunded(order) => json!({
            "transaction": order.state.refund.transaction,
            "amount": order.state.refund.amount.to_string(),
            "at": order.state.refund.at.to_string(),
        }),
        Stored::Offered(_)
        | Stored::Settling(_)
        | Stored::Unconfirmed(_)
        | Stored::Submitting(_)
        | Stored::Unfulfilled(_)
        | Stored::Mailed(_)
        | Stored::Lapsed(_) => Value::Null,
    }
}

pub(crate) fn is_by_operator(event: &Event) -> bool {
    event.actor.starts_with("operator:")
}

pub(crate) fn event(event: &Event) -> Value {
    json!({
        "order": event.order.to_string(),
        "version": event.version,
        "at": event.at.to_string(),
        "actor": event.actor,
        "state": event.state,
        "evidence": event.evidence,
        "note": event.note,
    })
}

pub(crate) fn numbered_event(numbered: &NumberedEvent) -> Value {
    let mut facts = event(&numbered.event);
    facts["number"] = json!(numbered.number);
    facts
}

/// The card itself, which is personal data: only for `reveal`, which records that it was shown.
pub(crate) fn revealed_card(card: &Postcard) -> Value {
    let to = &card.recipient;
    json!({
        "front_image_url": card.front.as_str(),
        "message": card.message.as_str(),
        "recipient": {
            "name": to.name.as_str(),
            "address": to.address.as_str(),
            "city": to.city.as_str(),
            "province": to.province.as_str(),
            "postal_code": to.postal_code.as_str(),
            "country": to.country.as_str(),
        },
    })
}
