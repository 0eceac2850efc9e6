//! What processes tell each other about the queue and the outbox.

use std::sync::Arc;

use alloy_primitives::B256;
use order::model::ids::Timestamp;
use order::model::payment::{Finality, PaymentKey};
use tokio::sync::{broadcast, watch};

use crate::rpc::TransactionReceipt;

/// A process that has missed more than that looks at everything it waits for.
const KEPT: usize = 256;

/// A transaction of a payment that is in a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinedNotice {
    pub key: PaymentKey,
    pub transaction: B256,
    /// What the sender has read of it. Without it the notice is only a hint to read it.
    pub mined: Option<MinedTransaction>,
}

/// A transaction in a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinedTransaction {
    pub receipt: TransactionReceipt,
    /// Time and finality of its block; none if the sender has not seen the block in the chain.
    pub in_block: Option<(Timestamp, Finality)>,
}

/// Passes on to the senders of one process what it is told.
pub(crate) struct NoticeBoard {
    queued: watch::Sender<u64>,
    mined: broadcast::Sender<Arc<[MinedNotice]>>,
}

impl Default for NoticeBoard {
    fn default() -> Self {
        Self { queued: watch::Sender::default(), mined: broadcast::Sender::new(KEPT) }
    }
}

impl NoticeBoard {
    pub(crate) fn queued(&self) {
        self.queued.send_modify(|count| *count += 1);
    }

    pub(crate) fn mined(&self, notices: Arc<[MinedNotice]>) {
        // It fails if no sender listens.
        let _ = self.mined.send(notices);
    }

    pub(crate) fn subscribe(&self) -> Notices {
        Notices { queued: self.queued.subscribe(), mined: self.mined.subscribe() }
    }
}

/// What one sender is told.
pub struct Notices {
    queued: watch::Receiver<u64>,
    mined: broadcast::Receiver<Arc<[MinedNotice]>>,
}

impl Notices {
    /// Waits until something was put into the queue since the last call.
    pub(crate) async fn queued(&mut self) {
        if self.queued.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Waits for transactions in blocks. None if notices were missed.
    pub async fn mined(&mut self) -> Option<Arc<[MinedNotice]>> {
        match self.mined.recv().await {
            Ok(notices) => Some(notices),
            Err(broadcast::error::RecvError::Lagged(_)) => None,
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}
