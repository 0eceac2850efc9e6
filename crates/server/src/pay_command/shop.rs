//! The service that sells the card: what it is sent, and its bare answers.

use std::time::Duration;

use adapters::http::{Address, Answer, Call, Client, Silence};
use axum::http::HeaderValue;
use serde_json::Value;

use super::card::Card;
use super::end::End;
use super::values::Rail;

/// A payment is settled and a card submitted meanwhile; the service has its own
/// limit, which is shorter.
const PATIENCE: Duration = Duration::from_secs(180);

impl Rail {
    const fn door(self) -> &'static str {
        match self {
            Self::X402 => "/api/x402/postcards",
            Self::Mpp => "/api/mpp/postcards",
        }
    }

    /// The header that a payment travels in.
    const fn header(self) -> &'static str {
        match self {
            Self::X402 => "payment-signature",
            Self::Mpp => "authorization",
        }
    }
}

pub(super) struct Shop {
    pub(super) rail: Rail,
    client: Client,
    door: Address,
    base: Address,
    /// The address of the door in words.
    pub(super) endpoint: String,
}

impl Shop {
    pub(super) fn at(base_url: &str, rail: Rail, client: Client) -> Result<Self, End> {
        let parse = |text: &str| {
            Address::parse(text).map_err(|fault| {
                End::Unusable(format!("The service's address cannot be used. {fault}\n"))
            })
        };
        let base_url = base_url.trim_end_matches('/');
        let endpoint = format!("{base_url}{}", rail.door());
        Ok(Self { rail, client, door: parse(&endpoint)?, base: parse(base_url)?, endpoint })
    }

    /// Sends the card, with a payment or without.
    pub(super) async fn send(&self, card: &Card, payment: Option<&str>) -> Result<Answer, Silence> {
        let mut call = Call::post("the service", self.door.clone(), &card.document());
        if let Some(payment) = payment {
            let mut value = HeaderValue::from_str(payment)
                .map_err(|_| Silence::Refused(adapters::http::Why::Unsendable))?;
            value.set_sensitive(true);
            call = call.with_header(self.rail.header(), value);
        }
        self.client.send(call.within(PATIENCE)).await
    }

    /// What the service says about an order, if it says anything.
    pub(super) async fn order(&self, id: &str) -> Option<Value> {
        let address = self.base.below(&["api", "x402", "orders", id]);
        let answer = self.client.send(Call::get("the service", address)).await.ok()?;
        answer.read().ok()
    }

    /// Where a person can look at an order.
    pub(super) fn order_url(&self, id: &str) -> String {
        self.endpoint.replace(self.rail.door(), &format!("/api/x402/orders/{id}"))
    }
}
