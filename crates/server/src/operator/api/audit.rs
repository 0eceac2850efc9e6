//! `GET /v1/audit`: compares money and cards in a period with the orders, line by line as NDJSON.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::body::{Bytes, Frame};
use order::lifecycle::{Standing, Stored};
use order::model::chain::{EvmAddress, Network};
use order::model::ids::{OrderId, Timestamp};
use order::model::mail::AcceptedCard;
use order::operator::audit::{AuditReport, AuditedPeriod, Difference, accounts, audit};
use order::operator::filter::OrderFilter;
use order::operator::transfers::ReceivedTransfer;
use order::ports::{Purpose, StoreError};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::audit_json::{self, AuditFindings};
use super::parameters::QueryParameters;
use crate::operator::error::OperatorError;
use crate::operator::state::OperatorState;

const PAGE: usize = 500;
/// An order may begin a day before it is paid.
const BEFORE_SECONDS: u64 = 24 * 60 * 60;
/// Our clock, the chain's and the provider's may differ.
const MARGIN_SECONDS: u64 = 60 * 60;

/// Everything that an audit compares.
struct AuditMaterial {
    orders: Vec<Stored>,
    unreadable: Vec<OrderId>,
    transfers: Vec<ReceivedTransfer>,
    cards: Option<Vec<AcceptedCard>>,
    not_compared: Vec<String>,
}

pub(super) async fn run(
    State(state): State<Arc<OperatorState>>,
    RawQuery(query): RawQuery,
) -> Result<Response, OperatorError> {
    let parameters = QueryParameters::parse(query.as_deref(), &["from", "until"])?;
    let (from, until) = (parameters.needed_time("from")?, parameters.needed_time("until")?);
    if until <= from {
        return Err(OperatorError::invalid("`until` must be after `from`."));
    }
    let (lines, body) = mpsc::channel(16);
    tokio::spawn(async move {
        let last = match compare(&state, from, until, &lines).await {
            Ok(findings) => audit_json::result(&findings, from, until),
            Err(error) => error.json(),
        };
        // The client may have gone.
        let _ = lines.send(line(&last)).await;
    });
    let kind = HeaderValue::from_static("application/x-ndjson");
    Ok(([(header::CONTENT_TYPE, kind)], Body::new(LineBody(body))).into_response())
}

fn line(value: &Value) -> Bytes {
    Bytes::from(format!("{value}\n"))
}

/// A body whose lines are sent as they come.
struct LineBody(mpsc::Receiver<Bytes>);

impl hyper::body::Body for LineBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|line| line.map(|line| Ok(Frame::data(line))))
    }
}

async fn compare(
    state: &OperatorState,
    from: Timestamp,
    until: Timestamp,
    lines: &mpsc::Sender<Bytes>,
) -> Result<AuditFindings, OperatorError> {
    let material = collect(state, from, until, lines).await?;
    let account = state.actions.writer.provider.account();
    let report = audit(&AuditedPeriod {
        from,
        until,
        orders: &material.orders,
        unreadable: &material.unreadable,
        transfers: &material.transfers,
        cards: material.cards.as_deref().unwrap_or_default(),
        account: material.cards.is_some().then_some(&account),
    });
    settle_doubts(state, material, report).await
}

async fn progress(lines: &mpsc::Sender<Bytes>, read: &str, count: usize) {
    // The client may have gone.
    let _ = lines.send(line(&json!({ "progress": { "read": read, "count": count } }))).await;
}

async fn collect(
    state: &OperatorState,
    from: Timestamp,
    until: Timestamp,
    lines: &mpsc::Sender<Bytes>,
) -> Result<AuditMaterial, OperatorError> {
    let (mut orders, mut unreadable) = orders_around(state, from, until, lines).await?;
    let mut not_compared = Vec::new();
    let (earlier, later) =
        (Timestamp(from.0.saturating_sub(MARGIN_SECONDS)), until.plus(MARGIN_SECONDS));
    let sellers = sellers_accounts(state, &mut not_compared).await;
    let networks = state.actions.transfers.networks();
    let mut transfers = Vec::new();
    for network in &networks {
        let known = sellers.get(network).into_iter().flatten().copied();
        let all: BTreeSet<EvmAddress> =
            accounts(&orders, *network).into_iter().chain(known).collect();
        let all: Vec<EvmAddress> = all.into_iter().collect();
        let received = state.actions.transfers.received(*network, &all, earlier, later).await;
        transfers.extend(received.map_err(|_| node_silent(*network))?);
        progress(lines, &format!("transfers on {network}"), transfers.len()).await;
    }
    let served = |order: &Stored| {
        order.payment().is_none_or(|paid| networks.contains(&paid.authorization.network))
    };
    let unserved: BTreeSet<Network> = orders
        .iter()
        .filter(|order| !served(order))
        .filter_map(|order| order.payment().map(|paid| paid.authorization.network))
        .collect();
    not_compared
        .extend(unserved.iter().map(|network| format!("{network}: no node is configured.")));
    orders.retain(served);
    let cards = match state.actions.writer.provider.accepted(earlier, later).await {
        Ok(cards) => {
            progress(lines, "cards", cards.len()).await;
            add_orders_of(state, &mut orders, &mut unreadable, &cards).await?;
            Some(cards)
        }
        Err(_) => {
            not_compared.push("Cards: the provider's list could not be read.".to_owned());
            None
        }
    };
    Ok(AuditMaterial { orders, unreadable, transfers, cards, not_compared })
}

fn node_silent(network: Network) -> OperatorError {
    let message =
        format!("The node of {network} did not answer, so nothing was compared. Try again later.");
    OperatorError::new(StatusCode::BAD_GATEWAY, "node_unreachable", message)
}

async fn orders_around(
    state: &OperatorState,
    from: Timestamp,
    until: Timestamp,
    lines: &mpsc::Sender<Bytes>,
) -> Result<(Vec<Stored>, Vec<OrderId>), OperatorError> {
    let mut filter = OrderFilter {
        since: Some(Timestamp(from.0.saturating_sub(BEFORE_SECONDS))),
        until: Some(until.plus(MARGIN_SECONDS)),
        ..OrderFilter::default()
    };
    let (mut orders, mut unreadable) = (Vec::new(), Vec::new());
    loop {
        let page = state.store.list(&filter, PAGE).await?;
        orders.extend(page.orders);
        unreadable.extend(page.unreadable.iter().map(|order| order.id));
        progress(lines, "orders", orders.len()).await;
        filter.after = page.next;
        if page.next.is_none() {
            return Ok((orders, unreadable));
        }
    }
}

/// The accounts that the sellers' names resolve to now: they may have received a transfer for
/// which there is no order.
async fn sellers_accounts(
    state: &OperatorState,
    not_compared: &mut Vec<String>,
) -> BTreeMap<Network, BTreeSet<EvmAddress>> {
    let mut accounts: BTreeMap<Network, BTreeSet<EvmAddress>> = BTreeMap::new();
    let sellers: BTreeSet<_> =
        [&state.sellers.default].into_iter().chain(&state.sellers.enabled).collect();
    for seller in sellers {
        match state.names.resolve(seller, Purpose::Offer).await {
            Ok(resolution) => {
                for (network, account) in resolution.iter().flat_map(|found| found.payees().iter()) {
                    accounts.entry(network).or_default().insert(account);
                }
            }
            Err(_) => not_compared.push(format!(
                "Transfers to the current account of {seller} without an order: the name could not be resolved."
            )),
        }
    }
    accounts
}

/// A card may be accepted long after its order began.
async fn add_orders_of(
    state: &OperatorState,
    orders: &mut Vec<Stored>,
    unreadable: &mut Vec<OrderId>,
    cards: &[AcceptedCard],
) -> Result<(), OperatorError> {
    let known = orders.iter().map(Stored::id).chain(unreadable.iter().copied());
    let mut known: BTreeSet<OrderId> = known.collect();
    for order in cards.iter().filter_map(|card| card.order) {
        if known.insert(order) {
            match state.store.find(order).await {
                Ok(found) => orders.extend(found),
                Err(StoreError::Corrupt) => unreadable.push(order),
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

/// Leaves out what is no difference: a payment whose block is not final is not among the
/// transfers, and a card that was attached is in an earlier part of the provider's list.
async fn settle_doubts(
    state: &OperatorState,
    material: AuditMaterial,
    mut report: AuditReport,
) -> Result<AuditFindings, OperatorError> {
    let provisional: BTreeSet<OrderId> = material
        .orders
        .iter()
        .filter(|order| order.paid().is_some_and(|paid| paid.standing == Standing::Provisional))
        .map(Stored::id)
        .collect();
    let mut not_final = 0;
    let mut differences = Vec::new();
    for difference in report.differences {
        match &difference {
            Difference::MissingTransfer { order, .. } if provisional.contains(order) => {
                not_final += 1;
                continue;
            }
            Difference::MissingCard { mailpiece, .. } => {
                let found = state.actions.writer.provider.track(mailpiece).await;
                if matches!(found, Ok(Some(_))) {
                    continue;
                }
            }
            Difference::MissingTransfer { .. }
            | Difference::UnknownTransfer(_)
            | Difference::OtherAmount { .. }
            | Difference::UnknownCard { .. }
            | Difference::SecondCard { .. }
            | Difference::UnrecordedCard { .. }
            | Difference::UnreadableOrder { .. } => {}
        }
        differences.push(difference);
    }
    report.differences = differences;
    Ok(AuditFindings { report, not_compared: material.not_compared, not_final })
}
