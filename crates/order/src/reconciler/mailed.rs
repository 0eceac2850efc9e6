//! A card that is in the mail: whether its money stands, whether it was mailed twice, how far it has come.

use std::sync::PoisonError;

use super::Reconciler;
use super::examination::Examination;
use super::payment::{PaidMoney, check_money};
use crate::lifecycle::event::Actor;
use crate::lifecycle::{Mailed, Order, Standing};
use crate::model::mail::{Cancellation, Delivery, Mailpiece, Stage};
use crate::ports::Failure;
use crate::reconciler::alert::{self, AlertKind};
use crate::refusal::Refusal;
use crate::tender::Session;

impl Reconciler {
    pub(super) async fn examine_mailed(
        &self,
        examination: &mut Examination<'_>,
        session: Option<&dyn Session>,
        mut order: Order<Mailed>,
    ) -> Result<Option<AlertKind>, Refusal> {
        let by = &Actor::Reconciler;
        match check_money(session, order.state.paid.clone()).await {
            Some(PaidMoney::Stands(paid)) => order.state.paid = *paid,
            // Its provider is not configured any more: it cannot be stopped from here.
            Some(PaidMoney::Gone) if !self.is_ours(order.state.submitted_to.as_ref()) => {
                let alert = self.reversed_elsewhere(&order);
                return examination
                    .record(order.looked(self.writer.clock.now()), by)
                    .await
                    .map(|_| alert);
            }
            Some(PaidMoney::Gone) => return self.recall(examination, order).await,
            // Nothing is concluded about the card while the money is unclear.
            Some(PaidMoney::Missing) | None => {
                return examination
                    .record(order.looked(self.writer.clock.now()), by)
                    .await
                    .map(|_| None);
            }
        }
        let delivery = self.news_of(&order).await.unwrap_or(order.state.delivery);
        let now = self.writer.clock.now();
        // Reported at every examination until a person has acknowledged it.
        let reversed = order.state.paid.standing == Standing::Reversed;
        match delivery.stage {
            Stage::Failed => examination
                .record(order.undelivered(now), by)
                .await
                .map(|_| Some(AlertKind::Undelivered)),
            Stage::Accepted | Stage::Mailed | Stage::Delivered | Stage::Returned => {
                let recorded = examination.record(order.followed(delivery, now), by).await;
                recorded.map(|_| reversed.then_some(AlertKind::Reversed))
            }
        }
    }

    /// A person may still cancel the card at its provider, so this process reports it at once,
    /// and then as often as any order that does not come to rest.
    fn reversed_elsewhere(&self, order: &Order<Mailed>) -> Option<AlertKind> {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let first = reported.insert(order.id);
        let due = first || alert::is_time(order.attention.looks.saturating_add(1));
        due.then(|| AlertKind::ReversedElsewhere(order.state.submitted_to.clone()))
    }

    /// How far a card has come, if its provider is the configured one.
    async fn news_of(&self, order: &Order<Mailed>) -> Option<Delivery> {
        if !self.is_ours(order.state.submitted_to.as_ref()) {
            return None;
        }
        self.cancel_spares(order).await;
        self.writer.provider.track(&order.state.mailpiece).await.ok().flatten()
    }

    /// A second card for one order would be mailed at our cost: cancels it while that is
    /// possible. The recorded one stays.
    async fn cancel_spares(&self, order: &Order<Mailed>) {
        let known = &order.state.mailpiece;
        let age = self.writer.clock.now().since(order.state.mailed_at).unwrap_or_default();
        if age > self.writer.provider.promises().cancel_seconds {
            return;
        }
        let since = order.state.paid.handed_in_after();
        let mut found = self.writer.provider.find(order.id, since).await.unwrap_or_default();
        found.retain(|spare| spare != known);
        // mutant: recalled-meanwhile
        if found.is_empty() || self.check_unchanged(order).await.is_err() {
            return;
        }
        for spare in found {
            let _ = self.writer.provider.cancel(&spare).await;
        }
    }

    /// Another process may have recalled the card since, and its payer paid for a new one under
    /// the same order: that one must not be cancelled.
    async fn check_unchanged(&self, order: &Order<Mailed>) -> Result<(), Refusal> {
        match self.writer.store.find(order.id).await? {
            Some(known) if known.version() == order.version => Ok(()),
            Some(_) | None => Err(Refusal::InProgress(order.id)),
        }
    }

    /// The money is gone for good: cancels the card, or records the loss.
    async fn recall(
        &self,
        examination: &mut Examination<'_>,
        mut order: Order<Mailed>,
    ) -> Result<Option<AlertKind>, Refusal> {
        let by = &Actor::Reconciler;
        self.check_unchanged(&order).await?;
        let stopped = self.cancel_all(&order).await;
        let now = self.writer.clock.now();
        match stopped {
            Ok(Cancellation::Cancelled) => {
                examination.record(order.cancelled_after_reversal(now), by).await.map(|_| None)
            }
            Ok(Cancellation::TooLate) => {
                order.state.paid.standing = Standing::Reversed;
                let delivery = order.state.delivery;
                let recorded = examination.record(order.followed(delivery, now), by).await;
                recorded.map(|_| Some(AlertKind::Reversed))
            }
            Err(_) => examination.record(order.looked(now), by).await.map(|_| None),
        }
    }

    /// Cancels every card of an order. The recorded one comes last, so that the order has a card
    /// as long as anything is left to cancel.
    async fn cancel_all(&self, order: &Order<Mailed>) -> Result<Cancellation, Failure> {
        let known: &Mailpiece = &order.state.mailpiece;
        let mut stopped = Cancellation::Cancelled;
        for spare in self.writer.provider.find(order.id, order.state.paid.handed_in_after()).await?
        {
            if spare != *known
                && self.writer.provider.cancel(&spare).await? == Cancellation::TooLate
            {
                stopped = Cancellation::TooLate;
            }
        }
        match (self.writer.provider.cancel(known).await?, stopped) {
            (Cancellation::Cancelled, Cancellation::Cancelled) => Ok(Cancellation::Cancelled),
            (Cancellation::TooLate, _) | (_, Cancellation::TooLate) => Ok(Cancellation::TooLate),
        }
    }
}
