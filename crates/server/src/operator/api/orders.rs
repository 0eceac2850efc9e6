//! `GET /v1/orders` and `GET /v1/orders/{id}`: the list, and one order with its events.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use order::lifecycle::Stored;
use order::operator::filter::{AttentionFilter, OrderFilter};
use order::operator::page::OrderPage;
use order::operator::rejection::ActionRejection;
use serde_json::{Value, json};

use super::parameters::{QueryParameters, order_id, place_text};
use crate::operator::error::{OperatorError, respond};
use crate::operator::order_facts::{self, LISTED_STATES};
use crate::operator::state::OperatorState;

const PAGE: usize = 50;
const PAGE_MAX: usize = 200;
const PARAMETERS: &[&str] = &["state", "attention", "since", "until", "payer", "after", "limit"];

pub(super) async fn list(
    State(state): State<Arc<OperatorState>>,
    RawQuery(query): RawQuery,
) -> Result<Response, OperatorError> {
    let now = state.clock.now();
    let parameters = QueryParameters::parse(query.as_deref(), PARAMETERS)?;
    let filter = filter(&parameters, &state)?;
    let limit = parameters.read("limit", "a number from 1 to 200", |text| {
        text.parse().ok().filter(|limit| (1..=PAGE_MAX).contains(limit))
    })?;
    let limit = limit.unwrap_or(PAGE);
    let OrderPage { orders, unreadable, next } = state.store.list(&filter, limit).await?;
    let orders: Vec<Value> = orders.iter().map(|order| order_facts::summary(order, now)).collect();
    let unreadable: Vec<Value> = unreadable.iter().map(order_facts::unreadable).collect();
    let page = json!({ "orders": orders, "unreadable": unreadable, "next": next.map(place_text) });
    Ok(respond(StatusCode::OK, &page))
}

fn filter(
    parameters: &QueryParameters,
    state: &OperatorState,
) -> Result<OrderFilter, OperatorError> {
    let states = format!("one of {}", LISTED_STATES.join(", "));
    let attention = parameters.read("attention", "true or false", |text| text.parse().ok())?;
    Ok(OrderFilter {
        state: parameters.read("state", &states, |text| {
            LISTED_STATES.contains(&text).then(|| text.to_owned())
        })?,
        attention: if attention == Some(true) {
            AttentionFilter::NeedsAttention(state.clock.now())
        } else {
            AttentionFilter::All
        },
        since: parameters.time("since")?,
        until: parameters.time("until")?,
        payer: parameters
            .read("payer", "0x and 40 hexadecimal digits", |text| text.parse().ok())?,
        after: parameters.place("after")?,
    })
}

pub(super) async fn show(
    State(state): State<Arc<OperatorState>>,
    Path(id): Path<String>,
) -> Result<Response, OperatorError> {
    let (order, _) = find(&state, &id).await?;
    let events = state.store.events(order.id()).await?;
    let mut facts = order_facts::summary(&order, state.clock.now());
    facts["events"] = events.iter().map(order_facts::event).collect();
    Ok(respond(StatusCode::OK, &facts))
}

/// An order for which a payment began, and the summary of it.
pub(super) async fn find(
    state: &OperatorState,
    id: &str,
) -> Result<(Stored, Value), OperatorError> {
    let found = state.store.find(order_id(id)?).await?;
    let order = found.ok_or(ActionRejection::Unknown)?;
    let facts = order_facts::summary(&order, state.clock.now());
    Ok((order, facts))
}
