//! The evidence of an order as the templates show it.

use minijinja::context;
use minijinja::value::Value;
use order::model::ids::Timestamp;
use order::model::payment::{Finality, Trace};
use order::operator::evidence::OrderEvidence;
use order::operator::transfers::{ChainTransaction, FinalTransaction};

use super::{labels, view};

pub(super) fn value(found: &OrderEvidence, now: Timestamp) -> Value {
    let cards = found.cards.as_ref();
    let cards = cards.map(|cards| cards.iter().map(|card| card.0.clone()).collect::<Vec<_>>());
    let delivery = found.delivery.map(|delivery| {
        context! { stage => labels::stage(delivery.stage), at => delivery.at.0 }
    });
    context! {
        order => view::order(&found.order, now),
        collected_at => found.collected_at.0,
        trace => found.payment.as_ref().map(trace),
        transaction => found.transaction.as_ref().map(transaction),
        refund_transaction => found.refund.as_ref().map(transaction),
        cards => cards,
        delivery => delivery,
    }
}

fn trace(trace: &Trace) -> Value {
    match trace {
        Trace::Moved(settlement) => context! {
            text => match settlement.finality {
                Finality::Provisional => "The money moved. Its block is not final yet.",
                Finality::Final => "The money moved, in a final block.",
            },
            transaction => settlement.transaction,
            amount => settlement.amount.to_string(),
            at => settlement.at.0,
        },
        Trace::Open => context! {
            text => "The money has not moved, and the authorization can still be used.",
        },
        Trace::Void => context! {
            text => "The money has not moved and never can: the authorization expired or was used \
                     elsewhere.",
        },
    }
}

fn transaction(transaction: &ChainTransaction) -> Value {
    match transaction {
        ChainTransaction::Unknown => {
            context! { text => "The network does not know it, or it is in no block." }
        }
        ChainTransaction::Reverted => context! { text => "It failed." },
        ChainTransaction::NotFinal => {
            context! { text => "It succeeded. Its block is not final yet." }
        }
        ChainTransaction::Final(found) => final_transaction(found),
    }
}

fn final_transaction(found: &FinalTransaction) -> Value {
    let transfers = found.transfers.iter().map(|transfer| {
        context! {
            from => transfer.from.to_string(),
            to => transfer.to.to_string(),
            amount => transfer.amount.to_string(),
        }
    });
    context! {
        text => "It succeeded, in a final block.",
        at => found.at.0,
        sender => found.sender.to_string(),
        fee_wei => found.fee_wei.to_string(),
        transfers => transfers.collect::<Vec<_>>(),
    }
}
