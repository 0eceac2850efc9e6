//! How many prices a payer may have us ask the provider for without paying.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use crate::checkout::single_flight::SingleFlight;
use crate::model::chain::EvmAddress;
use crate::model::country::CountryCode;

/// A quote counts against its payer for so long, unless the money moves before.
const QUOTE_SECONDS: u64 = 60;
/// A buyer of several cards has a few on the way at once. The provider's budget for buyers
/// is about nine times as large.
const UNSETTLED_MAX: usize = 5;

/// The quotes that were asked of the provider and not paid for, by payer. A quote that the
/// provider need not be asked for is free.
#[derive(Default)]
pub struct Quotes {
    /// One request at a time asks for a country's price; the others find it known.
    pub(crate) asking: SingleFlight<CountryCode>,
    /// When each was asked for, by the process's uptime; oldest first.
    unsettled: Mutex<HashMap<EvmAddress, VecDeque<u64>>>,
}

/// This payer has to pay for a card first, or to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

impl Quotes {
    pub(crate) fn begin(&self, payer: EvmAddress, uptime: u64) -> Result<(), TooMany> {
        let mut unsettled = self.unsettled.lock().unwrap_or_else(PoisonError::into_inner);
        unsettled.retain(|_, quotes| {
            quotes.retain(|at| uptime.saturating_sub(*at) < QUOTE_SECONDS);
            !quotes.is_empty()
        });
        let quotes = unsettled.entry(payer).or_default();
        if quotes.len() >= UNSETTLED_MAX {
            return Err(TooMany);
        }
        quotes.push_back(uptime);
        Ok(())
    }

    /// The payer's money has moved, and one of the quotes is paid for.
    pub(crate) fn settled(&self, payer: EvmAddress) {
        let mut unsettled = self.unsettled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(quotes) = unsettled.get_mut(&payer) {
            quotes.pop_front();
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
        let quotes = Quotes::default();
        for _ in 0..UNSETTLED_MAX {
            assert_eq!(quotes.begin(ONE, 100), Ok(()));
        }
        assert_eq!(quotes.begin(ONE, 159), Err(TooMany));
        assert_eq!(quotes.begin(OTHER, 159), Ok(()));
        quotes.settled(ONE);
        assert_eq!(quotes.begin(ONE, 159), Ok(()));
        assert_eq!(quotes.begin(ONE, 159), Err(TooMany));
        assert_eq!(quotes.begin(ONE, 160), Ok(()));
    }
}
