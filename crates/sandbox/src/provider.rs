//! A postcard provider that mails nothing: real HTTP on loopback, over a ledger.
//!
//! It speaks two dialects, thanks.io version 2 under `/api/v2` and Lob version 1
//! under `/v1`. `GET /` is the mailbox: the cards that it "mailed", as pictures.
//! Under `/__sandbox` a test makes it fail and reads what happened.
//!
//! Read in this sequence:
//!
//! 1. [`settings`], `price`, `clock`, `calendar`: what can be chosen
//! 2. `card`, `ledger`, `previews`: what is kept, and how it moves on
//! 3. [`fault`]: how a call goes wrong; `wire`: what no HTTP library would send
//! 4. `thanks_io`, `lob`: the two dialects; `counter`: where both are served
//! 5. [`report`], [`journal`]: what an auditor reads; `control`: the back door
//! 6. `picture`, `mailbox`: what a person enjoys

pub(crate) mod answer;
mod books;
mod calendar;
pub mod card;
mod clock;
mod control;
mod counter;
pub mod fault;
pub(crate) mod fields;
mod host;
pub mod journal;
mod ledger;
mod lob;
mod mailbox;
mod picture;
mod previews;
pub mod price;
pub mod report;
mod request;
mod secret;
pub mod settings;
mod thanks_io;
pub(crate) mod wire;

#[cfg(test)]
mod tests;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::any;
use order::model::ids::Timestamp;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use books::Office;
use card::Fate;
use fault::rule::Rule;
use journal::Line;
use report::Report;
use settings::Settings;
use wire::listener::{Door, Wire};

/// Larger than any card, smaller than any nuisance. A report may be asked about
/// many thousand references.
const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A call takes milliseconds; only a caller who went to sleep takes longer.
const CLOSING_TIME: Duration = Duration::from_secs(3);

/// An open post office. Dropping it closes it too, without waiting.
pub struct PostOffice {
    office: Arc<Office>,
    address: SocketAddr,
    closing: watch::Sender<()>,
    serving: JoinHandle<io::Result<()>>,
}

impl PostOffice {
    /// Opens on 127.0.0.1 and on nothing else.
    pub async fn open(settings: Settings) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port)).await?;
        let address = listener.local_addr()?;
        let office = Arc::new(Office::new(settings, format!("http://{address}"))?);
        let (closing, closed) = watch::channel(());
        let door = Door::new(listener, closed.clone());
        let service = routes(&office).into_make_service_with_connect_info::<Wire>();
        let serving = tokio::spawn(async move {
            let mut closed = closed;
            // An error says that the office was dropped, which closes it too.
            let told = async move {
                let _ = closed.changed().await;
            };
            axum::serve(door, service).with_graceful_shutdown(told).await
        });
        Ok(Self { office, address, closing, serving })
    }

    /// The address that was bound, without a slash at the end. The dialects are
    /// under `/api/v2` and `/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The page that shows the cards.
    pub fn mailbox_url(&self) -> String {
        format!("{}/", self.office.books().base)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn token(&self) -> String {
        self.office.books().settings.token.clone()
    }

    /// Changes what can be chosen, but for the port and the public address,
    /// which stay what they were at the opening.
    pub fn change(&self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.office.books().settings);
    }

    pub fn add_fault(&self, rule: Rule) {
        self.office.books().rules.add(rule);
    }

    pub fn clear_faults(&self) {
        self.office.books().rules.clear();
    }

    /// Every rule in force, with how many calls it broke.
    pub fn faults(&self) -> Vec<(Rule, u64)> {
        let books = self.office.books();
        books.rules.all().map(|(rule, broken)| (rule.clone(), broken)).collect()
    }

    pub fn now(&self) -> Timestamp {
        self.office.books().now()
    }

    /// Puts the clock forward.
    pub fn advance(&self, seconds: u64) {
        self.office.books().clock.advance(seconds);
    }

    pub fn report(&self) -> Report {
        self.report_on(&[])
    }

    /// The report, which also names those of the references without a live card.
    pub fn report_on(&self, expected: &[String]) -> Report {
        let books = self.office.books();
        Report::of(&books.ledger, expected, books.now())
    }

    pub fn journal(&self) -> Vec<Line> {
        self.office.books().journal.lines().cloned().collect()
    }

    pub fn clear_journal(&self) {
        self.office.books().journal.clear();
    }

    /// Decides what becomes of a card.
    pub fn set_fate(&self, id: u64, fate: Fate) -> Result<(), UnknownCard> {
        let mut books = self.office.books();
        books.ledger.find_mut(id).map(|card| card.fate = fate).ok_or(UnknownCard)
    }

    pub fn forget_cards(&self) {
        self.office.books().ledger.clear();
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

/// No card has this id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownCard;

fn routes(office: &Arc<Office>) -> Router {
    Router::new()
        .route("/api/v2/{*path}", any(counter::serve))
        .route("/v1/{*path}", any(counter::serve))
        .merge(control::routes())
        .merge(mailbox::routes())
        .fallback(mailbox::not_found)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(middleware::from_fn_with_state(Arc::clone(office), host::guard))
        .with_state(Arc::clone(office))
}
