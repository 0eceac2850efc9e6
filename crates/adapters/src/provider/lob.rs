//! Lob, version 1: a key for repeats and a filter by reference; the back and the price are ours.

use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use order::lifecycle::{Order, Submitting};
use order::model::card::Postcard;
use order::model::ids::{OrderId, Timestamp};
use order::model::mail::{
    Cancellation, Delivery, Mailpiece, Preview, Promises, ProviderAccount, ProviderQuote,
};
use order::model::money::Cents;
use order::ports::{Clock, Failure, Provider, Unanswered};
use reqwest::header::HeaderValue;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

use super::budget::{Budget, Caller, Rate, SharedBudget};
use super::line::{Line, unanswered};
use super::previews::PreviewPlaces;
use super::{AccountMode, Sender};
use crate::http::{Address, Call, Client, Silence, Why};

mod back;
#[cfg(test)]
mod tests;
mod wire;

use wire::{Cards, Made, Proof, ProofStatus, Removed, Sheet};

const PEER: &str = "Lob";
pub const BASE: &str = "https://api.lob.com/v1";

/// 150 in five seconds.
pub const RATE: Rate = Rate { seconds: 5, paid: 75, reconciler: 40, preview: 35 };

/// The same key gives the same card for a day. How late the filter is, nobody
/// says: this is ours to be careful with.
const IDEMPOTENT_SECONDS: u64 = 24 * 60 * 60;
const VISIBILITY_LAG_SECONDS: u64 = 60;

const PICTURES: [&str; 2] = ["https://lob-assets.com/", "https://assets.lob.com/"];

/// A proof is drawn while we wait, a second at a time, and somebody waits with us.
const PROOF_LOOKS: u32 = 8;
const PROOF_DEADLINE: Duration = Duration::from_secs(20);

pub struct Settings {
    pub base: Address,
    pub key: Zeroizing<String>,
    pub sender: Option<Sender>,
    pub previews: PreviewPlaces,
    pub prices: Prices,
    /// How long a card waits at the printer, so that it can be cancelled. Only
    /// some contracts with Lob have this; zero for all others.
    pub cancel_seconds: u64,
}

/// What Lob charges by contract. It has no way to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prices {
    pub domestic: Cents,
    pub international: Cents,
}

/// The account that this key opens, by the operator's name for it if there is one.
pub fn account(base: &Address, key: &str, name: Option<&str>) -> ProviderAccount {
    super::account(PEER, base, key, name)
}

impl Settings {
    pub fn known_previews() -> PreviewPlaces {
        PreviewPlaces::known(&PICTURES)
    }
}

/// One caller's way to the account. Handles made from one another share its
/// budget and its connections.
#[derive(Clone)]
pub struct Lob {
    settings: Arc<Settings>,
    clock: Arc<dyn Clock>,
    line: Line,
    account: ProviderAccount,
}

impl Lob {
    /// The handle for whoever has paid, or is about to.
    pub fn new(settings: Settings, client: Client, clock: Arc<dyn Clock>) -> Self {
        let budget = Budget::new(RATE, clock.clone());
        let account = account(&settings.base, &settings.key, None);
        Self { settings: Arc::new(settings), line: Line::new(client, budget), clock, account }
    }

    /// For an account that keeps this name whatever its key is.
    #[must_use]
    pub fn named(self, name: Option<&str>) -> Self {
        let account = account(&self.settings.base, &self.settings.key, name);
        Self { account, ..self }
    }

    /// For an account that may call so many times as often as [`RATE`] says.
    #[must_use]
    pub fn calling(self, times: NonZero<u16>) -> Self {
        let budget = self.line.budget().at_rate(RATE.times(times));
        Self { line: self.line.within(budget), ..self }
    }

    /// For an account that other processes call too: `open` is given the name under which
    /// they share its budget. Without one the budget stays in this process.
    #[must_use]
    pub fn sharing(self, open: impl FnOnce(&str) -> Option<Arc<dyn SharedBudget>>) -> Self {
        // Not by the key: two keys of one account share its rate.
        match open(&format!("{PEER} {}", self.settings.base.origin())) {
            Some(shared) => {
                let budget = self.line.budget().shared_through(shared);
                Self { line: self.line.within(budget), ..self }
            }
            None => self,
        }
    }

    #[must_use]
    pub fn for_reconciler(&self) -> Self {
        Self { line: self.line.on_behalf_of(Caller::Reconciler), ..self.clone() }
    }

    #[must_use]
    pub fn for_previews(&self) -> Self {
        Self { line: self.line.on_behalf_of(Caller::Preview), ..self.clone() }
    }

    /// Whether the account mails what it is given: Lob writes it into the key.
    pub fn mode(&self) -> AccountMode {
        if self.settings.key.starts_with("test_") {
            AccountMode::Testing
        } else {
            AccountMode::Live
        }
    }

    fn at(&self, parts: &[&str]) -> Address {
        self.settings.base.below(parts)
    }

    async fn read<T: DeserializeOwned>(&self, call: Call) -> Result<T, Silence> {
        self.line.read(self.signed(call)).await
    }

    fn signed(&self, call: Call) -> Call {
        let pair = Zeroizing::new(format!("{}:", *self.settings.key));
        let words = format!("Basic {}", STANDARD.encode(pair.as_bytes()));
        call.authorized(Zeroizing::new(words))
    }

    async fn made(&self, mailpiece: &Mailpiece) -> Result<Made, Silence> {
        self.read(Call::get(PEER, self.at(&["postcards", &mailpiece.0]))).await
    }

    async fn proof(&self, card: &Postcard) -> Result<Proof, Silence> {
        let wish = wire::ProofWish::new(Sheet::new(card, self.settings.sender.as_ref()));
        let call = Call::post(PEER, self.at(&["resource_proofs"]), &wish);
        let mut proof: Proof = self.read(call).await?;
        for _ in 0..PROOF_LOOKS {
            match proof.status {
                ProofStatus::Completed | ProofStatus::Failed => break,
                ProofStatus::Processing => {}
            }
            self.clock.wait(1).await;
            let call = Call::get(PEER, self.at(&["resource_proofs", &proof.id]));
            proof = self.read(call).await?;
        }
        Ok(proof)
    }

    /// When the printer may begin; the same for every attempt at an order.
    fn send_date(&self, order: &Order<Submitting>) -> Option<String> {
        let at = order.state.since.plus(self.settings.cancel_seconds);
        // A date that is over, or nearly, is refused; then it is printed at once.
        (at > self.clock.now().plus(60)).then(|| at.to_string())
    }
}

#[async_trait]
impl Provider for Lob {
    fn account(&self) -> ProviderAccount {
        self.account.clone()
    }

    fn promises(&self) -> Promises {
        Promises {
            idempotent_seconds: Some(IDEMPOTENT_SECONDS),
            cancel_seconds: self.settings.cancel_seconds,
            visibility_lag_seconds: VISIBILITY_LAG_SECONDS,
        }
    }

    async fn preview(&self, card: &Postcard) -> Result<Preview, Unanswered> {
        let proof = tokio::time::timeout(PROOF_DEADLINE, self.proof(card)).await;
        let proof = proof.unwrap_or(Err(Silence::Lost(Why::TimedOut))).map_err(unanswered)?;
        match proof.status {
            ProofStatus::Completed => self.settings.previews.judge(&proof.pictures()),
            ProofStatus::Failed => Err(Unanswered::Unusable),
            ProofStatus::Processing => Err(Unanswered::Unreachable),
        }
    }

    /// Lob is not asked, so what it would refuse after the payment is refused here.
    async fn quote(&self, card: &Postcard) -> Result<ProviderQuote, Unanswered> {
        if !wire::takes(card) || !back::fits(card.message.as_str()) {
            return Err(Unanswered::Unusable);
        }
        let prices = self.settings.prices;
        let domestic = card.recipient.country.as_str() == "US";
        ProviderQuote::new(if domestic { prices.domestic } else { prices.international })
            .ok_or(Unanswered::Unusable)
    }

    async fn reserve_call(&self) -> Result<(), Unanswered> {
        self.line.reserve().await
    }

    async fn release_call(&self) {
        self.line.release().await;
    }

    async fn submit(&self, order: &Order<Submitting>) -> Result<Mailpiece, Failure> {
        let sheet = Sheet::new(&order.state.card, self.settings.sender.as_ref());
        let wish = sheet.of(order, self.send_date(order));
        // One payment buys one card, so the key is the payment's and not the order's.
        let key = order.submission_key().map(|byte| format!("{byte:02x}")).concat();
        let key = HeaderValue::from_str(&key).map_err(|_| Silence::Refused(Why::Unsendable))?;
        let call = Call::post(PEER, self.at(&["postcards"]), &wish);
        let call = self.signed(call.with_header("idempotency-key", key));
        let made: Made = self.line.hand_in(call).await?;
        if !made.is_card_of(order.id) {
            return Err(Silence::Lost(Why::Unreadable).into());
        }
        Ok(Mailpiece(made.id))
    }

    async fn find(&self, order: OrderId, _since: Timestamp) -> Result<Vec<Mailpiece>, Failure> {
        let at = self
            .at(&["postcards"])
            .asking("limit", "100")
            .asking("metadata[public_order_id]", &order.to_string());
        let cards: Cards = self.read(Call::get(PEER, at)).await?;
        // A filter that was not understood shows everybody's cards.
        let ours = cards.data.into_iter().filter(|made| made.is_card_of(order) && !made.deleted);
        let found: Vec<Mailpiece> = ours.map(|made| Mailpiece(made.id)).collect();
        if found.is_empty() && cards.next_url.is_some() {
            return Err(Silence::Lost(Why::TooLarge).into());
        }
        Ok(found)
    }

    async fn track(&self, mailpiece: &Mailpiece) -> Result<Option<Delivery>, Failure> {
        let made = match self.made(mailpiece).await {
            Err(Silence::Refused(Why::Status(404))) => return Ok(None),
            made => made?,
        };
        Ok(Some(Delivery { stage: made.stage(), at: self.clock.now() }))
    }

    async fn cancel(&self, mailpiece: &Mailpiece) -> Result<Cancellation, Failure> {
        let at = self.at(&["postcards", &mailpiece.0]);
        match self.read::<Removed>(Call::delete(PEER, at)).await {
            Ok(removed) if removed.deleted => Ok(Cancellation::Cancelled),
            Ok(_) => Err(Silence::Lost(Why::Unreadable).into()),
            // It says no to a card that is printed, and may say no to one that is
            // cancelled already.
            Err(
                Silence::Refused(Why::Status(400 | 404 | 422))
                | Silence::Lost(Why::Status(403 | 409)),
            ) => match self.made(mailpiece).await {
                Ok(made) if made.deleted => Ok(Cancellation::Cancelled),
                Ok(_) | Err(Silence::Refused(Why::Status(404))) => Ok(Cancellation::TooLate),
                Err(silence) => Err(silence.into()),
            },
            Err(silence) => Err(silence.into()),
        }
    }
}
