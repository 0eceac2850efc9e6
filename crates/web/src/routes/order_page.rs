//! `GET /orders/{publicOrderId}`: the page of an order, for people.

use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use content::render::{
    ExplorerLink, OrderPageError, OrderPages, OrderSummary, PaymentSummary, TimelineStep,
    TransferProof,
};
use content::site::Language;
use http::{HeaderMap, StatusCode};
use order::lifecycle::Refund;
use order::model::chain::Network;
use order::model::ids::{OrderId, Timestamp};
use order::model::mail::Stage;
use order::status::{PaymentView, Status, StatusReader, View};
use pay::mode::PaymentMode;

use crate::documents::document::UrlScheme;
use crate::documents::rendered_page::{PageCache, RenderedPage};
use crate::http::negotiation::preferred_language;
use crate::routes::paywall::network_name;
use crate::routes::url_encoded::UrlEncodedFields;

const PATH: &str = "/orders/{publicOrderId}";

/// What the page needs from the rest of the site.
pub(crate) struct OrderPageState {
    pub(crate) statuses: StatusReader,
    pub(crate) pages: OrderPages,
    pub(crate) mode: PaymentMode,
    pub(crate) scheme: UrlScheme,
    /// The first is the default.
    pub(crate) languages: Vec<Language>,
}

pub(crate) fn routes(state: OrderPageState) -> Router {
    Router::new().route(PATH, get(page)).with_state(Arc::new(state))
}

async fn page(
    State(state): State<Arc<OrderPageState>>,
    id: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let language = state.language(query.as_deref(), &headers);
    let Some(id) = id.ok().and_then(|Path(id)| id.parse::<OrderId>().ok()) else {
        return state.error(language, OrderPageError::MalformedId);
    };
    match state.statuses.view(id).await {
        Ok(Some(view)) => {
            let html = state.pages.write(language, &summary(&view, state.mode));
            state.respond(language, StatusCode::OK, html)
        }
        Ok(None) => state.error(language, OrderPageError::UnknownOrder),
        Err(_) => state.error(language, OrderPageError::Busy),
    }
}

impl OrderPageState {
    /// That of `?lang=`, or else the one that the browser prefers.
    fn language(&self, query: Option<&str>, headers: &HeaderMap) -> Language {
        let fields = UrlEncodedFields::parse(query.unwrap_or_default().as_bytes());
        let named = fields.get("lang").and_then(Language::from_code);
        let named = named.filter(|language| self.languages.contains(language));
        let preferred = named.or_else(|| preferred_language(headers, &self.languages));
        preferred.or_else(|| self.languages.first().copied()).unwrap_or(Language::En)
    }

    fn error(&self, language: Language, error: OrderPageError) -> Response {
        let status = StatusCode::from_u16(error.status()).expect("a status of HTTP");
        self.respond(language, status, self.pages.error(language, error))
    }

    fn respond<E>(
        &self,
        language: Language,
        status: StatusCode,
        html: Result<String, E>,
    ) -> Response {
        let Ok(html) = html else {
            return crate::http::layer::internal_error().into_response();
        };
        let cache = PageCache::Private;
        RenderedPage { status, html, language, cache, images: &[] }.respond(self.scheme)
    }
}

fn summary(view: &View, mode: PaymentMode) -> OrderSummary {
    OrderSummary {
        id: view.id.to_string(),
        status: view.status.word(),
        timeline: timeline(view),
        payment: view.payment.as_ref().map(|payment| payment_summary(payment, mode)),
        refund: refund_summary(view, mode),
        travels: travels(view.status),
        poll_seconds: poll_seconds(view.status),
    }
}

fn payment_summary(payment: &PaymentView, mode: PaymentMode) -> PaymentSummary {
    PaymentSummary {
        charged: payment.charged.to_string(),
        maximum: payment.maximum.to_string(),
        pay_to: payment.pay_to.to_string(),
        transfer: TransferProof {
            amount: payment.charged.to_string(),
            network: network_name(payment.network),
            explorer: explorer(payment.network, &payment.transaction, mode),
            transaction: payment.transaction.clone(),
            at: payment.confirmed_at.to_string(),
        },
    }
}

/// A refund is on the network of its payment.
fn refund_summary(view: &View, mode: PaymentMode) -> Option<TransferProof> {
    let (Refund { transaction, amount, at, .. }, payment) =
        (view.refund.as_ref()?, view.payment.as_ref()?);
    Some(TransferProof {
        amount: amount.to_string(),
        network: network_name(payment.network),
        explorer: explorer(payment.network, transaction, mode),
        transaction: transaction.clone(),
        at: at.to_string(),
    })
}

/// None in the sandbox, whose chains have the ids of real ones.
fn explorer(network: Network, transaction: &str, mode: PaymentMode) -> Option<ExplorerLink> {
    let name = match network {
        Network::Base => "basescan.org",
        Network::Polygon => "polygonscan.com",
        Network::Arbitrum => "arbiscan.io",
    };
    match mode {
        PaymentMode::Live => {
            Some(ExplorerLink { name, url: format!("https://{name}/tx/{transaction}") })
        }
        PaymentMode::Sandbox => None,
    }
}

/// Whether the card is on its way, or will be.
fn travels(status: Status) -> bool {
    match status {
        Status::Paid | Status::Submitted | Status::Mailed => true,
        Status::Unpaid
        | Status::PaymentPending
        | Status::PaymentUnconfirmed
        | Status::FulfillmentNeedsReconciliation
        | Status::RefundDue
        | Status::Delivered
        | Status::Returned
        | Status::Refunded
        | Status::Expired => false,
    }
}

/// Soon while a payment or a submission is under way, and rarely once the card is in the post.
fn poll_seconds(status: Status) -> Option<u32> {
    match status {
        Status::Unpaid | Status::PaymentPending | Status::PaymentUnconfirmed | Status::Paid => {
            Some(3)
        }
        Status::FulfillmentNeedsReconciliation => Some(30),
        Status::Submitted => Some(60),
        Status::Mailed | Status::RefundDue => Some(600),
        Status::Delivered | Status::Returned | Status::Refunded | Status::Expired => None,
    }
}

/// The keys of the steps, which are the names of the states in which they end.
const PAYMENT: &str = "status_paid_name";
const PRINTER: &str = "status_submitted_name";
const POST: &str = "status_mailed_name";
const ARRIVED: &str = "status_delivered_name";
const RETURNED: &str = "status_returned_name";
const REFUND: &str = "status_refunded_name";

fn timeline(view: &View) -> Vec<TimelineStep> {
    let paid = || done(PAYMENT, view.payment.as_ref().map(|payment| payment.confirmed_at));
    let delivered = view.delivery.map(|delivery| delivery.at);
    match view.status {
        Status::Expired => vec![ahead(PAYMENT), ahead(PRINTER), ahead(POST), ahead(ARRIVED)],
        Status::Unpaid | Status::PaymentPending | Status::PaymentUnconfirmed => {
            vec![now(PAYMENT), ahead(PRINTER), ahead(POST), ahead(ARRIVED)]
        }
        Status::Paid | Status::FulfillmentNeedsReconciliation => {
            vec![paid(), now(PRINTER), ahead(POST), ahead(ARRIVED)]
        }
        Status::Submitted => vec![paid(), done(PRINTER, delivered), now(POST), ahead(ARRIVED)],
        Status::Mailed => {
            vec![paid(), done(PRINTER, None), done(POST, delivered), now(ARRIVED)]
        }
        Status::Delivered => {
            vec![paid(), done(PRINTER, None), done(POST, None), done(ARRIVED, delivered)]
        }
        Status::Returned => {
            vec![paid(), done(PRINTER, None), done(POST, None), done(RETURNED, delivered)]
        }
        Status::RefundDue => match view.delivery.map(|delivery| delivery.stage) {
            Some(Stage::Returned) => vec![paid(), done(RETURNED, delivered), now(REFUND)],
            Some(Stage::Accepted | Stage::Mailed | Stage::Delivered | Stage::Failed) | None => {
                vec![paid(), now(REFUND)]
            }
        },
        Status::Refunded => {
            vec![paid(), done(REFUND, view.refund.as_ref().map(|refund| refund.at))]
        }
    }
}

fn done(text: &'static str, at: Option<Timestamp>) -> TimelineStep {
    TimelineStep { text, progress: "done", at: at.map(|at| at.to_string()) }
}

fn now(text: &'static str) -> TimelineStep {
    TimelineStep { text, progress: "now", at: None }
}

fn ahead(text: &'static str) -> TimelineStep {
    TimelineStep { text, progress: "ahead", at: None }
}

#[cfg(test)]
mod tests;
