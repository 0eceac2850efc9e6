//! The HTTP routes: JSON-RPC per chain, the name gateway, the control interface.

mod calls;
pub(crate) mod control;
mod form;

use std::sync::Arc;

use alloy_primitives::{Address, Bytes};
use axum::Router;
use axum::body::Bytes as Body;
use axum::extract::{ConnectInfo, Path, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use crate::chain::ens::gateway;
use crate::chain::ens::names::GatewayFault;
use crate::chain::handle::EmulatedChains;
use crate::chain::network::ChainId;
use crate::http::listener::ResponseOverride;
use crate::http::raw_response::RawResponse;
use calls::{LostResponse, answer};

const JSON: [(HeaderName, &str); 1] = [(header::CONTENT_TYPE, "application/json")];

type Shared = State<Arc<EmulatedChains>>;

pub(crate) fn router(chains: &Arc<EmulatedChains>, faucet_state: control::FaucetState) -> Router {
    let controls = control::router(Arc::clone(chains), faucet_state);
    Router::new()
        .route("/{chain}", post(call))
        .route("/gateway/{sender}/{data}", get(gateway_get))
        .route("/gateway", post(gateway_post))
        .with_state(Arc::clone(chains))
        .nest("/__sandbox", controls)
}

async fn call(
    State(chains): Shared,
    ConnectInfo(raw): ConnectInfo<ResponseOverride>,
    Path(chain): Path<String>,
    body: Body,
) -> Response {
    let Some(chain) = chain.parse().ok().and_then(ChainId::from_number) else {
        let words = "unknown chain: use 1, 8453, 137 or 42161\n";
        return (StatusCode::NOT_FOUND, words).into_response();
    };
    match answer(&chains, chain, &body).await {
        Ok(Value::Null) => StatusCode::NO_CONTENT.into_response(),
        Ok(value) => (JSON, value.to_string()).into_response(),
        Err(loss) => lose(loss, &raw),
    }
}

fn lose(loss: LostResponse, raw: &ResponseOverride) -> Response {
    match loss {
        LostResponse::Reset => {
            raw.send(RawResponse::reset());
            StatusCode::OK.into_response()
        }
        LostResponse::Unavailable => {
            (StatusCode::SERVICE_UNAVAILABLE, "the node is down\n").into_response()
        }
        LostResponse::Hang => {
            raw.send(RawResponse::silence());
            StatusCode::OK.into_response()
        }
        LostResponse::RateLimited(seconds) => {
            let wait = [(header::RETRY_AFTER, seconds.to_string())];
            let error = json!({ "code": -32005, "message": "too many requests" });
            let body = json!({ "jsonrpc": "2.0", "id": null, "error": error });
            (StatusCode::TOO_MANY_REQUESTS, wait, JSON, body.to_string()).into_response()
        }
        LostResponse::Garbage => (JSON, "<html>this was an answer once").into_response(),
    }
}

async fn gateway_get(
    State(chains): Shared,
    ConnectInfo(raw): ConnectInfo<ResponseOverride>,
    Path((sender, data)): Path<(String, String)>,
) -> Response {
    let data = data.strip_suffix(".json").unwrap_or(&data);
    gate(&chains, &raw, sender.parse().ok(), data.parse().ok())
}

async fn gateway_post(
    State(chains): Shared,
    ConnectInfo(raw): ConnectInfo<ResponseOverride>,
    body: Body,
) -> Response {
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let text = |name: &str| asked.get(name).and_then(Value::as_str);
    let sender = text("sender").and_then(|sender| sender.parse().ok());
    gate(&chains, &raw, sender, text("data").and_then(|data| data.parse().ok()))
}

fn gate(
    chains: &EmulatedChains,
    raw: &ResponseOverride,
    sender: Option<Address>,
    data: Option<Bytes>,
) -> Response {
    let fault = chains.names().fault;
    match fault {
        GatewayFault::Hang => return lose(LostResponse::Hang, raw),
        GatewayFault::Garbage => return lose(LostResponse::Garbage, raw),
        GatewayFault::None
        | GatewayFault::Down
        | GatewayFault::NotFound
        | GatewayFault::Forged
        | GatewayFault::Expired => {}
    }
    let (Some(sender), Some(data)) = (sender, data) else {
        let body = json!({ "message": "send `sender` and `data`, both as 0x and hex digits" });
        return (StatusCode::BAD_REQUEST, JSON, body.to_string()).into_response();
    };
    let now = chains.clock().now();
    let answer = gateway::answer(&chains.names(), now, sender, &data);
    match answer {
        Ok(answer) => (JSON, json!({ "data": answer.to_string() }).to_string()).into_response(),
        Err(none) => {
            let status = StatusCode::from_u16(none.status).unwrap_or(StatusCode::BAD_GATEWAY);
            (status, JSON, json!({ "message": none.words }).to_string()).into_response()
        }
    }
}

#[cfg(test)]
mod tests;
