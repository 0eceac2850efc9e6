//! One account, many payments: numbers that run out of order, out of use or out of memory.

use std::sync::Arc;

use order::ports::{Clock, Failure};
use pay::movement::Movement;
use pay::x402::facilitator::Facilitator;
use sandbox::chain::Mining;
use sandbox::payee::payee;

use crate::house::{House, Pace, Payment, atomic, pay};
use crate::signing::CHARGE;

const MANY: u64 = 50;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_payments_at_once_all_go_in_under_fifty_numbers() {
    let house = House::open_at(Pace::TwentyTimes).await;
    let settler = Arc::new(house.settler());
    let payments: Vec<_> = (0..MANY)
        .map(|number| {
            let promise = house.promise_of(&format!("payer {number}"));
            let settler = Arc::clone(&settler);
            tokio::spawn(async move { pay(&settler, promise).await })
        })
        .collect();
    for payment in payments {
        payment.await.unwrap().unwrap();
    }
    assert_eq!(house.paid(), atomic(MANY));
    assert_eq!(house.chain().transfers_to(payee()).len(), 50);
    assert_eq!(house.chain().nonce_of(house.carrier()), MANY);
    assert_eq!(house.chain().waiting(), 0);
}

/// The process ends after fifty payments were signed, some were sent, and none was
/// waited for. The next one has nothing but what was kept, and every fifth order
/// never comes back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_crash_everything_that_was_kept_goes_in_whatever_is_missing_between() {
    let house = Arc::new(House::open_at(Pace::TwentyTimes).await);
    let before = house.settler();
    let mut kept = Vec::new();
    for number in 0..MANY {
        let promise = house.promise_of(&format!("payer {number}"));
        kept.push((number, Payment::prepare(&before, promise).await.unwrap()));
    }
    drop(before);
    // Some were sent before the crash, and wait behind others that were not.
    for (number, payment) in &kept {
        if number % 3 == 1 {
            // On a slow machine a loan ends meanwhile, and two have the same number.
            let _ = house.chain().send(&payment.raw());
        }
    }
    kept.retain(|(number, _)| number % 5 != 0);
    kept.reverse();
    let settler = Arc::new(house.settler());
    let expected = kept.len();
    let chases: Vec<_> = kept
        .into_iter()
        .map(|(_, mut payment)| {
            let (house, settler) = (Arc::clone(&house), Arc::clone(&settler));
            tokio::spawn(async move { payment.chase(&house, &settler).await })
        })
        .collect();
    for chase in chases {
        assert!(matches!(chase.await.unwrap(), Movement::Moved(_)));
    }
    let moved = house.chain().transfers_to(payee());
    let sent_and_forgotten = moved.len() - expected;
    // Numbers 10, 25 and 40 were sent and their orders never came back.
    assert!(sent_and_forgotten <= 3, "{sent_and_forgotten}");
    assert_eq!(house.paid(), atomic(u64::try_from(moved.len()).unwrap()));
}

#[tokio::test]
async fn the_same_promise_brought_many_times_takes_one_number() {
    let house = House::open().await;
    let settler = house.settler();
    let promise = house.promise();
    let mut last = None;
    for _ in 0..20 {
        last = Some(Payment::prepare(&settler, promise.clone()).await.unwrap());
    }
    last.unwrap().settle(&settler).await.unwrap();
    // Nobody has to wait for the other nineteen.
    pay(&settler, house.promise()).await.unwrap();
    assert_eq!(house.chain().nonce_of(house.carrier()), 2);
    assert_eq!(house.paid(), atomic(2));
}

#[tokio::test]
async fn a_number_that_is_never_used_is_filled_by_those_who_wait_behind_it() {
    let house = House::open().await;
    let settler = house.settler();
    // Signed, and then the store was busy: nobody will ever send it.
    let abandoned = Payment::prepare(&settler, house.promise_of("lost")).await.unwrap();
    let first = Payment::prepare(&settler, house.promise_of("first")).await.unwrap();
    let second = Payment::prepare(&settler, house.promise_of("second")).await.unwrap();
    // It waits for the other two until their time is over, and no longer.
    let begun = house.watch.uptime();
    second.settle(&settler).await.unwrap();
    assert!((20..30).contains(&(house.watch.uptime() - begun)));
    assert_eq!((house.paid(), house.chain().nonce_of(house.carrier())), (atomic(1), 3));
    // Their owners turn up after all, and get numbers of their own.
    for mut late in [abandoned, first] {
        let lost = late.settle(&settler).await;
        assert!(matches!(lost, Err(Failure::Lost(_))), "{lost:?}");
        assert!(matches!(late.chase(&house, &settler).await, Movement::Moved(_)));
    }
    assert_eq!((house.paid(), house.chain().nonce_of(house.carrier())), (atomic(3), 5));
}

#[tokio::test]
async fn a_number_that_was_not_used_in_time_goes_to_the_next_payment() {
    let house = House::open().await;
    let settler = house.settler();
    let slow = Payment::prepare(&settler, house.promise_of("slow")).await.unwrap();
    house.watch.forward(20);
    pay(&settler, house.promise_of("next")).await.unwrap();
    assert_eq!((house.paid(), house.chain().nonce_of(house.carrier())), (atomic(1), 1));
    let mut slow = slow;
    assert!(matches!(slow.chase(&house, &settler).await, Movement::Moved(_)));
    assert_eq!((house.paid(), house.chain().nonce_of(house.carrier())), (atomic(2), 2));
}

#[tokio::test]
async fn what_the_pool_forgot_is_sent_again_by_those_who_wait_behind_it() {
    let house = House::open().await;
    let (settler, chain) = (house.settler(), house.chain());
    chain.set_mining(Mining::Held);
    let forgotten = Payment::prepare(&settler, house.promise_of("forgotten")).await.unwrap();
    let lost = forgotten.settle(&settler).await;
    assert_eq!(lost, Err(Failure::Lost("no receipt in time".to_owned())));
    chain.drop_waiting();
    chain.set_mining(Mining::OnArrival { heartbeat: 0 });
    pay(&settler, house.promise_of("next")).await.unwrap();
    assert_eq!(house.paid(), atomic(2));
    let found = forgotten.trace(&settler).await;
    assert!(matches!(found, Ok(Movement::Moved(_))), "{found:?}");
}

#[tokio::test]
async fn a_number_that_somebody_else_used_with_our_key_is_no_end() {
    let house = House::open().await;
    let (settler, other) = (house.settler(), house.settler());
    let mut payment = Payment::prepare(&settler, house.promise_of("one")).await.unwrap();
    // Another process with the same key gives out the same number.
    pay(&other, house.promise_of("two")).await.unwrap();
    let lost = payment.settle(&settler).await;
    assert!(matches!(lost, Err(Failure::Lost(_))), "{lost:?}");
    assert!(matches!(payment.chase(&house, &settler).await, Movement::Moved(_)));
    assert_eq!(payment.signed(), 2);
    assert_eq!((house.paid(), house.chain().nonce_of(house.carrier())), (atomic(2), 2));
}

#[tokio::test]
async fn another_charge_for_the_same_promise_cannot_be_taken_as_well() {
    let house = House::open().await;
    let settler = house.settler();
    let promise = house.promise();
    let payment = Payment::prepare(&settler, promise.clone()).await.unwrap();
    let again = settler.prepare(&promise, CHARGE, None).await.unwrap();
    payment.settle(&settler).await.unwrap();
    // Whatever else was signed for it spends the same nonce of Permit2.
    let other = Payment { promise, preparation: again };
    let _ = house.chain().send(&other.raw());
    house.chain().mine(1);
    assert_eq!(house.paid(), atomic(1));
}
