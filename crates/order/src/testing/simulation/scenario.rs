//! One scenario: a few payers, one or two processes with a reconciler each, and faults.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::executor::{ExecutorHandle, TaskGroup};
use super::report::{SimulationCount, SimulationReport};
use crate::lifecycle::event::Event;
use crate::lifecycle::{Shortfall, Standing, Stored};
use crate::model::payment::Credential;
use crate::ports::TidyLimits;
use crate::testing::fakes::fault_schedule::SeededRng;
use crate::testing::fakes::process::FakeProcess;
use crate::testing::fakes::world::FakeWorld;

/// Number of checks after which an order with a lost submission counts as left
/// to an operator.
const LOOKS_OF_A_DEBT: u32 = 12;

/// The shared state of one scenario.
pub struct Scenario {
    pub world: Arc<FakeWorld>,
    pub executor: Arc<ExecutorHandle>,
    pub rng: Mutex<SeededRng>,
    pub report: Mutex<SimulationReport>,
    pub log: Option<Mutex<Vec<String>>>,
    pub processes: Mutex<Vec<SimulatedProcess>>,
    pub faults_enabled: Arc<AtomicBool>,
    pub nonces: AtomicU64,
    /// All signed credentials: a payer may present a foreign one.
    pub signed: Mutex<Vec<Credential>>,
    pub payers: AtomicU64,
    pub(super) groups: AtomicU64,
}

/// Whether a scenario logs its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScenarioLog {
    Off,
    On,
}

/// One running process.
#[derive(Clone)]
pub struct SimulatedProcess {
    pub process: Arc<FakeProcess>,
    pub group: TaskGroup,
}

impl Scenario {
    pub fn random<T>(&self, draw: impl FnOnce(&mut SeededRng) -> T) -> T {
        draw(&mut self.rng.lock().unwrap())
    }

    pub fn count(&self, count: SimulationCount) {
        self.report.lock().unwrap().add(count, 1);
    }

    pub fn log(&self, words: impl FnOnce() -> String) {
        if let Some(log) = &self.log {
            let seconds = self.executor.elapsed() / 1_000;
            log.lock().unwrap().push(format!("{seconds:>7} s  {}", words()));
        }
    }

    pub(super) fn payers_have_left(&self) -> bool {
        self.payers.load(Ordering::Relaxed) == 0
    }

    /// The group of tasks outside of all processes: payers and disturbances.
    pub const OUTSIDE: TaskGroup = TaskGroup(0);

    /// The logged events, then the written events.
    pub(super) fn log_lines(&self) -> Vec<String> {
        let Some(log) = &self.log else { return Vec::new() };
        let mut log = log.lock().unwrap().clone();
        log.extend(self.world.store.history().into_iter().map(|event| {
            let Event { order, version, at, actor, state, .. } = event;
            format!("by our clock {}  {order} version {version}: {state}, by the {actor}", at.0)
        }));
        log
    }

    /// Starts a process, with a reconciler in it.
    pub fn start_process(self: &Arc<Self>) {
        let group = TaskGroup(self.groups.fetch_add(1, Ordering::Relaxed) + 1);
        let process = Arc::new(self.world.process());
        self.processes.lock().unwrap().push(SimulatedProcess { process: process.clone(), group });
        let scenario = self.clone();
        self.executor.spawn(group, async move { scenario.reconcile(&process).await });
    }

    /// Kills a process at once. It restarts a little later.
    pub fn crash(self: &Arc<Self>, group: TaskGroup) {
        let mut processes = self.processes.lock().unwrap();
        let Some(place) = processes.iter().position(|process| process.group == group) else {
            return;
        };
        let process = processes.remove(place);
        drop(processes);
        self.world.store.mark_dead(process.process.writer().worker);
        self.count(SimulationCount::Crashes);
        self.log(|| format!("process {} crashes", group.0));
        self.executor.kill(group);
        let scenario = self.clone();
        let pause = self.random(|rng| rng.between(100, 20_000));
        self.executor.spawn(Self::OUTSIDE, async move {
            scenario.executor.sleep(pause).await;
            scenario.start_process();
        });
    }

    async fn reconcile(&self, process: &FakeProcess) {
        let tenders = self.world.tenders();
        loop {
            let pause = self.random(|rng| rng.between(3_000, 7_000));
            self.executor.sleep(pause.max(self.idle_for())).await;
            let _ = process.reconcile(&tenders, &|_| ()).await;
            // The same orders once more, at once.
            if self.random(|rng| rng.happens(100)) {
                self.world.store.make_due(process.writer().clock.now());
                let _ = process.reconcile(&tenders, &|_| ()).await;
            }
            if self.random(|rng| rng.happens(100)) {
                let _ = process
                    .writer()
                    .store
                    .tidy(process.writer().clock.now(), TidyLimits::DEFAULT)
                    .await;
            }
        }
    }

    /// Without faults the reconciler may sleep until an order is due.
    fn idle_for(&self) -> u64 {
        if self.faults_enabled.load(Ordering::Relaxed) {
            return 0;
        }
        let now = self.world.time();
        let due = self.world.store.next_due(now).map_or(u64::MAX, |due| due.0);
        due.saturating_sub(now.0).min(60 * 60) * 1_000
    }

    /// Whether recovery is complete, except for orders left to an operator.
    pub(super) fn is_at_rest(&self) -> bool {
        let now = self.world.time();
        let quiet = self.world.chain.lock().unwrap().is_quiet(now)
            && self.world.provider.lock().unwrap().is_quiet(now);
        let rests = |order: &Stored| match order {
            Stored::Offered(_) | Stored::Lapsed(_) | Stored::Refunded(_) => true,
            Stored::Settling(_) | Stored::Unconfirmed(_) | Stored::Submitting(_) => false,
            Stored::Unfulfilled(order) => match order.state.shortfall {
                Shortfall::Refused(_) => false,
                Shortfall::Lost(_) => order.attention.looks > LOOKS_OF_A_DEBT,
                Shortfall::Undelivered(_) | Shortfall::Erased(_) => true,
            },
            Stored::Mailed(order) => {
                order.attention.due.is_none() || order.state.paid.standing == Standing::Reversed
            }
        };
        quiet && self.world.store.orders().iter().all(rests)
    }
}
