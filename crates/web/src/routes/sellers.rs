//! `GET /api/x402/resolve/{username}`: the payout address of a seller, with its ENS evidence.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL};
use http::{HeaderValue, StatusCode};
use order::model::evidence::{Age, Evidence, Found, Record};
use order::model::resolution::Resolution;
use order::ports::{Clock, Failure, NameService, Purpose};
use serde::Serialize;

use crate::http::cors::READ_ONLY;
use crate::http::problem::{Problem, Retry};

pub(crate) const RESOLVE: &str = "/api/x402/resolve/{username}";

/// The maximum cache time of a response.
const CACHE_SECONDS_MAX: u64 = 30;

/// What the endpoint needs.
#[derive(Clone)]
pub(crate) struct SellerLookup {
    pub(crate) names: Arc<dyn NameService>,
    pub(crate) clock: Arc<dyn Clock>,
}

pub(crate) fn routes(lookup: SellerLookup) -> Router {
    READ_ONLY.apply(Router::new().route(RESOLVE, get(resolve)).with_state(lookup))
}

async fn resolve(
    State(lookup): State<SellerLookup>,
    username: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let names = lookup.names;
    let Path(username) = username.map_err(|_| INVALID)?;
    let seller = names.read(&username).map_err(|_| INVALID)?;
    let found =
        names.resolve(&seller, Purpose::Payment).await.map_err(|failure| match failure {
            Failure::Refused(_) => BUSY,
            Failure::Lost(_) => FAILED,
        })?;
    let found = found.ok_or(UNRESOLVED)?;
    let left = found.evidence.valid_until.since(lookup.clock.now()).unwrap_or_default();
    let cache_control = format!("public, max-age={}", left.min(CACHE_SECONDS_MAX));
    let headers = [
        (CACHE_CONTROL, HeaderValue::try_from(cache_control).map_err(|_| FAILED)?),
        (ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*")),
    ];
    Ok((headers, Json(SellerBody::of(&found))).into_response())
}

const INVALID: Problem = Problem {
    status: StatusCode::BAD_REQUEST,
    code: "invalid_seller",
    message: Cow::Borrowed(
        "Invalid seller name. Use alice, @alice or the full ENS name, in lowercase and without \
         confusable characters.",
    ),
    retry: Retry::Never,
};

const UNRESOLVED: Problem = Problem {
    status: StatusCode::NOT_FOUND,
    code: "seller_not_resolved",
    message: Cow::Borrowed(
        "This name has no address on Base, Polygon or Arbitrum. Check the spelling, or ask the \
         seller to set one.",
    ),
    retry: Retry::Never,
};

/// Lookups of unknown names are rate limited; those of enabled sellers are not.
const BUSY: Problem = Problem {
    status: StatusCode::SERVICE_UNAVAILABLE,
    code: "too_many_lookups",
    message: Cow::Borrowed(
        "Too many lookups of unknown names. Wait for the seconds in Retry-After, then retry.",
    ),
    retry: Retry::Same,
};

const FAILED: Problem = Problem {
    status: StatusCode::INTERNAL_SERVER_ERROR,
    code: "internal_error",
    message: Cow::Borrowed("Name resolution is temporarily unavailable. Retry later."),
    retry: Retry::Same,
};

/// The body.
#[derive(Serialize)]
struct SellerBody<'a> {
    username: &'a str,
    ens_name: &'a str,
    /// Always true, because other names are rejected.
    normalized: bool,
    node: String,
    /// The address on the first network.
    address: Option<String>,
    networks: Vec<NetworkAccount>,
    evidence: EnsEvidence<'a>,
    resolved_at: String,
    valid_until: String,
    cached: bool,
}

#[derive(Serialize)]
struct NetworkAccount {
    network: &'static str,
    coin_type: u64,
    address: String,
    source: &'static str,
}

#[derive(Serialize)]
struct EnsEvidence<'a> {
    chain_id: u64,
    block_number: u64,
    block_hash: String,
    block_timestamp: String,
    block_tag: &'static str,
    universal_resolver: String,
    resolver: String,
    wildcard: bool,
    ccip_read: CcipRead<'a>,
    method: &'static str,
    sources_agreeing: usize,
}

#[derive(Serialize)]
struct CcipRead<'a> {
    used: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    gateway: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trust: Option<&'static str>,
}

impl<'a> SellerBody<'a> {
    fn of(found: &'a Resolution) -> Self {
        let evidence = &found.evidence;
        Self {
            username: evidence.seller.as_str(),
            ens_name: &evidence.ens_name,
            normalized: true,
            node: evidence.node.to_string(),
            address: found.records().first().map(|record| record.address.to_string()),
            networks: found.records().iter().map(NetworkAccount::of).collect(),
            evidence: EnsEvidence::of(evidence),
            resolved_at: evidence.resolved_at.to_string(),
            valid_until: evidence.valid_until.to_string(),
            cached: match evidence.age {
                Age::Fresh => false,
                Age::Cached => true,
            },
        }
    }
}

impl NetworkAccount {
    fn of(record: &Record) -> Self {
        Self {
            network: record.network.caip2(),
            coin_type: record.network.coin_type(),
            address: record.address.to_string(),
            source: record.source.word(),
        }
    }
}

impl<'a> EnsEvidence<'a> {
    fn of(evidence: &'a Evidence) -> Self {
        let gateway = evidence.gateway.as_ref();
        Self {
            chain_id: evidence.chain_id,
            block_number: evidence.block.number,
            block_hash: evidence.block.hash.to_string(),
            block_timestamp: evidence.block.timestamp.to_string(),
            block_tag: evidence.block.tag.word(),
            universal_resolver: evidence.universal_resolver.to_string(),
            resolver: evidence.resolver.to_string(),
            wildcard: match evidence.found {
                Found::Exactly => false,
                Found::ByWildcard => true,
            },
            ccip_read: CcipRead {
                used: gateway.is_some(),
                gateway: gateway.map(|gateway| gateway.host.as_str()),
                trust: gateway.map(|gateway| gateway.trust.word()),
            },
            method: evidence.method,
            sources_agreeing: evidence.sources_agreeing,
        }
    }
}

#[cfg(test)]
mod tests;
