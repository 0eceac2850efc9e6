//! The settings of the emulated provider.

use std::collections::BTreeMap;

use order::model::country::CountryCode;
use order::model::money::Cents;

/// The default token. It gives access to sandboxes only.
pub const SANDBOX_TOKEN: &str = "sandbox-token-that-moves-no-money";

/// The key in a card's metadata that names the caller's order.
pub(crate) const REFERENCE_KEY: &str = "public_order_id";

/// Whether the account mails what it accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxAccountMode {
    Production,
    /// The provider's own test mode: every order is cancelled at once.
    Testing,
}

#[derive(Clone, Debug)]
pub struct ProviderSettings {
    /// The port on 127.0.0.1; 0 for any free port.
    pub port: u16,
    /// Bearer token of the thanks.io interface, user name of the Lob interface.
    pub token: String,
    /// The public base URL behind a proxy. By default, the bound address.
    pub public_base: Option<String>,
    pub account: SandboxAccountMode,
    /// How long a card can be cancelled.
    pub review_seconds: u64,
    /// How long a card that was accepted is absent from every list.
    pub list_lag_seconds: u64,
    /// From printed to in transit. A visitor should see a card move.
    pub transit_seconds: u64,
    /// From in transit to delivered.
    pub delivery_seconds: u64,
    /// Prices that differ from the list in `price.rs`.
    pub prices: BTreeMap<String, Cents>,
    /// Older cards are dropped; the report counts them.
    pub kept_cards: usize,
    pub kept_previews: usize,
    pub kept_journal_lines: usize,
}

impl Default for ProviderSettings {
    fn default() -> Self {
        Self {
            port: 0,
            token: SANDBOX_TOKEN.to_owned(),
            public_base: None,
            account: SandboxAccountMode::Production,
            // As long as the real provider lets an order be cancelled.
            review_seconds: 3_600,
            list_lag_seconds: 0,
            transit_seconds: 60,
            delivery_seconds: 120,
            prices: BTreeMap::new(),
            kept_cards: 1_000,
            kept_previews: 200,
            kept_journal_lines: 10_000,
        }
    }
}

impl ProviderSettings {
    pub(crate) fn price(&self, country: CountryCode) -> Cents {
        let listed = || super::price::listed(country);
        self.prices.get(country.as_str()).copied().unwrap_or_else(listed)
    }
}
