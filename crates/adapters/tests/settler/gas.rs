//! What gas costs: caps, replacements, an account that runs dry.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::thread;

use adapters::settler::Limits;
use order::ports::{Clock, Failure};
use order::tender::Rejection;
use pay::movement::Movement;
use pay::x402::facilitator::Facilitator;
use sandbox::chain::{Depths, Fault, Mining, Rule};
use tracing_subscriber::fmt;

use crate::house::{BASE, House, Payment, atomic, pay};
use crate::signing::CHARGE;

const GWEI: u128 = 1_000_000_000;

#[tokio::test]
async fn above_the_cap_nothing_is_signed_and_no_number_is_lent() {
    let house = House::open().await;
    let (settler, chain) = (house.settler(), house.chain());
    let cap = Limits::of(BASE).fee_cap;
    chain.set_base_fee(cap);
    let promise = house.promise();
    let dear = settler.prepare(&promise, CHARGE, None).await.map(drop);
    assert_eq!(dear, Err(Rejection::Unavailable));
    chain.set_base_fee(cap / 2);
    pay(&settler, promise).await.unwrap();
    assert_eq!((house.paid(), chain.nonce_of(house.carrier())), (atomic(1), 1));
}

#[tokio::test]
async fn a_call_that_takes_more_gas_than_allowed_is_not_signed() {
    let house = House::open().await;
    let settler = house.settler_within(Limits { gas_max: 60_000, ..Limits::of(BASE) });
    let greedy = settler.prepare(&house.promise(), CHARGE, None).await.map(drop);
    assert_eq!(greedy, Err(Rejection::Unavailable));
}

#[tokio::test]
async fn a_transaction_below_the_base_fee_is_replaced_under_its_own_number() {
    let house = House::open().await;
    let (settler, chain) = (house.settler(), house.chain());
    let mut payment = Payment::prepare(&settler, house.promise()).await.unwrap();
    chain.set_base_fee(GWEI / 20);
    let lost = payment.settle(&settler).await;
    assert_eq!(lost, Err(Failure::Lost("no receipt in time".to_owned())));
    assert_eq!((house.paid(), chain.waiting()), (0, 1));
    let moved = payment.look(&settler).await;
    assert!(matches!(moved, Ok(Movement::Moved(_))), "{moved:?}");
    assert_eq!((payment.signed(), chain.nonce_of(house.carrier())), (2, 1));
    assert_eq!((house.paid(), chain.waiting()), (atomic(1), 0));
    // Another process finds it too, whichever of the two went in.
    let found = payment.trace(&house.settler()).await;
    assert_eq!(found, moved);
}

#[tokio::test]
async fn the_older_of_two_transactions_is_recognised_when_it_is_the_one_that_goes_in() {
    let house = House::open().await;
    let (settler, chain) = (house.settler(), house.chain());
    let mut payment = Payment::prepare(&settler, house.promise()).await.unwrap();
    let first = payment.raw();
    chain.set_base_fee(GWEI / 20);
    let earlier = Some(&payment.preparation);
    payment.preparation = settler.prepare(&payment.promise, CHARGE, earlier).await.unwrap();
    assert_eq!(payment.signed(), 2);
    chain.set_base_fee(GWEI / 100);
    chain.send(&first).unwrap();
    let moved = payment.settle(&settler).await.unwrap();
    assert_eq!(moved.transaction, alloy_primitives::keccak256(first).to_string());
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Moved(moved)));
    assert_eq!(house.paid(), atomic(1));
}

#[tokio::test]
async fn a_cap_that_is_reached_keeps_a_replacement_from_being_signed() {
    let house = House::open().await;
    let limits = Limits { fee_cap: 22_000_000, ..Limits::of(BASE) };
    let settler = house.settler_within(limits);
    let payment = Payment::prepare(&settler, house.promise()).await.unwrap();
    // The first one offers 21 million, and a replacement an eighth more.
    house.chain().set_base_fee(20_500_000);
    let again = settler.prepare(&payment.promise, CHARGE, Some(&payment.preparation)).await;
    assert_eq!(again.map(drop), Err(Rejection::Unavailable));
}

#[tokio::test]
async fn a_stuck_transaction_that_nobody_cares_for_is_moved_out_of_the_way() {
    let house = House::open().await;
    let (settler, chain) = (house.settler(), house.chain());
    let abandoned = Payment::prepare(&settler, house.promise_of("abandoned")).await.unwrap();
    chain.set_base_fee(GWEI / 20);
    abandoned.settle(&settler).await.unwrap_err();
    let mut behind = Payment::prepare(&settler, house.promise_of("behind")).await.unwrap();
    let _ = behind.settle(&settler).await;
    assert!(matches!(behind.chase(&house, &settler).await, Movement::Moved(_)));
    assert_eq!((house.paid(), chain.nonce_of(house.carrier())), (atomic(1), 2));
    assert_eq!((behind.signed(), chain.waiting()), (1, 0));
}

#[tokio::test]
async fn what_is_stuck_at_the_cap_is_moved_out_of_the_way_by_something_dearer() {
    let house = House::open().await;
    let limits = Limits { fee_cap: 22_500_000, ..Limits::of(BASE) };
    let (settler, chain) = (house.settler_within(limits), house.chain());
    // It offers 21 million, and what takes its place must offer an eighth more.
    let abandoned = Payment::prepare(&settler, house.promise_of("abandoned")).await.unwrap();
    chain.set_base_fee(21_200_000);
    abandoned.settle(&settler).await.unwrap_err();
    let mut behind = Payment::prepare(&settler, house.promise_of("behind")).await.unwrap();
    let _ = behind.settle(&settler).await;
    assert!(matches!(behind.chase(&house, &settler).await, Movement::Moved(_)));
    assert_eq!((house.paid(), chain.nonce_of(house.carrier())), (atomic(1), 2));
}

#[tokio::test]
async fn an_account_without_gas_signs_nothing() {
    let house = House::open().await;
    let settler = house.settler();
    house.chain().set_native(house.carrier(), 1);
    let dry = settler.prepare(&house.promise(), CHARGE, None).await.map(drop);
    assert_eq!(dry, Err(Rejection::Unavailable));
}

#[tokio::test]
async fn an_account_that_runs_dry_after_signing_leaves_a_doubt_that_gas_ends() {
    let house = House::open().await;
    let (settler, chain) = (house.settler(), house.chain());
    let mut payment = Payment::prepare(&settler, house.promise()).await.unwrap();
    chain.set_native(house.carrier(), 1);
    // This node has no use for it. Another one behind the same address may have.
    let lost = payment.settle(&settler).await;
    assert!(matches!(lost, Err(Failure::Lost(_))), "{lost:?}");
    assert_eq!((house.paid(), chain.waiting()), (0, 0));
    chain.set_native(house.carrier(), 10_u128.pow(18));
    assert!(matches!(payment.chase(&house, &settler).await, Movement::Moved(_)));
    assert_eq!((house.paid(), payment.signed()), (atomic(1), 1));
}

#[tokio::test]
async fn what_fails_in_every_block_is_signed_a_few_times_only() {
    let house = House::open().await;
    let (settler, chain) = (house.settler(), house.chain());
    chain.set_depths(Depths { safe: 100, finalized: 200 });
    let fails = Rule::once(Fault::Revert, "eth_sendRawTransaction");
    chain.add_fault(Rule { times: None, ..fails });
    let mut payment = Payment::prepare(&settler, house.promise()).await.unwrap();
    let _ = payment.settle(&settler).await;
    for _ in 0..12 {
        let _ = payment.look(&settler).await;
        house.watch.wait(5).await;
    }
    assert_eq!((payment.signed(), chain.nonce_of(house.carrier())), (8, 8));
    assert_eq!((house.paid(), payment.trace(&settler).await), (0, Ok(Movement::Open)));
}

/// What the log is written on.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_alarm_for_low_gas_is_raised_once_for_each_change() {
    let paper = Paper::default();
    let writer = paper.clone();
    // For the whole process, since whoever listens in one thread only can be passed over while
    // others come and go; the lines of other tests have their names.
    let log = fmt().with_thread_names(true).with_writer(move || writer.clone()).finish();
    tracing::subscriber::set_global_default(log).unwrap();
    let house = House::open().await;
    let (settler, chain) = (house.settler(), house.chain());
    chain.set_mining(Mining::Held);
    let low = Limits::of(BASE).low_balance;
    for balance in [low, low - 1, low - 1, low, low - 1] {
        chain.set_native(house.carrier(), balance);
        settler.prepare(&house.promise(), CHARGE, None).await.unwrap();
    }
    let heard = String::from_utf8(paper.0.lock().unwrap().clone()).unwrap();
    let this_test = thread::current().name().unwrap().to_owned();
    let ours = |line: &&str| line.contains(&this_test);
    let text = heard.lines().filter(ours).collect::<Vec<_>>().join("\n");
    let said = |words: &str| text.lines().filter(|line| line.contains(words)).count();
    assert_eq!((said("runs out of gas"), said("enough gas again")), (2, 1), "{text}");
    let names =
        |line: &&str| line.contains(&house.carrier().to_string()) && line.contains(BASE.caip2());
    assert_eq!(text.lines().filter(names).count(), 3, "{text}");
}
