//! JSON-RPC errors, and what they mean for a sent transaction.

use std::fmt;

use alloy_primitives::Bytes;
use serde::Deserialize;

use super::error::NodeError;
use super::revert::RevertData;

#[derive(Deserialize)]
pub(super) struct JsonRpcError {
    code: i64,
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Option<RevertData>,
}

/// The code of a revert.
const EXECUTION_REVERTED: i64 = 3;
/// What nodes say about a call that takes more gas than it may use. There is no code for it.
const OUT_OF_GAS: [&str; 3] = ["out of gas", "gas required exceeds", "gas spent exceeded"];

fn says(message: &str, any: &[&str]) -> bool {
    let words = message.to_lowercase();
    any.iter().any(|part| words.contains(part))
}

/// How a node received a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    Accepted,
    /// The node had it already.
    AlreadyKnown,
}

/// Why a transaction may not have been sent. Only `NotSent` proves that this call sent nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendError {
    /// The request did not reach the node.
    NotSent(NodeError),
    /// The node rejected it with a known message.
    TransactionRejection(TransactionRejection),
    /// It may have been sent.
    Lost(NodeError),
}

/// Why a node rejected a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionRejection {
    /// Another transaction of this account with this nonce is in a block.
    NonceTooLow,
    /// Another one with this nonce is pending, and this one does not pay enough more.
    Outbid,
    /// It pays less than the current base fee.
    Underpriced,
    /// The account cannot pay for it.
    NoFunds,
}

impl fmt::Display for TransactionRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NonceTooLow => "its nonce has been used",
            Self::Outbid => "another transaction with its nonce is pending",
            Self::Underpriced => "it pays too little",
            Self::NoFunds => "the account cannot pay the fee",
        })
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSent(why) => write!(f, "not sent: {why}"),
            Self::TransactionRejection(why) => write!(f, "rejected: {why}"),
            Self::Lost(why) => write!(f, "possibly sent: {why}"),
        }
    }
}

impl JsonRpcError {
    pub(super) fn into_error(self) -> NodeError {
        match self.data.and_then(RevertData::bytes) {
            Some(bytes) => NodeError::Reverted(bytes),
            None if self.code == EXECUTION_REVERTED => NodeError::Reverted(Bytes::new()),
            None if says(&self.message, &OUT_OF_GAS) => NodeError::OutOfGas,
            None => NodeError::Refused(self.code),
        }
    }

    /// What it means for a sent transaction. There are no codes for this, only messages that
    /// differ by node software; after an unknown message the transaction may have been sent.
    pub(super) fn about_transaction(self) -> Result<SendOutcome, SendError> {
        let says = |any: &[&str]| says(&self.message, any);
        if says(&["already known", "known transaction", "already imported", "already exists"]) {
            Ok(SendOutcome::AlreadyKnown)
        } else if says(&["nonce too low", "nonce is too low", "nonce has already been used"]) {
            Err(SendError::TransactionRejection(TransactionRejection::NonceTooLow))
        } else if says(&["replacement", "could not replace"]) {
            Err(SendError::TransactionRejection(TransactionRejection::Outbid))
        } else if says(&["underpriced", "less than block base fee", "fee too low"]) {
            Err(SendError::TransactionRejection(TransactionRejection::Underpriced))
        } else if says(&["insufficient funds", "insufficient balance"]) {
            Err(SendError::TransactionRejection(TransactionRejection::NoFunds))
        } else {
            Err(SendError::Lost(self.into_error()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(message: &str) -> Result<SendOutcome, SendError> {
        JsonRpcError { code: -32000, message: message.to_owned(), data: None }.about_transaction()
    }

    /// Messages of geth, Erigon, Nethermind, reth and anvil.
    #[test]
    fn the_messages_of_all_node_software_are_recognised() {
        let objected = |why| Err(SendError::TransactionRejection(why));
        assert_eq!(said("already known"), Ok(SendOutcome::AlreadyKnown));
        assert_eq!(said("AlreadyKnown: already imported"), Ok(SendOutcome::AlreadyKnown));
        assert_eq!(said("transaction already imported"), Ok(SendOutcome::AlreadyKnown));
        let low = "nonce too low: next nonce 5, tx nonce 4";
        assert_eq!(said(low), objected(TransactionRejection::NonceTooLow));
        let outbid = "replacement transaction underpriced";
        assert_eq!(said(outbid), objected(TransactionRejection::Outbid));
        assert_eq!(said("transaction underpriced"), objected(TransactionRejection::Underpriced));
        let fee = "max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1";
        assert_eq!(said(fee), objected(TransactionRejection::Underpriced));
        let funds = "insufficient funds for gas * price + value: have 0 want 5";
        assert_eq!(said(funds), objected(TransactionRejection::NoFunds));
    }

    #[test]
    fn a_call_that_takes_too_much_gas_is_recognised() {
        let error = |code, message: &str| {
            JsonRpcError { code, message: message.to_owned(), data: None }.into_error()
        };
        for words in [
            "out of gas",
            "gas required exceeds allowance (1000000)",
            "out of gas: gas required exceeds allowance: 1000000",
            "Cannot estimate gas, gas spent exceeded transaction and block gas limit",
        ] {
            assert_eq!(error(-32000, words), NodeError::OutOfGas, "{words}");
        }
        assert_eq!(error(-32000, "header not found"), NodeError::Refused(-32000));
        assert_eq!(error(3, "out of gas"), NodeError::Reverted(Bytes::new()));
    }

    #[test]
    fn after_an_unknown_message_the_transaction_may_have_been_sent() {
        for words in ["", "internal error", "tx pool is busy", "upstream timed out"] {
            assert_eq!(said(words), Err(SendError::Lost(NodeError::Refused(-32000))), "{words}");
        }
    }
}
