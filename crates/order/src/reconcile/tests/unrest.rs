//! Orders that find no rest: what is tried for them, how often, and when a person is told.

use super::*;
use crate::concern::{About, Concern};
use crate::fakes::fates::{ACT, Fate, Fates};
use crate::lifecycle::{Shortfall, Standing};
use crate::refusal::Refusal;

const TEN_MINUTES: u64 = 600;
const DAY: u64 = 24 * 60 * 60;

/// Whatever is done from now on ends like this.
struct EveryDeed(Fate);

impl Fates for EveryDeed {
    fn choose(&mut self, options: &[Fate]) -> Fate {
        if options == ACT { self.0 } else { options[0] }
    }
}

struct Town {
    world: Arc<World>,
    still: Still,
    desk: Desk,
}

impl Town {
    fn open() -> Self {
        let still = Still::default();
        let (fates, pace) = (Box::new(EveryDeed(Fate::Works)), Box::new(still.clone()));
        let world = World::new(fates, pace, PROMISES);
        Self { desk: world.desk(), world, still }
    }

    fn every_deed(&self, fate: Fate) {
        *self.world.fates.lock().unwrap() = Box::new(EveryDeed(fate));
    }

    /// Rounds for so long, as often as the service makes them.
    fn rounds(&self, tenders: &Tenders, seconds: u64) -> Vec<Concern> {
        let mut concerns = Vec::new();
        for _ in 0..seconds / 10 {
            self.still.advance(10);
            concerns.extend(drive(self.desk.reconcile(tenders)).unwrap().unwrap().concerns);
        }
        concerns
    }

    fn attempts(&self, order: OrderId) -> u32 {
        match self.world.shelf.get(order) {
            Some(Stored::Unfulfilled(order)) => match order.state.shortfall {
                Shortfall::Refused(was) => was.attempt,
                other @ (Shortfall::Lost(_) | Shortfall::Undelivered(_)) => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    /// A card that is paid for and that the provider does not take.
    fn buy_a_refused_card(&self) -> OrderId {
        let deadline = self.world.time().0 + PROMISE_SECONDS;
        let promise = Promise { nonce: 1, most: 3_500_000, deadline, payee: 0xa1 };
        let credential = Some(promise.credential());
        let request = Request { seller: None, operation_id: None, card: card("hello"), credential };
        let till = self.world.till(TenderKind::X402);
        // The money moves, and from then on nothing is accepted.
        *self.world.fates.lock().unwrap() = Box::new(FirstDeedWorks(false));
        match drive(self.desk.send(&till, request)).unwrap().unwrap() {
            Outcome::Paid { order, .. } => order,
            Outcome::Due(offer) => panic!("{offer:?}"),
        }
    }
}

struct FirstDeedWorks(bool);

impl Fates for FirstDeedWorks {
    fn choose(&mut self, options: &[Fate]) -> Fate {
        let first = options == ACT && !std::mem::replace(&mut self.0, true);
        if options == ACT && !first { Fate::Refused } else { options[0] }
    }
}

#[test]
fn a_paid_card_that_is_refused_for_a_day_is_mailed_when_the_provider_recovers() {
    let town = Town::open();
    let tenders = town.world.tenders();
    let order = town.buy_a_refused_card();
    let concerns = town.rounds(&tenders, DAY);
    let attempts = town.attempts(order);
    assert!((100..200).contains(&attempts), "{attempts} attempts in a day");
    // Soon after the first, and then every six hours or so.
    assert_eq!(concerns, [Concern { order, about: About::RefusedCard }; 4]);
    town.every_deed(Fate::Works);
    town.rounds(&tenders, 2 * TEN_MINUTES);
    assert!(matches!(town.world.shelf.get(order), Some(Stored::Mailed(_))));
    assert_eq!(town.world.press.lock().unwrap().live(order), 1);
}

#[test]
fn a_card_is_looked_after_where_its_way_of_paying_is_closed_meanwhile() {
    let town = Town::open();
    let order = town.buy_a_refused_card();
    // Long enough for the money to be final.
    town.rounds(&town.world.tenders(), 2 * TEN_MINUTES);
    let Some(Stored::Unfulfilled(known)) = town.world.shelf.get(order) else { panic!() };
    let Shortfall::Refused(known) = known.state.shortfall else { panic!() };
    assert_eq!(known.paid.standing, Standing::Final);
    town.every_deed(Fate::Works);
    town.rounds(&Tenders(Vec::new()), 2 * TEN_MINUTES);
    assert!(matches!(town.world.shelf.get(order), Some(Stored::Mailed(_))));
}

#[test]
fn somebody_hears_of_a_payment_about_which_nobody_can_be_asked() {
    let town = Town::open();
    town.every_deed(Fate::LostAfter);
    let deadline = town.world.time().0 + PROMISE_SECONDS;
    let promise = Promise { nonce: 1, most: 3_500_000, deadline, payee: 0xa1 };
    let credential = Some(promise.credential());
    let request = Request { seller: None, operation_id: None, card: card("hello"), credential };
    let said = drive(town.desk.send(&town.world.till(TenderKind::X402), request)).unwrap();
    let Err(Refusal::PaymentUnconfirmed(order)) = said else { panic!("{said:?}") };
    let closed = Tenders(Vec::new());
    assert_eq!(town.rounds(&closed, TEN_MINUTES), [], "a doubt that may still pass");
    let concerns = town.rounds(&closed, 2 * TEN_MINUTES);
    assert_eq!(concerns, [Concern { order, about: About::Payment }]);
    // Once it is open again, the money is found and the card is mailed.
    town.every_deed(Fate::Works);
    town.rounds(&town.world.tenders(), 2 * TEN_MINUTES);
    assert!(matches!(town.world.shelf.get(order), Some(Stored::Mailed(_))));
}
