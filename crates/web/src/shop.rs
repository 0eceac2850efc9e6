//! The shop's till: a price tag for every product, and no money taken.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{HeaderMap, StatusCode};

use crate::browsers::READING;
use crate::discovery::quote::{self, Asked};
use crate::document::{Document, Transport};
use crate::premises::Premises;
use crate::problem::{Problem, Retry};
use crate::publish::challenge;

pub(crate) const CHECKOUT: &str = "/shop/checkout";

type Tags = HashMap<String, Document>;

pub(crate) fn routes(premises: &Premises) -> Router {
    let transport = Transport::of(&premises.base_url);
    let tag = |product: &content::product::Product| {
        let quote = quote::quote(premises, product, Asked::Checkout);
        (product.slug.clone(), challenge(quote).finish(transport))
    };
    let tags: Tags = premises.catalog.products.iter().map(tag).collect();
    READING.to(Router::new().route(CHECKOUT, get(checkout)).with_state(Arc::new(tags)))
}

async fn checkout(
    State(tags): State<Arc<Tags>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let query = query.unwrap_or_default();
    let mut skus = query.split('&').filter_map(|pair| pair.strip_prefix("sku="));
    match (skus.next().filter(|sku| !sku.is_empty()), skus.next()) {
        (Some(sku), None) => match tags.get(sku) {
            Some(tag) => {
                let sent = tag.send(&headers);
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
        "Name one product: /shop/checkout?sku=<id>. /shop/feed.json lists their ids.",
    ),
    retry: Retry::Never,
};

const UNKNOWN: Problem = Problem {
    status: StatusCode::NOT_FOUND,
    code: "sku_unknown",
    message: Cow::Borrowed("No product has this id. /shop/feed.json lists them."),
    retry: Retry::Never,
};
