//! How nonces are assigned: by a commit to the outbox, in order, before anything is sent.

use std::sync::Arc;

use adapters::settlement::Settler;
use order::model::money::Usdc;
use order::tender::Unsettled;
use pay::transfer::TransferStatus;
use pay::x402::settler::Permit2Settler;
use sandbox::chain::{MiningMode, NodeFault, NodeFaultRule, ReorgedTransactions, TagDepths};
use sandbox::payee::payee;

use crate::fixture::{AUTHORIZATION_SECONDS, Fixture, Payment, atomic, pay, until};
use crate::signing::{CHARGE, settlement};
use crate::watched_outbox::{AssignFault, WatchedOutbox};

/// Payments of as many payers, ready to be settled.
pub(crate) async fn prepared(fixture: &Fixture, settler: &Settler, count: u64) -> Vec<Payment> {
    let mut payments = Vec::new();
    for number in 0..count {
        let authorization = fixture.authorization_of(&format!("payer {number}"));
        payments.push(Payment::prepare(settler, authorization).await.unwrap());
    }
    payments
}

/// The nonces of these payments in ascending order. Each payment has one transaction.
pub(crate) async fn nonces(fixture: &Fixture, payments: &[Payment]) -> Vec<u64> {
    let mut nonces = Vec::new();
    for payment in payments {
        let sent = fixture.sent(payment.key()).await;
        assert_eq!((sent.len(), sent[0].hashes.len()), (1, 1));
        nonces.push(sent[0].nonce);
    }
    nonces.sort_unstable();
    nonces
}

async fn pay_at_once(count: u64) {
    let fixture = Fixture::open().await;
    let outbox = Arc::new(WatchedOutbox::new(&fixture, &[]));
    let settler = Arc::new(fixture.settler_on(&outbox));
    let payments = prepared(&fixture, &settler, count).await;
    let settling: Vec<_> = payments.iter().map(|payment| payment.settling(&settler)).collect();
    for settled in settling {
        settled.await.unwrap().unwrap();
    }
    assert_eq!(nonces(&fixture, &payments).await, (0..count).collect::<Vec<_>>());
    assert_eq!(fixture.paid(), atomic(count));
    assert_eq!(u64::try_from(fixture.chain().transfers_to(payee()).len()), Ok(count));
    assert_eq!(fixture.chain().nonce_of(fixture.account()), count);
    assert_eq!((fixture.chain().waiting(), outbox.sent_too_early()), (0, Vec::new()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_payments_at_once_are_paid_under_consecutive_nonces() {
    pay_at_once(50).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_payments_at_once_are_paid_under_consecutive_nonces() {
    pay_at_once(200).await;
}

#[tokio::test]
async fn nothing_is_sent_while_the_outbox_does_not_take_it() {
    let fixture = Fixture::open().await;
    let outbox = Arc::new(WatchedOutbox::new(&fixture, &[AssignFault::NotWritten; 2]));
    let settler = Arc::new(fixture.settler_on(&outbox));
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    payment.settle(&settler).await.unwrap();
    let assigned = outbox.assigned();
    assert_eq!(assigned.len(), 3);
    assert!(assigned.iter().all(|one| one.nonces == [0] && one.sends_before == 0), "{assigned:?}");
    assert_eq!((fixture.signed(payment.key()).await, fixture.paid()), (1, atomic(1)));
}

#[tokio::test]
async fn rows_that_were_written_without_an_answer_are_sent_as_they_are() {
    let fixture = Fixture::open().await;
    let outbox = Arc::new(WatchedOutbox::new(&fixture, &[AssignFault::AnswerLost]));
    let settler = Arc::new(fixture.settler_on(&outbox));
    let payments = prepared(&fixture, &settler, 5).await;
    let settling: Vec<_> = payments.iter().map(|payment| payment.settling(&settler)).collect();
    for settled in settling {
        settled.await.unwrap().unwrap();
    }
    let first = outbox.assigned()[0].nonces.len();
    let assigned: usize = outbox.assigned().iter().map(|one| one.nonces.len()).sum();
    assert!(first > 0 && assigned == 5, "{:?}", outbox.assigned());
    assert_eq!(nonces(&fixture, &payments).await, [0, 1, 2, 3, 4]);
    assert_eq!((fixture.paid(), fixture.chain().nonce_of(fixture.account())), (atomic(5), 5));
}

#[tokio::test]
async fn a_settlement_without_a_nonce_is_withdrawn_in_time_and_never_sent() {
    let fixture = Fixture::with_short_receipt_time().await;
    let (settler, chain) = (fixture.settler(), fixture.chain());
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    let fault = NodeFaultRule::once(NodeFault::Unavailable, "eth_feeHistory");
    chain.add_fault(NodeFaultRule { times: None, ..fault });
    let withdrawn = payment.settle(&settler).await;
    assert_eq!(withdrawn, Err(Unsettled::Withdrawn("no sender took it in time".to_owned())));
    chain.clear_faults();
    until("another payment is paid", async || {
        pay(&settler, fixture.authorization_of("next")).await.is_ok()
    })
    .await;
    assert_eq!(fixture.signed(payment.key()).await, 0);
}

#[tokio::test]
async fn a_settlement_with_a_nonce_is_never_withdrawn() {
    let fixture = Fixture::with_short_receipt_time().await;
    let (settler, chain) = (fixture.settler(), fixture.chain());
    chain.set_mining(MiningMode::Held);
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    for _ in 0..2 {
        let lost = payment.settle(&settler).await;
        assert_eq!(lost, Err(Unsettled::Lost("no receipt in time".to_owned())));
    }
    assert_eq!((fixture.signed(payment.key()).await, chain.waiting()), (1, 1));
    chain.mine(1);
    assert!(matches!(payment.trace(&settler).await, Ok(TransferStatus::Moved(_))));
}

#[tokio::test]
async fn an_authorization_that_is_about_to_expire_gets_no_nonce() {
    let fixture = Fixture::open().await;
    let authorization = fixture.authorization();
    fixture.clock.forward(AUTHORIZATION_SECONDS - 5);
    fixture.chain().mine(1);
    let settler = fixture.settler();
    let payment = Payment::prepare(&settler, authorization).await.unwrap();
    let withdrawn = payment.settle(&settler).await;
    let words = "the authorization is about to expire".to_owned();
    assert_eq!(withdrawn, Err(Unsettled::Withdrawn(words)));
    assert_eq!((fixture.signed(payment.key()).await, fixture.chain().waiting()), (0, 0));
}

#[tokio::test]
async fn an_authorization_that_is_settled_many_times_takes_one_nonce() {
    let fixture = Fixture::open().await;
    let (settler, chain) = (Arc::new(fixture.settler()), fixture.chain());
    let authorization = fixture.authorization();
    let mut payments = Vec::new();
    for _ in 0..10 {
        payments.push(Payment::prepare(&settler, authorization.clone()).await.unwrap());
    }
    // A smaller charge for the same authorization is the same payment.
    let half = Usdc::from_atomic(CHARGE.atomic() / 2);
    settler.prepare(&authorization, half, None).await.unwrap();
    chain.set_mining(MiningMode::Held);
    let first = payments[0].settling(&settler);
    until("it is in the pool", async || chain.waiting() == 1).await;
    let mut settling: Vec<_> = payments.iter().map(|one| one.settling(&settler)).collect();
    settling.push(first);
    chain.mine(1);
    for settled in settling {
        settled.await.unwrap().unwrap();
    }
    assert_eq!(fixture.signed(payments[0].key()).await, 1);
    assert_eq!((fixture.paid(), fixture.chain().nonce_of(fixture.account())), (atomic(1), 1));
}

#[tokio::test]
async fn a_nonce_that_another_program_used_with_our_key_is_passed_over() {
    let fixture = Fixture::open().await;
    let (settler, chain) = (fixture.settler(), fixture.chain());
    pay(&settler, fixture.authorization_of("first")).await.unwrap();
    let stolen = fixture.authorization_of("stolen");
    let key = fixture.chains.faucet().settler();
    chain.send(&settlement(&stolen, &key, 1)).unwrap();
    let mut payment = Payment::prepare(&settler, fixture.authorization_of("next")).await.unwrap();
    let lost = payment.settle(&settler).await;
    let words = "its nonce was used by another transaction".to_owned();
    assert_eq!(lost, Err(Unsettled::Lost(words)));
    assert!(matches!(payment.chase(&fixture, &settler).await, TransferStatus::Moved(_)));
    assert_eq!(fixture.signed(payment.key()).await, 2);
    assert_eq!((fixture.paid(), chain.nonce_of(fixture.account())), (atomic(3), 3));
}

#[tokio::test]
async fn what_the_node_lost_from_its_pool_is_sent_again() {
    let fixture = Fixture::open().await;
    let (settler, chain) = (Arc::new(fixture.settler()), fixture.chain());
    chain.set_mining(MiningMode::Held);
    let payments = prepared(&fixture, &settler, 5).await;
    let settling: Vec<_> = payments.iter().map(|payment| payment.settling(&settler)).collect();
    until("all are in the pool", async || chain.waiting() == 5).await;
    chain.drop_waiting();
    chain.set_mining(MiningMode::OnArrival { heartbeat: 0 });
    for settled in settling {
        settled.await.unwrap().unwrap();
    }
    assert_eq!((fixture.paid(), chain.nonce_of(fixture.account())), (atomic(5), 5));
    let mut signed = Vec::new();
    for payment in &payments {
        signed.push(fixture.signed(payment.key()).await);
    }
    signed.sort_unstable();
    // Only the one that must go in first is signed again.
    assert_eq!(signed, [1, 1, 1, 1, 2]);
}

#[tokio::test]
async fn what_a_reorganisation_drops_is_sent_again_with_the_same_bytes() {
    let fixture = Fixture::open().await;
    let (settler, chain) = (Arc::new(fixture.settler()), fixture.chain());
    chain.set_depths(TagDepths { safe: 10, finalized: 20 });
    let payments = prepared(&fixture, &settler, 3).await;
    let mut hashes = Vec::new();
    for payment in &payments {
        hashes.push(payment.settle(&settler).await.unwrap().transaction);
    }
    chain.reorganise(3, ReorgedTransactions::Dropped);
    assert_eq!((fixture.paid(), chain.nonce_of(fixture.account())), (0, 0));
    pay(&settler, fixture.authorization_of("next")).await.unwrap();
    assert_eq!((fixture.paid(), chain.nonce_of(fixture.account())), (atomic(4), 4));
    assert_eq!(nonces(&fixture, &payments).await, [0, 1, 2]);
    for (payment, hash) in payments.iter().zip(hashes) {
        let found = payment.trace(&settler).await;
        assert!(matches!(&found, Ok(TransferStatus::Moved(moved)) if moved.transaction == hash));
    }
}
