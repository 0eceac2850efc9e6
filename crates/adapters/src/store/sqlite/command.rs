//! What the thread that writes can be asked to do.

use order::lifecycle::event::Event;
use order::model::ids::{Timestamp, WorkerId};
use order::model::payment::PaymentKey;
use order::ports::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::seal::Seals;
use crate::store::rows::Row;

/// One move, ready to be written: the row has its new version.
pub(super) struct Move {
    pub(super) row: Row,
    pub(super) keys: Vec<PaymentKey>,
    pub(super) event: Event,
    pub(super) rival: Rival,
}

/// Whether the order is in play from now on, so that no other one of its
/// operation may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rival {
    None,
    Possible,
}

/// Which rows nobody needs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unneeded {
    LapsedBefore(Timestamp),
    OldestUnpaid,
}

/// Who takes orders that are due, and until when.
pub(super) struct Claim {
    pub(super) worker: WorkerId,
    pub(super) now: Timestamp,
    pub(super) until: Timestamp,
    pub(super) most: usize,
    /// Orders that are not to be taken, by id.
    pub(super) except: Vec<String>,
    /// What can be decrypted with these is taken, and nothing else.
    pub(super) seals: Seals,
}

/// What a claim has taken, and what it left because its key is not on our ring.
#[derive(Default)]
pub(super) struct Claimed {
    pub(super) taken: Vec<Row>,
    pub(super) undecryptable: Vec<String>,
}

/// Statements that are run inside the writer's transaction.
pub(super) type DurableWrite = Box<dyn FnOnce(&Connection) -> rusqlite::Result<()> + Send>;

pub(super) type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

pub(super) enum Command {
    Record(Box<Move>, Answer<()>),
    /// Answered with the row that is there afterwards.
    Offer(Box<Row>, Answer<Row>),
    Claim(Box<Claim>, Answer<Claimed>),
    Lapse {
        now: Timestamp,
        most: u64,
        answer: Answer<u64>,
    },
    Drop {
        which: Unneeded,
        most: u64,
        answer: Answer<u64>,
    },
    /// Anything else that must be on disk before it is answered.
    Write(DurableWrite, Answer<()>),
    Ping(Answer<()>),
    Close(Answer<()>),
}
