//! `GET /v1/report`: one row for each order whose money moved in a period, for the books.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use order::lifecycle::{Paid, Stored};
use order::model::chain::Network;
use order::model::ids::Timestamp;
use order::operator::OperatorActions;
use order::operator::filter::OrderFilter;
use order::operator::page::OrderPage;
use order::operator::transfers::{ChainTransaction, TransactionHash};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::parameters::{QueryParameters, place_text};
use crate::operator::error::{OperatorError, respond};
use crate::operator::order_facts;
use crate::operator::state::OperatorState;

const PAGE: usize = 100;
/// Calls to the nodes at the same time.
const CONCURRENT_CALLS: usize = 8;
/// An order may begin a day before it is paid.
const BEFORE_SECONDS: u64 = 24 * 60 * 60;

/// What our settler paid for a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GasPaid {
    Wei(u128),
    /// Another account sent the transaction.
    ByOthers,
    /// The node did not answer, or its block is not final yet.
    Unknown,
}

/// A page of rows, the order that began last first. Orders belong to the period in which their
/// money moved.
pub(super) async fn page(
    State(state): State<Arc<OperatorState>>,
    RawQuery(query): RawQuery,
) -> Result<Response, OperatorError> {
    let parameters = QueryParameters::parse(query.as_deref(), &["from", "until", "after"])?;
    let (from, until) = (parameters.needed_time("from")?, parameters.needed_time("until")?);
    if until <= from {
        return Err(OperatorError::invalid("`until` must be after `from`."));
    }
    let filter = OrderFilter {
        since: Some(Timestamp(from.0.saturating_sub(BEFORE_SECONDS))),
        until: Some(until),
        after: parameters.place("after")?,
        ..OrderFilter::default()
    };
    let OrderPage { orders, unreadable, next } = state.store.list(&filter, PAGE).await?;
    let settled = |order: &&Stored| {
        order.paid().is_some_and(|paid| (from..until).contains(&paid.settlement.at))
    };
    let orders: Vec<&Stored> = orders.iter().filter(settled).collect();
    let gas = gas_of(&state, &orders).await;
    let rows: Vec<Value> = orders.iter().filter_map(|order| row(order, &gas)).collect();
    let unreadable: Vec<Value> = unreadable.iter().map(order_facts::unreadable).collect();
    let page = json!({ "rows": rows, "unreadable": unreadable, "next": next.map(place_text) });
    Ok(respond(StatusCode::OK, &page))
}

type GasByTransaction = BTreeMap<(Network, String), GasPaid>;

/// What each transaction cost, read from the nodes.
async fn gas_of(state: &OperatorState, orders: &[&Stored]) -> GasByTransaction {
    let Some(settler) = state.settler else { return BTreeMap::new() };
    let permits = Arc::new(Semaphore::new(CONCURRENT_CALLS));
    let mut calls = JoinSet::new();
    for paid in orders.iter().filter_map(|order| order.paid()) {
        let (network, hash) =
            (paid.payment.authorization.network, paid.settlement.transaction.clone());
        let (actions, permits) = (state.actions.clone(), permits.clone());
        calls.spawn(async move {
            // The semaphore is never closed.
            let _permit = permits.acquire().await;
            let gas = match read_transaction(&actions, network, &hash).await {
                Some(ChainTransaction::Final(found)) if found.sender == settler => {
                    GasPaid::Wei(found.fee_wei)
                }
                Some(ChainTransaction::Final(_)) => GasPaid::ByOthers,
                Some(
                    ChainTransaction::Unknown
                    | ChainTransaction::Reverted
                    | ChainTransaction::NotFinal,
                )
                | None => GasPaid::Unknown,
            };
            ((network, hash), gas)
        });
    }
    calls.join_all().await.into_iter().collect()
}

async fn read_transaction(
    actions: &OperatorActions,
    network: Network,
    hash: &str,
) -> Option<ChainTransaction> {
    let hash = TransactionHash::parse(hash).ok()?;
    actions.transfers.transaction(network, &hash).await.ok()
}

fn row(order: &Stored, gas: &GasByTransaction) -> Option<Value> {
    let Paid { payment, settlement, quote, country, .. } = order.paid()?;
    let authorization = &payment.authorization;
    let key = (authorization.network, settlement.transaction.clone());
    let (gas_wei, gas_known) = match gas.get(&key) {
        Some(GasPaid::Wei(wei)) => (Some(wei.to_string()), true),
        Some(GasPaid::ByOthers) | None => (None, true),
        Some(GasPaid::Unknown) => (None, false),
    };
    Some(json!({
        "id": order.id().to_string(),
        "created_at": order.created_at().to_string(),
        "settled_at": settlement.at.to_string(),
        "seller": order.operation().seller.as_str(),
        "country": country.as_str(),
        "protocol": order_facts::protocol(authorization.tender),
        "network": authorization.network.caip2(),
        "payer": authorization.payer.to_string(),
        "transaction": settlement.transaction,
        "cost_cents": quote.total().0,
        "charge_atomic": settlement.amount.atomic(),
        "gas_wei": gas_wei,
        "gas_known": gas_known,
        "refund": order_facts::refund(order),
        "state": order.headline(),
    }))
}
