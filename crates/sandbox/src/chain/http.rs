//! The doors: one path for the JSON-RPC of each chain, the gateway, the controls.

use std::sync::Arc;

use alloy_primitives::{Address, Bytes, keccak256};
use axum::Router;
use axum::body::Bytes as Body;
use axum::extract::{ConnectInfo, Path, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::contracts::Revert;
use super::control;
use super::faults::Fault;
use super::gateway;
use super::journal::CallOutcome;
use super::names::GatewayFault;
use super::network::ChainId;
use super::rpc::{self, Distortion, Failure};
use super::wire::Scissors;
use super::world::{Kept, World};

/// How many calls may come at once.
const BATCH: usize = 256;
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

/// What a fault leaves of an answer.
enum Loss {
    Reset,
    Unavailable,
    Hang,
    RateLimited(u64),
    Garbage,
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
    match answer(&doors.world, chain, &body) {
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

/// Answers one call, or a row of them. One lost answer loses them all.
fn answer(world: &World, chain: ChainId, body: &[u8]) -> Result<Value, Loss> {
    let Ok(asked) = serde_json::from_slice::<Value>(body) else {
        return Ok(failed(&Value::Null, &Failure::new(-32700, "parse error")));
    };
    let Value::Array(calls) = asked else {
        return one(world, chain, &asked);
    };
    if calls.is_empty() || calls.len() > BATCH {
        let words = format!("a batch is of 1 to {BATCH} calls");
        return Ok(failed(&Value::Null, &Failure::new(-32600, words)));
    }
    let mut answers = Vec::new();
    let mut lost = None;
    for call in &calls {
        match one(world, chain, call) {
            Ok(Value::Null) => {}
            Ok(answer) => answers.push(answer),
            Err(loss) => lost = Some(loss),
        }
    }
    match lost {
        Some(loss) => Err(loss),
        None if answers.is_empty() => Ok(Value::Null),
        None => Ok(Value::Array(answers)),
    }
}

/// Nothing (`null`) for a notification, which wants no answer.
fn one(world: &World, chain: ChainId, call: &Value) -> Result<Value, Loss> {
    let id = call.get("id").cloned().unwrap_or_default();
    let Some(method) = call.get("method").and_then(Value::as_str) else {
        return Ok(failed(&id, &Failure::new(-32600, "invalid request")));
    };
    let params = call.get("params").unwrap_or(&Value::Null);
    let result = struck(world, &mut world.chain(chain), method, params)?;
    if call.get("id").is_none() {
        return Ok(Value::Null);
    }
    Ok(match result {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(failure) => failed(&id, &failure),
    })
}

fn failed(id: &Value, failure: &Failure) -> Value {
    let mut error = json!({ "code": failure.code, "message": failure.message });
    if let Some(data) = &failure.data {
        error["data"] = data.clone();
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

/// What the chain says, unless that is lost.
type Said = Result<Result<Value, Failure>, Loss>;

/// Does the call, with whatever fault strikes it, and writes it down.
fn struck(world: &World, kept: &mut Kept, method: &str, params: &Value) -> Said {
    let fault = kept.faults.strike(method);
    let name = fault.as_ref().map(Fault::name);
    let said = with(world, kept, fault, method, params);
    let outcome = match (name, &said) {
        (Some(name), _) => CallOutcome::Struck(name),
        (None, Ok(Err(failure))) => CallOutcome::Refused(failure.code),
        (None, Ok(Ok(_)) | Err(_)) => CallOutcome::Answered,
    };
    kept.journal.write(method, outcome);
    said
}

fn with(
    world: &World,
    kept: &mut Kept,
    fault: Option<Fault>,
    method: &str,
    params: &Value,
) -> Said {
    let mut distortion = Distortion::default();
    let mut lost = None;
    match fault {
        None => {}
        Some(Fault::Reset) => return Err(Loss::Reset),
        Some(Fault::Unavailable) => return Err(Loss::Unavailable),
        Some(Fault::Hang) => return Err(Loss::Hang),
        Some(Fault::RateLimited { seconds }) => return Err(Loss::RateLimited(seconds)),
        Some(Fault::Error { code, message }) => return Ok(Err(Failure::new(code, message))),
        Some(Fault::Revert) if method != "eth_sendRawTransaction" => {
            return Ok(Err(Failure::reverted(&Revert::silent())));
        }
        Some(Fault::Revert) => {
            let raw = params.get(0).and_then(Value::as_str).and_then(|raw| raw.parse().ok());
            kept.node.fail(keccak256::<Bytes>(raw.unwrap_or_default()));
        }
        Some(Fault::LoseAnswer) => lost = Some(Loss::Reset),
        Some(Fault::HangAfter) => lost = Some(Loss::Hang),
        Some(Fault::Garbage) => lost = Some(Loss::Garbage),
        Some(Fault::ChainId(number)) => distortion.chain_id = Some(number),
        Some(Fault::Stale { blocks }) => distortion.behind = blocks,
        Some(Fault::Silent) if method == "eth_getLogs" => return Ok(Ok(json!([]))),
        Some(Fault::Silent) => {}
    }
    let result = rpc::answer(&mut kept.node, &world.names(), distortion, method, params);
    lost.map_or(Ok(result), Err)
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
