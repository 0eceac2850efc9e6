//! Lob API v1: idempotency key and filter by metadata. We render the back and configure the
//! price.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use order::lifecycle::{Order, Submitting};
use order::model::card::Postcard;
use order::model::card::warning::CardWarning;
use order::model::ids::{OrderId, Timestamp};
use order::model::mail::{
    AcceptedCard, Cancellation, Delivery, Mailpiece, Preview, Promises, ProviderAccount,
    ProviderQuote,
};
use order::model::money::Cents;
use order::ports::{Clock, Failure, Provider, Unanswered};
use reqwest::header::HeaderValue;
use zeroize::Zeroizing;

use super::account_client::{AccountClient, unanswered};
use super::account_handle::AccountHandle;
use super::budget::{CallBudget, CallRate};
use super::card_text::{self, Typeface};
use super::previews::PreviewLocations;
use super::{AccountMode, BalanceCover, CardEstimate, ReturnAddress};
use crate::http::{CallError, CallErrorKind, HttpCall, HttpClient, HttpUrl};

mod accepted;
mod back_html;
#[cfg(test)]
mod tests;
mod wire;

use wire::{DeletedPostcard, LobPostcard, PostcardContent, PostcardList, Proof, ProofStatus};

/// Its name in the log.
pub const PEER: &str = "Lob";
pub const BASE: &str = "https://api.lob.com/v1";

/// 150 calls in five seconds.
pub const RATE: CallRate = CallRate { seconds: 5, paid: 75, reconciler: 40, preview: 35 };

/// Idempotency keys are kept for a day. The filter's lag is not documented; this bound is ours.
const IDEMPOTENT_SECONDS: u64 = 24 * 60 * 60;
const VISIBILITY_LAG_SECONDS: u64 = 60;

const PICTURES: [&str; 2] = ["https://lob-assets.com/", "https://assets.lob.com/"];

/// A proof is polled every second while the caller waits.
const PROOF_LOOKS: u32 = 8;
const PROOF_DEADLINE: Duration = Duration::from_secs(20);

pub struct LobSettings {
    pub base: HttpUrl,
    pub key: Zeroizing<String>,
    pub sender: Option<ReturnAddress>,
    pub previews: PreviewLocations,
    pub prices: LobPrices,
    /// How long a card can be cancelled. Only some contracts with Lob have this; zero for all
    /// others.
    pub cancel_seconds: u64,
}

/// Lob's contract prices; it has no price endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LobPrices {
    pub domestic: Cents,
    pub international: Cents,
}

/// The account of this key, with the operator's name for it if there is one.
pub fn account(base: &HttpUrl, key: &str, name: Option<&str>) -> ProviderAccount {
    super::account(PEER, base, key, name)
}

impl LobSettings {
    pub fn known_previews() -> PreviewLocations {
        PreviewLocations::known(&PICTURES)
    }
}

/// An [`AccountHandle`].
#[derive(Clone)]
pub struct Lob {
    settings: Arc<LobSettings>,
    clock: Arc<dyn Clock>,
    account_client: AccountClient,
    account: ProviderAccount,
}

impl Lob {
    /// The handle for paid cards and buyers.
    pub fn new(settings: LobSettings, client: HttpClient, clock: Arc<dyn Clock>) -> Self {
        let budget = CallBudget::new(RATE, clock.clone());
        let account = account(&settings.base, &settings.key, None);
        // The key is the user name, without a password.
        let pair = Zeroizing::new(format!("{}:", *settings.key));
        let authorization = format!("Basic {}", STANDARD.encode(pair.as_bytes()));
        let base = settings.base.clone();
        Self {
            settings: Arc::new(settings),
            account_client: AccountClient::new(PEER, base, authorization, client, budget),
            clock,
            account,
        }
    }

    /// Names the account, so that it stays the same with another key.
    #[must_use]
    pub fn named(self, name: Option<&str>) -> Self {
        let account = account(&self.settings.base, &self.settings.key, name);
        Self { account, ..self }
    }

    /// Whether the account mails cards, from the prefix of the key.
    pub fn mode(&self) -> AccountMode {
        if self.settings.key.starts_with("test_") {
            AccountMode::Testing
        } else {
            AccountMode::Live
        }
    }

    /// What the account says about this card. Nothing is mailed; the price is the contract's.
    pub async fn estimate_card(&self, card: &Postcard) -> Result<CardEstimate, Unanswered> {
        let at = self.account_client.url(&["postcards"]).asking("limit", "1");
        let call = HttpCall::get(PEER, at);
        self.account_client.read::<PostcardList>(call).await.map_err(unanswered)?;
        let (mode, balance) = (self.mode(), BalanceCover::Unknown);
        Ok(CardEstimate { mode, balance, total: self.quote(card).await?.total() })
    }

    async fn made(&self, mailpiece: &Mailpiece) -> Result<LobPostcard, CallError> {
        self.account_client
            .read(HttpCall::get(PEER, self.account_client.url(&["postcards", &mailpiece.0])))
            .await
    }

    async fn proof(&self, card: &Postcard) -> Result<Proof, CallError> {
        let request =
            wire::CreateProof::new(PostcardContent::new(card, self.settings.sender.as_ref()));
        let call = HttpCall::post(PEER, self.account_client.url(&["resource_proofs"]), &request);
        let mut proof: Proof = self.account_client.read(call).await?;
        for _ in 0..PROOF_LOOKS {
            match proof.status {
                ProofStatus::Completed | ProofStatus::Failed => break,
                ProofStatus::Processing => {}
            }
            self.clock.wait(1).await;
            let call =
                HttpCall::get(PEER, self.account_client.url(&["resource_proofs", &proof.id]));
            proof = self.account_client.read(call).await?;
        }
        Ok(proof)
    }

    /// When printing may begin; the same for every attempt of an order.
    fn send_date(&self, order: &Order<Submitting>) -> Option<String> {
        let at = order.state.since.plus(self.settings.cancel_seconds);
        // A date in the past or very soon is refused; without one the card is printed at once.
        (at > self.clock.now().plus(60)).then(|| at.to_string())
    }
}

impl AccountHandle for Lob {
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
        let proof =
            proof.unwrap_or(Err(CallError::Lost(CallErrorKind::TimedOut))).map_err(unanswered)?;
        match proof.status {
            ProofStatus::Completed => self.settings.previews.check(&proof.pictures()),
            ProofStatus::Failed => Err(Unanswered::Unusable),
            ProofStatus::Processing => Err(Unanswered::Unreachable),
        }
    }

    fn warnings(&self, card: &Postcard) -> Vec<CardWarning> {
        let mut warnings = wire::refused_lines(card);
        warnings.extend(card_text::warnings(card, Typeface::Georgia));
        warnings
    }

    /// Without a call to Lob, so cards that it would refuse after payment are refused here.
    async fn quote(&self, card: &Postcard) -> Result<ProviderQuote, Unanswered> {
        if !wire::refused_lines(card).is_empty() || !card_text::fits(card.message.as_str()) {
            return Err(Unanswered::Unusable);
        }
        let prices = self.settings.prices;
        let domestic = card.recipient.country.as_str() == "US";
        ProviderQuote::new(if domestic { prices.domestic } else { prices.international })
            .ok_or(Unanswered::Unusable)
    }

    async fn reserve_call(&self) -> Result<(), Unanswered> {
        self.account_client.reserve().await
    }

    async fn release_call(&self) {
        self.account_client.release().await;
    }

    async fn submit(&self, order: &Order<Submitting>) -> Result<Mailpiece, Failure> {
        let content = PostcardContent::new(&order.state.card, self.settings.sender.as_ref());
        let request = content.of(order, self.send_date(order));
        // One payment buys one card, so the key identifies the payment.
        let key = order.submission_key().map(|byte| format!("{byte:02x}")).concat();
        let key = HeaderValue::from_str(&key)
            .map_err(|_| CallError::Refused(CallErrorKind::Unsendable))?;
        let call = HttpCall::post(PEER, self.account_client.url(&["postcards"]), &request);
        let call = call.with_header("idempotency-key", key);
        let made: LobPostcard = self.account_client.submit(call).await?;
        if !made.is_card_of(order.id) {
            return Err(CallError::Lost(CallErrorKind::Unreadable).into());
        }
        Ok(Mailpiece(made.id))
    }

    async fn find(&self, order: OrderId, _since: Timestamp) -> Result<Vec<Mailpiece>, Failure> {
        let at = self
            .account_client
            .url(&["postcards"])
            .asking("limit", "100")
            .asking("metadata[public_order_id]", &order.to_string());
        let cards: PostcardList = self.account_client.read(HttpCall::get(PEER, at)).await?;
        // A filter that is ignored returns all cards.
        let ours = cards.data.into_iter().filter(|made| made.is_card_of(order) && !made.deleted);
        let found: Vec<Mailpiece> = ours.map(|made| Mailpiece(made.id)).collect();
        if found.is_empty() && cards.next_url.is_some() {
            return Err(CallError::Lost(CallErrorKind::TooLarge).into());
        }
        Ok(found)
    }

    async fn track(&self, mailpiece: &Mailpiece) -> Result<Option<Delivery>, Failure> {
        let made = match self.made(mailpiece).await {
            Err(CallError::Refused(CallErrorKind::Status(404))) => return Ok(None),
            made => made?,
        };
        Ok(Some(Delivery { stage: made.stage(), at: self.clock.now() }))
    }

    async fn accepted(
        &self,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<AcceptedCard>, Failure> {
        Ok(self.list_accepted(from, until).await?)
    }

    async fn cancel(&self, mailpiece: &Mailpiece) -> Result<Cancellation, Failure> {
        let at = self.account_client.url(&["postcards", &mailpiece.0]);
        match self.account_client.read::<DeletedPostcard>(HttpCall::delete(PEER, at)).await {
            Ok(removed) if removed.deleted => Ok(Cancellation::Cancelled),
            Ok(_) => Err(CallError::Lost(CallErrorKind::Unreadable).into()),
            // It refuses a card that is printed, and may refuse one that is already cancelled.
            Err(
                CallError::Refused(CallErrorKind::Status(400 | 404 | 422))
                | CallError::Lost(CallErrorKind::Status(403 | 409)),
            ) => match self.made(mailpiece).await {
                Ok(made) if made.deleted => Ok(Cancellation::Cancelled),
                Ok(_) | Err(CallError::Refused(CallErrorKind::Status(404))) => {
                    Ok(Cancellation::TooLate)
                }
                Err(error) => Err(error.into()),
            },
            Err(error) => Err(error.into()),
        }
    }
}
