//! An emulated facilitator for the emulated chains: x402 version 2, scheme `upto`, real HTTP on loopback.
//!
//! It answers `/supported`, `/verify` and `/settle` like the official facilitator, and settles
//! with keys of its own. Tests set faults and read the journal under `/__sandbox`.
//!
//! Reading order: `request` (what a client sends), `settlement` (verifies and settles),
//! [`fault`], `endpoints`, `control` and [`payment_payload`] (payloads as payers send them).

mod control;
mod endpoints;
pub mod fault;
pub mod payment_payload;
mod request;
mod settlement;
pub mod state;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use order::model::chain::{EvmAddress, Network};

use crate::chain::ChainEmulator;
use crate::http::server::{LoopbackServer, bind};
use crate::keys::Key;
use fault::FacilitatorFaultRule;
use settlement::OnChainSettler;
use state::{FacilitatorCall, FacilitatorState};

/// Ample gas, on every network.
const NATIVE: u128 = 10_000_000_000_000_000_000;

#[derive(Clone, Debug)]
pub struct FacilitatorEmulatorSettings {
    /// The port on 127.0.0.1; 0 for any free port.
    pub port: u16,
    /// Number of accounts that it sends from; `/supported` names one of them in turn.
    pub accounts: usize,
    /// How long it waits for a receipt before it answers `settlement_pending`.
    pub patience: Duration,
}

impl Default for FacilitatorEmulatorSettings {
    fn default() -> Self {
        Self { port: 0, accounts: 1, patience: Duration::from_secs(20) }
    }
}

/// A running facilitator. Dropping it closes it too, without waiting.
pub struct FacilitatorEmulator {
    state: Arc<FacilitatorState>,
    server: LoopbackServer,
}

impl FacilitatorEmulator {
    /// Listens on 127.0.0.1 only, with gas on every network.
    pub async fn open(
        settings: FacilitatorEmulatorSettings,
        chains: &ChainEmulator,
    ) -> io::Result<Self> {
        let listener = bind(settings.port).await?;
        let keys: Vec<Key> = (0..settings.accounts.max(1))
            .map(|number| chains.key(&format!("facilitator {number}")))
            .collect();
        let ours: BTreeMap<Network, _> =
            Network::ALL.map(|network| (network, chains.chain(network))).into();
        for (chain, key) in ours.values().flat_map(|chain| keys.iter().map(move |key| (chain, key)))
        {
            chain.set_native(key.address(), NATIVE);
        }
        let state = Arc::new(FacilitatorState {
            settler: OnChainSettler::new(ours, keys, settings.patience),
            calls: Mutex::default(),
        });
        let server = LoopbackServer::start(listener, routes(&state))?;
        Ok(Self { state, server })
    }

    /// The base URL, without a slash at the end.
    pub fn base_url(&self) -> String {
        self.server.origin()
    }

    /// The accounts that it sends from.
    pub fn accounts(&self) -> Vec<EvmAddress> {
        self.state.settler.accounts().collect()
    }

    pub fn add_fault(&self, rule: FacilitatorFaultRule) {
        self.state.calls().rules.add(rule);
    }

    pub fn clear_faults(&self) {
        self.state.calls().rules.clear();
    }

    /// The calls so far, oldest first.
    pub fn journal(&self) -> Vec<FacilitatorCall> {
        self.state.calls().journal.clone()
    }

    pub fn clear_journal(&self) {
        self.state.calls().journal.clear();
    }

    /// Accepts no more calls, lets running calls finish, and ends those that hang.
    pub async fn close(self) -> io::Result<()> {
        self.server.close().await
    }
}

fn routes(state: &Arc<FacilitatorState>) -> Router {
    Router::new()
        .route("/supported", get(endpoints::supported))
        .route("/verify", post(endpoints::verify))
        .route("/settle", post(endpoints::settle))
        .merge(control::routes())
        .with_state(Arc::clone(state))
}
