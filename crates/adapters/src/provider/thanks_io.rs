//! thanks.io, version 2: no key for repeats, so what was lost is looked for in its list.

use std::num::NonZero;
use std::sync::Arc;

use async_trait::async_trait;
use order::lifecycle::{Order, Submitting};
use order::model::card::{Draft, Postcard};
use order::model::ids::{OrderId, Timestamp};
use order::model::mail::{
    Cancellation, Delivery, Mailpiece, Preview, Promises, ProviderAccount, ProviderQuote, Stage,
};
use order::model::money::Cents;
use order::ports::{Clock, Failure, Provider, Unanswered};
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

use super::budget::{Budget, Caller, Rate, SharedBudget};
use super::line::{Line, unanswered};
use super::previews::PreviewPlaces;
use super::{AccountMode, Sender};
use crate::http::{Address, Call, Client, Silence, Why};

mod list;
mod prices;
#[cfg(test)]
mod tests;
mod wire;

use prices::Prices;
use wire::{Enveloped, Estimate, Items, Pictures, Sent, Tracked};

const PEER: &str = "thanks.io";
pub const BASE: &str = "https://api.thanks.io/api/v2";

/// Sixty a minute for the whole account.
pub const RATE: Rate = Rate { seconds: 60, paid: 30, reconciler: 15, preview: 15 };

/// Nothing is promised about repeats. An order can be cancelled while it is
/// reviewed, about an hour; the margin is for a clock that differs from ours. How
/// late the list is, thanks.io does not say: two minutes are ours to be careful with. An
/// order that becomes visible late, below known ones, is shown by the next scan.
pub const PROMISES: Promises = Promises {
    idempotent_seconds: None,
    cancel_seconds: 55 * 60,
    visibility_lag_seconds: 120 + list::SCAN_SECONDS,
};

/// Where its pictures lie, by its own documents.
const PICTURES: [&str; 3] = [
    "https://s3.amazonaws.com/cdn.thanks.io/",
    "https://s3.amazonaws.com/content.thanks.io/",
    "https://cdn.thanks.io/",
];

pub struct Settings {
    pub base: Address,
    pub token: Zeroizing<String>,
    pub sender: Sender,
    pub previews: PreviewPlaces,
    /// What the account may be at worst. With real payments that is
    /// [`AccountMode::Live`], and an account in testing quotes no price.
    pub mode: AccountMode,
}

impl Settings {
    pub fn known_previews() -> PreviewPlaces {
        PreviewPlaces::known(&PICTURES)
    }
}

/// One caller's way to the account. Handles made from one another share its
/// budget and its connections.
#[derive(Clone)]
pub struct ThanksIo {
    settings: Arc<Settings>,
    clock: Arc<dyn Clock>,
    line: Line,
    prices: Arc<Prices>,
    scan: Arc<list::Scan>,
    account: ProviderAccount,
}

impl ThanksIo {
    /// The handle for whoever has paid, or is about to.
    pub fn new(settings: Settings, client: Client, clock: Arc<dyn Clock>) -> Self {
        let budget = Budget::new(RATE, clock.clone());
        let account = account(&settings.base, &settings.token, None);
        let (settings, line) = (Arc::new(settings), Line::new(client, budget));
        Self { settings, clock, line, prices: Arc::default(), scan: Arc::default(), account }
    }

    /// For an account that keeps this name whatever its token is.
    #[must_use]
    pub fn named(self, name: Option<&str>) -> Self {
        let account = account(&self.settings.base, &self.settings.token, name);
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

    /// Whether the account mails what it is given. To be asked at start, together
    /// with [`AccountMode::for_real_payments`].
    pub async fn mode(&self) -> Result<AccountMode, Unanswered> {
        let card = sample().ok_or(Unanswered::Unusable)?;
        // As urgent as a paid card: a process that starts beside busy ones must not find the
        // buyers' calls taken.
        self.estimate(&self.line, &card).await.map(|estimate| estimate.mode())
    }

    async fn estimate(&self, line: &Line, card: &Postcard) -> Result<Estimate, Unanswered> {
        let sheet = wire::Sheet::new(card, &self.settings.sender);
        let call = Call::post(PEER, self.at(&["estimate", "postcard"]), &sheet);
        let read = line.read::<Enveloped<Estimate>>(self.signed(call)).await;
        read.map(|estimate| estimate.data).map_err(unanswered)
    }

    fn at(&self, parts: &[&str]) -> Address {
        self.settings.base.below(parts)
    }

    async fn read<T: DeserializeOwned>(&self, call: Call) -> Result<T, Silence> {
        self.line.read(self.signed(call)).await
    }

    fn signed(&self, call: Call) -> Call {
        call.authorized(Zeroizing::new(format!("Bearer {}", *self.settings.token)))
    }

    async fn status(&self, mailpiece: &Mailpiece) -> Result<Option<String>, Silence> {
        let call = Call::get(PEER, self.at(&["orders", &mailpiece.0, "track"]));
        self.read::<Enveloped<Tracked>>(call).await.map(|tracked| tracked.data.status())
    }

    async fn is_cancelled(&self, mailpiece: &Mailpiece) -> Result<bool, Silence> {
        Ok(self.status(mailpiece).await?.is_some_and(|status| wire::is_cancelled(&status)))
    }
}

#[async_trait]
impl Provider for ThanksIo {
    fn account(&self) -> ProviderAccount {
        self.account.clone()
    }

    fn promises(&self) -> Promises {
        PROMISES
    }

    async fn preview(&self, card: &Postcard) -> Result<Preview, Unanswered> {
        let sheet = wire::Sheet::new(card, &self.settings.sender).for_preview();
        let call = Call::post(PEER, self.at(&["send", "postcard"]), &sheet);
        let pictures = self.read::<Enveloped<Pictures>>(call).await.map_err(unanswered)?;
        self.settings.previews.judge(&pictures.data.previews)
    }

    fn is_quoted(&self, card: &Postcard) -> bool {
        self.prices.known(card.recipient.country, self.clock.uptime()).is_some()
    }

    async fn quote(&self, card: &Postcard) -> Result<ProviderQuote, Unanswered> {
        let (country, uptime) = (card.recipient.country, self.clock.uptime());
        if let Some(price) = self.prices.known(country, uptime) {
            return Ok(price);
        }
        let estimate = self.estimate(&self.line.for_buyers(), card).await?;
        if (self.settings.mode, estimate.mode()) == (AccountMode::Live, AccountMode::Testing) {
            tracing::error!(
                place = PEER,
                "The account is in its test mode, which mails nothing; switch that off there"
            );
            return Err(Unanswered::Unavailable);
        }
        if !estimate.is_covered() {
            tracing::error!(
                place = PEER,
                "The account's balance does not cover a card, so no card is sold; top it up"
            );
            return Err(Unanswered::Unavailable);
        }
        let price =
            ProviderQuote::new(Cents(estimate.total_cost_in_cents)).ok_or(Unanswered::Unusable)?;
        self.prices.learn(country, price, uptime);
        Ok(price)
    }

    async fn reserve_call(&self) -> Result<(), Unanswered> {
        self.line.reserve().await
    }

    async fn release_call(&self) {
        self.line.release().await;
    }

    async fn submit(&self, order: &Order<Submitting>) -> Result<Mailpiece, Failure> {
        let card = &order.state.card;
        let sheet = wire::Sheet::new(card, &self.settings.sender).of(order);
        let call = Call::post(PEER, self.at(&["send", "postcard"]), &sheet);
        let sent: Sent = self.line.hand_in(self.signed(call)).await?;
        if !sent.belongs_to(order.id) || wire::is_cancelled(&sent.status) {
            return Err(Silence::Lost(Why::Unreadable).into());
        }
        if sent.total() != Some(order.state.paid.quote.total()) {
            // The payer was charged by the estimate; the seller bears the rest.
            tracing::warn!(
                place = PEER,
                order.id = %order.id,
                "The provider charges another total than it estimated"
            );
        }
        Ok(Mailpiece(sent.id.to_string()))
    }

    async fn find(&self, order: OrderId, since: Timestamp) -> Result<Vec<Mailpiece>, Failure> {
        let search = tokio::time::timeout(list::SEARCH_DEADLINE, self.search(order, since)).await;
        Ok(search.unwrap_or(Err(Silence::Lost(Why::TimedOut)))?)
    }

    async fn track(&self, mailpiece: &Mailpiece) -> Result<Option<Delivery>, Failure> {
        let at = self.at(&["orders", &mailpiece.0, "items"]).asking("per_page", "100");
        let items = match self.read::<Items>(Call::get(PEER, at)).await {
            Err(Silence::Refused(Why::Status(404))) => return Ok(None),
            items => items?,
        };
        let stage = items.stage().ok_or(Silence::Lost(Why::Unreadable))?;
        let stage = match stage {
            // What is cancelled as a whole may never say so of its pieces.
            Stage::Accepted if self.is_cancelled(mailpiece).await? => Stage::Failed,
            Stage::Accepted
            | Stage::Mailed
            | Stage::Delivered
            | Stage::Returned
            | Stage::Failed => stage,
        };
        Ok(Some(Delivery { stage, at: self.clock.now() }))
    }

    async fn cancel(&self, mailpiece: &Mailpiece) -> Result<Cancellation, Failure> {
        let call = Call::put(PEER, self.at(&["orders", &mailpiece.0, "cancel"]));
        match self.read::<wire::AnyObject>(call).await {
            Ok(wire::AnyObject {}) => {
                self.scan.forget(mailpiece);
                Ok(Cancellation::Cancelled)
            }
            Err(Silence::Refused(Why::Status(404))) => Ok(Cancellation::TooLate),
            // It says no to an order that is printed, and may say no to one that
            // is cancelled already.
            Err(
                Silence::Refused(Why::Status(400 | 422)) | Silence::Lost(Why::Status(403 | 409)),
            ) => {
                let cancelled = self.is_cancelled(mailpiece).await?;
                Ok(if cancelled { Cancellation::Cancelled } else { Cancellation::TooLate })
            }
            Err(silence) => Err(silence.into()),
        }
    }
}

/// The account that this token opens, by the operator's name for it if there is one.
pub fn account(base: &Address, token: &str, name: Option<&str>) -> ProviderAccount {
    super::account(PEER, base, token, name)
}

/// A card that nobody is sent, to learn what the account would say.
fn sample() -> Option<Postcard> {
    Postcard::parse(&Draft {
        front_image_url: Some("https://cdn.thanks.io/letter-backgrounds/bg0.png"),
        message: Some("Hello."),
        name: Some("Current Resident"),
        address: Some("1600 Pennsylvania Avenue NW"),
        city: Some("Washington"),
        province: Some("DC"),
        postal_code: Some("20500"),
        country: Some("US"),
    })
    .ok()
}
