//! Quotes: a charge that a payment for a card does not exceed, and the id that proves it.
//!
//! Nothing of a quote is stored. Its id contains the charge and the time of expiry, and a tag that
//! only this service can compute, over both and the card.

use std::fmt;
use std::str::FromStr;

use ring::hmac::{Context, Tag};
use subtle::ConstantTimeEq;

use super::Identity;
use crate::model::card::Postcard;
use crate::model::country::CountryCode;
use crate::model::ids::{Timestamp, write_hex};
use crate::model::money::{AboveCeiling, Cents, Price, Usdc};

/// How long a quote is valid: long enough for an owner to approve a payment. A price that rises
/// meanwhile is answered 409, so a longer time would cost nothing but surprise.
pub const QUOTE_VALID_SECONDS: u64 = 60 * 60;

const NUMBER_BYTES: usize = 8;
const TAG_BYTES: usize = 16;
const QUOTE_BYTES: usize = 2 * NUMBER_BYTES + TAG_BYTES;

/// The id of a quote: 64 lowercase hexadecimal characters. It contains no personal data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct QuoteId([u8; QUOTE_BYTES]);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAQuoteId;

/// What a card costs its payer, as a preview or a conflict states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardQuote {
    pub id: QuoteId,
    pub charge: Usdc,
    /// What the payer is asked to authorize.
    pub maximum: Usdc,
    pub country: CountryCode,
    pub expires_at: Timestamp,
}

/// What a valid id promises for its card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotedCharge {
    /// The charge does not exceed this.
    pub most: Usdc,
    pub expires_at: Timestamp,
}

/// The quote that a request names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedQuote {
    None,
    /// It is not ours, or is for another card.
    Invalid,
    Valid(QuotedCharge),
}

impl QuotedCharge {
    pub fn is_expired(self, now: Timestamp) -> bool {
        now >= self.expires_at
    }
}

impl Identity {
    /// The quote for a card that costs us this much now.
    pub fn quote(
        &self,
        card: &Postcard,
        price: Price,
        cost: Cents,
        now: Timestamp,
    ) -> Result<CardQuote, AboveCeiling> {
        let (charge, expires_at) = (price.charge(cost)?, now.plus(QUOTE_VALID_SECONDS));
        let numbers = [charge.atomic().to_be_bytes(), expires_at.0.to_be_bytes()];
        let tag = self.quote_tag(&numbers, card);
        let mut id = [0; QUOTE_BYTES];
        let bytes = numbers.as_flattened().iter().chain(tag.as_ref());
        for (place, byte) in id.iter_mut().zip(bytes) {
            *place = *byte;
        }
        Ok(CardQuote {
            id: QuoteId(id),
            charge,
            maximum: price.ceiling(),
            country: card.recipient.country,
            expires_at,
        })
    }

    /// The quote that a request for this card names.
    pub fn named_quote(&self, id: Option<QuoteId>, card: &Postcard) -> NamedQuote {
        match id.map(|id| self.quoted(id, card)) {
            None => NamedQuote::None,
            Some(None) => NamedQuote::Invalid,
            Some(Some(quoted)) => NamedQuote::Valid(quoted),
        }
    }

    /// What an id promises for this card. None if we did not issue it, or for another card.
    pub fn quoted(&self, id: QuoteId, card: &Postcard) -> Option<QuotedCharge> {
        let (charge, rest) = id.0.split_first_chunk::<NUMBER_BYTES>()?;
        let (expires_at, tag) = rest.split_first_chunk::<NUMBER_BYTES>()?;
        let ours = self.quote_tag(&[*charge, *expires_at], card);
        // In constant time, so that a tag cannot be found byte by byte.
        // mutant: any-quote-is-ours
        let is_ours = bool::from(ours.as_ref().get(..tag.len())?.ct_eq(tag));
        is_ours.then(|| QuotedCharge {
            most: Usdc::from_atomic(u64::from_be_bytes(*charge)),
            expires_at: Timestamp(u64::from_be_bytes(*expires_at)),
        })
    }

    /// Both numbers have one length, so they cannot run into the card. The seller is not part of
    /// it: the charge does not depend on it.
    fn quote_tag(&self, numbers: &[[u8; NUMBER_BYTES]; 2], card: &Postcard) -> Tag {
        let mut mac = Context::with_key(&self.quote_key);
        mac.update(numbers.as_flattened());
        mac.update(&card.canonical());
        mac.sign()
    }
}

impl QuoteId {
    /// The charge that the id states. It is a promise only if [`Identity::quoted`] accepts the id.
    pub fn stated_charge(self) -> Usdc {
        let charge = self.0.first_chunk::<NUMBER_BYTES>().copied().unwrap_or_default();
        Usdc::from_atomic(u64::from_be_bytes(charge))
    }
}

impl fmt::Display for QuoteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

impl fmt::Debug for QuoteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for QuoteId {
    type Err = NotAQuoteId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() != 2 * QUOTE_BYTES {
            return Err(NotAQuoteId);
        }
        let digit = |letter: u8| match letter {
            b'0'..=b'9' => Ok(letter - b'0'),
            b'a'..=b'f' => Ok(letter - b'a' + 10),
            _ => Err(NotAQuoteId),
        };
        let mut id = [0; QUOTE_BYTES];
        for (place, pair) in id.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            if let [high, low] = pair {
                *place = (digit(*high)? << 4) | digit(*low)?;
            }
        }
        Ok(Self(id))
    }
}

#[cfg(test)]
mod tests;
