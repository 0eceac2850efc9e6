//! Cached prices by country.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use order::model::country::CountryCode;
use order::model::mail::ProviderQuote;

use crate::provider::budget::CallPurpose;

/// How old a price may be. Prices change a few times a year. A preview's price may be older: a
/// payment is checked against its own, and a quote that is too low by then is a conflict.
pub(super) const fn valid_seconds(purpose: CallPurpose) -> u64 {
    match purpose {
        CallPurpose::Paid | CallPurpose::Buyer | CallPurpose::Reconciler | CallPurpose::Look => 60,
        CallPurpose::Preview => 600,
    }
}

/// The newest price of each country, and the process uptime of its request.
#[derive(Default)]
pub(super) struct PriceCache(Mutex<HashMap<CountryCode, (u64, ProviderQuote)>>);

impl PriceCache {
    /// The price of a country, if it was learned less than `seconds` ago.
    pub(super) fn known(
        &self,
        country: CountryCode,
        uptime: u64,
        seconds: u64,
    ) -> Option<ProviderQuote> {
        let prices = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, price) = prices.get(&country)?;
        (uptime.saturating_sub(*at) < seconds).then_some(*price)
    }

    pub(super) fn learn(&self, country: CountryCode, price: ProviderQuote, uptime: u64) {
        let mut prices = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        prices.insert(country, (uptime, price));
    }
}
