//! What a card costs its payer, asked of the provider within the payer's share of quotes.

use super::{Desk, PATIENCE_SECONDS, unanswered};
use crate::checkout::quotes::TooMany;
use crate::model::card::Postcard;
use crate::model::ids::OrderId;
use crate::model::mail::ProviderQuote;
use crate::model::money::Usdc;
use crate::model::payment::Authorization;
use crate::refusal::Refusal;
use crate::tender::Tender;

impl Desk {
    /// The provider's total and the charge for it, if the payer has signed for as much.
    pub(super) async fn price(
        &self,
        tender: &dyn Tender,
        order: OrderId,
        card: &Postcard,
        authorization: &Authorization,
    ) -> Result<(ProviderQuote, Usdc), Refusal> {
        let quote = self.quote_within_limit(order, card, authorization).await?;
        let above = |_| Refusal::PriceAboveCeiling(order);
        let charge = tender.price().charge(quote.total()).map_err(above)?;
        if charge > authorization.most {
            return Err(Refusal::PriceAboveCeiling(order));
        }
        Ok((quote, charge))
    }

    async fn quote_within_limit(
        &self,
        order: OrderId,
        card: &Postcard,
        authorization: &Authorization,
    ) -> Result<ProviderQuote, Refusal> {
        let quote = || async { self.provider.quote(card).await.map_err(unanswered) };
        if self.provider.is_quoted(card) {
            return quote().await;
        }
        let patience = self.clock.wait(PATIENCE_SECONDS);
        let turn = self.quotes.asking.turn(card.recipient.country, patience).await;
        let _turn = turn.ok_or(Refusal::ProviderUnreachable)?;
        if !self.provider.is_quoted(card) {
            let begun = self.quotes.begin(authorization.payer, self.clock.uptime());
            begun.map_err(|TooMany| Refusal::QuoteLimit(order))?;
        }
        quote().await
    }
}
