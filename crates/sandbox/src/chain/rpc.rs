//! JSON-RPC: which method does what.

mod call;
mod logs;
mod params;
mod read;
mod shape;

use serde_json::{Value, json};

use super::contracts::Revert;
use super::names::Names;
use super::node::Node;
use super::pool::Filing;
use params::Params;
use read::Reader;
use shape::{hex, quantity};

/// A JSON-RPC error, in the codes and words that nodes use.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) data: Option<Value>,
}

impl Failure {
    pub(super) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    fn invalid(message: impl Into<String>) -> Self {
        Self::new(-32602, message)
    }

    /// What a node says of its own accord.
    fn server(message: impl Into<String>) -> Self {
        Self::new(-32000, message)
    }

    pub(super) fn reverted(revert: &Revert) -> Self {
        let words = shape::reason(&revert.0);
        let message = words.map_or_else(
            || "execution reverted".to_owned(),
            |words| format!("execution reverted: {words}"),
        );
        Self { code: 3, message, data: Some(hex(&revert.0)) }
    }
}

type Answer = Result<Value, Failure>;

/// What the faults have left of the truth.
#[derive(Clone, Copy, Default)]
pub(super) struct Distortion {
    pub(super) chain_id: Option<u64>,
    /// How many of the last blocks the node has not seen.
    pub(super) behind: u64,
    /// What becomes of a transaction that is sent.
    pub(super) filing: Filing,
}

/// Whether this method hands in a signed transaction.
pub(super) fn sends(method: &str) -> bool {
    method == SEND || method == SEND_SYNC
}

pub(super) const SEND: &str = "eth_sendRawTransaction";
/// EIP-7966. Here it answers with the hash; waiting for the receipt is for a caller
/// that does not hold the chain.
pub(super) const SEND_SYNC: &str = "eth_sendRawTransactionSync";

pub(super) fn answer(
    node: &mut Node,
    names: &Names,
    distortion: Distortion,
    method: &str,
    params: &Value,
) -> Answer {
    node.tick(names);
    let params = Params::new(params)?;
    let chain_id = distortion.chain_id.unwrap_or(node.chain.number());
    if sends(method) {
        let raw = params.bytes(0)?;
        let sent = node.submit_as(names, &raw, distortion.filing);
        return sent.map(hex).map_err(Failure::server);
    }
    let reader = Reader::new(node, names, distortion.behind);
    match method {
        "web3_clientVersion" => Ok(json!("pennyblack-sandbox")),
        "eth_chainId" => Ok(quantity(chain_id)),
        "net_version" => Ok(json!(chain_id.to_string())),
        "eth_syncing" => Ok(json!(false)),
        "eth_accounts" => Ok(json!([])),
        "eth_blockNumber" => Ok(quantity(reader.head())),
        "eth_gasPrice" => Ok(quantity(reader.gas_price())),
        "eth_maxPriorityFeePerGas" => Ok(quantity(read::PRIORITY_FEE)),
        "eth_feeHistory" => reader.fee_history(&params),
        "eth_getBlockByNumber" => reader.block_by_number(&params),
        "eth_getBlockByHash" => reader.block_by_hash(&params),
        "eth_getBalance" => reader.balance(&params),
        "eth_getCode" => reader.code(&params),
        "eth_getTransactionCount" => reader.transaction_count(&params),
        "eth_call" => reader.call(&params),
        "eth_estimateGas" => reader.estimate(&params),
        "eth_getTransactionByHash" => reader.transaction(&params),
        "eth_getTransactionReceipt" => reader.receipt(&params),
        "eth_getLogs" => logs::answer(&reader, &params),
        "txpool_status" => Ok(pool_status(reader.node())),
        unknown => Err(Failure::new(
            -32601,
            format!("the method {unknown} does not exist/is not available"),
        )),
    }
}

fn pool_status(node: &Node) -> Value {
    let pending = node.pool.pending(|account| node.nonce(account));
    let all = u64::try_from(node.pool.len()).unwrap_or(u64::MAX);
    json!({ "pending": quantity(pending), "queued": quantity(all.saturating_sub(pending)) })
}
