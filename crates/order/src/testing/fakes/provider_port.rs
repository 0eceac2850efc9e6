//! The provider port of the fake world: the fake provider behind faults.

use async_trait::async_trait;

use super::fault_schedule::{EFFECT_FAULTS, QUERY_FAULTS, SimulatedFault};
use super::provider::{FakeMailpiece, LATE_SECONDS};
use super::world::FakeWorld;
use crate::lifecycle::{Order, Submitting};
use crate::model::card::Postcard;
use crate::model::ids::{OrderId, Timestamp};
use crate::model::mail::{
    AcceptedCard, Cancellation, Delivery, Mailpiece, Preview, Promises, ProviderAccount,
    ProviderQuote, Stage,
};
use crate::ports::{Failure, Provider, Unanswered};

impl FakeWorld {
    fn order_of_card(&self, mailpiece: &Mailpiece) -> Option<OrderId> {
        let provider = self.provider.lock().unwrap();
        provider.mailpieces.iter().find(|card| card.id == *mailpiece).map(|card| card.order)
    }
}

#[async_trait]
impl Provider for FakeWorld {
    fn account(&self) -> ProviderAccount {
        ProviderAccount(self.provider.lock().unwrap().account.to_owned())
    }

    fn promises(&self) -> Promises {
        self.provider.lock().unwrap().promises
    }

    async fn preview(&self, _card: &Postcard) -> Result<Preview, Unanswered> {
        let url = "https://previews.example.org/front.png".to_owned();
        self.query("preview", None, || ("answered", Preview { urls: vec![url] }))
            .await
            .map_err(|_| Unanswered::Unreachable)
    }

    async fn quote(&self, _card: &Postcard) -> Result<ProviderQuote, Unanswered> {
        let order = self.requested_order();
        self.time_source.network_delay().await;
        if self.next_fault("quote", order, QUERY_FAULTS) != SimulatedFault::None {
            return Err(Unanswered::Unreachable);
        }
        self.count("quote", "answered", order);
        ProviderQuote::new(self.provider.lock().unwrap().total).ok_or(Unanswered::Unusable)
    }

    async fn submit(&self, order: &Order<Submitting>) -> Result<Mailpiece, Failure> {
        self.time_source.network_delay().await;
        let now = self.time();
        if !self.submitted_after.lock().unwrap().insert((order.id, order.version)) {
            self.submitted_twice.lock().unwrap().insert(order.id);
        }
        let fault = self.next_fault("submit", Some(order.id), EFFECT_FAULTS);
        let accepted = {
            let mut provider = self.provider.lock().unwrap();
            provider.catch_up(now);
            let mailpiece = provider.receive(order, now);
            match fault {
                SimulatedFault::None => {
                    self.count("submit", "accepted", Some(order.id));
                    Some(provider.accept(mailpiece))
                }
                SimulatedFault::LostAfter | SimulatedFault::CrashAfter => {
                    Some(provider.accept(mailpiece))
                }
                SimulatedFault::Late => {
                    let late = FakeMailpiece { accepted_at: now.plus(LATE_SECONDS), ..mailpiece };
                    provider.pending.push(late);
                    None
                }
                SimulatedFault::Refused
                | SimulatedFault::LostBefore
                | SimulatedFault::CrashBefore => None,
            }
        };
        self.time_source.network_delay().await;
        match (fault, accepted) {
            (SimulatedFault::None, Some(mailpiece)) => Ok(mailpiece),
            (SimulatedFault::Refused, _) => Err(Failure::Refused("refused".into())),
            (SimulatedFault::CrashBefore | SimulatedFault::CrashAfter, _) => self.crash().await,
            (
                SimulatedFault::None
                | SimulatedFault::LostBefore
                | SimulatedFault::LostAfter
                | SimulatedFault::Late,
                _,
            ) => Err(Failure::Lost("no answer".into())),
        }
    }

    async fn find(&self, order: OrderId, since: Timestamp) -> Result<Vec<Mailpiece>, Failure> {
        self.query("find card", Some(order), || {
            let now = self.time();
            let mut provider = self.provider.lock().unwrap();
            provider.catch_up(now);
            let lag = provider.list_lag_seconds;
            let listed = |mailpiece: &&FakeMailpiece| {
                let shown =
                    mailpiece.accepted_at.plus(lag) <= now && mailpiece.accepted_at >= since;
                mailpiece.order == order && !mailpiece.cancelled && shown
            };
            let found = provider.mailpieces.iter().filter(listed);
            let found: Vec<_> = found.map(|mailpiece| mailpiece.id.clone()).collect();
            let words = match found.len() {
                0 if provider.live(order) > 0 => "not listed yet",
                0 => "none",
                1 => "one",
                _ => "several",
            };
            (words, found)
        })
        .await
    }

    async fn track(&self, mailpiece: &Mailpiece) -> Result<Option<Delivery>, Failure> {
        self.query("track", self.order_of_card(mailpiece), || {
            let delivery = self.provider.lock().unwrap().stage(mailpiece, self.time());
            let words = match delivery.map(|delivery| delivery.stage) {
                None => "unknown",
                Some(Stage::Accepted) => "accepted",
                Some(Stage::Mailed) => "mailed",
                Some(Stage::Delivered) => "delivered",
                Some(Stage::Returned) => "returned",
                Some(Stage::Failed) => "failed",
            };
            (words, delivery)
        })
        .await
    }

    async fn accepted(
        &self,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<AcceptedCard>, Failure> {
        self.query("accepted", None, || {
            let mut provider = self.provider.lock().unwrap();
            provider.catch_up(self.time());
            let listed = |card: &&FakeMailpiece| {
                from <= card.accepted_at && card.accepted_at < until && !card.cancelled
            };
            let row = |card: &FakeMailpiece| AcceptedCard {
                mailpiece: card.id.clone(),
                order: Some(card.order),
                at: card.accepted_at,
                total: None,
            };
            ("answered", provider.mailpieces.iter().filter(listed).map(row).collect())
        })
        .await
    }

    async fn cancel(&self, mailpiece: &Mailpiece) -> Result<Cancellation, Failure> {
        self.query("cancel", self.order_of_card(mailpiece), || {
            let result = self.provider.lock().unwrap().cancel(mailpiece, self.time());
            let words = match result {
                Cancellation::Cancelled => "cancelled",
                Cancellation::TooLate => "too late",
            };
            (words, result)
        })
        .await
    }
}
