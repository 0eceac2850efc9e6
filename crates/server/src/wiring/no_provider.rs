//! Stands for the provider where none is configured: no call has an effect.

use async_trait::async_trait;
use order::lifecycle::{Order, Submitting};
use order::model::card::Postcard;
use order::model::ids::{OrderId, Timestamp};
use order::model::mail::{
    AcceptedCard, Cancellation, Delivery, Mailpiece, Preview, Promises, ProviderAccount,
    ProviderQuote,
};
use order::ports::{Failure, Provider, Unanswered};

pub(super) struct NoProvider;

fn refused<T>() -> Result<T, Failure> {
    Err(Failure::Refused("no provider is configured".to_owned()))
}

#[async_trait]
impl Provider for NoProvider {
    /// No order names it, so that no card is looked for.
    fn account(&self) -> ProviderAccount {
        ProviderAccount("none".to_owned())
    }

    fn promises(&self) -> Promises {
        Promises { idempotent_seconds: None, cancel_seconds: 0, visibility_lag_seconds: 0 }
    }

    async fn preview(&self, _card: &Postcard) -> Result<Preview, Unanswered> {
        Err(Unanswered::Unavailable)
    }

    async fn quote(&self, _card: &Postcard) -> Result<ProviderQuote, Unanswered> {
        Err(Unanswered::Unavailable)
    }

    async fn submit(&self, _order: &Order<Submitting>) -> Result<Mailpiece, Failure> {
        refused()
    }

    async fn find(&self, _order: OrderId, _since: Timestamp) -> Result<Vec<Mailpiece>, Failure> {
        refused()
    }

    async fn track(&self, _mailpiece: &Mailpiece) -> Result<Option<Delivery>, Failure> {
        refused()
    }

    async fn cancel(&self, _mailpiece: &Mailpiece) -> Result<Cancellation, Failure> {
        refused()
    }

    async fn accepted(
        &self,
        _from: Timestamp,
        _until: Timestamp,
    ) -> Result<Vec<AcceptedCard>, Failure> {
        refused()
    }
}
