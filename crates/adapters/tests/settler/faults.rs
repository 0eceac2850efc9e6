//! Every fault of a node, at every call of a payment, and many at once.

use std::time::Duration;

use adapters::settler::Settler;
use order::ports::{Clock, Failure};
use order::tender::Rejection;
use pay::movement::Movement;
use pay::x402::facilitator::{Facilitator, Signer};
use sandbox::chain::{Depths, Fault, Rule};

use crate::house::{House, Payment, atomic, pay};

fn faults() -> Vec<Fault> {
    let error = |code, message: &str| Fault::Error { code, message: message.to_owned() };
    vec![
        Fault::Reset,
        Fault::Unavailable,
        Fault::RateLimited { seconds: 1 },
        Fault::LoseAnswer,
        Fault::Garbage,
        Fault::Revert,
        error(-32000, "internal error"),
        error(-32603, "upstream timed out"),
        error(-32000, "nonce too low"),
        error(-32000, "replacement transaction underpriced"),
        error(-32000, "insufficient funds for gas * price + value"),
        Fault::ChainId(1),
        Fault::Stale { blocks: 1 },
        Fault::Hang,
        Fault::HangAfter,
    ]
}

/// Without those that wait for a deadline of real time.
pub(crate) fn quick_faults() -> Vec<Fault> {
    let hangs = |fault: &Fault| matches!(fault, Fault::Hang | Fault::HangAfter);
    faults().into_iter().filter(|fault| !hangs(fault)).collect()
}

/// What became of a payment with a fault in it, as the payer was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    NotTaken,
    Refused,
    Paid,
    Doubt,
}

/// Pays with whatever faults are set, and finds out the rest without them.
async fn try_to_pay(house: &House, settler: &Settler) -> (Told, Movement) {
    let promise = house.promise();
    let verdict = settler.verify(&promise, Signer::Key).await;
    let prepared = match verdict {
        Ok(()) => Payment::prepare(settler, promise).await,
        Err(why) => Err(why),
    };
    let mut payment = match prepared {
        Ok(payment) => payment,
        Err(Rejection::AllowanceMissing | Rejection::Invalid(_) | Rejection::Unavailable) => {
            return (Told::NotTaken, Movement::Void);
        }
    };
    match payment.settle(settler).await {
        Ok(moved) => (Told::Paid, Movement::Moved(moved)),
        Err(Failure::Refused(_)) => {
            house.chain().clear_faults();
            // Nobody carries it any more, and it does not go in by itself either.
            house.chain().mine(2);
            (Told::Refused, Movement::Void)
        }
        Err(Failure::Lost(_)) => {
            house.chain().clear_faults();
            (Told::Doubt, payment.chase(house, settler).await)
        }
    }
}

async fn calls_of_one_payment(house: &House) -> u32 {
    house.chain().clear_journal();
    pay(&house.settler(), house.promise()).await.unwrap();
    u32::try_from(house.chain().journal().len()).unwrap()
}

async fn walk(depths: Depths, faults: Vec<Fault>) -> Vec<Told> {
    let mut house = House::open().await;
    let chain = house.chain();
    chain.set_depths(depths);
    let calls = calls_of_one_payment(&house).await;
    assert!((10..30).contains(&calls), "{calls}");
    // Short enough to hang thirty times; a call that is late without a fault is one more fault.
    house.node_deadline = Duration::from_millis(250);
    let mut told = Vec::new();
    for fault in faults {
        for skip in 0..calls {
            let before = house.paid();
            let rule = Rule { skip, times: Some(1), ..Rule::always(fault.clone()) };
            chain.add_fault(rule);
            // A process of its own, so that it must recognise its node too.
            let (said, became) = try_to_pay(&house, &house.settler()).await;
            chain.clear_faults();
            let moved = house.paid() - before;
            let expected = match (said, &became) {
                (Told::Paid | Told::Doubt, Movement::Moved(_)) => atomic(1),
                (Told::NotTaken | Told::Refused | Told::Doubt, Movement::Void) => 0,
                other => panic!("{fault:?} at call {skip}: {other:?}"),
            };
            assert_eq!(moved, expected, "{fault:?} at call {skip}: {said:?}");
            told.push(said);
        }
    }
    for outcome in [Told::NotTaken, Told::Paid, Told::Doubt] {
        assert!(told.contains(&outcome), "{outcome:?} never happened, so nothing was shown");
    }
    assert_eq!(chain.waiting(), 0);
    told
}

#[tokio::test]
async fn no_fault_at_any_call_moves_money_twice_or_denies_that_it_moved() {
    // What failed in a block that stays is over, as nobody but us could carry it.
    assert!(walk(Depths::default(), faults()).await.contains(&Told::Refused));
}

#[tokio::test]
async fn nor_does_one_where_blocks_take_their_time_to_stay() {
    let told = walk(Depths { safe: 2, finalized: 4 }, quick_faults()).await;
    // Whatever was sent may still go in.
    assert!(!told.contains(&Told::Refused));
}

/// Chance that can be repeated.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let sides_wide = u64::try_from(sides).unwrap();
        usize::try_from((self.0 >> 33) % sides_wide).unwrap()
    }
}

/// From now on every third call is struck, or about that.
fn storm(house: &House, dice: &mut Dice) {
    let faults = quick_faults();
    house.chain().clear_faults();
    for skip in 0..60 {
        let fault = faults[dice.roll(faults.len())].clone();
        if dice.roll(3) > 0 {
            continue;
        }
        house.chain().add_fault(Rule { skip, times: Some(1), ..Rule::always(fault) });
    }
}

/// A payer who does not give up, a desk and a reconciler that do not either.
async fn pay_in_the_storm(house: &House, settler: &Settler, dice: &mut Dice) -> (Told, Movement) {
    let promise = house.promise();
    let mut payment = loop {
        storm(house, dice);
        if settler.verify(&promise, Signer::Key).await.is_ok()
            && let Ok(payment) = Payment::prepare(settler, promise.clone()).await
        {
            break payment;
        }
        assert!(house.watch.now().0 < promise.deadline, "nobody is that unlucky");
    };
    storm(house, dice);
    match payment.settle(settler).await {
        Ok(moved) => return (Told::Paid, Movement::Moved(moved)),
        Err(Failure::Refused(_)) => return (Told::Refused, Movement::Void),
        Err(Failure::Lost(_)) => {}
    }
    loop {
        storm(house, dice);
        match payment.look(settler).await {
            Ok(end @ (Movement::Moved(_) | Movement::Void)) => return (Told::Doubt, end),
            Ok(Movement::Open) | Err(_) => house.watch.wait(5).await,
        }
        // The chain goes on, also for those who wait for a promise to run out.
        house.chain().mine(1);
    }
}

#[tokio::test]
async fn a_fault_in_every_third_call_costs_time_and_nothing_else() {
    let house = House::open().await;
    house.chain().set_depths(Depths { safe: 1, finalized: 2 });
    let (mut dice, mut owed, mut told) = (Dice(7), 0, Vec::new());
    let settler = house.settler();
    for number in 0..60 {
        let (said, became) = pay_in_the_storm(&house, &settler, &mut dice).await;
        house.chain().clear_faults();
        house.chain().mine(3);
        owed += u64::from(matches!(became, Movement::Moved(_)));
        assert_eq!(house.paid(), atomic(owed), "payment {number}: {said:?}, {became:?}");
        told.push(said);
    }
    let in_doubt = told.iter().filter(|said| **said == Told::Doubt).count();
    assert!(owed > 30 && in_doubt > 1, "{owed} paid, {in_doubt} in doubt");
    // Whatever the faults left behind, the queue is in order.
    pay(&settler, house.promise()).await.unwrap();
    assert_eq!((house.paid(), house.chain().waiting()), (atomic(owed + 1), 0));
}
