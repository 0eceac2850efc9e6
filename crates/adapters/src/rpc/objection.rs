//! How a node says no: to a question, and to a transaction.

use std::fmt;

use alloy_primitives::Bytes;
use serde::Deserialize;

use super::NoAnswer;
use super::revert::Explanation;

#[derive(Deserialize)]
pub(super) struct Objection {
    code: i64,
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Option<Explanation>,
}

/// The number that nodes give to a call that the contract itself ended.
const EXECUTION_REVERTED: i64 = 3;

/// How a transaction was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    Taken,
    /// It had been taken before.
    Known,
}

/// Why a transaction may not be on its way. Only the first kind proves that this
/// call sent nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotSent {
    /// The node never heard of it.
    Unheard(NoAnswer),
    /// The node did not take it, and said so in words that we know.
    Objected(Objected),
    /// It may be on its way.
    Lost(NoAnswer),
}

/// What a node has against a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objected {
    /// Another transaction of this account stands in a block under its number.
    NonceTooLow,
    /// Another one waits under its number, and this one does not pay enough more.
    Outbid,
    /// It does not pay what a block asks for now.
    Underpriced,
    /// The account cannot pay for it.
    NoFunds,
}

impl fmt::Display for Objected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NonceTooLow => "its number has been used",
            Self::Outbid => "another transaction waits under its number",
            Self::Underpriced => "it pays too little",
            Self::NoFunds => "the account cannot pay the fee",
        })
    }
}

impl fmt::Display for NotSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unheard(why) => write!(f, "not sent: {why}"),
            Self::Objected(why) => write!(f, "not taken: {why}"),
            Self::Lost(why) => write!(f, "sent, perhaps: {why}"),
        }
    }
}

impl Objection {
    pub(super) fn sorted(self) -> NoAnswer {
        match self.data.and_then(Explanation::bytes) {
            Some(bytes) => NoAnswer::Reverted(bytes),
            None if self.code == EXECUTION_REVERTED => NoAnswer::Reverted(Bytes::new()),
            None => NoAnswer::Refused(self.code),
        }
    }

    /// What it means for a transaction. There are no codes for this, only words,
    /// and every make of node has its own; what we do not know leaves it open.
    pub(super) fn about_transaction(self) -> Result<Sent, NotSent> {
        let words = self.message.to_lowercase();
        let says = |any: &[&str]| any.iter().any(|part| words.contains(part));
        if says(&["already known", "known transaction", "already imported", "already exists"]) {
            Ok(Sent::Known)
        } else if says(&["nonce too low", "nonce is too low", "nonce has already been used"]) {
            Err(NotSent::Objected(Objected::NonceTooLow))
        } else if says(&["replacement", "could not replace"]) {
            Err(NotSent::Objected(Objected::Outbid))
        } else if says(&["underpriced", "less than block base fee", "fee too low"]) {
            Err(NotSent::Objected(Objected::Underpriced))
        } else if says(&["insufficient funds", "insufficient balance"]) {
            Err(NotSent::Objected(Objected::NoFunds))
        } else {
            Err(NotSent::Lost(self.sorted()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(message: &str) -> Result<Sent, NotSent> {
        Objection { code: -32000, message: message.to_owned(), data: None }.about_transaction()
    }

    /// As geth, Erigon, Nethermind, reth and anvil have them.
    #[test]
    fn the_words_of_every_make_are_understood() {
        let objected = |why| Err(NotSent::Objected(why));
        assert_eq!(said("already known"), Ok(Sent::Known));
        assert_eq!(said("AlreadyKnown: already imported"), Ok(Sent::Known));
        assert_eq!(said("transaction already imported"), Ok(Sent::Known));
        let low = "nonce too low: next nonce 5, tx nonce 4";
        assert_eq!(said(low), objected(Objected::NonceTooLow));
        let outbid = "replacement transaction underpriced";
        assert_eq!(said(outbid), objected(Objected::Outbid));
        assert_eq!(said("transaction underpriced"), objected(Objected::Underpriced));
        let fee = "max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1";
        assert_eq!(said(fee), objected(Objected::Underpriced));
        let funds = "insufficient funds for gas * price + value: have 0 want 5";
        assert_eq!(said(funds), objected(Objected::NoFunds));
    }

    #[test]
    fn words_that_nobody_knows_leave_it_open() {
        for words in ["", "internal error", "tx pool is busy", "upstream timed out"] {
            assert_eq!(said(words), Err(NotSent::Lost(NoAnswer::Refused(-32000))), "{words}");
        }
    }
}
