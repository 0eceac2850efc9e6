//! Orders that a crash, a lost answer or a chain that changed its mind left behind.

use futures_util::StreamExt;
use futures_util::stream;

use crate::checkout::{Desk, Fulfilment, Outcome, trouble};
use crate::lifecycle::event::Actor;
use crate::lifecycle::schedule::WALK_SECONDS;
use crate::lifecycle::{
    Doubt, Order, Paid, Reopened, Setback, Settling, Standing, Stored, Submitting, Unconfirmed,
    Unfulfilled,
};
use crate::model::ids::{OrderId, Timestamp};
use crate::model::mail::ProviderAccount;
use crate::model::payment::Trace;
use crate::reconciler::alert::{Alert, AlertKind};
use crate::refusal::Refusal;
use crate::tender::{Tender, Tenders, Unsettled};

pub mod alert;
mod following;
mod look;
pub mod resubmit_watch;

pub(crate) use look::Look;

/// After a lost answer the provider is looked at this often before it is asked
/// again, since its list may lag behind.
const LOOKS_BEFORE_RESUBMIT: u32 = 2;
/// Added to the provider's own visibility lag: its time-out and a margin.
const GRACE_SECONDS: u64 = 180;
/// A card that may be in the post already is handed in again this often; then a person looks.
const ATTEMPTS_IN_DOUBT_MAX: u32 = 5;
/// How many orders one pass takes on.
const BATCH: usize = 64;
/// And how many of them at once: whoever waits for a node or a provider that says
/// nothing must not keep the others waiting.
const AT_ONCE: usize = 8;

/// What a look at the money behind a paid order found.
enum Money {
    /// It is there.
    Stands(Box<Paid>),
    /// It was there, is not now, and may come back.
    Missing,
    /// It was there and never will be again.
    Gone,
}

impl Desk {
    /// Brings every order that is due a step closer to rest, says how many those
    /// were, and tells at once what a person should know. It may be run any number
    /// of times, and beside a request that is still under way: whoever writes
    /// second loses.
    pub async fn reconcile(
        &self,
        tenders: &Tenders,
        tell: &(dyn Fn(Alert) + Sync),
    ) -> Result<usize, Refusal> {
        let now = self.clock.now();
        let until = now.plus(WALK_SECONDS);
        let due = self.store.claim(self.worker, now, until, BATCH).await.map_err(trouble)?;
        let count = due.len();
        // Cards that are owed before looks: both need the provider's calls.
        let (looks, owed): (Vec<_>, Vec<_>) = due.into_iter().partition(Stored::is_looked_for);
        for orders in [owed, looks] {
            self.step(tenders, orders, tell).await;
        }
        Ok(count)
    }

    /// Takes each of these orders a step further, a few at once.
    async fn step(&self, tenders: &Tenders, orders: Vec<Stored>, tell: &(dyn Fn(Alert) + Sync)) {
        let looks = orders.into_iter().map(async |claimed| {
            let (order, looks) = (claimed.id(), claimed.attention().looks.saturating_add(1));
            // One order in trouble must not keep the others waiting; its turn
            // comes again when its claim runs out.
            let kind = match Look::at(self, &claimed).look_into(tenders, claimed).await {
                Ok(Some(kind)) => Some(kind),
                Ok(None) | Err(_) if alert::is_time(looks) => self.unrest(order).await,
                Ok(None) | Err(_) => None,
            };
            if let Some(kind) = kind {
                tell(Alert { order, kind });
            }
        });
        stream::iter(looks).for_each_concurrent(AT_ONCE, |look| look).await;
    }

    /// What still keeps an order from its rest, after a look.
    async fn unrest(&self, order: OrderId) -> Option<AlertKind> {
        let order = self.store.find(order).await.ok().flatten()?;
        alert::unrest(&order, self.clock.now())
    }
}

impl Look<'_> {
    /// Takes an order a step further, and says what a person must know at once. Where its
    /// way of paying is closed now, nobody can ask about its money; about its card one can.
    async fn look_into(
        &self,
        tenders: &Tenders,
        order: Stored,
    ) -> Result<Option<AlertKind>, Refusal> {
        let kind = order.payment().map(|payment| payment.authorization.tender);
        let tender = kind.and_then(|kind| tenders.of(kind));
        match order {
            Stored::Settling(order) => self.chase_if_open(tender, order).await,
            Stored::Unconfirmed(order) => self.chase_if_open(tender, order.reopen()).await,
            // Its walk is over without an answer: a crash, which is a lost answer.
            Stored::Submitting(order) => {
                self.look_for_card(tender, order, Setback::Lost).await.map(|()| None)
            }
            Stored::Unfulfilled(order) => self.look_again(tender, order).await,
            Stored::Mailed(order) => self.follow(tender, order).await,
            Stored::Offered(_) | Stored::Refunded(_) | Stored::Lapsed(_) => Ok(None),
        }
    }

    async fn chase_if_open(
        &self,
        tender: Option<&dyn Tender>,
        order: Order<Settling>,
    ) -> Result<Option<AlertKind>, Refusal> {
        let by = &Actor::Reconciler;
        match tender {
            Some(tender) => self.chase_payment(tender, order, by).await.map(|_| None),
            None => self.record(order.lost(self.clock.now()), by).await.map(|_| None),
        }
    }

    /// Finds out what became of money that we asked for, and asks again for the
    /// same money as long as it can still move.
    pub(crate) async fn chase_payment(
        &self,
        tender: &dyn Tender,
        order: Order<Settling>,
        by: &Actor,
    ) -> Result<Outcome, Refusal> {
        let unconfirmed = Err(Refusal::PaymentUnconfirmed(order.id));
        match tender.trace(&order.state.payment, None).await {
            Ok(Trace::Moved(settlement)) => self.settled(order, settlement, by).await,
            Ok(Trace::Void) => {
                self.record(order.declined(self.clock.now()), by).await?;
                unconfirmed
            }
            Ok(Trace::Open) => self.settle_again(tender, order, by).await,
            Err(_) => {
                self.record(self.still_lost(order, by), by).await?;
                unconfirmed
            }
        }
    }

    /// Whoever asks after a payment of theirs leaves the reconciler's plan as it was:
    /// it would never come to look otherwise, nor would anybody else be told.
    fn still_lost(&self, order: Order<Settling>, by: &Actor) -> Order<Unconfirmed> {
        let now = self.clock.now();
        match by {
            Actor::Desk => order.asked_in_vain(now),
            Actor::Reconciler | Actor::Operator(_) => order.lost(now),
        }
    }

    /// The promise can be spent once only, so asking again is safe. A refusal
    /// now proves nothing: what was lost earlier may have spent it.
    async fn settle_again(
        &self,
        tender: &dyn Tender,
        order: Order<Settling>,
        by: &Actor,
    ) -> Result<Outcome, Refusal> {
        let (id, payment) = (order.id, &order.state.payment);
        let earlier = Some(&payment.preparation);
        let ready = tender.prepare(&payment.authorization, payment.charge, earlier).await;
        let order = match ready {
            Ok(ready) if ready == payment.preparation => order,
            Ok(ready) => self.record(order.prepared_again(ready, self.clock.now()), by).await?,
            Err(_) => {
                self.record(self.still_lost(order, by), by).await?;
                return Err(Refusal::PaymentUnconfirmed(id));
            }
        };
        match tender.settle(&order.state.payment).await {
            Ok(settlement) => self.settled(order, settlement, by).await,
            Err(Unsettled::Refused(_) | Unsettled::Withdrawn(_) | Unsettled::Lost(_)) => {
                self.record(self.still_lost(order, by), by).await?;
                Err(Refusal::PaymentUnconfirmed(id))
            }
        }
    }

    async fn look_again(
        &self,
        tender: Option<&dyn Tender>,
        order: Order<Unfulfilled>,
    ) -> Result<Option<AlertKind>, Refusal> {
        match order.reopen() {
            Reopened::Owed(order) => {
                let setback = match order.state.doubt {
                    Doubt::None => Setback::Refused,
                    Doubt::Earlier => Setback::Lost,
                };
                self.look_for_card(tender, order, setback).await.map(|()| None)
            }
            // Told every day until a person has acknowledged it.
            Reopened::Ended(order) => {
                let recorded = self.record(order.reminded(self.clock.now()), &Actor::Reconciler);
                recorded.await.map(|_| Some(AlertKind::Undelivered))
            }
        }
    }

    /// Looks for the card of a paid order; asks for it again where that cannot
    /// mail two.
    async fn look_for_card(
        &self,
        tender: Option<&dyn Tender>,
        mut order: Order<Submitting>,
        setback: Setback,
    ) -> Result<(), Refusal> {
        let by = &Actor::Reconciler;
        let now = self.clock.now();
        let found = match setback {
            // Every attempt is known to have been refused: there is nothing to find.
            Setback::Refused => Ok(Vec::new()),
            // Another provider knows nothing of it, and would mail a second card.
            Setback::Lost if !self.is_ours(order.state.asked.as_ref()) => {
                return self.fail(order, setback, by).await.map(drop);
            }
            Setback::Lost => self.provider.find(order.id, order.state.paid.handed_in_after()).await,
        };
        if let Ok([mailpiece, ..]) = found.as_deref() {
            self.resubmit_watches.end(order.id);
            return self.record(order.accepted(mailpiece.clone(), now), by).await.map(drop);
        }
        match self.check_money(tender, order.state.paid.clone()).await {
            Some(Money::Stands(paid)) => order.state.paid = *paid,
            // Nothing was ever mailed, and nothing is paid: as if it never was.
            Some(Money::Gone) if setback == Setback::Refused => {
                return self.record(order.forgiven(now), by).await.map(drop);
            }
            Some(Money::Gone | Money::Missing) | None => {
                return self.fail(order, setback, by).await.map(drop);
            }
        }
        if found.is_ok() && self.may_ask_again(&order, setback, now) {
            self.resubmit_watches.end(order.id);
            let order = match setback {
                Setback::Refused => order,
                Setback::Lost => order.in_doubt(),
            };
            let order = order.asking(self.provider.account()).again(now);
            let order = self.record(order, by).await?;
            let mailed = self.mail(order, by).await;
            if (setback, mailed) == (Setback::Refused, Fulfilment::Submitted) {
                // The others that were refused need not wait until their back-off is over.
                let hastened = self.store.hasten_refused(self.clock.now()).await;
                return hastened.map_err(trouble);
            }
            return Ok(());
        }
        self.fail(order, setback, by).await.map(drop)
    }

    /// Whether the provider that was asked is the one that we speak to now.
    fn is_ours(&self, asked: Option<&ProviderAccount>) -> bool {
        asked == Some(&self.provider.account())
    }

    /// Whether handing the card in once more cannot mail two, after a look that
    /// found none: the provider said no to every attempt, or it promises to
    /// mail the same order once and has been looked at often and long enough.
    fn may_ask_again(&self, order: &Order<Submitting>, setback: Setback, now: Timestamp) -> bool {
        let promises = self.provider.promises();
        match setback {
            Setback::Refused => true,
            Setback::Lost => {
                let few = order.state.attempt < ATTEMPTS_IN_DOUBT_MAX;
                let grace = promises.visibility_lag_seconds + GRACE_SECONDS;
                let uptime = self.clock.uptime();
                let watch = self.resubmit_watches.keep(order.id, order.state.attempt, uptime);
                let looked = watch.looks >= LOOKS_BEFORE_RESUBMIT;
                let waited = watch.seconds(uptime) > grace;
                let kept = promises.idempotent_seconds.unwrap_or_default();
                let age = now.since(order.state.since);
                few && looked && waited && age.is_some_and(|age| age + grace < kept)
            }
        }
    }

    /// Whether money that moved is still there. None if nobody can tell now.
    async fn check_money(&self, tender: Option<&dyn Tender>, mut paid: Paid) -> Option<Money> {
        match paid.standing {
            Standing::Final | Standing::Reversed => return Some(Money::Stands(Box::new(paid))),
            Standing::Provisional => {}
        }
        let tender = tender?;
        let told = Some(paid.settlement.transaction.as_str());
        match tender.trace(&paid.payment, told).await.ok()? {
            Trace::Moved(settlement) => {
                paid.settlement.finality = settlement.finality;
                paid.settlement.transaction = settlement.transaction;
                Some(Money::Stands(Box::new(paid.confirmed())))
            }
            Trace::Open => {
                // The chain was reorganised. The same transaction is sent
                // again; the next look tells whether it went in.
                let _ = tender.settle(&paid.payment).await;
                Some(Money::Missing)
            }
            Trace::Void => Some(Money::Gone),
        }
    }
}

#[cfg(test)]
mod tests;
