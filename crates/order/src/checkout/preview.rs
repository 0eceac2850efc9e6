//! The preview of a card, before payment: its pictures, what it costs and what may go wrong.

use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{Either, select};

use crate::checkout::payees;
use crate::model::card::Postcard;
use crate::model::card::warning::{self, CardWarning, WarningCode};
use crate::model::identity::Identity;
use crate::model::identity::quote::CardQuote;
use crate::model::mail::ProviderQuote;
use crate::model::money::{AboveCeiling, Price};
use crate::model::payment::TenderKind;
use crate::model::seller::{Sellers, Username};
use crate::ports::{Clock, NameService, Provider, Purpose, Unanswered};
use crate::refusal::Refusal;

/// A preview does not wait longer for a price. Together with the slowest picture this is less than
/// the time of a request.
const QUOTE_TIMEOUT_SECONDS: u64 = 8;

/// Requests previews. It has no store, so nothing is stored.
pub struct Previews {
    pub provider: Arc<dyn Provider>,
    pub names: Arc<dyn NameService>,
    pub sellers: Sellers,
    pub identity: Identity,
    pub clock: Arc<dyn Clock>,
    /// The price of each way of paying that is enabled.
    pub prices: Vec<(TenderKind, Price)>,
}

/// Whether the provider may be called for the price of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceCall {
    Allowed,
    NotAllowed,
}

/// What a preview shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardPreview {
    pub urls: Vec<String>,
    prices: Vec<(TenderKind, Result<CardQuote, NoPrice>)>,
    pub warnings: Vec<CardWarning>,
}

/// Why there is no quote for a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPrice {
    /// It costs more than may be charged.
    AboveMaximum,
    /// The provider rejects the card.
    Rejected,
    /// The provider could not be asked, or did not answer in time.
    Unknown,
}

impl CardPreview {
    /// None if this way of paying is not enabled, or there is no price for it.
    pub fn quote(&self, tender: TenderKind) -> Option<&CardQuote> {
        self.price(tender)?.as_ref().ok()
    }

    /// None if this way of paying is not enabled.
    pub fn price(&self, tender: TenderKind) -> Option<&Result<CardQuote, NoPrice>> {
        self.prices.iter().find(|(kind, _)| *kind == tender).map(|(_, price)| price)
    }
}

impl Previews {
    /// Whether a card may be paid to this seller, by the rules of a paid card. The provider is not
    /// called.
    pub async fn check_seller(&self, seller: Option<&Username>) -> Result<(), Refusal> {
        let seller = seller.unwrap_or(&self.sellers.default);
        payees(&self.sellers, self.names.as_ref(), seller, Purpose::Offer).await.map(drop)
    }

    /// Both sides as the provider would print them, after [`check_seller`](Self::check_seller).
    /// Nothing is mailed, but the provider receives the card. A price that cannot be learned does
    /// not fail the preview. `may_call` is asked before the provider is called for a price.
    pub async fn show(
        &self,
        card: &Postcard,
        may_call: &(dyn Fn() -> PriceCall + Sync),
    ) -> Result<CardPreview, Refusal> {
        let urls = self.provider.preview(card).await?.urls;
        let mut warnings = self.warnings(card);
        let prices = self.prices(card, may_call, &mut warnings).await;
        Ok(CardPreview { urls, prices, warnings })
    }

    /// One of each code for each field.
    fn warnings(&self, card: &Postcard) -> Vec<CardWarning> {
        let mut warnings = warning::warnings(card);
        for found in self.provider.warnings(card) {
            let same = |known: &CardWarning| (known.code, known.field) == (found.code, found.field);
            if !warnings.iter().any(same) {
                warnings.push(found);
            }
        }
        warnings
    }

    async fn prices(
        &self,
        card: &Postcard,
        may_call: &(dyn Fn() -> PriceCall + Sync),
        warnings: &mut Vec<CardWarning>,
    ) -> Vec<(TenderKind, Result<CardQuote, NoPrice>)> {
        if self.prices.is_empty() {
            return Vec::new();
        }
        let cost = self.provider_quote(card, may_call).await;
        if cost.is_err() {
            warnings.push(no_quote());
        }
        let (now, mut prices) = (self.clock.now(), Vec::new());
        for (kind, price) in &self.prices {
            let quote = cost.as_ref().map_err(|why| *why).and_then(|cost| {
                let quote = self.identity.quote(card, *price, cost.total(), now);
                quote.map_err(|AboveCeiling| NoPrice::AboveMaximum)
            });
            if quote == Err(NoPrice::AboveMaximum) {
                warnings.push(price_above_maximum(*kind, *price));
            }
            prices.push((*kind, quote));
        }
        prices
    }

    async fn provider_quote(
        &self,
        card: &Postcard,
        may_call: &(dyn Fn() -> PriceCall + Sync),
    ) -> Result<ProviderQuote, NoPrice> {
        if !self.provider.is_quoted(card) {
            match may_call() {
                PriceCall::Allowed => {}
                PriceCall::NotAllowed => return Err(NoPrice::Unknown),
            }
        }
        let timeout = pin!(self.clock.wait(QUOTE_TIMEOUT_SECONDS));
        match select(self.provider.quote(card), timeout).await {
            Either::Left((Ok(quote), _)) => Ok(quote),
            Either::Left((Err(Unanswered::Unusable), _)) => Err(NoPrice::Rejected),
            Either::Left((Err(_), _)) | Either::Right(_) => Err(NoPrice::Unknown),
        }
    }
}

fn no_quote() -> CardWarning {
    CardWarning {
        code: WarningCode::NoQuote,
        field: "quote",
        message: "The provider gives no price for this card now. Correct what the other warnings \
                  name, or request the preview again in a minute."
            .into(),
    }
}

fn price_above_maximum(tender: TenderKind, price: Price) -> CardWarning {
    let protocol = match tender {
        TenderKind::X402 => "x402",
        TenderKind::Mpp => "MPP",
    };
    let maximum = price.ceiling();
    CardWarning {
        code: WarningCode::PriceAboveMaximum,
        field: "recipient.country",
        message: format!(
            "A card to this country costs more than {maximum} USDC, so it cannot be paid by \
             {protocol}."
        ),
    }
}

#[cfg(test)]
mod tests;
