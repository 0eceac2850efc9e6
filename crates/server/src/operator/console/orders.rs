//! The pages that show orders: the list, one order, and its evidence.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use order::lifecycle::Stored;
use order::model::ids::{OrderId, Timestamp};
use order::operator::filter::{AttentionFilter, OrderFilter};
use order::operator::page::OrderPage;
use order::ports::{Store, StoreError};

use super::evidence;
use super::filters::ListQuery;
use super::labels::STATES;
use super::pages::{message, page};
use super::session::ConsoleSession;
use super::view;
use crate::operator::action_kind::ActionKind;
use crate::operator::error::OperatorError;
use crate::operator::state::OperatorState;

/// Orders on one page of a list.
const PAGE_ORDERS: usize = 50;

type Shared = State<Arc<OperatorState>>;

/// Orders that need attention first, then the newest ones; with a filter, those that it admits.
pub(super) async fn list(
    State(state): Shared,
    session: ConsoleSession,
    RawQuery(query): RawQuery,
) -> Response {
    let now = state.clock.now();
    let query = ListQuery::parse(&query.unwrap_or_default(), now);
    match OrderListPage::load(state.store.as_ref(), &query, now).await {
        Ok(loaded) => {
            let faulty = !query.faults.is_empty();
            let status = if faulty { StatusCode::BAD_REQUEST } else { StatusCode::OK };
            page(&session, status, "list.html", loaded.value(&query, now))
        }
        Err(error) => store_failed(&session, error),
    }
}

/// What a page of the list shows.
pub(super) struct OrderListPage {
    /// None with a filter.
    pub(super) attention: Option<OrderPage>,
    pub(super) orders: OrderPage,
    pub(super) counts: Vec<(String, u64)>,
}

impl OrderListPage {
    async fn load(
        store: &dyn Store,
        query: &ListQuery,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let needed = AttentionFilter::NeedsAttention(now);
        let attention = OrderFilter { attention: needed, ..OrderFilter::default() };
        let attention =
            if query.is_plain() { Some(store.list(&attention, PAGE_ORDERS).await?) } else { None };
        // With an unreadable filter nothing is listed, so that no wrong list is acted on.
        let orders = if query.faults.is_empty() {
            store.list(&query.filter, PAGE_ORDERS).await?
        } else {
            OrderPage::default()
        };
        let counts = store.count_in_play().await?;
        let counts = counts.into_iter().map(|count| (count.state, count.count)).collect();
        Ok(Self { attention, orders, counts })
    }

    pub(super) fn value(&self, query: &ListQuery, now: Timestamp) -> Value {
        let rows = |page: &OrderPage| -> Vec<Value> {
            page.orders.iter().map(|order| view::row(order, now)).collect()
        };
        let unreadable: Vec<Value> = self.orders.unreadable.iter().map(view::unreadable).collect();
        // Orders that came to rest are not counted: there are too many to read each time.
        let counted = |code: &str| {
            let count = self.counts.iter().find(|(state, _)| state == code);
            Stored::IN_PLAY.contains(&code).then(|| count.map_or(0, |(_, count)| *count))
        };
        let states: Vec<Value> = STATES
            .iter()
            .map(|(code, ..)| context! { count => counted(code), ..view::state(code) })
            .collect();
        context! {
            attention => self.attention.as_ref().map(rows),
            attention_more => self.attention.as_ref().is_some_and(|page| page.next.is_some()),
            orders => rows(&self.orders),
            unreadable => unreadable,
            older => self.orders.next.map(|last| query.link_after(last)),
            newest => query.filter.after.map(|_| query.link_first()),
            states => states,
            state => query.state,
            payer => query.payer,
            since => query.since,
            only_attention => query.attention != AttentionFilter::All,
            faults => query.faults,
        }
    }
}

/// One order, and what can be done about it.
pub(super) async fn order(
    State(state): Shared,
    session: ConsoleSession,
    Path(id): Path<String>,
) -> Response {
    let Ok(id) = id.parse::<OrderId>() else { return unknown(&session) };
    let found = match state.store.find(id).await {
        Ok(Some(order)) => order,
        Ok(None) => return unknown(&session),
        Err(error) => return store_failed(&session, error),
    };
    let events = match state.store.events(id).await {
        Ok(events) => events.iter().rev().map(view::event).collect::<Vec<_>>(),
        Err(error) => return store_failed(&session, error),
    };
    let values = order_values(&found, events, state.clock.now());
    page(&session, StatusCode::OK, "order.html", values)
}

pub(super) fn order_values(found: &Stored, events: Vec<Value>, now: Timestamp) -> Value {
    let possible = ActionKind::ALL.into_iter().filter(|action| action.is_possible(found, now));
    let actions: Vec<Value> = possible.map(ActionKind::value).collect();
    context! { order => view::order(found, now), events => events, actions => actions }
}

/// What chain and provider say about an order now.
pub(super) async fn evidence(
    State(state): Shared,
    session: ConsoleSession,
    Path(id): Path<String>,
) -> Response {
    let Ok(id) = id.parse::<OrderId>() else { return unknown(&session) };
    match state.actions.evidence(id).await {
        Ok(found) => {
            let values = evidence::value(&found, state.clock.now());
            page(&session, StatusCode::OK, "evidence.html", values)
        }
        Err(rejected) => {
            let OperatorError { status, message: text, .. } = rejected.into();
            message(&session, status, "No evidence was collected", &text)
        }
    }
}

pub(super) fn unknown(session: &ConsoleSession) -> Response {
    let text = "There is no order with this id for which a payment began.";
    message(session, StatusCode::NOT_FOUND, "No such order", text)
}

pub(super) fn store_failed(session: &ConsoleSession, error: StoreError) -> Response {
    let OperatorError { status, message: text, .. } = error.into();
    message(session, status, "The orders cannot be read", &text)
}
