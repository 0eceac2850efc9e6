//! What a card costs its payer, asked of the provider within the payer's share of quotes.

use super::{Checkout, TURN_TIMEOUT_SECONDS};
use crate::checkout::quotes::{QuoteCall, TooMany};
use crate::model::card::Postcard;
use crate::model::identity::quote::{NamedQuote, QuotedCharge};
use crate::model::ids::OrderId;
use crate::model::mail::ProviderQuote;
use crate::model::money::Usdc;
use crate::model::offer::Offer;
use crate::model::payment::Authorization;
use crate::refusal::Refusal;
use crate::writer::OrderWriter;

impl Checkout {
    /// The provider's total and the charge for it, if the payer has signed for as much and was
    /// quoted no less.
    pub(super) async fn price(
        &self,
        offer: &Offer,
        card: &Postcard,
        authorization: &Authorization,
        quoted: Option<QuotedCharge>,
    ) -> Result<(ProviderQuote, Usdc), Refusal> {
        let quote = self.quote_within_limit(offer.order, card, authorization).await?;
        let above = |_| Refusal::PriceAboveCeiling(offer.order);
        // begin mutant: price-not-checked
        let charge = offer.price.charge(quote.total()).map_err(above)?;
        if charge > authorization.most {
            return Err(Refusal::PriceAboveCeiling(offer.order));
        }
        // end mutant
        // mutant: quote-is-no-limit
        if quoted.is_some_and(|quoted| charge > quoted.most) {
            let now = self.writer.clock.now();
            let quote =
                self.identity.quote(card, offer.price, quote.total(), now).map_err(above)?;
            return Err(Refusal::QuoteExceeded { order: offer.order, quote });
        }
        Ok((quote, charge))
    }

    /// What the request's quote promises. It counts while nothing is paid: a paid order is
    /// answered as it is.
    pub(super) fn accepted_quote(
        &self,
        order: OrderId,
        named: NamedQuote,
    ) -> Result<Option<QuotedCharge>, Refusal> {
        let quoted = match named {
            NamedQuote::None => return Ok(None),
            NamedQuote::Invalid => return Err(Refusal::QuoteInvalid),
            NamedQuote::Valid(quoted) => quoted,
        };
        let now = self.writer.clock.now();
        // mutant: expired-quote-counts
        if quoted.is_expired(now) {
            return Err(Refusal::QuoteExpired(order));
        }
        Ok(Some(quoted))
    }

    async fn quote_within_limit(
        &self,
        order: OrderId,
        card: &Postcard,
        authorization: &Authorization,
    ) -> Result<ProviderQuote, Refusal> {
        let OrderWriter { provider, clock, .. } = &*self.writer;
        if provider.is_quoted(card) {
            let begun = self.quote_limiter.begin(
                QuoteCall::Validation,
                authorization.payer,
                clock.uptime(),
            );
            if begun.is_ok() {
                provider.validate(card).await?;
            }
            return Ok(provider.quote(card).await?);
        }
        let timeout = clock.wait(TURN_TIMEOUT_SECONDS);
        let turn = self.quote_limiter.asking.turn(card.recipient.country, timeout).await;
        let _turn = turn.ok_or(Refusal::ProviderUnreachable)?;
        if !provider.is_quoted(card) {
            let begun =
                self.quote_limiter.begin(QuoteCall::Price, authorization.payer, clock.uptime());
            begun.map_err(|TooMany| Refusal::QuoteLimit(order))?;
        }
        Ok(provider.quote(card).await?)
    }
}
