//! The world: one clock, one chain, one provider, and what goes wrong between them and us.

use std::collections::BTreeSet;
use std::future::pending;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use super::chain::{Chain, PAYER, Till};
use super::fates::{ASK, Fate, Fates};
use super::provider::Press;
use super::store::Shelf;
use crate::checkout::Desk;
use crate::checkout::quotes::Quotes;
use crate::checkout::single_flight::SingleFlight;
use crate::lifecycle::IDENTITY_SECONDS;
use crate::model::chain::{EvmAddress, Network};
use crate::model::evidence::{Evidence, Record, Source};
use crate::model::identity::Identity;
use crate::model::ids::{OrderId, Timestamp, WorkerId};
use crate::model::mail::Promises;
use crate::model::payment::TenderKind;
use crate::model::seller::{NotAUsername, Payees, Resolution, Sellers, Username};
use crate::ports::{Clock, Failure, NameService, Purpose};
use crate::reconciler::resubmit_watch::ResubmitWatches;
use crate::tender::{Tender, Tenders};

/// When every story begins: the world's own time, in seconds.
pub const DAWN: u64 = 1_790_000_000;

/// How long a call takes, and how long a wait is. Nothing, in a test that goes
/// step by step; a simulation puts its own timers here.
#[async_trait]
pub trait Pace: Send + Sync {
    /// Milliseconds since the story began.
    fn elapsed(&self) -> u64;
    /// On its way to somebody, or back.
    async fn travel(&self);
    async fn wait(&self, milliseconds: u64);
}

/// Everything that exists outside the desk.
pub struct World {
    pub fates: Mutex<Box<dyn Fates>>,
    pub pace: Box<dyn Pace>,
    pub chain: Mutex<Chain>,
    pub press: Mutex<Press>,
    pub shelf: Shelf,
    /// Seconds by which our own clock is wrong.
    pub clock_error: Mutex<i64>,
    /// Whether our clock was ever so wrong that a finished card counted as last
    /// month's.
    pub clock_ran_away: Mutex<bool>,
    /// The last byte of the seller's address; it may change.
    pub seller_address: Mutex<u8>,
    /// Whether a process has ended since somebody asked.
    crashed: Mutex<bool>,
    /// The writes that did not work, by the state that was to be written.
    pub broken_writes: Mutex<Vec<(&'static str, Fate)>>,
    /// How many processes have been started.
    processes: AtomicU64,
    /// Orders for which a payer was asked to pay although that was wrong.
    pub wrongly_invited: Mutex<BTreeSet<OrderId>>,
}

impl World {
    pub fn new(fates: Box<dyn Fates>, pace: Box<dyn Pace>, promises: Promises) -> Arc<Self> {
        Arc::new(Self {
            fates: Mutex::new(fates),
            pace,
            chain: Mutex::new(Chain::default()),
            press: Mutex::new(Press::new(promises)),
            shelf: Shelf::default(),
            clock_error: Mutex::new(0),
            clock_ran_away: Mutex::new(false),
            seller_address: Mutex::new(0xa1),
            crashed: Mutex::new(false),
            broken_writes: Mutex::default(),
            processes: AtomicU64::new(0),
            wrongly_invited: Mutex::default(),
        })
    }

    /// A desk as one process has it. What is in its memory dies with it.
    pub fn desk(self: &Arc<Self>) -> Desk {
        let process = self.processes.fetch_add(1, Ordering::Relaxed);
        Desk {
            provider: self.clone(),
            names: self.clone(),
            store: self.clone(),
            clock: self.clone(),
            identity: Identity::new([7; 32]),
            sellers: Sellers { default: Username::kept("alice".into()), enabled: Vec::new() },
            single_flight: SingleFlight::default(),
            quotes: Quotes::default(),
            resubmit_watches: ResubmitWatches::default(),
            worker: WorkerId::from_bytes(u128::from(process).to_be_bytes()),
        }
    }

    pub fn tenders(self: &Arc<Self>) -> Tenders {
        let till = |kind| -> Arc<dyn Tender> { Arc::new(self.till(kind)) };
        Tenders(vec![till(TenderKind::X402), till(TenderKind::Mpp)])
    }

    pub fn till(self: &Arc<Self>, kind: TenderKind) -> Till {
        Till { world: self.clone(), kind, payer: PAYER }
    }

    /// The world's own time, which the chain keeps and nobody can put back.
    pub fn time(&self) -> Timestamp {
        Timestamp(DAWN + self.pace.elapsed() / 1_000)
    }

    pub fn payees(&self) -> Payees {
        let payee = EvmAddress::from_bytes([*self.seller_address.lock().unwrap(); 20]);
        Payees::new(Network::ALL.map(|network| (network, payee)).to_vec()).expect("three networks")
    }

    pub(super) fn fate(&self, options: &[Fate]) -> Fate {
        self.fates.lock().unwrap().choose(options)
    }

    /// Asks a question of the world: it is answered, or it is not.
    pub(super) async fn ask<T>(&self, answer: impl FnOnce() -> T) -> Result<T, Failure> {
        self.pace.travel().await;
        if self.fate(ASK) != Fate::Works {
            return Err(Failure::Lost("no answer".into()));
        }
        let answer = answer();
        self.pace.travel().await;
        Ok(answer)
    }

    /// Our process ends here. Whoever drives it sees that it will go no
    /// further and drops it.
    pub(super) async fn crash<T>(&self) -> T {
        *self.crashed.lock().unwrap() = true;
        pending().await
    }

    /// Our own clock is wrong by so many seconds from now on.
    pub fn put_clock_wrong(&self, seconds: i64) {
        *self.clock_error.lock().unwrap() = seconds;
        *self.clock_ran_away.lock().unwrap() |= seconds.unsigned_abs() >= IDENTITY_SECONDS;
    }

    pub fn has_crashed(&self) -> bool {
        std::mem::take(&mut *self.crashed.lock().unwrap())
    }
}

#[async_trait]
impl Clock for World {
    fn now(&self) -> Timestamp {
        Timestamp(self.time().0.saturating_add_signed(*self.clock_error.lock().unwrap()))
    }

    fn uptime(&self) -> u64 {
        self.pace.elapsed() / 1_000
    }

    async fn wait(&self, seconds: u64) {
        self.pace.wait(seconds * 1_000).await;
    }
}

#[async_trait]
impl NameService for World {
    fn read(&self, text: &str) -> Result<Username, NotAUsername> {
        Username::parse(text, "cards.example.eth", |label| Some(label.to_owned()))
    }

    async fn resolve(
        &self,
        seller: &Username,
        _purpose: Purpose,
    ) -> Result<Option<Resolution>, Failure> {
        self.ask(|| {
            let source = Source::Chain;
            let payees = self.payees();
            let records =
                payees.iter().map(|(network, address)| Record { network, address, source });
            Resolution::new(records.collect(), Evidence::made_up(seller.clone(), self.time()))
        })
        .await
    }
}
