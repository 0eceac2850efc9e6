//! Commands of the writer thread.

use order::lifecycle::event::Event;
use order::model::ids::{Timestamp, WorkerId};
use order::model::payment::PaymentKey;
use order::ports::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::store::encryption::ColumnCipher;
use crate::store::rows::Row;

/// One write of an order; the row has its new version.
pub(super) struct OrderWrite {
    pub(super) row: Row,
    pub(super) keys: Vec<PaymentKey>,
    pub(super) event: Event,
    pub(super) other_in_play: OtherInPlay,
}

/// Whether the order is in play from now on, so that no other one of its
/// operation may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OtherInPlay {
    None,
    Possible,
}

/// Which rows to drop.
#[derive(Clone, Copy, Debug)]
pub(super) enum RowsToDrop {
    LapsedBefore(Timestamp),
    OldestUnpaid,
}

/// A claim of due orders.
pub(super) struct Claim {
    pub(super) worker: WorkerId,
    pub(super) now: Timestamp,
    pub(super) until: Timestamp,
    pub(super) most: usize,
    /// Orders that are not to be taken, by id.
    pub(super) except: Vec<String>,
    /// What can be decrypted with these is taken, and nothing else.
    pub(super) cipher: ColumnCipher,
}

/// The claimed orders, and those whose key we do not have.
#[derive(Default)]
pub(super) struct Claimed {
    pub(super) taken: Vec<Row>,
    pub(super) undecryptable: Vec<String>,
}

/// Statements that are run inside the writer's transaction.
pub(super) type DurableWrite = Box<dyn FnOnce(&Connection) -> rusqlite::Result<()> + Send>;

pub(super) type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

pub(super) enum Command {
    Record(Box<OrderWrite>, Answer<()>),
    /// Answered with the row that is there afterwards.
    Offer(Box<Row>, Answer<Row>),
    Claim(Box<Claim>, Answer<Claimed>),
    Lapse {
        now: Timestamp,
        most: u64,
        answer: Answer<u64>,
    },
    Drop {
        which: RowsToDrop,
        most: u64,
        answer: Answer<u64>,
    },
    /// Anything else that must be on disk before it is answered.
    Write(DurableWrite, Answer<()>),
    Ping(Answer<()>),
    Close(Answer<()>),
}
