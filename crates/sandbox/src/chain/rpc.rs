//! Dispatches JSON-RPC methods.

mod call;
pub(crate) mod failure;
mod logs;
mod params;
mod read;
mod shape;

use serde_json::{Value, json};

use crate::chain::ens::names::NameRegistry;
use crate::chain::node::EmulatedNode;
use crate::chain::node::pool::PoolAdmission;
use failure::{RpcError, RpcResult};
use params::RpcParams;
use read::BlockReader;
use shape::{hex, quantity};

/// How faults change the answers of a node.
#[derive(Clone, Copy, Default)]
pub(crate) struct NodeDistortion {
    pub(crate) chain_id: Option<u64>,
    /// How many of the last blocks the node has not seen.
    pub(crate) behind: u64,
    /// How the pool treats a transaction that is sent.
    pub(crate) admission: PoolAdmission,
}

/// Whether this method sends a signed transaction.
pub(crate) fn sends(method: &str) -> bool {
    method == SEND || method == SEND_SYNC
}

pub(crate) const SEND: &str = "eth_sendRawTransaction";
/// EIP-7966. Returns the hash here; the caller waits for the receipt without holding the
/// lock.
pub(crate) const SEND_SYNC: &str = "eth_sendRawTransactionSync";

pub(crate) fn answer(
    node: &mut EmulatedNode,
    names: &NameRegistry,
    distortion: NodeDistortion,
    method: &str,
    params: &Value,
) -> RpcResult {
    node.tick(names);
    let params = RpcParams::new(params)?;
    let chain_id = distortion.chain_id.unwrap_or(node.chain.number());
    if sends(method) {
        let raw = params.bytes(0)?;
        let sent = node.submit_as(names, &raw, distortion.admission);
        return sent.map(hex).map_err(RpcError::server);
    }
    let reader = BlockReader::new(node, names, distortion.behind);
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
        unknown => Err(RpcError::new(
            -32601,
            format!("the method {unknown} does not exist/is not available"),
        )),
    }
}

fn pool_status(node: &EmulatedNode) -> Value {
    let pending = node.pool.pending(|account| node.nonce(account));
    let all = u64::try_from(node.pool.len()).unwrap_or(u64::MAX);
    json!({ "pending": quantity(pending), "queued": quantity(all.saturating_sub(pending)) })
}
