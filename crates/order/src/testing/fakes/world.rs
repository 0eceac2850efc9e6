//! All ports of the core in one value: clock, chain, provider, names and store, with faults.

use std::collections::BTreeSet;
use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use super::chain::FakeChain;
use super::coverage::IncidentCounts;
use super::fault_schedule::{FaultSchedule, QUERY_FAULTS, SimulatedFault};
use super::provider::FakeProvider;
use super::store::FakeStore;
use crate::lifecycle::IDENTITY_SECONDS;
use crate::model::chain::{EvmAddress, Network};
use crate::model::evidence::{Evidence, Record, Source};
use crate::model::ids::{OrderId, Timestamp};
use crate::model::mail::Promises;
use crate::model::resolution::Resolution;
use crate::model::seller::{NotAUsername, Payees, Username};
use crate::ports::{Clock, Failure, NameService, Purpose};

/// The simulated time at the start, in Unix seconds.
pub const START_SECONDS: u64 = 1_790_000_000;

/// Simulated time and latency. Tests that go step by step have no latency; the
/// simulation uses its own timers.
#[async_trait]
pub trait SimulatedTime: Send + Sync {
    /// Milliseconds since the start.
    fn elapsed(&self) -> u64;
    /// The latency of a request, or of its response.
    async fn network_delay(&self);
    async fn wait(&self, milliseconds: u64);
}

/// Everything outside the core.
pub struct FakeWorld {
    pub faults: Mutex<Box<dyn FaultSchedule>>,
    pub time_source: Box<dyn SimulatedTime>,
    pub chain: Mutex<FakeChain>,
    pub provider: Mutex<FakeProvider>,
    pub store: FakeStore,
    /// Error of the local clock, in seconds.
    pub clock_error: Mutex<i64>,
    /// Whether the local clock was ever wrong by more than the lifetime of an
    /// order's identity, so that a finished order could be bought again.
    pub clock_was_far_off: Mutex<bool>,
    /// The last byte of the seller's address; it may change.
    pub seller_address: Mutex<u8>,
    /// Whether a process has crashed since the last call of `has_crashed`.
    crashed: Mutex<bool>,
    /// The failed writes, by the state that was to be written.
    pub failed_writes: Mutex<Vec<(&'static str, SimulatedFault)>>,
    /// Number of processes started.
    pub(super) processes: AtomicU64,
    /// Orders that were answered 402 while paid or in doubt.
    pub wrong_402s: Mutex<BTreeSet<OrderId>>,
    /// The outcomes of all calls so far.
    pub incidents: Mutex<IncidentCounts>,
    /// Whether a second process claims each order that is claimed, and both work on it.
    pub claims_twice: AtomicBool,
    /// The writes after which a card was submitted: each allows one submission.
    pub(super) submitted_after: Mutex<BTreeSet<(OrderId, u64)>>,
    /// Orders whose card was submitted twice after one write.
    pub(super) submitted_twice: Mutex<BTreeSet<OrderId>>,
}

impl FakeWorld {
    pub fn new(
        faults: Box<dyn FaultSchedule>,
        time_source: Box<dyn SimulatedTime>,
        promises: Promises,
    ) -> Arc<Self> {
        Arc::new(Self {
            faults: Mutex::new(faults),
            time_source,
            chain: Mutex::new(FakeChain::default()),
            provider: Mutex::new(FakeProvider::new(promises)),
            store: FakeStore::default(),
            clock_error: Mutex::new(0),
            clock_was_far_off: Mutex::new(false),
            seller_address: Mutex::new(0xa1),
            crashed: Mutex::new(false),
            failed_writes: Mutex::default(),
            processes: AtomicU64::new(0),
            wrong_402s: Mutex::default(),
            incidents: Mutex::default(),
            claims_twice: AtomicBool::new(false),
            submitted_after: Mutex::default(),
            submitted_twice: Mutex::default(),
        })
    }

    /// The true time, by which the chain runs.
    pub fn time(&self) -> Timestamp {
        Timestamp(START_SECONDS + self.time_source.elapsed() / 1_000)
    }

    pub fn payees(&self) -> Payees {
        let payee = EvmAddress::from_bytes([*self.seller_address.lock().unwrap(); 20]);
        Payees::new(Network::ALL.map(|network| (network, payee)).to_vec()).expect("three networks")
    }

    /// Chooses the fault of a call about this order, and counts it.
    pub(super) fn next_fault(
        &self,
        call: &'static str,
        order: Option<OrderId>,
        options: &[SimulatedFault],
    ) -> SimulatedFault {
        let fault = self.faults.lock().unwrap().choose(options);
        if let Some(words) = fault.words() {
            self.count(call, words, order);
        }
        fault
    }

    /// A call without side effects: it is answered or lost. The answer comes with its words for
    /// the count.
    pub(super) async fn query<T>(
        &self,
        call: &'static str,
        order: Option<OrderId>,
        answer: impl FnOnce() -> (&'static str, T),
    ) -> Result<T, Failure> {
        self.time_source.network_delay().await;
        if self.next_fault(call, order, QUERY_FAULTS) != SimulatedFault::None {
            return Err(Failure::Lost("no answer".into()));
        }
        let (words, answer) = answer();
        self.count(call, words, order);
        self.time_source.network_delay().await;
        Ok(answer)
    }

    /// Ends the calling process: the future never completes, and its executor
    /// drops it.
    pub(super) async fn crash<T>(&self) -> T {
        *self.crashed.lock().unwrap() = true;
        pending().await
    }

    /// Sets the error of the local clock, in seconds.
    pub fn set_clock_error(&self, seconds: i64) {
        *self.clock_error.lock().unwrap() = seconds;
        *self.clock_was_far_off.lock().unwrap() |= seconds.unsigned_abs() >= IDENTITY_SECONDS;
    }

    pub fn has_crashed(&self) -> bool {
        std::mem::take(&mut *self.crashed.lock().unwrap())
    }
}

#[async_trait]
impl Clock for FakeWorld {
    fn now(&self) -> Timestamp {
        Timestamp(self.time().0.saturating_add_signed(*self.clock_error.lock().unwrap()))
    }

    fn uptime(&self) -> u64 {
        self.time_source.elapsed() / 1_000
    }

    async fn wait(&self, seconds: u64) {
        self.time_source.wait(seconds * 1_000).await;
    }
}

#[async_trait]
impl NameService for FakeWorld {
    fn read(&self, text: &str) -> Result<Username, NotAUsername> {
        Username::parse(text, "cards.example.eth", |label| Some(label.to_owned()))
    }

    async fn resolve(
        &self,
        seller: &Username,
        _purpose: Purpose,
    ) -> Result<Option<Resolution>, Failure> {
        self.query("resolve", self.requested_order(), || {
            let source = Source::Chain;
            let payees = self.payees();
            let records =
                payees.iter().map(|(network, address)| Record { network, address, source });
            let evidence = Evidence::made_up(seller.clone(), self.time());
            ("answered", Resolution::new(records.collect(), evidence))
        })
        .await
    }
}
