//! Cached prices by country.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use order::model::country::CountryCode;
use order::model::mail::ProviderQuote;

/// Prices change a few times a year.
const PRICE_SECONDS: u64 = 60;

/// The newest price of each country, and the process uptime of its request.
#[derive(Default)]
pub(super) struct PriceCache(Mutex<HashMap<CountryCode, (u64, ProviderQuote)>>);

impl PriceCache {
    pub(super) fn known(&self, country: CountryCode, uptime: u64) -> Option<ProviderQuote> {
        let prices = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, price) = prices.get(&country)?;
        (uptime.saturating_sub(*at) < PRICE_SECONDS).then_some(*price)
    }

    pub(super) fn learn(&self, country: CountryCode, price: ProviderQuote, uptime: u64) {
        let mut prices = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        prices.insert(country, (uptime, price));
    }
}
