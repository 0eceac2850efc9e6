//! thanks.io API v2. It has no idempotency key, so lost submissions are looked up in its list.

use std::sync::Arc;

use async_trait::async_trait;
use order::lifecycle::{Order, Submitting};
use order::model::card::warning::CardWarning;
use order::model::card::{Draft, Postcard};
use order::model::ids::{OrderId, Timestamp};
use order::model::mail::{
    AcceptedCard, Cancellation, Delivery, Mailpiece, Preview, Promises, ProviderAccount,
    ProviderQuote, Stage,
};
use order::model::money::Cents;
use order::ports::{Clock, Failure, Provider, Unanswered};
use zeroize::Zeroizing;

use super::account_client::{AccountClient, unanswered};
use super::account_handle::AccountHandle;
use super::budget::{CallBudget, CallRate};
use super::card_text::{self, Typeface};
use super::previews::PreviewLocations;
use super::{AccountMode, BalanceCover, CardEstimate, ReturnAddress};
use crate::http::{CallError, CallErrorKind, HttpCall, HttpClient, HttpUrl};

mod accepted;
mod list;
mod prices;
mod scan;
#[cfg(test)]
mod tests;
mod wire;

use prices::PriceCache;
use wire::{DataEnvelope, Estimate, Items, PreviewUrls, SubmittedOrder, TrackedOrder};

/// Its name in the log.
pub const PEER: &str = "thanks.io";
pub const BASE: &str = "https://api.thanks.io/api/v2";

/// 60 calls a minute for the whole account.
pub const RATE: CallRate = CallRate { seconds: 60, paid: 30, reconciler: 15, preview: 15 };

/// Submissions are not idempotent. An order can be cancelled in review, for about an hour, less a
/// margin for clock differences. The list's lag is not documented; an order that is listed late,
/// below known ones, is found by the next scan.
pub const PROMISES: Promises = Promises {
    idempotent_seconds: None,
    cancel_seconds: 55 * 60,
    visibility_lag_seconds: scan::LIST_LAG_SECONDS + scan::SCAN_SECONDS,
};

/// Locations of previews, from its documentation.
const PICTURES: [&str; 3] = [
    "https://s3.amazonaws.com/cdn.thanks.io/",
    "https://s3.amazonaws.com/content.thanks.io/",
    "https://cdn.thanks.io/",
];

pub struct ThanksIoSettings {
    pub base: HttpUrl,
    pub token: Zeroizing<String>,
    pub sender: ReturnAddress,
    pub previews: PreviewLocations,
    /// The required mode. With real payments it is [`AccountMode::Live`], and a test account
    /// quotes no price.
    pub mode: AccountMode,
}

impl ThanksIoSettings {
    pub fn known_previews() -> PreviewLocations {
        PreviewLocations::known(&PICTURES)
    }
}

/// An [`AccountHandle`].
#[derive(Clone)]
pub struct ThanksIo {
    settings: Arc<ThanksIoSettings>,
    clock: Arc<dyn Clock>,
    account_client: AccountClient,
    prices: Arc<PriceCache>,
    scan: Arc<scan::Scan>,
    account: ProviderAccount,
}

impl ThanksIo {
    /// The handle for paid cards and buyers.
    pub fn new(settings: ThanksIoSettings, client: HttpClient, clock: Arc<dyn Clock>) -> Self {
        let budget = CallBudget::new(RATE, clock.clone());
        let account = account(&settings.base, &settings.token, None);
        let authorization = format!("Bearer {}", *settings.token);
        let base = settings.base.clone();
        Self {
            settings: Arc::new(settings),
            clock,
            account_client: AccountClient::new(PEER, base, authorization, client, budget),
            prices: Arc::default(),
            scan: Arc::default(),
            account,
        }
    }

    /// Names the account, so that it stays the same with another token.
    #[must_use]
    pub fn named(self, name: Option<&str>) -> Self {
        let account = account(&self.settings.base, &self.settings.token, name);
        Self { account, ..self }
    }

    /// Whether the account mails cards. Checked at start, with
    /// [`AccountMode::for_real_payments`].
    pub async fn mode(&self) -> Result<AccountMode, Unanswered> {
        let card = sample().ok_or(Unanswered::Unusable)?;
        // As urgent as a paid card: a starting process must not fail because buyers have used
        // their calls.
        let estimate = self.estimate(&self.account_client, &card).await.map_err(unanswered)?;
        Ok(estimate.mode())
    }

    /// What the account says about this card. Nothing is mailed.
    pub async fn estimate_card(&self, card: &Postcard) -> Result<CardEstimate, Unanswered> {
        let estimate = self.estimate(&self.account_client, card).await.map_err(unanswered)?;
        let (mode, balance) = (estimate.mode(), estimate.balance());
        Ok(CardEstimate { mode, balance, total: Cents(estimate.total_cost_in_cents) })
    }

    async fn estimate(
        &self,
        account_client: &AccountClient,
        card: &Postcard,
    ) -> Result<Estimate, CallError> {
        let postcard = wire::PostcardRequest::new(card, &self.settings.sender);
        let call =
            HttpCall::post(PEER, self.account_client.url(&["estimate", "postcard"]), &postcard);
        Ok(account_client.read::<DataEnvelope<Estimate>>(call).await?.data)
    }

    /// The price in an estimate, if the account can mail the card.
    fn price(&self, estimate: &Estimate) -> Result<ProviderQuote, Unanswered> {
        if (self.settings.mode, estimate.mode()) == (AccountMode::Live, AccountMode::Testing) {
            tracing::error!(
                place = PEER,
                "The account is in test mode and mails nothing; switch it to live"
            );
            return Err(Unanswered::Unavailable);
        }
        if estimate.balance() == BalanceCover::TooLow {
            tracing::error!(place = PEER, "The account's balance does not cover a card; top it up");
            return Err(Unanswered::Unavailable);
        }
        ProviderQuote::new(Cents(estimate.total_cost_in_cents)).ok_or(Unanswered::Unusable)
    }

    /// The price of an estimate, which is then known for the country.
    fn learn(&self, card: &Postcard, estimate: &Estimate) -> Result<ProviderQuote, Unanswered> {
        let price = self.price(estimate)?;
        // mutant: price-asked-every-time
        self.prices.learn(card.recipient.country, price, self.clock.uptime());
        Ok(price)
    }

    /// The price of an earlier estimate that is new enough for the purpose of this handle.
    fn known_price(&self, card: &Postcard, uptime: u64) -> Option<ProviderQuote> {
        let seconds = prices::valid_seconds(self.account_client.purpose());
        self.prices.known(card.recipient.country, uptime, seconds)
    }

    async fn status(&self, mailpiece: &Mailpiece) -> Result<Option<String>, CallError> {
        let call = HttpCall::get(PEER, self.account_client.url(&["orders", &mailpiece.0, "track"]));
        self.account_client
            .read::<DataEnvelope<TrackedOrder>>(call)
            .await
            .map(|tracked| tracked.data.status())
    }

    async fn is_cancelled(&self, mailpiece: &Mailpiece) -> Result<bool, CallError> {
        Ok(self.status(mailpiece).await?.is_some_and(|status| wire::is_cancelled(&status)))
    }
}

impl AccountHandle for ThanksIo {
    const PEER: &'static str = PEER;
    const RATE: CallRate = RATE;

    fn account_client(&self) -> &AccountClient {
        &self.account_client
    }

    fn with_account_client(&self, account_client: AccountClient) -> Self {
        Self { account_client, ..self.clone() }
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
        let postcard = wire::PostcardRequest::new(card, &self.settings.sender).for_preview();
        let call = HttpCall::post(PEER, self.account_client.url(&["send", "postcard"]), &postcard);
        let pictures = self
            .account_client
            .read::<DataEnvelope<PreviewUrls>>(call)
            .await
            .map_err(unanswered)?;
        self.settings.previews.check(&pictures.data.previews)
    }

    fn warnings(&self, card: &Postcard) -> Vec<CardWarning> {
        card_text::warnings(card, Typeface::Handwriting)
    }

    fn is_quoted(&self, card: &Postcard) -> bool {
        self.known_price(card, self.clock.uptime()).is_some()
    }

    async fn quote(&self, card: &Postcard) -> Result<ProviderQuote, Unanswered> {
        if let Some(price) = self.known_price(card, self.clock.uptime()) {
            return Ok(price);
        }
        let estimate = self.estimate(&self.account_client.for_quotes(), card).await;
        self.learn(card, &estimate.map_err(unanswered)?)
    }

    /// By an estimate, while more than two thirds of the account's calls are left: they must last
    /// for the cards.
    async fn validate(&self, card: &Postcard) -> Result<(), Unanswered> {
        let budget = self.account_client.budget();
        let few = budget.rate().calls() * 2 / 3;
        // mutant: card-not-validated
        if budget.calls_left().is_some_and(|left| left <= few) {
            return Ok(());
        }
        match self.estimate(&self.account_client.for_quotes(), card).await {
            Ok(estimate) => self.learn(card, &estimate).map(|_| ()),
            Err(CallError::Refused(CallErrorKind::NoBudget)) => Ok(()),
            Err(error) => Err(unanswered(error)),
        }
    }

    async fn reserve_call(&self) -> Result<(), Unanswered> {
        self.account_client.reserve().await
    }

    async fn release_call(&self) {
        self.account_client.release().await;
    }

    async fn submit(&self, order: &Order<Submitting>) -> Result<Mailpiece, Failure> {
        let card = &order.state.card;
        let postcard = wire::PostcardRequest::new(card, &self.settings.sender).of(order);
        let call = HttpCall::post(PEER, self.account_client.url(&["send", "postcard"]), &postcard);
        let sent: SubmittedOrder = self.account_client.submit(call).await?;
        if !sent.belongs_to(order.id) || wire::is_cancelled(&sent.status) {
            return Err(CallError::Lost(CallErrorKind::Unreadable).into());
        }
        if sent.total() != Some(order.state.paid.quote.total()) {
            // The payer was charged by the estimate; the seller bears the difference.
            tracing::warn!(
                place = PEER,
                order.id = %order.id,
                "The provider's charge differs from its estimate"
            );
        }
        Ok(Mailpiece(sent.id.to_string()))
    }

    async fn find(&self, order: OrderId, since: Timestamp) -> Result<Vec<Mailpiece>, Failure> {
        let search = tokio::time::timeout(scan::SEARCH_DEADLINE, self.search(order, since)).await;
        Ok(search.unwrap_or(Err(CallError::Lost(CallErrorKind::TimedOut)))?)
    }

    async fn track(&self, mailpiece: &Mailpiece) -> Result<Option<Delivery>, Failure> {
        let at =
            self.account_client.url(&["orders", &mailpiece.0, "items"]).asking("per_page", "100");
        let items = match self.account_client.read::<Items>(HttpCall::get(PEER, at)).await {
            Err(CallError::Refused(CallErrorKind::Status(404))) => return Ok(None),
            items => items?,
        };
        let stage = items.stage().ok_or(CallError::Lost(CallErrorKind::Unreadable))?;
        let stage = match stage {
            // A cancelled order may not show it in its items.
            Stage::Accepted if self.is_cancelled(mailpiece).await? => Stage::Failed,
            Stage::Accepted
            | Stage::Mailed
            | Stage::Delivered
            | Stage::Returned
            | Stage::Failed => stage,
        };
        Ok(Some(Delivery { stage, at: self.clock.now() }))
    }

    async fn accepted(
        &self,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<AcceptedCard>, Failure> {
        Ok(self.list_accepted(from, until).await?)
    }

    async fn cancel(&self, mailpiece: &Mailpiece) -> Result<Cancellation, Failure> {
        let call =
            HttpCall::put(PEER, self.account_client.url(&["orders", &mailpiece.0, "cancel"]));
        match self.account_client.read::<wire::AnyObject>(call).await {
            Ok(wire::AnyObject {}) => {
                self.scan.forget(mailpiece);
                Ok(Cancellation::Cancelled)
            }
            Err(CallError::Refused(CallErrorKind::Status(404))) => Ok(Cancellation::TooLate),
            // It refuses an order that is printed, and may refuse one that is already cancelled.
            Err(
                CallError::Refused(CallErrorKind::Status(400 | 422))
                | CallError::Lost(CallErrorKind::Status(403 | 409)),
            ) => {
                let cancelled = self.is_cancelled(mailpiece).await?;
                Ok(if cancelled { Cancellation::Cancelled } else { Cancellation::TooLate })
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The account of this token, with the operator's name for it if there is one.
pub fn account(base: &HttpUrl, token: &str, name: Option<&str>) -> ProviderAccount {
    super::account(PEER, base, token, name)
}

/// A sample card for an estimate; it is never mailed.
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
