//! `GET /v1/orders/{id}/evidence`: what chain and provider say about an order now.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use order::model::payment::Trace;
use order::operator::evidence::OrderEvidence;
use order::operator::transfers::{ChainTransaction, ChainTransfer};
use serde_json::{Value, json};

use super::parameters::order_id;
use crate::operator::error::{OperatorError, respond};
use crate::operator::order_facts;
use crate::operator::state::OperatorState;

pub(super) async fn collect(
    State(state): State<Arc<OperatorState>>,
    Path(id): Path<String>,
) -> Result<Response, OperatorError> {
    let evidence = state.actions.evidence(order_id(&id)?).await?;
    Ok(respond(StatusCode::OK, &document(&evidence)))
}

/// One document for a dispute. Null means that the outside did not answer, or that there is
/// nothing to ask about.
fn document(evidence: &OrderEvidence) -> Value {
    let OrderEvidence {
        order,
        events,
        collected_at,
        payment,
        transaction,
        refund,
        cards,
        delivery,
    } = evidence;
    let cards = cards.as_ref().map(|cards| cards.iter().map(|card| card.0.as_str()).collect());
    json!({
        "collected_at": collected_at.to_string(),
        "order": order_facts::summary(order, *collected_at),
        "events": events.iter().map(order_facts::event).collect::<Vec<Value>>(),
        "chain": {
            "payment": payment.as_ref().map(traced),
            "payment_transaction": transaction.as_ref().map(chain_transaction),
            "refund_transaction": refund.as_ref().map(chain_transaction),
        },
        "provider": {
            "cards": cards.map_or(Value::Null, |cards: Vec<&str>| json!(cards)),
            "delivery": delivery.map(order_facts::delivery),
        },
    })
}

fn traced(trace: &Trace) -> Value {
    match trace {
        Trace::Moved(settlement) => json!({
            "outcome": "moved",
            "transaction": settlement.transaction,
            "amount": settlement.amount.to_string(),
            "at": settlement.at.to_string(),
        }),
        Trace::Open => json!({ "outcome": "open" }),
        Trace::Void => json!({ "outcome": "void" }),
    }
}

fn chain_transaction(transaction: &ChainTransaction) -> Value {
    match transaction {
        ChainTransaction::Unknown => json!({ "status": "unknown" }),
        ChainTransaction::Reverted => json!({ "status": "reverted" }),
        ChainTransaction::NotFinal => json!({ "status": "not_final" }),
        ChainTransaction::Final(found) => json!({
            "status": "final",
            "at": found.at.to_string(),
            "sender": found.sender.to_string(),
            "fee_wei": found.fee_wei.to_string(),
            "transfers": found.transfers.iter().map(transfer).collect::<Vec<Value>>(),
        }),
    }
}

pub(super) fn transfer(transfer: &ChainTransfer) -> Value {
    json!({
        "from": transfer.from.to_string(),
        "to": transfer.to.to_string(),
        "amount": transfer.amount.to_string(),
    })
}
