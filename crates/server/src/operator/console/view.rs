//! An order as the templates show it. Nothing of the card is read here.

use minijinja::context;
use minijinja::value::Value;
use order::lifecycle::event::Event;
use order::lifecycle::{Doubt, Mailed, Paid, Shortfall, Standing, Stored, Submitting};
use order::model::ids::Timestamp;
use order::model::mail::{Delivery, ProviderQuote, Stage};
use order::model::payment::Payment;
use order::operator::filter::{ATTENTION_FINALITY_SECONDS, needs_attention};
use order::operator::page::UnreadableOrder;

use super::labels;
use crate::operator::order_facts;

/// One line of a list.
pub(super) fn row(order: &Stored, now: Timestamp) -> Value {
    let authorization = order.payment().map(|payment| &payment.authorization);
    context! {
        id => order.id().to_string(),
        state => state(order.headline()),
        stage => delivery(order).map(|delivery| labels::stage(delivery.stage)),
        created_at => order.created_at().0,
        updated_at => order.updated_at().0,
        charge => order.payment().map(|payment| payment.charge.to_string()),
        network => authorization.map(|authorization| labels::network(authorization.network)),
        payer => authorization.map(|authorization| authorization.payer.to_string()),
        attention => attention(order, now),
    }
}

/// An order whose row cannot be read.
pub(super) fn unreadable(order: &UnreadableOrder) -> Value {
    context! {
        id => order.id.to_string(),
        created_at => order.created_at.0,
        state => state(&order.state),
    }
}

/// Everything about one order.
pub(super) fn order(order: &Stored, now: Timestamp) -> Value {
    let attention_facts = order.attention();
    context! {
        version => order.version(),
        facts_digest => order_facts::facts_digest(order, now),
        seller => order.operation().seller.as_str(),
        owed => order_facts::owed(order),
        payment => order.payment().map(payment),
        settlement => order.paid().map(settlement),
        refund => refund(order),
        provider => provider(order),
        looks => attention_facts.looks,
        due_at => attention_facts.due.map(|due| due.0),
        acknowledged_at => attention_facts.acknowledged.map(|at| at.0),
        ..row(order, now)
    }
}

pub(super) fn state(headline: &str) -> Value {
    let (label, tone) = labels::state(headline);
    context! { code => headline, label => label, tone => tone.class() }
}

pub(super) fn event(event: &Event) -> Value {
    context! {
        version => event.version,
        at => event.at.0,
        actor => event.actor,
        by_operator => order_facts::is_by_operator(event),
        state => state(&event.state),
        evidence => event.evidence,
        note => event.note,
    }
}

/// Why an order needs a person now. None if it does not.
pub(super) fn attention(order: &Stored, now: Timestamp) -> Option<String> {
    if !needs_attention(order, now) {
        return None;
    }
    let looks = order.attention().looks;
    let in_vain = format!("Examined {looks} times without a result.");
    Some(match order {
        Stored::Unfulfilled(order) => match order.state.shortfall {
            Shortfall::Lost(_) => "It is not known whether the card was mailed.".to_owned(),
            Shortfall::Undelivered(_) => "The card will not arrive. A refund is due.".to_owned(),
            Shortfall::Erased(_) => "The card will not be mailed. A refund is due.".to_owned(),
            Shortfall::Refused(_) => in_vain,
        },
        Stored::Mailed(order) => match order.state.paid.standing {
            Standing::Reversed => {
                "The chain took the payment back after the card was mailed.".to_owned()
            }
            Standing::Provisional | Standing::Final => {
                let minutes = ATTENTION_FINALITY_SECONDS / 60;
                format!("The payment is not final after {minutes} minutes.")
            }
        },
        Stored::Offered(_)
        | Stored::Settling(_)
        | Stored::Unconfirmed(_)
        | Stored::Submitting(_)
        | Stored::Refunded(_)
        | Stored::Lapsed(_) => in_vain,
    })
}

fn payment(payment: &Payment) -> Value {
    let authorization = &payment.authorization;
    context! {
        tender => labels::tender(authorization.tender),
        network => labels::network(authorization.network),
        caip2 => authorization.network.caip2(),
        payer => authorization.payer.to_string(),
        pay_to => authorization.pay_to.to_string(),
        most => authorization.most.to_string(),
        charge => payment.charge.to_string(),
        deadline => authorization.deadline.0,
    }
}

fn settlement(paid: &Paid) -> Value {
    context! {
        transaction => paid.settlement.transaction,
        amount => paid.settlement.amount.to_string(),
        at => paid.settlement.at.0,
        standing => labels::standing(paid.standing),
        is_final => paid.standing == Standing::Final,
        quote => dollars(paid.quote),
    }
}

fn dollars(quote: ProviderQuote) -> String {
    let cents = quote.total().0;
    format!("{}.{:02}", cents / 100, cents % 100)
}

fn refund(order: &Stored) -> Value {
    let Stored::Refunded(order) = order else { return Value::from(()) };
    let refund = &order.state.refund;
    context! {
        transaction => refund.transaction,
        amount => refund.amount.to_string(),
        at => refund.at.0,
    }
}

/// What was submitted, and what the provider has.
fn provider(order: &Stored) -> Value {
    let account = order.submitted_to().map(|account| account.0.clone());
    match order {
        Stored::Submitting(order) => submission(&order.state, account),
        Stored::Unfulfilled(order) => match &order.state.shortfall {
            Shortfall::Refused(was) | Shortfall::Lost(was) => submission(was, account),
            Shortfall::Undelivered(was) => mailed(was, account),
            Shortfall::Erased(_) => context! { account => account },
        },
        Stored::Mailed(order) => mailed(&order.state, account),
        Stored::Refunded(order) => match &order.state.mailpiece {
            Some(mailpiece) => context! { account => account, mailpiece => mailpiece.0 },
            None => Value::from(()),
        },
        Stored::Offered(_) | Stored::Settling(_) | Stored::Unconfirmed(_) | Stored::Lapsed(_) => {
            Value::from(())
        }
    }
}

fn submission(was: &Submitting, account: Option<String>) -> Value {
    let doubt = match was.doubt {
        Doubt::None => "No earlier attempt can have mailed the card.",
        Doubt::Earlier => "The answer to an attempt was lost, so it may have mailed the card.",
    };
    context! { account => account, attempt => was.attempt, since => was.since.0, doubt => doubt }
}

fn mailed(was: &Mailed, account: Option<String>) -> Value {
    context! {
        account => account,
        mailpiece => was.mailpiece.0,
        mailed_at => was.mailed_at.0,
        stage => labels::stage(was.delivery.stage),
        stage_at => was.delivery.at.0,
    }
}

fn delivery(order: &Stored) -> Option<Delivery> {
    match order {
        Stored::Mailed(order) => Some(order.state.delivery),
        Stored::Offered(_)
        | Stored::Settling(_)
        | Stored::Unconfirmed(_)
        | Stored::Submitting(_)
        | Stored::Unfulfilled(_)
        | Stored::Refunded(_)
        | Stored::Lapsed(_) => None,
    }
    .filter(|delivery| delivery.stage != Stage::Accepted)
}
