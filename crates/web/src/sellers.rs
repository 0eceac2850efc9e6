//! Who is paid: a seller's name, looked up for anybody who asks, with the evidence.

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
use order::model::seller::Resolution;
use order::ports::{Clock, Failure, NameService, Purpose};
use serde::Serialize;

use crate::browsers::READING;
use crate::problem::{Problem, Retry};

pub(crate) const RESOLVE: &str = "/api/x402/resolve/{username}";

/// How long others may keep an answer, at most.
const KEPT_SECONDS: u64 = 30;

/// What the door needs to answer.
#[derive(Clone)]
pub(crate) struct Directory {
    pub(crate) names: Arc<dyn NameService>,
    pub(crate) clock: Arc<dyn Clock>,
}

pub(crate) fn routes(directory: Directory) -> Router {
    READING.to(Router::new().route(RESOLVE, get(resolve)).with_state(directory))
}

async fn resolve(
    State(directory): State<Directory>,
    username: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let names = directory.names;
    let Path(username) = username.map_err(|_| INVALID)?;
    let seller = names.read(&username).map_err(|_| INVALID)?;
    let found =
        names.resolve(&seller, Purpose::Payment).await.map_err(|failure| match failure {
            Failure::Refused(_) => BUSY,
            Failure::Lost(_) => FAILED,
        })?;
    let found = found.ok_or(UNRESOLVED)?;
    let left = found.evidence.valid_until.since(directory.clock.now()).unwrap_or_default();
    let kept = format!("public, max-age={}", left.min(KEPT_SECONDS));
    let headers = [
        (CACHE_CONTROL, HeaderValue::try_from(kept).map_err(|_| FAILED)?),
        (ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*")),
    ];
    Ok((headers, Json(Seller::of(&found))).into_response())
}

const INVALID: Problem = Problem {
    status: StatusCode::BAD_REQUEST,
    code: "invalid_seller",
    message: Cow::Borrowed(
        "This cannot be a seller's name. Write alice, @alice or the full name, in lowercase \
         and without letters that only look alike.",
    ),
    retry: Retry::Never,
};

const UNRESOLVED: Problem = Problem {
    status: StatusCode::NOT_FOUND,
    code: "seller_not_resolved",
    message: Cow::Borrowed(
        "This name has no address that can be paid on Base, Polygon or Arbitrum. Check the \
         spelling, or ask the seller to set one.",
    ),
    retry: Retry::Never,
};

/// Unknown names are looked up at a limited rate. Sellers of this shop are always looked up.
const BUSY: Problem = Problem {
    status: StatusCode::SERVICE_UNAVAILABLE,
    code: "too_many_lookups",
    message: Cow::Borrowed(
        "Too many unknown names are being looked up. Wait as long as Retry-After says, then ask \
         for this one again.",
    ),
    retry: Retry::Same,
};

const FAILED: Problem = Problem {
    status: StatusCode::INTERNAL_SERVER_ERROR,
    code: "internal_error",
    message: Cow::Borrowed(
        "Names cannot be looked up right now. Nothing is wrong with yours; try again in a \
         moment.",
    ),
    retry: Retry::Same,
};

/// A seller as everybody may see them.
#[derive(Serialize)]
struct Seller<'a> {
    username: &'a str,
    ens_name: &'a str,
    /// What is not normal has been refused at the door.
    normalized: bool,
    node: String,
    /// That of the first network.
    address: Option<String>,
    networks: Vec<Account>,
    evidence: Proof<'a>,
    resolved_at: String,
    valid_until: String,
    cached: bool,
}

#[derive(Serialize)]
struct Account {
    network: &'static str,
    coin_type: u64,
    address: String,
    source: &'static str,
}

#[derive(Serialize)]
struct Proof<'a> {
    chain_id: u64,
    block_number: u64,
    block_hash: String,
    block_timestamp: String,
    block_tag: &'static str,
    universal_resolver: String,
    resolver: String,
    wildcard: bool,
    ccip_read: Detour<'a>,
    method: &'static str,
    sources_agreeing: usize,
}

#[derive(Serialize)]
struct Detour<'a> {
    used: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    gateway: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trust: Option<&'static str>,
}

impl<'a> Seller<'a> {
    fn of(found: &'a Resolution) -> Self {
        let evidence = &found.evidence;
        Self {
            username: evidence.seller.as_str(),
            ens_name: &evidence.ens_name,
            normalized: true,
            node: evidence.node.to_string(),
            address: found.records().first().map(|record| record.address.to_string()),
            networks: found.records().iter().map(Account::of).collect(),
            evidence: Proof::of(evidence),
            resolved_at: evidence.resolved_at.to_string(),
            valid_until: evidence.valid_until.to_string(),
            cached: match evidence.age {
                Age::Fresh => false,
                Age::Cached => true,
            },
        }
    }
}

impl Account {
    fn of(record: &Record) -> Self {
        Self {
            network: record.network.caip2(),
            coin_type: record.network.coin_type(),
            address: record.address.to_string(),
            source: record.source.word(),
        }
    }
}

impl<'a> Proof<'a> {
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
            ccip_read: Detour {
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
