//! `GET /shop/checkout`: a quote for one product. No funds are captured.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{HeaderMap, StatusCode};

use crate::discovery::shop::quote::{self, QuoteEndpoint};
use crate::documents::document::{Document, UrlScheme};
use crate::documents::machine_readable::quote_document;
use crate::http::cors::READ_ONLY;
use crate::http::problem::{Problem, Retry};
use crate::site_facts::SiteFacts;

pub(crate) const CHECKOUT: &str = "/shop/checkout";

type QuotesBySku = HashMap<String, Document>;

pub(crate) fn routes(facts: &SiteFacts) -> Router {
    let scheme = UrlScheme::of(&facts.base_url);
    let quote_document_of = |product: &content::product::Product| {
        let quote = quote::quote(facts, product, QuoteEndpoint::Checkout);
        (product.slug.clone(), quote_document(quote).build(scheme))
    };
    let quotes: QuotesBySku = facts.catalog.products.iter().map(quote_document_of).collect();
    READ_ONLY.apply(Router::new().route(CHECKOUT, get(checkout)).with_state(Arc::new(quotes)))
}

async fn checkout(
    State(quotes): State<Arc<QuotesBySku>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let query = query.unwrap_or_default();
    let mut skus = query.split('&').filter_map(|pair| pair.strip_prefix("sku="));
    match (skus.next().filter(|sku| !sku.is_empty()), skus.next()) {
        (Some(sku), None) => match quotes.get(sku) {
            Some(quote_document) => {
                let sent = quote_document.respond(&headers);
                (sent.status, sent.headers, sent.body).into_response()
            }
            None => UNKNOWN.into_response(),
        },
        (None, _) | (Some(_), Some(_)) => MISSING.into_response(),
    }
}

const MISSING: Problem = Problem {
    status: StatusCode::BAD_REQUEST,
    code: "sku_missing",
    message: Cow::Borrowed(
        "Send one product id: /shop/checkout?sku=<id>. /shop/feed.json lists all ids.",
    ),
    retry: Retry::Never,
};

const UNKNOWN: Problem = Problem {
    status: StatusCode::NOT_FOUND,
    code: "sku_unknown",
    message: Cow::Borrowed("Unknown product id. /shop/feed.json lists all ids."),
    retry: Retry::Never,
};
