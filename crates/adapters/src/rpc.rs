//! JSON-RPC client for EVM nodes: typed calls, typed results, no retries.

mod address;
mod batch;
mod error;
mod fees;
mod json_rpc_error;
mod node;
mod revert;
mod transactions;

pub(crate) use address::{from_alloy, to_alloy};
pub use batch::AccountProgress;
pub use error::NodeError;
pub use fees::FeeHistory;
pub use json_rpc_error::{SendError, SendOutcome, TransactionRejection};
pub use node::{BlockHead, BlockId, Node, PEER, SimulatedCall, SimulatedFees};
pub use transactions::{
    EventLog, LogFilter, LogRange, ReceiptStatus, RpcTransaction, TransactionReceipt,
};
