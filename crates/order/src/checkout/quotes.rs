//! Limits the quotes that a payer can cause at the provider without paying.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use crate::checkout::single_flight::SingleFlight;
use crate::model::chain::EvmAddress;
use crate::model::country::CountryCode;

/// How long a quote counts against its payer, unless the payer pays earlier.
const QUOTE_SECONDS: u64 = 60;
/// Enough for a buyer of several cards at once. The provider's budget for buyers is about nine
/// times as large.
const UNSETTLED_MAX: usize = 5;

/// Why the provider is called. Each has a limit of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum QuoteCall {
    /// The price is not known. Above the limit, the request is refused.
    Price,
    /// The price is known. Above the limit, the card is not validated.
    Validation,
}

impl QuoteCall {
    const ALL: [Self; 2] = [Self::Price, Self::Validation];
}

/// The calls for quotes that were not paid for, by payer.
#[derive(Default)]
pub struct QuoteLimiter {
    /// One request at a time asks for a country's price; the others use its result.
    pub(crate) asking: SingleFlight<CountryCode>,
    /// When each was asked for, by the process's uptime; oldest first.
    unsettled: Mutex<HashMap<(EvmAddress, QuoteCall), VecDeque<u64>>>,
}

/// This payer must pay for a card first, or wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

impl QuoteLimiter {
    pub(crate) fn begin(
        &self,
        call: QuoteCall,
        payer: EvmAddress,
        uptime: u64,
    ) -> Result<(), TooMany> {
        let mut unsettled = self.unsettled.lock().unwrap_or_else(PoisonError::into_inner);
        unsettled.retain(|_, quotes| {
            quotes.retain(|at| uptime.saturating_sub(*at) < QUOTE_SECONDS);
            !quotes.is_empty()
        });
        // mutant: one-limit-for-all
        let quotes = unsettled.entry((payer, call)).or_default();
        // mutant: quotes-without-limit
        if quotes.len() >= UNSETTLED_MAX {
            return Err(TooMany);
        }
        quotes.push_back(uptime);
        Ok(())
    }

    /// The payer's money has moved, and one of the quotes is paid for.
    pub(crate) fn settled(&self, payer: EvmAddress) {
        let mut unsettled = self.unsettled.lock().unwrap_or_else(PoisonError::into_inner);
        for call in QuoteCall::ALL {
            if let Some(quotes) = unsettled.get_mut(&(payer, call)) {
                quotes.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: EvmAddress = EvmAddress::from_bytes([1; 20]);
    const OTHER: EvmAddress = EvmAddress::from_bytes([2; 20]);

    #[test]
    fn a_payer_has_a_few_quotes_a_minute_and_more_by_paying() {
        let quotes = QuoteLimiter::default();
        for _ in 0..UNSETTLED_MAX {
            assert_eq!(quotes.begin(QuoteCall::Price, ONE, 100), Ok(()));
        }
        assert_eq!(quotes.begin(QuoteCall::Price, ONE, 159), Err(TooMany));
        assert_eq!(quotes.begin(QuoteCall::Price, OTHER, 159), Ok(()));
        assert_eq!(quotes.begin(QuoteCall::Validation, ONE, 159), Ok(()));
        quotes.settled(ONE);
        assert_eq!(quotes.begin(QuoteCall::Price, ONE, 159), Ok(()));
        assert_eq!(quotes.begin(QuoteCall::Price, ONE, 159), Err(TooMany));
        assert_eq!(quotes.begin(QuoteCall::Price, ONE, 160), Ok(()));
    }
}
