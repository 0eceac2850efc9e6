//! An emulated postcard provider that mails nothing: real HTTP on loopback, over a ledger.
//!
//! It has two interfaces, thanks.io version 2 under `/api/v2` and Lob version 1 under `/v1`.
//! `GET /` is the mailbox page: pictures of the "mailed" cards. Tests set faults and read
//! the report under `/__sandbox`.
//!
//! Reading order: [`state`] (settings, cards, ledger, journal, report), [`fault`], `api` (both
//! interfaces), `control`, then `picture` and `mailbox`.

mod api;
mod control;
mod dates;
pub mod fault;
mod host;
mod mailbox;
mod picture;
pub mod state;

#[cfg(test)]
mod tests;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::any;
use order::model::ids::Timestamp;

use crate::http::server::{LoopbackServer, bind};
use api::serve::serve;
use fault::rule::ProviderFaultRule;
use state::SharedState;
use state::card::DeliveryOutcome;
use state::journal::ProviderCall;
use state::report::ProviderReport;
use state::settings::ProviderSettings;

/// Enough for a report on many thousand references.
const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A running provider. Dropping it closes it too, without waiting.
pub struct ProviderEmulator {
    shared: Arc<SharedState>,
    server: LoopbackServer,
}

impl ProviderEmulator {
    /// Listens on 127.0.0.1 only.
    pub async fn open(settings: ProviderSettings) -> io::Result<Self> {
        let listener = bind(settings.port).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(SharedState::new(settings, format!("http://{address}"))?);
        let server = LoopbackServer::start(listener, routes(&shared))?;
        Ok(Self { shared, server })
    }

    /// The base URL, without a slash at the end. The interfaces are under `/api/v2` and
    /// `/v1`.
    pub fn base_url(&self) -> String {
        self.server.origin()
    }

    /// The page that shows the cards.
    pub fn mailbox_url(&self) -> String {
        format!("{}/", self.shared.lock().base)
    }

    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    pub fn token(&self) -> String {
        self.shared.lock().settings.token.clone()
    }

    /// Changes the settings, except port and public address.
    pub fn change(&self, change: impl FnOnce(&mut ProviderSettings)) {
        change(&mut self.shared.lock().settings);
    }

    pub fn add_fault(&self, rule: ProviderFaultRule) {
        self.shared.lock().rules.add(rule);
    }

    pub fn clear_faults(&self) {
        self.shared.lock().rules.clear();
    }

    /// Every active rule, with the number of calls that it broke.
    pub fn faults(&self) -> Vec<(ProviderFaultRule, u64)> {
        let state = self.shared.lock();
        state.rules.all().map(|(rule, broken)| (rule.clone(), broken)).collect()
    }

    pub fn now(&self) -> Timestamp {
        self.shared.lock().now()
    }

    /// Advances the clock.
    pub fn advance(&self, seconds: u64) {
        self.shared.lock().clock.advance(seconds);
    }

    pub fn report(&self) -> ProviderReport {
        self.report_on(&[])
    }

    /// The report, including the expected references without a live card.
    pub fn report_on(&self, expected: &[String]) -> ProviderReport {
        let state = self.shared.lock();
        ProviderReport::of(&state.ledger, expected, state.now())
    }

    pub fn journal(&self) -> Vec<ProviderCall> {
        self.shared.lock().journal.lines().cloned().collect()
    }

    pub fn clear_journal(&self) {
        self.shared.lock().journal.clear();
    }

    /// Sets the delivery outcome of a card.
    pub fn set_outcome(&self, id: u64, outcome: DeliveryOutcome) -> Result<(), UnknownCard> {
        let mut state = self.shared.lock();
        state.ledger.find_mut(id).map(|card| card.outcome = outcome).ok_or(UnknownCard)
    }

    /// Accepts no more calls, lets running calls finish, and ends those that hang.
    pub async fn close(self) -> io::Result<()> {
        self.server.close().await
    }
}

/// No card has this id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownCard;

fn routes(shared: &Arc<SharedState>) -> Router {
    Router::new()
        .route("/api/v2/{*path}", any(serve))
        .route("/v1/{*path}", any(serve))
        .merge(control::routes())
        .merge(mailbox::routes())
        .fallback(mailbox::not_found)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(middleware::from_fn_with_state(Arc::clone(shared), host::guard))
        .with_state(Arc::clone(shared))
}
