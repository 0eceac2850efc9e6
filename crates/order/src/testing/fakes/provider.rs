//! A provider with a delayed list, idempotency and a cancellation window.

use crate::lifecycle::{Order, Submitting};
use crate::model::ids::{OrderId, Timestamp};
use crate::model::mail::{Cancellation, Delivery, Mailpiece, Promises, Stage};
use crate::model::money::Cents;

/// Delay after which a lost submission may still be accepted.
pub(super) const LATE_SECONDS: u64 = 45;
/// From acceptance to delivery.
pub(super) const DELIVERY_SECONDS: u64 = 4 * 60 * 60;

/// The state of the provider.
pub struct FakeProvider {
    pub account: &'static str,
    pub promises: Promises,
    pub total: Cents,
    pub mailpieces: Vec<FakeMailpiece>,
    /// Submitted, not yet accepted.
    pub(super) pending: Vec<FakeMailpiece>,
    received: u64,
    /// How long a new mailpiece is missing from the list.
    pub list_lag_seconds: u64,
}

/// One accepted postcard.
#[derive(Clone, Debug)]
pub struct FakeMailpiece {
    pub id: Mailpiece,
    pub order: OrderId,
    pub(super) key: [u8; 32],
    pub accepted_at: Timestamp,
    pub cancelled: bool,
    /// It was accepted and will not arrive.
    pub failed: bool,
}

impl FakeProvider {
    pub fn new(promises: Promises) -> Self {
        Self {
            account: "provider",
            promises,
            total: Cents(200),
            mailpieces: Vec::new(),
            pending: Vec::new(),
            received: 0,
            list_lag_seconds: promises.visibility_lag_seconds,
        }
    }

    /// Cards that will be, or have been, mailed for an order.
    pub fn live(&self, order: OrderId) -> usize {
        self.accepted_for(order).filter(|mailpiece| !mailpiece.failed).count()
    }

    /// Cards that were accepted for an order and not cancelled, also if they will not arrive.
    pub fn accepted_for(&self, order: OrderId) -> impl Iterator<Item = &FakeMailpiece> {
        let accepted = move |card: &&FakeMailpiece| card.order == order && !card.cancelled;
        self.mailpieces.iter().filter(accepted)
    }

    /// Whether nothing is pending, and every mailpiece has been listed for a while.
    pub fn is_quiet(&mut self, now: Timestamp) -> bool {
        self.catch_up(now);
        let shown = self.list_lag_seconds + 20 * 60;
        self.pending.is_empty()
            && self.mailpieces.iter().all(|mailpiece| mailpiece.accepted_at.plus(shown) <= now)
    }

    pub(super) fn catch_up(&mut self, now: Timestamp) {
        let (due, pending) =
            std::mem::take(&mut self.pending).into_iter().partition(|sent| sent.accepted_at <= now);
        self.pending = pending;
        for mailpiece in Vec::<FakeMailpiece>::from_iter(due) {
            self.accept(mailpiece);
        }
    }

    /// An idempotent provider mails the same order once. It detects the
    /// second submission only after the first is listed.
    pub(super) fn accept(&mut self, mailpiece: FakeMailpiece) -> Mailpiece {
        let kept = self.promises.idempotent_seconds.unwrap_or_default();
        let lag = self.promises.visibility_lag_seconds;
        let twin = self.mailpieces.iter().find(|earlier| {
            let age = mailpiece.accepted_at.since(earlier.accepted_at);
            earlier.key == mailpiece.key && age.is_some_and(|age| age >= lag && age < kept)
        });
        if let Some(twin) = twin {
            return twin.id.clone();
        }
        let id = mailpiece.id.clone();
        self.mailpieces.push(mailpiece);
        id
    }

    pub(super) fn receive(&mut self, order: &Order<Submitting>, at: Timestamp) -> FakeMailpiece {
        self.received += 1;
        FakeMailpiece {
            id: Mailpiece(self.received.to_string()),
            order: order.id,
            key: order.submission_key(),
            accepted_at: at,
            cancelled: false,
            failed: false,
        }
    }

    pub(super) fn cancel(&mut self, id: &Mailpiece, now: Timestamp) -> Cancellation {
        let window = self.promises.cancel_seconds;
        match self.mailpieces.iter_mut().find(|mailpiece| mailpiece.id == *id) {
            Some(mailpiece) if mailpiece.cancelled || now <= mailpiece.accepted_at.plus(window) => {
                mailpiece.cancelled = true;
                Cancellation::Cancelled
            }
            Some(_) | None => Cancellation::TooLate,
        }
    }

    pub(super) fn stage(&self, id: &Mailpiece, now: Timestamp) -> Option<Delivery> {
        let mailpiece = self.mailpieces.iter().find(|mailpiece| mailpiece.id == *id)?;
        let age = now.since(mailpiece.accepted_at).unwrap_or_default();
        let stage = match age {
            _ if mailpiece.cancelled || mailpiece.failed => Stage::Failed,
            DELIVERY_SECONDS.. => Stage::Delivered,
            _ if age > self.promises.cancel_seconds => Stage::Mailed,
            _ => Stage::Accepted,
        };
        Some(Delivery { stage, at: now })
    }
}
