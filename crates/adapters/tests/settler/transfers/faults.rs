//! Every fault of a node, at every call of a signed transfer, with and without a rival who carries it too.

use sandbox::chain::{Depths, Fault, Rule};

use super::*;
use crate::faults::quick_faults;

/// Who else has the authorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rival {
    Nobody,
    /// Sends it between our signature and our sending.
    Quick,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    NotTaken,
    Refused,
    Paid,
    Doubt,
}

/// Pays with whatever faults are set, and finds out the rest without them.
async fn try_to_pay(house: &House, settler: &Settler, rival: Rival) -> (Told, Movement) {
    let one = house.transfer();
    let prepared = match settler.verify(&one).await {
        Ok(_) => Payment::prepare(settler, one).await,
        Err(why) => Err(why),
    };
    let mut payment = match prepared {
        Ok(payment) => payment,
        Err(Rejection::AllowanceMissing | Rejection::Invalid(_) | Rejection::Unavailable) => {
            return (Told::NotTaken, Movement::Void);
        }
    };
    match rival {
        Rival::Nobody => {}
        Rival::Quick => drop(send(house, "rival", carrying(&payment.authorization))),
    }
    match payment.settle(settler).await {
        Ok(moved) => (Told::Paid, Movement::Moved(moved)),
        Err(Failure::Refused(_)) => {
            house.chain().clear_faults();
            house.chain().mine(2);
            (Told::Refused, Movement::Void)
        }
        Err(Failure::Lost(_)) => {
            house.chain().clear_faults();
            (Told::Doubt, payment.chase(house, settler).await)
        }
    }
}

async fn walk(depths: Depths, rival: Rival, faults: &[Fault]) -> Vec<Told> {
    let house = House::open().await;
    let chain = house.chain();
    chain.set_depths(depths);
    chain.clear_journal();
    try_to_pay(&house, &house.settler(), rival).await;
    let calls = u32::try_from(chain.journal().len()).unwrap();
    assert!((8..50).contains(&calls), "{calls}");
    let mut told = Vec::new();
    for fault in faults {
        for skip in 0..calls {
            let before = house.paid();
            chain.add_fault(Rule { skip, times: Some(1), ..Rule::always(fault.clone()) });
            // A process of its own, so that it must recognise its node too.
            let (said, became) = try_to_pay(&house, &house.settler(), rival).await;
            chain.clear_faults();
            let expected = match (said, &became) {
                (Told::Paid | Told::Doubt, Movement::Moved(_)) => price(1),
                (Told::NotTaken | Told::Refused | Told::Doubt, Movement::Void) => 0,
                other => panic!("{fault:?} at call {skip}: {other:?}"),
            };
            assert_eq!(house.paid() - before, expected, "{fault:?} at call {skip}: {said:?}");
            told.push(said);
        }
    }
    told
}

#[tokio::test]
async fn no_fault_at_any_call_moves_money_twice_or_denies_that_it_moved() {
    let mut told = walk(Depths::default(), Rival::Nobody, &quick_faults()).await;
    let late = Depths { safe: 2, finalized: 4 };
    told.extend(walk(late, Rival::Nobody, &quick_faults()).await);
    for outcome in [Told::NotTaken, Told::Paid, Told::Doubt] {
        assert!(told.contains(&outcome), "{outcome:?} never happened, so nothing was shown");
    }
    // Whatever was sent can be carried by anybody who has read it.
    assert!(!told.contains(&Told::Refused));
}

#[tokio::test]
async fn nor_does_one_beside_a_rival_who_carries_the_same_transfer() {
    // One of each kind: before, after and instead of the answer.
    let faults = [Fault::Reset, Fault::LoseAnswer, Fault::Revert, Fault::Stale { blocks: 1 }];
    for depths in [Depths::default(), Depths { safe: 2, finalized: 4 }] {
        let told = walk(depths, Rival::Quick, &faults).await;
        assert!(told.contains(&Told::Paid) && told.contains(&Told::Doubt));
        assert!(!told.contains(&Told::Refused), "the money had moved");
    }
}
