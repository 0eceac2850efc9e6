//! The doors: one path for the JSON-RPC of each chain, the gateway, the controls.

mod calls;

use std::sync::Arc;

use alloy_primitives::{Address, Bytes};
use axum::Router;
use axum::body::Bytes as Body;
use axum::extract::{ConnectInfo, Path, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::control;
use super::gateway;
use super::names::GatewayFault;
use super::network::ChainId;
use super::wire::Scissors;
use super::world::World;
use calls::{Loss, answer};

const JSON: [(HeaderName, &str); 1] = [(header::CONTENT_TYPE, "application/json")];

#[derive(Clone)]
struct Doors {
    world: Arc<World>,
    closed: watch::Receiver<()>,
}

pub(super) fn router(world: Arc<World>, tap: control::Tap, closed: watch::Receiver<()>) -> Router {
    let controls = control::router(Arc::clone(&world), tap);
    Router::new()
        .route("/{chain}", post(call))
        .route("/gateway/{sender}/{data}", get(gateway_get))
        .route("/gateway", post(gateway_post))
        .with_state(Doors { world, closed })
        .nest("/__sandbox", controls)
}

async fn call(
    State(doors): State<Doors>,
    ConnectInfo(scissors): ConnectInfo<Scissors>,
    Path(chain): Path<String>,
    body: Body,
) -> Response {
    let Some(chain) = chain.parse().ok().and_then(ChainId::from_number) else {
        let words = "no such chain: this sandbox keeps 1, 8453, 137 and 42161\n";
        return (StatusCode::NOT_FOUND, words).into_response();
    };
    match answer(&doors.world, chain, &body).await {
        Ok(Value::Null) => StatusCode::NO_CONTENT.into_response(),
        Ok(value) => (JSON, value.to_string()).into_response(),
        Err(loss) => lose(loss, &scissors, doors.closed).await,
    }
}

async fn lose(loss: Loss, scissors: &Scissors, mut closed: watch::Receiver<()>) -> Response {
    match loss {
        Loss::Reset => {
            scissors.cut();
            StatusCode::OK.into_response()
        }
        Loss::Unavailable => {
            (StatusCode::SERVICE_UNAVAILABLE, "the node is down\n").into_response()
        }
        Loss::Hang => {
            let _ = closed.changed().await;
            scissors.cut();
            StatusCode::OK.into_response()
        }
        Loss::RateLimited(seconds) => {
            let wait = [(header::RETRY_AFTER, seconds.to_string())];
            let error = json!({ "code": -32005, "message": "too many requests" });
            let body = json!({ "jsonrpc": "2.0", "id": null, "error": error });
            (StatusCode::TOO_MANY_REQUESTS, wait, JSON, body.to_string()).into_response()
        }
        Loss::Garbage => (JSON, "<html>this was an answer once").into_response(),
    }
}

async fn gateway_get(
    State(doors): State<Doors>,
    ConnectInfo(scissors): ConnectInfo<Scissors>,
    Path((sender, data)): Path<(String, String)>,
) -> Response {
    let data = data.strip_suffix(".json").unwrap_or(&data);
    gate(doors, &scissors, sender.parse().ok(), data.parse().ok()).await
}

async fn gateway_post(
    State(doors): State<Doors>,
    ConnectInfo(scissors): ConnectInfo<Scissors>,
    body: Body,
) -> Response {
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let text = |name: &str| asked.get(name).and_then(Value::as_str);
    let sender = text("sender").and_then(|sender| sender.parse().ok());
    gate(doors, &scissors, sender, text("data").and_then(|data| data.parse().ok())).await
}

async fn gate(
    doors: Doors,
    scissors: &Scissors,
    sender: Option<Address>,
    data: Option<Bytes>,
) -> Response {
    let fault = doors.world.names().fault;
    match fault {
        GatewayFault::Hang => return lose(Loss::Hang, scissors, doors.closed).await,
        GatewayFault::Garbage => return lose(Loss::Garbage, scissors, doors.closed).await,
        GatewayFault::None
        | GatewayFault::Down
        | GatewayFault::NotFound
        | GatewayFault::Forged
        | GatewayFault::Expired => {}
    }
    let (Some(sender), Some(data)) = (sender, data) else {
        let body = json!({ "message": "ask with `sender` and `data`, both as 0x and digits" });
        return (StatusCode::BAD_REQUEST, JSON, body.to_string()).into_response();
    };
    let now = doors.world.hands().now();
    let answer = gateway::answer(&doors.world.names(), now, sender, &data);
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
