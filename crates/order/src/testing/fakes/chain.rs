//! A chain with blocks, reorganisations, late transactions and payers who cancel.

use crate::model::ids::Timestamp;
use crate::model::money::Usdc;
use crate::model::payment::PaymentKey;

/// A block this old cannot be reorganised away.
pub const FINALITY_SECONDS: u64 = 60;
/// Delay after which a lost transaction may still be included.
pub(super) const LATE_SECONDS: u64 = 40;

/// The state of the chain.
#[derive(Default)]
pub struct FakeChain {
    pub transfers: Vec<Transfer>,
    /// Broadcast, not yet in a block.
    pub(super) pending: Vec<Transfer>,
    pub(super) cancelled: Vec<PaymentKey>,
    /// Number of calls of `settle`.
    pub settle_calls: u64,
}

/// What payers do when a reorganisation removes their transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayerReaction {
    KeepAuthorization,
    CancelAuthorization,
}

/// Money that moved.
#[derive(Clone, Debug)]
pub struct Transfer {
    pub key: PaymentKey,
    pub amount: Usdc,
    pub most: Usdc,
    pub at: Timestamp,
    pub(super) deadline: Timestamp,
}

impl FakeChain {
    /// Includes pending transfers that are due by now.
    pub(super) fn catch_up(&mut self, now: Timestamp) {
        let (due, pending) =
            std::mem::take(&mut self.pending).into_iter().partition(|sent| sent.at <= now);
        self.pending = pending;
        for sent in Vec::<Transfer>::from_iter(due) {
            self.include(sent);
        }
    }

    /// The contract's rules: an authorization is valid once and until its deadline.
    pub(super) fn include(&mut self, sent: Transfer) -> bool {
        let spent = self.is_spent(sent.key) || sent.at > sent.deadline;
        if !spent {
            self.transfers.push(sent);
        }
        !spent
    }

    pub(super) fn is_spent(&self, key: PaymentKey) -> bool {
        self.cancelled.contains(&key) || self.transfers.iter().any(|moved| moved.key == key)
    }

    pub(super) fn moved(&self, key: PaymentKey) -> Option<&Transfer> {
        self.transfers.iter().find(|moved| moved.key == key)
    }

    /// Whether money moved for this authorization, or a pending transfer may still move it.
    pub fn moved_or_may_move(&mut self, key: PaymentKey, now: Timestamp) -> bool {
        self.catch_up(now);
        let on_its_way =
            self.pending.iter().any(|sent| sent.key == key && sent.at <= sent.deadline);
        self.moved(key).is_some() || (on_its_way && !self.cancelled.contains(&key))
    }

    /// Whether no transfer is pending and all are final.
    pub fn is_quiet(&mut self, now: Timestamp) -> bool {
        self.catch_up(now);
        self.pending.is_empty()
            && self.transfers.iter().all(|moved| moved.at.plus(FINALITY_SECONDS) <= now)
    }

    /// The payments that a reorganisation would take back.
    pub fn not_final(&mut self, now: Timestamp) -> Vec<PaymentKey> {
        self.catch_up(now);
        let young = |moved: &&Transfer| moved.at.plus(FINALITY_SECONDS) > now;
        self.transfers.iter().filter(young).map(|moved| moved.key).collect()
    }

    /// Removes the blocks that are not final. Their transfers become pending again,
    /// unless the payer cancels the authorization.
    pub fn reorganise(&mut self, now: Timestamp, payers: PayerReaction) -> u64 {
        self.catch_up(now);
        let (gone, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.transfers)
            .into_iter()
            .partition(|moved| moved.at.plus(FINALITY_SECONDS) > now);
        self.transfers = kept;
        let count = u64::try_from(gone.len()).expect("a length fits 64 bits");
        for taken in gone {
            match payers {
                PayerReaction::CancelAuthorization => self.cancelled.push(taken.key),
                // Nodes drop half of them, so that these must be sent again.
                PayerReaction::KeepAuthorization if taken.at.0.is_multiple_of(2) => {}
                PayerReaction::KeepAuthorization => {
                    self.pending.push(Transfer { at: now.plus(12), ..taken })
                }
            }
        }
        count
    }
}
