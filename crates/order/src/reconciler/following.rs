//! What is done about a card that is in the post, and about its money.

use super::{Look, Money};
use crate::checkout::trouble;
use crate::lifecycle::event::Actor;
use crate::lifecycle::{Mailed, Order, Standing};
use crate::model::mail::{Cancellation, Delivery, Mailpiece, Stage};
use crate::ports::Failure;
use crate::reconciler::alert::{self, AlertKind};
use crate::refusal::Refusal;
use crate::tender::Tender;

impl Look<'_> {
    /// Looks after a card that is in the post: whether its money stands,
    /// whether it was mailed twice, and how far it has come.
    pub(super) async fn follow(
        &self,
        tender: Option<&dyn Tender>,
        mut order: Order<Mailed>,
    ) -> Result<Option<AlertKind>, Refusal> {
        let by = &Actor::Reconciler;
        match self.check_money(tender, order.state.paid.clone()).await {
            Some(Money::Stands(paid)) => order.state.paid = *paid,
            // Its provider is not configured any more: it cannot be stopped from here.
            Some(Money::Gone) if !self.is_ours(order.state.asked.as_ref()) => {
                let alert = self.reversed_elsewhere(&order);
                return self.record(order.looked(self.clock.now()), by).await.map(|_| alert);
            }
            Some(Money::Gone) => return self.recall(order).await,
            // Nothing is concluded about the card while the money is unclear.
            Some(Money::Missing) | None => {
                return self.record(order.looked(self.clock.now()), by).await.map(|_| None);
            }
        }
        let delivery = self.news_of(&order).await.unwrap_or(order.state.delivery);
        let now = self.clock.now();
        // Told again at every look until a person has acknowledged it.
        let reversed = order.state.paid.standing == Standing::Reversed;
        match delivery.stage {
            Stage::Failed => {
                self.record(order.undelivered(now), by).await.map(|_| Some(AlertKind::Undelivered))
            }
            Stage::Accepted | Stage::Mailed | Stage::Delivered | Stage::Returned => {
                let recorded = self.record(order.followed(delivery, now), by).await;
                recorded.map(|_| reversed.then_some(AlertKind::Reversed))
            }
        }
    }

    /// A person may still stop the card at its provider, so this process tells it at once, and
    /// then as often as of any order that does not come to rest.
    fn reversed_elsewhere(&self, order: &Order<Mailed>) -> Option<AlertKind> {
        let first = self.resubmit_watches.keep(order.id, 0, self.clock.uptime()).looks == 1;
        let due = first || alert::is_time(order.attention.looks.saturating_add(1));
        due.then(|| AlertKind::ReversedElsewhere(order.state.asked.clone()))
    }

    /// How far a card has come, if its own provider says so.
    async fn news_of(&self, order: &Order<Mailed>) -> Option<Delivery> {
        if !self.is_ours(order.state.asked.as_ref()) {
            return None;
        }
        self.cancel_spares(order).await;
        self.provider.track(&order.state.mailpiece).await.ok().flatten()
    }

    /// A second card for one order would be mailed at our cost: stop it while
    /// the provider still lets us. The one that we know stays.
    async fn cancel_spares(&self, order: &Order<Mailed>) {
        let known = &order.state.mailpiece;
        let age = self.clock.now().since(order.state.mailed_at).unwrap_or_default();
        if age > self.provider.promises().cancel_seconds {
            return;
        }
        let since = order.state.paid.handed_in_after();
        for spare in self.provider.find(order.id, since).await.unwrap_or_default() {
            if spare != *known {
                let _ = self.provider.cancel(&spare).await;
            }
        }
    }

    /// The money is gone for good: stop the card, or book the loss.
    async fn recall(&self, mut order: Order<Mailed>) -> Result<Option<AlertKind>, Refusal> {
        let by = &Actor::Reconciler;
        // Another process may have recalled it since, and its payer paid for a new card under
        // the same order: that one is not to be stopped.
        let known = self.store.find(order.id).await.map_err(trouble)?;
        if known.is_none_or(|known| known.version() != order.version) {
            return Err(Refusal::InProgress(order.id));
        }
        let stopped = self.cancel_all(&order).await;
        let now = self.clock.now();
        match stopped {
            Ok(Cancellation::Cancelled) => self.record(order.recalled(now), by).await.map(|_| None),
            Ok(Cancellation::TooLate) => {
                order.state.paid.standing = Standing::Reversed;
                let delivery = order.state.delivery;
                let recorded = self.record(order.followed(delivery, now), by).await;
                recorded.map(|_| Some(AlertKind::Reversed))
            }
            Err(_) => self.record(order.looked(now), by).await.map(|_| None),
        }
    }

    /// Stops every card of an order. The known one comes last, so that as long
    /// as anything is left undone, the order still knows a card.
    async fn cancel_all(&self, order: &Order<Mailed>) -> Result<Cancellation, Failure> {
        let known: &Mailpiece = &order.state.mailpiece;
        let mut stopped = Cancellation::Cancelled;
        for spare in self.provider.find(order.id, order.state.paid.handed_in_after()).await? {
            if spare != *known && self.provider.cancel(&spare).await? == Cancellation::TooLate {
                stopped = Cancellation::TooLate;
            }
        }
        match (self.provider.cancel(known).await?, stopped) {
            (Cancellation::Cancelled, Cancellation::Cancelled) => Ok(Cancellation::Cancelled),
            (Cancellation::TooLate, _) | (_, Cancellation::TooLate) => Ok(Cancellation::TooLate),
        }
    }
}
