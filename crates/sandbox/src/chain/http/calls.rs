//! JSON-RPC calls and batches, with their faults.

use std::time::Duration;

use alloy_primitives::{Bytes, keccak256};
use serde_json::{Value, json};

use crate::chain::contracts::env::Revert;
use crate::chain::faults::NodeFault;
use crate::chain::handle::{EmulatedChain, EmulatedChains};
use crate::chain::journal::CallOutcome;
use crate::chain::network::ChainId;
use crate::chain::node::pool::PoolAdmission;
use crate::chain::rpc::failure::RpcError;
use crate::chain::rpc::{self, NodeDistortion};

/// Maximum number of calls in a batch.
const BATCH: usize = 256;
/// Default and maximum timeout of `eth_sendRawTransactionSync`, in milliseconds.
const SYNC_TIMEOUT: u64 = 2_000;
const SYNC_LONGEST: u64 = 10_000;

/// How a fault replaces the response.
pub(crate) enum LostResponse {
    Reset,
    Unavailable,
    Hang,
    RateLimited(u64),
    Garbage,
}

/// Answers one call, or a batch in order. A fault loses the response of the whole batch: the
/// calls before it have been executed, the calls after it have not.
pub(crate) async fn answer(
    chains: &EmulatedChains,
    chain: ChainId,
    body: &[u8],
) -> Result<Value, LostResponse> {
    let Ok(asked) = serde_json::from_slice::<Value>(body) else {
        return Ok(failed(&Value::Null, &RpcError::new(-32700, "parse error")));
    };
    let Value::Array(calls) = asked else {
        return one(chains, chain, &asked, None).await;
    };
    if calls.is_empty() || calls.len() > BATCH {
        let words = format!("a batch is of 1 to {BATCH} calls");
        return Ok(failed(&Value::Null, &RpcError::new(-32600, words)));
    }
    let reordered = reordering(chains, chain, &calls);
    let mut answers = vec![Value::Null; calls.len()];
    for index in order_of_effect(&calls, reordered.as_ref()) {
        answers[index] = one(chains, chain, &calls[index], reordered.as_ref()).await?;
    }
    answers.retain(|answer| !answer.is_null());
    Ok(if answers.is_empty() { Value::Null } else { Value::Array(answers) })
}

fn sends(call: &Value) -> bool {
    call.get("method").and_then(Value::as_str).is_some_and(rpc::sends)
}

/// The fault that changes the order of this batch. One transaction has no order.
fn reordering(chains: &EmulatedChains, chain: ChainId, calls: &[Value]) -> Option<NodeFault> {
    let several = calls.iter().filter(|call| sends(call)).nth(1).is_some();
    several.then(|| chains.chain(chain).faults.next_of_batch(rpc::SEND)).flatten()
}

/// The indexes of the calls in the order of execution. Under `reorder`, only the
/// transactions change places.
fn order_of_effect(calls: &[Value], reordered: Option<&NodeFault>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..calls.len()).collect();
    if reordered.is_some() {
        let sent: Vec<usize> = order.iter().copied().filter(|at| sends(&calls[*at])).collect();
        for (place, call) in sent.iter().zip(sent.iter().rev()) {
            order[*place] = *call;
        }
    }
    order
}

/// `null` for a notification, which gets no response.
async fn one(
    chains: &EmulatedChains,
    chain: ChainId,
    call: &Value,
    reordered: Option<&NodeFault>,
) -> Result<Value, LostResponse> {
    let id = call.get("id").cloned().unwrap_or_default();
    let Some(method) = call.get("method").and_then(Value::as_str) else {
        return Ok(failed(&id, &RpcError::new(-32600, "invalid request")));
    };
    let params = call.get("params").unwrap_or(&Value::Null);
    let mut result = call_with_faults(chains, &mut chains.chain(chain), reordered, method, params)?;
    if method == rpc::SEND_SYNC
        && let Ok(hash) = result
    {
        let milliseconds = params.get(1).and_then(Value::as_u64).unwrap_or(SYNC_TIMEOUT);
        result = receipt_within(chains, chain, hash, milliseconds.min(SYNC_LONGEST)).await;
    }
    if call.get("id").is_none() {
        return Ok(Value::Null);
    }
    Ok(match result {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(failure) => failed(&id, &failure),
    })
}

/// Polls for the receipt, because blocks are mined at reads.
async fn receipt_within(
    chains: &EmulatedChains,
    chain: ChainId,
    hash: Value,
    milliseconds: u64,
) -> Result<Value, RpcError> {
    let (method, params) = ("eth_getTransactionReceipt", json!([hash]));
    let look = || {
        let node = &mut chains.chain(chain).node;
        rpc::answer(node, &chains.names(), NodeDistortion::default(), method, &params)
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
        Err(RpcError { code: 4, message: words, data: Some(hash) })
    })
}

fn failed(id: &Value, failure: &RpcError) -> Value {
    let mut error = json!({ "code": failure.code, "message": failure.message });
    if let Some(data) = &failure.data {
        error["data"] = data.clone();
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

/// The result of a call, unless a fault loses the response.
type Said = Result<Result<Value, RpcError>, LostResponse>;

/// Executes the call with the fault of the call or of its batch, and records it.
fn call_with_faults(
    chains: &EmulatedChains,
    chain: &mut EmulatedChain,
    reordered: Option<&NodeFault>,
    method: &str,
    params: &Value,
) -> Said {
    let of_batch = reordered.filter(|_| rpc::sends(method)).cloned();
    let fault = chain.faults.next(method).or(of_batch);
    let name = fault.as_ref().map(NodeFault::name);
    let said = with(chains, chain, fault, method, params);
    let outcome = match (name, &said) {
        (Some(name), _) => CallOutcome::Faulted(name),
        (None, Ok(Err(failure))) => CallOutcome::Refused(failure.code),
        (None, Ok(Ok(_)) | Err(_)) => CallOutcome::Answered,
    };
    chain.journal.write(method, outcome);
    said
}

fn with(
    chains: &EmulatedChains,
    chain: &mut EmulatedChain,
    fault: Option<NodeFault>,
    method: &str,
    params: &Value,
) -> Said {
    let mut distortion = NodeDistortion::default();
    let mut lost = None;
    match fault {
        None => {}
        Some(NodeFault::Reset) => return Err(LostResponse::Reset),
        Some(NodeFault::Unavailable) => return Err(LostResponse::Unavailable),
        Some(NodeFault::Hang) => return Err(LostResponse::Hang),
        Some(NodeFault::RateLimited { seconds }) => return Err(LostResponse::RateLimited(seconds)),
        Some(NodeFault::Error { code, message }) => return Ok(Err(RpcError::new(code, message))),
        Some(NodeFault::Revert) if !rpc::sends(method) => {
            return Ok(Err(RpcError::reverted(&Revert::silent())));
        }
        Some(NodeFault::Revert) => {
            let raw = params.get(0).and_then(Value::as_str).and_then(|raw| raw.parse().ok());
            chain.node.fail(keccak256::<Bytes>(raw.unwrap_or_default()));
        }
        Some(NodeFault::LoseAnswer) => lost = Some(LostResponse::Reset),
        Some(NodeFault::HangAfter) => lost = Some(LostResponse::Hang),
        Some(NodeFault::Garbage) => lost = Some(LostResponse::Garbage),
        Some(NodeFault::ChainId(number)) => distortion.chain_id = Some(number),
        Some(NodeFault::Stale { blocks }) => distortion.behind = blocks,
        Some(NodeFault::Silent) if method == "eth_getLogs" => return Ok(Ok(json!([]))),
        Some(NodeFault::Strand) => distortion.admission = PoolAdmission::Stranded,
        Some(NodeFault::Drop) => distortion.admission = PoolAdmission::Forgotten,
        // The batch has been reordered already.
        Some(NodeFault::Silent | NodeFault::Reorder) => {}
    }
    let result = rpc::answer(&mut chain.node, &chains.names(), distortion, method, params);
    lost.map_or(Ok(result), Err)
}
