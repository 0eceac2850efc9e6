//! Finds out what became of payments and cards, and finishes what was interrupted.
//!
//! | found | what is done |
//! |---|---|
//! | `Settling`, `Unconfirmed` | the payment is traced. Moved: the card is submitted. Void: `Offered`, to be paid again. Neither: it is settled again, which can succeed once only |
//! | `Submitting`, a lost card | it is looked for under its reference. Found: `Mailed`. Not found: submitted again after two looks and a grace period, if the provider mails the same order once (Lob); else a person decides (thanks.io) |
//! | a refused card | it is submitted again: nothing can be in the mail. If the attempt was made before this process began, the card is looked for first, because the order may come from a backup |
//! | `Mailed` | delivery, a second card that can still be cancelled, finality of the payment |
//!
//! An order that a request has begun is claimed when that request must have ended, or at once if its
//! process is dead. While something is in doubt or owed, each look without a result doubles the wait for
//! the next, up to ten minutes.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use futures_util::stream;

use crate::lifecycle::event::Actor;
use crate::lifecycle::schedule::CLAIM_SECONDS;
use crate::lifecycle::{Order, Setback, Settling, Stored};
use crate::model::ids::{OrderId, Timestamp};
use crate::reconciler::alert::{Alert, AlertKind};
use crate::reconciler::examination::Examination;
use crate::reconciler::resubmit_watch::ResubmitWatches;
use crate::refusal::Refusal;
use crate::tender::{Session, Tenders};
use crate::writer::OrderWriter;

pub mod alert;
mod card;
pub(crate) mod examination;
mod mailed;
pub(crate) mod payment;
pub mod resubmit_watch;

/// How many orders one run claims at most.
pub const BATCH: usize = 64;
/// How many of them are examined at once: an order that waits for a node or a provider
/// that does not answer must not delay the others.
const AT_ONCE: usize = 16;

/// Examines the orders that are due.
pub struct Reconciler {
    pub writer: Arc<OrderWriter>,
    pub resubmit_watches: ResubmitWatches,
    /// The orders whose reversed payment this process has reported.
    reported: Mutex<HashSet<OrderId>>,
    /// When this process began. What was written before may come from a backup.
    started: Timestamp,
}

impl Reconciler {
    pub fn new(writer: Arc<OrderWriter>) -> Self {
        let started = writer.clock.now();
        let resubmit_watches = ResubmitWatches::default();
        Self { writer, resubmit_watches, reported: Mutex::default(), started }
    }

    /// Examines up to [`BATCH`] orders that are due, returns how many those were, and reports
    /// what a person should know. It may run any number of times, beside itself, and beside a
    /// request for the same order: of two writers the second one loses.
    pub async fn reconcile(
        &self,
        tenders: &Tenders,
        report: &(dyn Fn(Alert) + Sync),
    ) -> Result<usize, Refusal> {
        let now = self.writer.clock.now();
        let (worker, until) = (self.writer.worker, now.plus(CLAIM_SECONDS));
        let due = self.writer.store.claim(worker, now, until, BATCH).await?;
        let count = due.len();
        // Payments and refused cards come before lookups of cards: all need the provider's calls.
        let (lookups, owed): (Vec<_>, Vec<_>) = due.into_iter().partition(Stored::is_card_lookup);
        for orders in [owed, lookups] {
            self.examine_all(tenders, orders, report).await;
        }
        Ok(count)
    }

    async fn examine_all(
        &self,
        tenders: &Tenders,
        orders: Vec<Stored>,
        report: &(dyn Fn(Alert) + Sync),
    ) {
        let examinations = orders.into_iter().map(async |claimed| {
            let (order, looks) = (claimed.id(), claimed.attention().looks.saturating_add(1));
            let acknowledged = claimed.attention().acknowledged;
            // An error concerns this order alone. It is due again when its claim ends.
            let kind = match self.examine(tenders, claimed).await {
                Ok(Some(kind)) => Some(kind),
                Ok(None) | Err(_) if alert::is_time(looks) => self.unrest(order).await,
                Ok(None) | Err(_) => None,
            };
            if let Some(kind) = kind
                && !self.is_acknowledged(order, acknowledged).await
            {
                report(Alert { order, kind });
            }
        });
        stream::iter(examinations).for_each_concurrent(AT_ONCE, |examination| examination).await;
    }

    /// Whether an operator acknowledged the order, and its state has not changed since.
    async fn is_acknowledged(&self, order: OrderId, claimed: Option<Timestamp>) -> bool {
        // mutant: acknowledgement-ignored
        claimed.is_some()
            && self.writer.store.find(order).await.is_ok_and(|order| {
                order.is_some_and(|order| order.attention().acknowledged == claimed)
            })
    }

    /// What still keeps an order from its rest, after an examination.
    async fn unrest(&self, order: OrderId) -> Option<AlertKind> {
        let order = self.writer.store.find(order).await.ok().flatten()?;
        alert::unrest(&order, self.writer.clock.now())
    }

    /// Takes an order a step further, and returns what a person must know at once. If its
    /// way of paying is not enabled now, its card is still looked after.
    async fn examine(
        &self,
        tenders: &Tenders,
        order: Stored,
    ) -> Result<Option<AlertKind>, Refusal> {
        let examination = &mut Examination::of(&self.writer, &order);
        let session = order.payment().and_then(|payment| tenders.resume(payment));
        let session = session.as_deref();
        match order {
            Stored::Settling(order) => self.examine_payment(examination, session, order).await,
            Stored::Unconfirmed(order) => {
                self.examine_payment(examination, session, order.reopen()).await
            }
            // The request ended without a result: a crash, which is a lost answer.
            Stored::Submitting(order) => {
                // mutant: crash-is-refusal
                self.look_for_card(examination, session, order, Setback::Lost).await.map(|()| None)
            }
            Stored::Unfulfilled(order) => {
                self.examine_unfulfilled(examination, session, order).await
            }
            Stored::Mailed(order) => self.examine_mailed(examination, session, order).await,
            Stored::Offered(_) | Stored::Refunded(_) | Stored::Lapsed(_) => Ok(None),
        }
    }

    async fn examine_payment(
        &self,
        examination: &mut Examination<'_>,
        session: Option<&dyn Session>,
        order: Order<Settling>,
    ) -> Result<Option<AlertKind>, Refusal> {
        let by = &Actor::Reconciler;
        match session {
            Some(session) => examination.trace_payment(session, order, by).await.map(|_| None),
            None => examination.record(order.lost(self.writer.clock.now()), by).await.map(|_| None),
        }
    }
}

#[cfg(test)]
mod tests;
