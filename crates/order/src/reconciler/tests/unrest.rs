//! Orders that find no rest: what is tried for them, how often, and when a person is told.

use std::sync::Mutex;

use super::*;
use crate::lifecycle::{Shortfall, Standing};
use crate::reconciler::alert::{Alert, AlertKind};
use crate::refusal::Refusal;
use crate::testing::fakes::fault_schedule::{EFFECT_FAULTS, FaultSchedule, SimulatedFault};

const TEN_MINUTES: u64 = 600;
const HOUR: u64 = 60 * 60;
const DAY: u64 = 24 * HOUR;

/// Whatever is done from now on ends like this.
struct EveryDeed(SimulatedFault);

impl FaultSchedule for EveryDeed {
    fn choose(&mut self, options: &[SimulatedFault]) -> SimulatedFault {
        if options == EFFECT_FAULTS { self.0 } else { options[0] }
    }
}

struct Town {
    world: Arc<FakeWorld>,
    still: ManualTime,
    process: FakeProcess,
}

impl Town {
    fn open(promises: Promises) -> Self {
        let still = ManualTime::default();
        let (fates, pace) = (Box::new(EveryDeed(SimulatedFault::None)), Box::new(still.clone()));
        let world = FakeWorld::new(fates, pace, promises);
        Self { process: world.process(), world, still }
    }

    fn every_deed(&self, fate: SimulatedFault) {
        *self.world.faults.lock().unwrap() = Box::new(EveryDeed(fate));
    }

    /// Rounds for so long, as often as the service makes them.
    fn rounds(&self, tenders: &Tenders, seconds: u64) -> Vec<Alert> {
        let alerts = Mutex::new(Vec::new());
        let tell = |alert| alerts.lock().unwrap().push(alert);
        for _ in 0..seconds / 10 {
            self.still.advance(10);
            poll_once(self.process.reconcile(tenders, &tell)).unwrap().unwrap();
        }
        alerts.into_inner().unwrap()
    }

    fn attempts(&self, order: OrderId) -> u32 {
        match self.world.store.get(order) {
            Some(Stored::Unfulfilled(order)) => match order.state.shortfall {
                Shortfall::Refused(was) => was.attempt,
                other @ (Shortfall::Lost(_) | Shortfall::Undelivered(_) | Shortfall::Erased(_)) => {
                    panic!("{other:?}")
                }
            },
            other => panic!("{other:?}"),
        }
    }

    /// The payer's own request, as often as they like.
    fn ask_after(&self, promise: &Credential) -> Result<Outcome, Refusal> {
        self.ask_by(&self.world.tender(TenderKind::X402), promise)
    }

    fn ask_by(&self, tender: &dyn Tender, promise: &Credential) -> Result<Outcome, Refusal> {
        let (card, credential) = (card("hello"), Some(promise.clone()));
        let request = Request { seller: None, operation_id: None, card, quote: None, credential };
        poll_once(self.process.send(tender, request)).unwrap()
    }

    /// A card that is paid for and that the provider does not take.
    fn buy_a_refused_card(&self) -> OrderId {
        let deadline = self.world.time().0 + CREDENTIAL_SECONDS;
        let promise = FakeCredential { nonce: 1, most: 3_500_000, deadline, payee: 0xa1 };
        // The money moves, and from then on nothing is accepted.
        *self.world.faults.lock().unwrap() = Box::new(FirstDeedWorks(false));
        match self.ask_after(&promise.credential()).unwrap() {
            Outcome::Paid { order, .. } => order,
            Outcome::Due(offer) => panic!("{offer:?}"),
        }
    }
}

struct FirstDeedWorks(bool);

impl FaultSchedule for FirstDeedWorks {
    fn choose(&mut self, options: &[SimulatedFault]) -> SimulatedFault {
        let first = options == EFFECT_FAULTS && !std::mem::replace(&mut self.0, true);
        if options == EFFECT_FAULTS && !first { SimulatedFault::Refused } else { options[0] }
    }
}

#[test]
fn a_paid_card_that_is_refused_for_a_day_is_mailed_when_the_provider_recovers() {
    let town = Town::open(PROMISES);
    let tenders = town.world.tenders();
    let order = town.buy_a_refused_card();
    let alerts = town.rounds(&tenders, DAY);
    let attempts = town.attempts(order);
    assert!((100..200).contains(&attempts), "{attempts} attempts in a day");
    // After some minutes, an hour later, and about every day.
    assert_eq!(alerts, vec![Alert { order, kind: AlertKind::RefusedCard }; 3]);
    let alerts = town.rounds(&tenders, DAY);
    assert_eq!(alerts, [Alert { order, kind: AlertKind::RefusedCard }], "and every day");
    town.every_deed(SimulatedFault::None);
    town.rounds(&tenders, 2 * TEN_MINUTES);
    assert!(matches!(town.world.store.get(order), Some(Stored::Mailed(_))));
    assert_eq!(town.world.provider.lock().unwrap().live(order), 1);
}

#[test]
fn refused_cards_are_handed_in_without_a_look_and_together_once_one_is_taken() {
    let town = Town::open(PROMISES);
    let tenders = town.world.tenders();
    let order = town.buy_a_refused_card();
    let buy = |nonce| {
        *town.world.faults.lock().unwrap() = Box::new(FirstDeedWorks(false));
        let deadline = town.world.time().0 + CREDENTIAL_SECONDS;
        let signed = FakeCredential { nonce, most: 3_500_000, deadline, payee: 0xa1 }.credential();
        let card = card(&format!("card {nonce}"));
        let request = Request {
            seller: None,
            operation_id: None,
            card,
            quote: None,
            credential: Some(signed),
        };
        let till = town.world.tender(TenderKind::X402);
        poll_once(town.process.send(&till, request)).unwrap().unwrap();
    };
    (2..=20).for_each(buy);
    town.rounds(&tenders, HOUR);
    assert!(town.attempts(order) > 5);
    town.every_deed(SimulatedFault::None);
    // One of twenty is due within a minute or so; all of them have waited ten.
    let wait = (1..).find(|_| {
        town.rounds(&tenders, 10);
        !town.world.provider.lock().unwrap().mailpieces.is_empty()
    });
    town.rounds(&tenders, 10);
    assert_eq!(town.world.provider.lock().unwrap().mailpieces.len(), 20, "after {wait:?} rounds");
}

#[test]
fn a_card_is_looked_after_where_its_way_of_paying_is_closed_meanwhile() {
    let town = Town::open(PROMISES);
    let order = town.buy_a_refused_card();
    // Long enough for the money to be final.
    town.rounds(&town.world.tenders(), 2 * TEN_MINUTES);
    let Some(Stored::Unfulfilled(known)) = town.world.store.get(order) else { panic!() };
    let Shortfall::Refused(known) = known.state.shortfall else { panic!() };
    assert_eq!(known.paid.standing, Standing::Final);
    town.every_deed(SimulatedFault::None);
    town.rounds(&Tenders(Vec::new()), 2 * TEN_MINUTES);
    assert!(matches!(town.world.store.get(order), Some(Stored::Mailed(_))));
}

/// A payment whose answer was lost.
fn doubtful(town: &Town) -> (OrderId, Credential) {
    town.every_deed(SimulatedFault::LostAfter);
    let deadline = town.world.time().0 + CREDENTIAL_SECONDS;
    let promise = FakeCredential { nonce: 1, most: 3_500_000, deadline, payee: 0xa1 }.credential();
    let said = town.ask_after(&promise);
    let Err(Refusal::PaymentUnconfirmed(order)) = said else { panic!("{said:?}") };
    (order, promise)
}

#[test]
fn somebody_hears_of_a_payment_about_which_nobody_can_be_asked() {
    let town = Town::open(PROMISES);
    let (order, _) = doubtful(&town);
    let closed = Tenders(Vec::new());
    assert_eq!(town.rounds(&closed, HOUR), [], "the chain may take its time");
    let alerts = town.rounds(&closed, HOUR + TEN_MINUTES);
    assert_eq!(alerts, [Alert { order, kind: AlertKind::Payment }]);
    // Once it is open again, the money is found and the card is mailed.
    town.every_deed(SimulatedFault::None);
    town.rounds(&town.world.tenders(), 2 * TEN_MINUTES);
    assert!(matches!(town.world.store.get(order), Some(Stored::Mailed(_))));
}

#[test]
fn a_payer_who_asks_all_the_time_does_not_keep_the_reconciler_from_looking() {
    let town = Town::open(PROMISES);
    let (order, promise) = doubtful(&town);
    let silent = without_trace(&town.world, promise.digest(), TraceFailure::Fails);
    let tenders = Tenders(vec![silent.clone()]);
    let mut alerts = Vec::new();
    for _ in 0..3 * HOUR / 10 {
        let said = town.ask_by(&*silent, &promise);
        assert_eq!(said, Err(Refusal::PaymentUnconfirmed(order)));
        alerts.extend(town.rounds(&tenders, 10));
    }
    assert_eq!(alerts, [Alert { order, kind: AlertKind::Payment }]);
}

#[test]
fn an_answer_that_is_lost_after_many_refusals_is_no_end_where_a_provider_mails_once() {
    let promises = Promises { idempotent_seconds: Some(DAY), ..PROMISES };
    let town = Town::open(promises);
    let tenders = town.world.tenders();
    let order = town.buy_a_refused_card();
    town.rounds(&tenders, HOUR);
    assert!(town.attempts(order) > 5);
    town.every_deed(SimulatedFault::LostBefore);
    town.rounds(&tenders, TEN_MINUTES);
    town.every_deed(SimulatedFault::None);
    town.rounds(&tenders, HOUR);
    assert!(matches!(town.world.store.get(order), Some(Stored::Mailed(_))));
    assert_eq!(town.world.provider.lock().unwrap().live(order), 1);
}
