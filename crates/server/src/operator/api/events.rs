//! `GET /v1/events`: the log of all orders, also as it grows.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use order::ports::{NumberedEvent, Store, StoreError};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::parameters::QueryParameters;
use crate::operator::error::{OperatorError, respond};
use crate::operator::order_facts;
use crate::operator::state::OperatorState;

const PAGE: usize = 200;
/// Shorter than the idle timeout of any proxy.
const WAIT_SECONDS_MAX: u64 = 20;
const POLL_INTERVAL: Duration = Duration::from_millis(250);
const PARAMETERS: &[&str] = &["after", "last", "wait"];

/// Events after a number, or the last so many. With `wait`, the response comes when there is an
/// event, or after so many seconds.
pub(super) async fn list(
    State(state): State<Arc<OperatorState>>,
    RawQuery(query): RawQuery,
) -> Result<Response, OperatorError> {
    let parameters = QueryParameters::parse(query.as_deref(), PARAMETERS)?;
    let number = |name| parameters.read(name, "a whole number", |text| text.parse::<u64>().ok());
    let wait = number("wait")?.unwrap_or(WAIT_SECONDS_MAX).min(WAIT_SECONDS_MAX);
    let after = match (number("after")?, number("last")?) {
        (Some(after), _) => after,
        (None, Some(count)) => newest(state.store.as_ref()).await?.saturating_sub(count),
        (None, None) => 0,
    };
    let events = wait_for(&state, after, Duration::from_secs(wait)).await?;
    let last = events.last().map_or(after, |event| event.number);
    let events: Vec<Value> = events.iter().map(order_facts::numbered_event).collect();
    Ok(respond(StatusCode::OK, &json!({ "events": events, "last": last })))
}

/// In real time, also if the clock of a rehearsal runs faster.
async fn wait_for(
    state: &OperatorState,
    after: u64,
    wait: Duration,
) -> Result<Vec<NumberedEvent>, StoreError> {
    let (until, mut stopping) = (Instant::now() + wait, state.stopping.clone());
    loop {
        let events = match state.store.events_after(after, PAGE).await {
            // An earlier event may still be written.
            Err(StoreError::Lost) if Instant::now() < until => Vec::new(),
            events => events?,
        };
        if !events.is_empty() || Instant::now() >= until {
            return Ok(events);
        }
        tokio::select! {
            () = sleep(POLL_INTERVAL) => {}
            _ = stopping.changed() => return Ok(events),
        }
    }
}

/// The number of the newest event, found in about forty steps.
async fn newest(store: &dyn Store) -> Result<u64, StoreError> {
    let (mut known, mut beyond) = (0, 1);
    while !store.events_after(beyond - 1, 1).await?.is_empty() {
        (known, beyond) = (beyond, beyond.saturating_mul(2));
    }
    // There is an event with the number `known` or a higher one, and none with `beyond` or a higher one.
    while beyond - known > 1 {
        let middle = known + (beyond - known) / 2;
        if store.events_after(middle - 1, 1).await?.is_empty() {
            beyond = middle;
        } else {
            known = middle;
        }
    }
    Ok(known)
}
