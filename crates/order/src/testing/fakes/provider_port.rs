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
    ProviderQuote,
};
use crate::ports::{Failure, Provider, Unanswered};

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
        self.query(|| Preview { urls: vec![url] }).await.map_err(|_| Unanswered::Unreachable)
    }

    async fn quote(&self, _card: &Postcard) -> Result<ProviderQuote, Unanswered> {
        self.time_source.network_delay().await;
        if self.next_fault(QUERY_FAULTS) != SimulatedFault::None {
            return Err(Unanswered::Unreachable);
        }
        ProviderQuote::new(self.provider.lock().unwrap().total).ok_or(Unanswered::Unusable)
    }

    async fn submit(&self, order: &Order<Submitting>) -> Result<Mailpiece, Failure> {
        self.time_source.network_delay().await;
        let now = self.time();
        let fault = self.next_fault(EFFECT_FAULTS);
        let accepted = {
            let mut provider = self.provider.lock().unwrap();
            provider.catch_up(now);
            let mailpiece = provider.receive(order, now);
            match fault {
                SimulatedFault::None | SimulatedFault::LostAfter | SimulatedFault::CrashAfter => {
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
        self.query(|| {
            let now = self.time();
            let mut provider = self.provider.lock().unwrap();
            provider.catch_up(now);
            let lag = provider.list_lag_seconds;
            let listed = |mailpiece: &&FakeMailpiece| {
                let shown =
                    mailpiece.accepted_at.plus(lag) <= now && mailpiece.accepted_at >= since;
                mailpiece.order == order && !mailpiece.cancelled && shown
            };
            provider
                .mailpieces
                .iter()
                .filter(listed)
                .map(|mailpiece| mailpiece.id.clone())
                .collect()
        })
        .await
    }

    async fn track(&self, mailpiece: &Mailpiece) -> Result<Option<Delivery>, Failure> {
        self.query(|| self.provider.lock().unwrap().stage(mailpiece, self.time())).await
    }

    async fn accepted(
        &self,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<AcceptedCard>, Failure> {
        self.query(|| {
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
            provider.mailpieces.iter().filter(listed).map(row).collect()
        })
        .await
    }

    async fn cancel(&self, mailpiece: &Mailpiece) -> Result<Cancellation, Failure> {
        self.query(|| self.provider.lock().unwrap().cancel(mailpiece, self.time())).await
    }
}
