//! Orders of a process that has died are examined by the next one at once.

use super::*;
use crate::lifecycle::Shortfall;
use crate::outcome::Fulfilment;
use crate::testing::fakes::fault_schedule::{EFFECT_FAULTS, FaultSchedule, SimulatedFault};

/// The process ends after so many deeds, before it hears what came of the last one.
struct CrashAtDeed(u32);

impl FaultSchedule for CrashAtDeed {
    fn choose(&mut self, options: &[SimulatedFault]) -> SimulatedFault {
        if options != EFFECT_FAULTS {
            return options[0];
        }
        self.0 = self.0.wrapping_sub(1);
        if self.0 == 0 { SimulatedFault::CrashAfter } else { SimulatedFault::None }
    }
}

/// A process that pays for a card and dies, and the next one.
struct Crash {
    world: Arc<FakeWorld>,
    still: ManualTime,
    successor: FakeProcess,
    promise: Credential,
}

impl Crash {
    fn at_deed(number: u32) -> Self {
        let still = ManualTime::default();
        let fates = Box::new(CrashAtDeed(number));
        let world = FakeWorld::new(fates, Box::new(still.clone()), PROMISES);
        let deadline = world.time().0 + CREDENTIAL_SECONDS;
        let promise =
            FakeCredential { nonce: 1, most: 3_500_000, deadline, payee: 0xa1 }.credential();
        let died = world.process();
        let crash = Self { successor: world.process(), world, still, promise };
        assert_eq!(crash.ask(&died), None, "the process dies");
        assert!(crash.world.has_crashed());
        crash.world.store.mark_dead(died.writer().worker);
        crash
    }

    fn ask(&self, process: &FakeProcess) -> Option<Result<Outcome, crate::refusal::Refusal>> {
        let (card, credential) = (card("hello"), Some(self.promise.clone()));
        let request = Request { seller: None, operation_id: None, card, quote: None, credential };
        poll_once(process.send(&self.world.tender(TenderKind::X402), request))
    }

    /// The successor looks a second later, and the payer repeats the request.
    fn recover(&self) -> Fulfilment {
        self.still.advance(1);
        let looked = poll_once(self.successor.reconcile(&self.world.tenders(), &|_| ()));
        assert_eq!(looked, Some(Ok(1)));
        match self.ask(&self.successor) {
            Some(Ok(Outcome::Paid { fulfilment, .. })) => fulfilment,
            other => panic!("{other:?}"),
        }
    }

    fn cards(&self) -> usize {
        self.world.provider.lock().unwrap().mailpieces.len()
    }
}

#[test]
fn a_settlement_that_a_crash_interrupted_ends_with_a_card_at_once() {
    let crash = Crash::at_deed(1);
    assert_eq!(crash.recover(), Fulfilment::Submitted);
    assert_eq!(crash.cards(), 1);
}

#[test]
fn a_submission_that_a_crash_interrupted_is_looked_for_at_once_and_not_repeated() {
    let crash = Crash::at_deed(2);
    assert_eq!(crash.recover(), Fulfilment::Submitted);
    assert_eq!(crash.cards(), 1);
    // Where the provider's list does not show it yet, nothing is handed in either.
    let crash = Crash::at_deed(2);
    crash.world.provider.lock().unwrap().list_lag_seconds = 100;
    assert_eq!(crash.recover(), Fulfilment::NeedsReconciliation);
    let orders = crash.world.store.orders();
    let [Stored::Unfulfilled(order)] = orders.as_slice() else { panic!("{orders:?}") };
    assert!(matches!(order.state.shortfall, Shortfall::Lost(_)), "{order:?}");
    assert_eq!(crash.cards(), 1);
}

#[test]
fn an_order_of_a_living_process_is_left_alone() {
    let crash = Crash::at_deed(1);
    let worker = crash.world.store.orders()[0].attention().worker.expect("its walk is under way");
    crash.world.store.mark_alive(worker);
    crash.still.advance(CLAIM_SECONDS - 1);
    let looked = poll_once(crash.successor.reconcile(&crash.world.tenders(), &|_| ()));
    assert_eq!(looked, Some(Ok(0)));
}
