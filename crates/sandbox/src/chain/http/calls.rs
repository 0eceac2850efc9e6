//! JSON-RPC calls, one or a batch of them, with the faults that strike them.

use std::time::Duration;

use alloy_primitives::{Bytes, keccak256};
use serde_json::{Value, json};

use super::super::contracts::Revert;
use super::super::faults::Fault;
use super::super::journal::CallOutcome;
use super::super::network::ChainId;
use super::super::pool::Filing;
use super::super::rpc::{self, Distortion, Failure};
use super::super::world::{Kept, World};

/// How many calls may come at once.
const BATCH: usize = 256;
/// How long `eth_sendRawTransactionSync` waits if it is not told, and at most, in
/// milliseconds: closing the sandbox waits for it.
const SYNC_TIMEOUT: u64 = 2_000;
const SYNC_LONGEST: u64 = 10_000;

/// What a fault leaves of an answer.
pub(super) enum Loss {
    Reset,
    Unavailable,
    Hang,
    RateLimited(u64),
    Garbage,
}

/// Answers one call, or a batch of them in order. A lost answer is that of the whole
/// batch: what came before has been done, and what comes after is not.
pub(super) async fn answer(world: &World, chain: ChainId, body: &[u8]) -> Result<Value, Loss> {
    let Ok(asked) = serde_json::from_slice::<Value>(body) else {
        return Ok(failed(&Value::Null, &Failure::new(-32700, "parse error")));
    };
    let Value::Array(calls) = asked else {
        return one(world, chain, &asked, None).await;
    };
    if calls.is_empty() || calls.len() > BATCH {
        let words = format!("a batch is of 1 to {BATCH} calls");
        return Ok(failed(&Value::Null, &Failure::new(-32600, words)));
    }
    let reordered = reordering(world, chain, &calls);
    let mut answers = vec![Value::Null; calls.len()];
    for index in order_of_effect(&calls, reordered.as_ref()) {
        answers[index] = one(world, chain, &calls[index], reordered.as_ref()).await?;
    }
    answers.retain(|answer| !answer.is_null());
    Ok(if answers.is_empty() { Value::Null } else { Value::Array(answers) })
}

fn sends(call: &Value) -> bool {
    call.get("method").and_then(Value::as_str).is_some_and(rpc::sends)
}

/// The fault that changes the order of this batch. One transaction has no order.
fn reordering(world: &World, chain: ChainId, calls: &[Value]) -> Option<Fault> {
    let several = calls.iter().filter(|call| sends(call)).nth(1).is_some();
    several.then(|| world.chain(chain).faults.strike_batch(rpc::SEND)).flatten()
}

/// The indexes of the calls in the order in which they are done. Reordered, the
/// transactions change places with each other, and all other calls stay.
fn order_of_effect(calls: &[Value], reordered: Option<&Fault>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..calls.len()).collect();
    if reordered.is_some() {
        let sent: Vec<usize> = order.iter().copied().filter(|at| sends(&calls[*at])).collect();
        for (place, call) in sent.iter().zip(sent.iter().rev()) {
            order[*place] = *call;
        }
    }
    order
}

/// Nothing (`null`) for a notification, which wants no answer.
async fn one(
    world: &World,
    chain: ChainId,
    call: &Value,
    reordered: Option<&Fault>,
) -> Result<Value, Loss> {
    let id = call.get("id").cloned().unwrap_or_default();
    let Some(method) = call.get("method").and_then(Value::as_str) else {
        return Ok(failed(&id, &Failure::new(-32600, "invalid request")));
    };
    let params = call.get("params").unwrap_or(&Value::Null);
    let mut result = struck(world, &mut world.chain(chain), reordered, method, params)?;
    if method == rpc::SEND_SYNC
        && let Ok(hash) = result
    {
        let milliseconds = params.get(1).and_then(Value::as_u64).unwrap_or(SYNC_TIMEOUT);
        result = receipt_within(world, chain, hash, milliseconds.min(SYNC_LONGEST)).await;
    }
    if call.get("id").is_none() {
        return Ok(Value::Null);
    }
    Ok(match result {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(failure) => failed(&id, &failure),
    })
}

/// Looks for the receipt again and again, because blocks are made when somebody looks.
async fn receipt_within(
    world: &World,
    chain: ChainId,
    hash: Value,
    milliseconds: u64,
) -> Result<Value, Failure> {
    let (method, params) = ("eth_getTransactionReceipt", json!([hash]));
    let look = || {
        let node = &mut world.chain(chain).node;
        rpc::answer(node, &world.names(), Distortion::default(), method, &params)
    };
    let mined = async {
        loop {
            let found = look();
            if found != Ok(Value::Null) {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let timeout = Duration::from_millis(milliseconds);
    tokio::time::timeout(timeout, mined).await.unwrap_or_else(|_| {
        let words = format!(
            "The transaction was added to the mempool but wasn't processed in {milliseconds} ms"
        );
        Err(Failure { code: 4, message: words, data: Some(hash) })
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

/// Does the call, with whatever fault strikes it or else its batch, and writes it down.
fn struck(
    world: &World,
    kept: &mut Kept,
    reordered: Option<&Fault>,
    method: &str,
    params: &Value,
) -> Said {
    let of_batch = reordered.filter(|_| rpc::sends(method)).cloned();
    let fault = kept.faults.strike(method).or(of_batch);
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
        Some(Fault::Revert) if !rpc::sends(method) => {
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
        Some(Fault::Strand) => distortion.filing = Filing::Stranded,
        Some(Fault::Drop) => distortion.filing = Filing::Forgotten,
        // The order has been changed already, for the batch as a whole.
        Some(Fault::Silent | Fault::Reorder) => {}
    }
    let result = rpc::answer(&mut kept.node, &world.names(), distortion, method, params);
    lost.map_or(Ok(result), Err)
}
