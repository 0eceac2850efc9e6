//! The outbox: which transaction was signed for which nonce, durable before it is sent.

mod codec;
mod interface;
mod memory;
mod notices;

#[cfg(test)]
pub(crate) use codec::tests::mined as example_mined;
pub(crate) use codec::{read_content, read_mined, write_content, write_mined};
pub use interface::{
    AccountCode, Epoch, FailedSettlement, Outbox, OutboxError, OutboxRow, SenderAccount,
    SentTransactions, SettlementQueue, SettlementRequest, Withdrawal,
};
pub use memory::MemoryOutbox;
pub(crate) use notices::NoticeBoard;
pub use notices::{MinedNotice, MinedTransaction, Notices};

pub use super::transaction::SignedTransaction;
