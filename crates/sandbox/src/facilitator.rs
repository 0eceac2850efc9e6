//! A facilitator for the sandbox's chains: x402 version 2, scheme `upto`, real HTTP on loopback.
//!
//! It answers `/supported`, `/verify` and `/settle` as the official one does, and
//! carries promises to the chains with keys of its own. Under `/__sandbox` a test
//! makes it fail and reads what happened.
//!
//! Read in this sequence: `ask`, what a caller sends; `carrier`, who judges it and
//! brings it to a chain; [`fault`], how a call goes wrong; `counter`, where calls
//! are served, spoiled and noted; `control`, the back door; [`signed`], payloads as
//! payers send them.

mod ask;
mod carrier;
mod control;
mod counter;
pub mod fault;
pub mod signed;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use order::model::chain::{EvmAddress, Network};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::chain::Chains;
use crate::keys::Key;
use crate::provider::wire::listener::{Door, Wire};
use carrier::Carrier;
use fault::{Kind, Operation, Rule, Rules};

/// Gas for a lifetime, on every network.
const NATIVE: u128 = 10_000_000_000_000_000_000;
/// A call takes milliseconds; only a caller who went to sleep takes longer.
const CLOSING_TIME: Duration = Duration::from_secs(3);
/// Older calls are forgotten.
const JOURNAL_LINES: usize = 10_000;

#[derive(Clone, Debug)]
pub struct Settings {
    /// The port on 127.0.0.1; 0 takes any that is free.
    pub port: u16,
    /// How many accounts it sends from; every list names one of them by turns.
    pub accounts: usize,
    pub sponsoring: Sponsoring,
    /// How long it waits for a receipt before it says `settlement_pending`.
    pub patience: Duration,
}

/// Whether it brings EIP-2612 permits to the chain too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sponsoring {
    Offered,
    NotOffered,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            port: 0,
            accounts: 1,
            sponsoring: Sponsoring::Offered,
            patience: Duration::from_secs(20),
        }
    }
}

/// One call, as it ended. What was said in it is the caller's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Counts from one and never begins again.
    pub number: u64,
    pub operation: Operation,
    pub fault: Option<Kind>,
    /// None if the caller was left without one.
    pub status: Option<u16>,
    /// What was sent to a chain for this call.
    pub transaction: Option<String>,
}

/// Everything that the facilitator knows beside its chains.
#[derive(Default)]
struct Books {
    rules: Rules,
    journal: Vec<Line>,
    calls: u64,
    lists: usize,
}

struct Desk {
    carrier: Carrier,
    sponsoring: Sponsoring,
    books: Mutex<Books>,
}

impl Desk {
    fn books(&self) -> MutexGuard<'_, Books> {
        // Each change is whole in itself, so they are still good after a panic elsewhere.
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Books {
    fn note(&mut self, line: Line) {
        self.calls += 1;
        self.journal.push(Line { number: self.calls, ..line });
        let spare = self.journal.len().saturating_sub(JOURNAL_LINES);
        self.journal.drain(..spare);
    }
}

/// An open facilitator. Dropping it closes it too, without waiting.
pub struct Facilitator {
    desk: Arc<Desk>,
    address: SocketAddr,
    closing: watch::Sender<()>,
    serving: JoinHandle<io::Result<()>>,
}

impl Facilitator {
    /// Opens on 127.0.0.1 and on nothing else, with gas on every network.
    pub async fn open(settings: Settings, chains: &Chains) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port)).await?;
        let address = listener.local_addr()?;
        let keys: Vec<Key> = (0..settings.accounts.max(1))
            .map(|number| chains.key(&format!("facilitator {number}")))
            .collect();
        let ours: BTreeMap<Network, _> =
            Network::ALL.map(|network| (network, chains.chain(network))).into();
        for (chain, key) in ours.values().flat_map(|chain| keys.iter().map(move |key| (chain, key)))
        {
            chain.set_native(key.address(), NATIVE);
        }
        let desk = Arc::new(Desk {
            carrier: Carrier::new(ours, keys, settings.patience),
            sponsoring: settings.sponsoring,
            books: Mutex::default(),
        });
        let (closing, closed) = watch::channel(());
        let door = Door::new(listener, closed.clone());
        let service = routes(&desk).into_make_service_with_connect_info::<Wire>();
        let serving = tokio::spawn(async move {
            let mut closed = closed;
            // An error says that the facilitator was dropped, which closes it too.
            let told = async move {
                let _ = closed.changed().await;
            };
            axum::serve(door, service).with_graceful_shutdown(told).await
        });
        Ok(Self { desk, address, closing, serving })
    }

    /// The address that was bound, without a slash at the end.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The accounts that it sends from.
    pub fn accounts(&self) -> Vec<EvmAddress> {
        self.desk.carrier.accounts().collect()
    }

    pub fn add_fault(&self, rule: Rule) {
        self.desk.books().rules.add(rule);
    }

    pub fn clear_faults(&self) {
        self.desk.books().rules.clear();
    }

    /// The calls so far, oldest first.
    pub fn journal(&self) -> Vec<Line> {
        self.desk.books().journal.clone()
    }

    pub fn clear_journal(&self) {
        self.desk.books().journal.clear();
    }

    /// Takes no more calls, lets those under way finish, and ends those that
    /// were made to hang. A caller who never finishes is left behind.
    pub async fn close(mut self) -> io::Result<()> {
        self.closing.send_replace(());
        match timeout(CLOSING_TIME, &mut self.serving).await {
            Ok(served) => served.map_err(io::Error::other)?,
            Err(_) => {
                self.serving.abort();
                Ok(())
            }
        }
    }
}

fn routes(desk: &Arc<Desk>) -> Router {
    Router::new()
        .route("/supported", get(counter::supported))
        .route("/verify", post(counter::verify))
        .route("/settle", post(counter::settle))
        .merge(control::routes())
        .with_state(Arc::clone(desk))
}
