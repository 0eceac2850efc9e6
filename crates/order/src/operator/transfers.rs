//! Transfers of USDC as the chain has them: the proof of a refund, and what an audit compares.

use std::fmt;

use async_trait::async_trait;

use crate::model::chain::{EvmAddress, Network};
use crate::model::ids::Timestamp;
use crate::model::money::Usdc;
use crate::ports::Failure;

/// Reads transfers from the networks' nodes.
#[async_trait]
pub trait UsdcTransfers: Send + Sync {
    /// The networks that have a node.
    fn networks(&self) -> Vec<Network>;

    /// What the network knows of a transaction.
    async fn transaction(
        &self,
        network: Network,
        transaction: &TransactionHash,
    ) -> Result<ChainTransaction, Failure>;

    /// The transfers to any of these accounts in final blocks from `from` (inclusive) to `until`
    /// (exclusive), oldest first.
    async fn received(
        &self,
        network: Network,
        accounts: &[EvmAddress],
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<ReceivedTransfer>, Failure>;
}

/// The hash of a transaction: `0x` and 64 hexadecimal digits, in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransactionHash(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotATransactionHash;

impl TransactionHash {
    pub fn parse(text: &str) -> Result<Self, NotATransactionHash> {
        let digits = text.strip_prefix("0x").ok_or(NotATransactionHash)?;
        if digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(NotATransactionHash)
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a network knows of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainTransaction {
    /// The node does not know it, or it is in no block.
    Unknown,
    /// It is in a block, and failed.
    Reverted,
    /// It is in a block that can still be reorganised.
    NotFinal,
    Final(FinalTransaction),
}

/// A successful transaction in a final block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalTransaction {
    /// The time of its block.
    pub at: Timestamp,
    /// The account that sent it, and paid its fee.
    pub sender: EvmAddress,
    /// The fee in wei.
    pub fee_wei: u128,
    /// Its USDC transfers.
    pub transfers: Vec<ChainTransfer>,
}

/// One USDC transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainTransfer {
    pub from: EvmAddress,
    pub to: EvmAddress,
    pub amount: Usdc,
}

/// A transfer to an account of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedTransfer {
    pub network: Network,
    pub transaction: TransactionHash,
    pub at: Timestamp,
    pub transfer: ChainTransfer,
}

/// Why a transaction does not prove a refund.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferFault {
    Unknown,
    Reverted,
    NotFinal,
    /// It has no transfer from the seller to the payer.
    OtherAccounts,
    /// It transfers less than the charge.
    TooLittle,
    /// It is older than the order.
    TooOld,
}

impl fmt::Display for TransferFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "The order's network does not know this transaction.",
            Self::Reverted => "The transaction failed on the chain.",
            Self::NotFinal => {
                "The transaction is not final yet. Repeat the command when its block is final."
            }
            Self::OtherAccounts => {
                "The transaction has no USDC transfer from the order's seller to its payer."
            }
            Self::TooLittle => "The transaction transfers less than the order's charge.",
            Self::TooOld => "The transaction is older than the order.",
        })
    }
}
