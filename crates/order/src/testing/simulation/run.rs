//! Runs one scenario, and audits it at its end.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use super::executor::{Executor, ExecutorHandle};
use super::report::{FailedScenario, SimulationCount, SimulationReport};
use super::scenario::{Scenario, ScenarioLog};
use super::{disturbances, payer};
use crate::lifecycle::{Shortfall, Standing, Stored};
use crate::model::mail::Promises;
use crate::testing::fakes::fault_schedule::{
    FaultSchedule, RandomFaults, SeededRng, SimulatedFault,
};
use crate::testing::fakes::world::{FakeWorld, SimulatedTime};

/// Faults end when the payers have left, and after this long at the latest, in
/// milliseconds.
const FAULT_PHASE: u64 = 30 * 60 * 1_000;
/// How long faults continue after the payers have left, in milliseconds.
const FAULTS_AFTER_PAYERS: u64 = 4 * 60 * 1_000;
/// Time for recovery, in milliseconds. A clock that ran a day ahead may have
/// delayed a check by a day.
const RECOVERY: u64 = 3 * 24 * 60 * 60 * 1_000;
/// Simulated time with a random latency for every call.
struct RandomLatency {
    executor: Arc<ExecutorHandle>,
    rng: Mutex<SeededRng>,
}

#[async_trait]
impl SimulatedTime for RandomLatency {
    fn elapsed(&self) -> u64 {
        self.executor.elapsed()
    }

    async fn network_delay(&self) {
        let milliseconds = {
            let mut rng = self.rng.lock().unwrap();
            // Most calls are fast, a few take very long.
            if rng.happens(20) { rng.between(1_000, 40_000) } else { rng.between(0, 80) }
        };
        if milliseconds > 10 {
            self.executor.sleep(milliseconds).await;
        }
    }

    async fn wait(&self, milliseconds: u64) {
        self.executor.sleep(milliseconds).await;
    }
}

/// Random faults while faults are enabled.
struct FaultsUntilRecovery {
    random: RandomFaults,
    faults_enabled: Arc<AtomicBool>,
}

impl FaultSchedule for FaultsUntilRecovery {
    fn choose(&mut self, options: &[SimulatedFault]) -> SimulatedFault {
        if self.faults_enabled.load(Ordering::Relaxed) {
            self.random.choose(options)
        } else {
            options[0]
        }
    }
}

/// Runs one scenario. It depends on its seed only.
pub fn run_scenario(
    number: u64,
    seed: u64,
    orders: u64,
    log: ScenarioLog,
) -> (SimulationReport, Vec<String>) {
    let mut rng = SeededRng::new(seed);
    let scenario = new_scenario(&mut rng, log);
    let mut executor = Executor::new(scenario.executor.clone(), SeededRng::new(rng.next_u64()));
    for _ in 0..rng.between(1, 2) {
        scenario.start_process();
    }
    for number in 0..orders {
        scenario.count(SimulationCount::Orders);
        scenario.payers.fetch_add(1, Ordering::Relaxed);
        let payer = scenario.clone();
        scenario.executor.spawn(Scenario::OUTSIDE, async move {
            payer::run(&payer, number).await;
            payer.payers.fetch_sub(1, Ordering::Relaxed);
        });
    }
    scenario.executor.spawn(Scenario::OUTSIDE, disturbances::run(scenario.clone()));

    let crash = |group| {
        if scenario.world.has_crashed() {
            scenario.crash(group);
        }
    };
    let mut until = 0;
    while until < FAULT_PHASE && !scenario.payers_have_left() {
        until += 60 * 1_000;
        executor.run(until, crash);
    }
    executor.run(until + FAULTS_AFTER_PAYERS, crash);
    scenario.faults_enabled.store(false, Ordering::Relaxed);
    scenario.world.set_clock_error(0);
    scenario.log(|| "faults end".into());
    let recovered = until + FAULTS_AFTER_PAYERS + RECOVERY;
    until += FAULTS_AFTER_PAYERS;
    while until < recovered && !scenario.is_at_rest() {
        until += 10 * 60 * 1_000;
        executor.run(until, crash);
    }
    drop(executor);
    let report = conclude(&scenario, number, seed);
    (report, scenario.log_lines())
}

fn new_scenario(rng: &mut SeededRng, log: ScenarioLog) -> Arc<Scenario> {
    let executor = Arc::new(ExecutorHandle::default());
    let faults_enabled = Arc::new(AtomicBool::new(true));
    let faults_in_a_thousand = rng.pick(&[0, 20, 60, 150]);
    let random = RandomFaults { rng: SeededRng::new(rng.next_u64()), faults_in_a_thousand };
    let faults = FaultsUntilRecovery { random, faults_enabled: faults_enabled.clone() };
    let latency = RandomLatency {
        executor: executor.clone(),
        rng: Mutex::new(SeededRng::new(rng.next_u64())),
    };
    let promises = Promises {
        idempotent_seconds: rng.pick(&[None, Some(24 * 60 * 60)]),
        cancel_seconds: rng.pick(&[0, 60 * 60, 60 * 60]),
        visibility_lag_seconds: rng.pick(&[0, 30, 90]),
    };
    let world = FakeWorld::new(Box::new(faults), Box::new(latency), promises);
    // In some scenarios a second process works on every order that is claimed.
    world.claims_twice.store(rng.happens(300), Ordering::Relaxed);
    // Some providers list a mailpiece much later than they promise.
    let late = rng.pick(&[0, 0, 0, 900]);
    world.provider.lock().unwrap().list_lag_seconds += late;
    Arc::new(Scenario {
        world,
        executor,
        rng: Mutex::new(SeededRng::new(rng.next_u64())),
        report: Mutex::default(),
        log: match log {
            ScenarioLog::Off => None,
            ScenarioLog::On => Some(Mutex::default()),
        },
        processes: Mutex::default(),
        faults_enabled,
        nonces: AtomicU64::new(0),
        signed: Mutex::default(),
        payers: AtomicU64::new(0),
        groups: AtomicU64::new(0),
    })
}

/// Audits the scenario and adds up its counts.
fn conclude(scenario: &Scenario, number: u64, seed: u64) -> SimulationReport {
    let mut report = std::mem::take(&mut *scenario.report.lock().unwrap());
    let count = |length: usize| u64::try_from(length).expect("a length fits 64 bits");
    {
        let chain = scenario.world.chain.lock().unwrap();
        report.add(SimulationCount::SettleCalls, chain.settle_calls);
        report.add(SimulationCount::Charges, count(chain.transfers.len()));
        let provider = scenario.world.provider.lock().unwrap();
        let cancelled = provider.mailpieces.iter().filter(|mailpiece| mailpiece.cancelled).count();
        report.add(SimulationCount::Cards, count(provider.mailpieces.len() - cancelled));
        report.add(SimulationCount::Cancelled, count(cancelled));
    }
    for order in scenario.world.store.orders() {
        match order {
            Stored::Unfulfilled(order) => report.add(
                match order.state.shortfall {
                    Shortfall::Refused(_) => SimulationCount::PersonRefused,
                    Shortfall::Lost(_) => SimulationCount::PersonLost,
                    Shortfall::Undelivered(_) | Shortfall::Erased(_) => {
                        SimulationCount::PersonUndelivered
                    }
                },
                1,
            ),
            Stored::Mailed(order) if order.state.paid.standing == Standing::Reversed => {
                report.add(SimulationCount::Losses, 1);
            }
            Stored::Mailed(_)
            | Stored::Offered(_)
            | Stored::Settling(_)
            | Stored::Unconfirmed(_)
            | Stored::Submitting(_)
            | Stored::Refunded(_)
            | Stored::Lapsed(_) => {}
        }
    }
    report.incidents = std::mem::take(&mut *scenario.world.incidents.lock().unwrap());
    let breaches = scenario.world.audit();
    for (breach, _) in &breaches {
        *report.breaches.entry(*breach).or_default() += 1;
    }
    if !breaches.is_empty() {
        report.first_failure = Some(FailedScenario { number, seed, breaches });
    }
    report
}
