//! Two workers and the reconciler work on one order: it is charged once and mailed once.
//!
//! Each is a process of its own on one store in memory. Any of them may stand still at any call to
//! the store, the chain or the provider while the others go on and time passes, also for longer
//! than a claim lasts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use async_trait::async_trait;
use order::checkout::Request;
use order::lifecycle::event::Actor;
use order::lifecycle::schedule::CLAIM_SECONDS;
use order::lifecycle::{Shortfall, Stored};
use order::model::mail::Promises;
use order::model::payment::{Credential, TenderKind};
use order::outcome::Outcome;
use order::testing::fakes::cards::card;
use order::testing::fakes::fault_schedule::{FaultSchedule, SimulatedFault};
use order::testing::fakes::process::FakeProcess;
use order::testing::fakes::tender::{CREDENTIAL_SECONDS, FakeCredential};
use order::testing::fakes::world::{FakeWorld, SimulatedTime};
use shuttle::future::{block_on, spawn, yield_now};

use crate::explore::saw;
use crate::stand_ins::random;

pub const KINDS: &[&str] = &[
    "answers that confirm a paid card",
    "requests refused or in doubt",
    "claims of an order that a worker had begun",
    "outcomes written by the reconciler",
    "faults of a call",
    "second signatures for the same card",
];

/// How often a payer's program repeats its request.
const TRIES: u64 = 3;
/// Rounds of the reconciler beside the workers.
const ROUNDS: u64 = 6;
/// Rounds after the workers have ended, without faults.
const RECOVERY_ROUNDS: u64 = 40;

/// Time that passes in jumps, while the tasks take turns.
struct TurnsAndJumps {
    milliseconds: Arc<AtomicU64>,
    is_interleaved: Arc<AtomicBool>,
}

#[async_trait]
impl SimulatedTime for TurnsAndJumps {
    fn elapsed(&self) -> u64 {
        self.milliseconds.load(Ordering::Relaxed)
    }

    async fn network_delay(&self) {
        if self.is_interleaved.load(Ordering::Relaxed) {
            yield_now().await;
            if random(24) == 0 {
                self.milliseconds.fetch_add(random(1_250 * CLAIM_SECONDS), Ordering::Relaxed);
            }
        }
    }

    async fn wait(&self, milliseconds: u64) {
        let end = self.elapsed() + milliseconds;
        for _ in 0..random(20) {
            yield_now().await;
        }
        self.milliseconds.fetch_max(end, Ordering::Relaxed);
    }
}

/// One call of sixteen fails, until recovery begins. No process ends.
struct SomeFaults(Arc<AtomicBool>);

impl FaultSchedule for SomeFaults {
    fn choose(&mut self, options: &[SimulatedFault]) -> SimulatedFault {
        if !self.0.load(Ordering::Relaxed) || random(16) > 0 {
            return options[0];
        }
        let place = usize::try_from(random(8)).expect("below eight");
        match options.get(place) {
            Some(SimulatedFault::CrashBefore | SimulatedFault::CrashAfter) | None => options[0],
            Some(fault) => {
                if *fault != SimulatedFault::None {
                    saw(KINDS[4]);
                }
                *fault
            }
        }
    }
}

pub fn run() {
    let (milliseconds, is_interleaved) = (Arc::default(), Arc::new(AtomicBool::new(true)));
    let time = TurnsAndJumps {
        milliseconds: Arc::clone(&milliseconds),
        is_interleaved: Arc::clone(&is_interleaved),
    };
    // A worker may stand still between its decision to mail and the call, for as long as it
    // likes: only a provider that mails once for each order can be safe then.
    let promises = Promises {
        idempotent_seconds: Some(24 * 60 * 60),
        cancel_seconds: 60 * 60,
        visibility_lag_seconds: 0,
    };
    let faults = SomeFaults(Arc::clone(&is_interleaved));
    let world = FakeWorld::new(Box::new(faults), Box::new(time), promises);
    let at_work = Arc::new(AtomicUsize::new(2));
    let rail = if random(2) == 0 { TenderKind::X402 } else { TenderKind::Mpp };
    block_on(async {
        let workers = [0, 1].map(|number| {
            let (world, at_work) = (world.clone(), at_work.clone());
            spawn(async move {
                work(&world, rail, number).await;
                at_work.fetch_sub(1, Ordering::Relaxed);
            })
        });
        let reconciler = {
            let (world, milliseconds) = (world.clone(), milliseconds.clone());
            spawn(async move { reconcile(&world, &milliseconds, &at_work).await })
        };
        for worker in workers {
            worker.await.expect("it does not panic");
        }
        reconciler.await.expect("it does not panic");
        is_interleaved.store(false, Ordering::Relaxed);
        recover(&world, &milliseconds).await;
    });
    let breaches = world.audit();
    assert!(breaches.is_empty(), "{breaches:?}\n{:#?}", world.store.history());
    if world.store.history().iter().any(|event| event.actor == Actor::Reconciler.name()) {
        saw(KINDS[3]);
    }
}

/// One process, to which a payer's program sends its request.
async fn work(world: &Arc<FakeWorld>, rail: TenderKind, number: u64) {
    let process = world.process();
    // The first program signs once. The second has the same signature, or one of its own.
    let nonce = if number == 1 && random(2) == 0 { 1 } else { 0 };
    for _ in 0..TRIES {
        let request = Request {
            seller: None,
            operation_id: None,
            card: card("Greetings"),
            quote: None,
            credential: Some(credential(world, nonce)),
        };
        let answer = process.send(&world.tender(rail), request).await;
        world.check_response(&answer);
        if matches!(answer, Ok(Outcome::Paid { .. })) {
            saw(KINDS[0]);
            if nonce == 1 {
                saw(KINDS[5]);
            }
            return;
        }
        saw(KINDS[1]);
    }
}

/// Signed at the start, so that a repeat is the same payment.
fn credential(world: &FakeWorld, nonce: u64) -> Credential {
    let start = world.time().0 - world.time_source.elapsed() / 1_000;
    let payee = *world.seller_address.lock().expect("no task panics");
    let deadline = start + CREDENTIAL_SECONDS;
    FakeCredential { nonce, most: 3_500_000, deadline, payee }.credential()
}

async fn reconcile(world: &Arc<FakeWorld>, milliseconds: &AtomicU64, at_work: &AtomicUsize) {
    let process = world.process();
    for _ in 0..ROUNDS {
        for _ in 0..random(8) {
            yield_now().await;
        }
        milliseconds.fetch_add(random(60_000), Ordering::Relaxed);
        if round(world, &process).await > 0 && at_work.load(Ordering::Relaxed) > 0 {
            saw(KINDS[2]);
        }
    }
}

async fn round(world: &Arc<FakeWorld>, process: &FakeProcess) -> usize {
    process.reconcile(&world.tenders(), &|_| ()).await.unwrap_or_default()
}

async fn recover(world: &Arc<FakeWorld>, milliseconds: &AtomicU64) {
    let process = world.process();
    for _ in 0..RECOVERY_ROUNDS {
        if world.store.orders().iter().all(is_at_rest) {
            return;
        }
        milliseconds.fetch_add(11 * 60 * 1_000, Ordering::Relaxed);
        round(world, &process).await;
    }
}

fn is_at_rest(order: &Stored) -> bool {
    match order {
        Stored::Settling(_) | Stored::Unconfirmed(_) | Stored::Submitting(_) => false,
        Stored::Unfulfilled(order) => matches!(order.state.shortfall, Shortfall::Undelivered(_)),
        Stored::Offered(_) | Stored::Mailed(_) | Stored::Refunded(_) | Stored::Lapsed(_) => true,
    }
}
