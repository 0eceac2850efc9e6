//! The fault walk: every call and every write breaks in every way, up to three at a time.

use super::*;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use crate::testing::fakes::coverage::{Coverage, IncidentCounts};
use crate::testing::fakes::fault_schedule::{FaultSchedule, SimulatedFault};

/// How often a step of the reconciler is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Steps {
    Once,
    /// A second process claims each order while the first one has it, and both make the step;
    /// then the order is claimed and examined once more.
    Twice,
}

/// Faults in one run. The steps that are made twice make the runs longer.
const fn faults(steps: Steps) -> u32 {
    match steps {
        Steps::Once => 3,
        Steps::Twice => 2,
    }
}

/// The walker is kept outside of the world, so that the next run can go on
/// from where this one left it.
struct Shared(Arc<Mutex<ExhaustiveFaults>>);

impl FaultSchedule for Shared {
    fn choose(&mut self, options: &[SimulatedFault]) -> SimulatedFault {
        self.0.lock().unwrap().choose(options)
    }
}

/// One process at a time, which may crash and start again.
struct Driver {
    world: Arc<FakeWorld>,
    time: ManualTime,
    process: FakeProcess,
    kind: TenderKind,
    steps: Steps,
}

impl Driver {
    fn new(
        schedule: &Arc<Mutex<ExhaustiveFaults>>,
        promises: Promises,
        kind: TenderKind,
        steps: Steps,
    ) -> Self {
        let time = ManualTime::default();
        let schedule = Box::new(Shared(schedule.clone()));
        let world = FakeWorld::new(schedule, Box::new(time.clone()), promises);
        // Worse than promised: a card shows up after the first looks for it.
        world.provider.lock().unwrap().list_lag_seconds = 400;
        world.claims_twice.store(steps == Steps::Twice, Ordering::Relaxed);
        Self { process: world.process(), world, time, kind, steps }
    }

    fn send(&mut self, credential: Option<Credential>) -> Option<Result<Outcome, Refusal>> {
        let tender = self.world.tender(self.kind);
        let said = poll_once(self.process.send(&tender, request("hello", credential)));
        match &said {
            Some(said) => self.world.check_response(said),
            None => self.restart(),
        }
        said
    }

    fn reconcile(&mut self, after_seconds: u64) {
        self.time.advance(after_seconds);
        self.reconcile_now();
        if self.steps == Steps::Twice {
            self.world.store.make_due(self.world.time());
            self.reconcile_now();
        }
    }

    fn reconcile_now(&mut self) {
        let tenders = self.world.tenders();
        if poll_once(self.process.reconcile(&tenders, &|_| ())).is_none() {
            self.restart();
        }
    }

    /// Whether the write that the money has moved was not acknowledged, and all else so
    /// far went well.
    fn one_payment_write_was_lost(&self, schedule: &Arc<Mutex<ExhaustiveFaults>>) -> bool {
        let broken = self.world.failed_writes.lock().unwrap();
        let [("submitting", fate)] = broken.as_slice() else { return false };
        let lost = matches!(fate, SimulatedFault::LostBefore | SimulatedFault::LostAfter);
        lost && schedule.lock().unwrap().faults() == 1
    }

    fn assert_mailed_now(&self, said: Option<Result<Outcome, Refusal>>) {
        let Some(Ok(Outcome::Paid { fulfilment, paid, .. })) = said else { panic!("{said:?}") };
        assert_eq!((fulfilment, paid), (Fulfilment::Submitted, When::Now));
        assert_eq!(self.world.provider.lock().unwrap().mailpieces.len(), 1);
    }

    fn restart(&mut self) {
        assert!(self.world.has_crashed(), "a walk waits for something that never comes");
        self.world.store.mark_dead(self.process.writer().worker);
        self.process = self.world.process();
    }
}

/// A payer asks, pays, signs again out of turn, and asks after the first
/// payment; the reconciler runs in between. Then the world recovers, time
/// passes, and the payer comes back until the card is paid. Says whether the write of the
/// payment was lost in it, and nothing else until the first answer.
fn run(
    schedule: &Arc<Mutex<ExhaustiveFaults>>,
    promises: Promises,
    kind: TenderKind,
    steps: Steps,
) -> (bool, IncidentCounts) {
    let mut driver = Driver::new(schedule, promises, kind, steps);
    // It ends before the third round of the reconciler, which finds payments that never moved.
    let deadline = driver.world.time().0 + 150;
    let first = FakeCredential { deadline, ..promise(&driver.world, 1) }.credential();
    driver.send(None);
    let said = driver.send(Some(first.clone()));
    let write_lost = driver.one_payment_write_was_lost(schedule);
    if write_lost {
        driver.assert_mailed_now(said);
    }
    driver.reconcile(10);
    driver.send(Some(promise(&driver.world, 2).credential()));
    driver.reconcile(130);
    driver.send(Some(first.clone()));
    driver.reconcile(130);

    schedule.lock().unwrap().recover();
    for _ in 0..12 {
        driver.reconcile(400);
    }
    driver.send(Some(first));
    let said = driver.send(Some(promise(&driver.world, 3).credential()));
    for _ in 0..3 {
        driver.reconcile(400);
    }

    let trail = || schedule.lock().unwrap().trail();
    let breaches = driver.world.audit();
    assert!(breaches.is_empty(), "{breaches:?} after {:?} in {promises:?} {kind:?}", trail());
    let Some(Ok(Outcome::Paid { fulfilment, .. })) = said else {
        panic!("still in doubt after {:?}: {said:?}", trail());
    };
    let cards = driver.world.provider.lock().unwrap().mailpieces.len();
    match fulfilment {
        Fulfilment::Submitted => assert_eq!(cards, 1),
        // Only where an answer was lost, and asking again could mail two, is
        // it left to a person.
        Fulfilment::NeedsReconciliation => {
            assert_eq!((cards, promises.idempotent_seconds), (0, None), "{:?}", trail());
        }
    }
    let incidents = std::mem::take(&mut *driver.world.incidents.lock().unwrap());
    (write_lost, incidents)
}

fn walk(promises: Promises, kind: TenderKind, steps: Steps) {
    let schedule = Arc::new(Mutex::new(ExhaustiveFaults::default()));
    let (mut runs, mut writes_lost, mut incidents) = (0_u32, 0_u32, IncidentCounts::default());
    while schedule.lock().unwrap().another_run(faults(steps)) {
        let (lost, seen) = run(&schedule, promises, kind, steps);
        writes_lost += u32::from(lost);
        incidents.merge(seen);
        runs += 1;
    }
    assert!(writes_lost >= 2, "no payment's write was lost alone, before or after it was made");
    println!("{runs} runs with up to {} faults", faults(steps));
    let (coverage, least) = match steps {
        Steps::Once => (Coverage::FaultWalk, 10_000),
        Steps::Twice => (Coverage::Simulation, 1_000),
    };
    assert!(runs > least, "the walk has gone blind: {runs}");
    println!("{}", incidents.table(coverage));
    assert_eq!(incidents.unexpected(coverage), [], "listed as impossible");
    if steps == Steps::Once {
        assert_eq!(incidents.missing(coverage), [], "possible, and never occurred");
    }
}

#[test]
fn no_fault_breaks_a_promise_by_x402_with_a_provider_that_only_lists() {
    walk(LISTING, TenderKind::X402, Steps::Once);
}

#[test]
fn no_fault_breaks_a_promise_by_x402_with_a_provider_that_mails_once() {
    walk(IDEMPOTENT, TenderKind::X402, Steps::Once);
}

#[test]
fn no_fault_breaks_a_promise_by_mpp_with_a_provider_that_only_lists() {
    walk(LISTING, TenderKind::Mpp, Steps::Once);
}

#[test]
fn no_fault_breaks_a_promise_by_mpp_with_a_provider_that_mails_once() {
    walk(IDEMPOTENT, TenderKind::Mpp, Steps::Once);
}

#[test]
fn no_fault_breaks_a_promise_if_every_step_is_made_twice_with_a_provider_that_only_lists() {
    walk(LISTING, TenderKind::X402, Steps::Twice);
}

#[test]
fn no_fault_breaks_a_promise_if_every_step_is_made_twice_with_a_provider_that_mails_once() {
    walk(IDEMPOTENT, TenderKind::Mpp, Steps::Twice);
}
