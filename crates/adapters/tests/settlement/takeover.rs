//! Several processes with one outbox: one sends, the others queue, and a successor takes over.

use std::sync::Arc;

use adapters::settlement::outbox::Outbox;
use order::tender::Unsettled;
use sandbox::chain::MiningMode;

use crate::fixture::{Fixture, Payment, atomic, pay, until};
use crate::nonces::{nonces, prepared};

#[tokio::test]
async fn a_successor_sends_what_its_predecessor_signed_with_the_same_bytes() {
    let fixture = Fixture::open().await;
    let (leader, chain) = (Arc::new(fixture.settler()), fixture.chain());
    chain.set_mining(MiningMode::Held);
    let payments = prepared(&fixture, &leader, 20).await;
    let settling: Vec<_> = payments.iter().map(|payment| payment.settling(&leader)).collect();
    until("all are in the pool", async || chain.waiting() == 20).await;
    for settled in settling {
        settled.abort();
        assert!(settled.await.is_err());
    }
    let mut before = Vec::new();
    for payment in &payments {
        before.extend(fixture.sent(payment.key()).await);
    }
    chain.drop_waiting();
    fixture.end(leader).await;
    chain.set_mining(MiningMode::OnArrival { heartbeat: 0 });
    let successor = fixture.settler();
    until("all are paid", async || fixture.paid() == atomic(20)).await;
    // What is asked for again has its nonce already.
    for payment in &payments {
        payment.settle(&successor).await.unwrap();
    }
    let mut after = Vec::new();
    for payment in &payments {
        after.extend(fixture.sent(payment.key()).await);
    }
    assert_eq!(before, after);
    assert_eq!((fixture.paid(), chain.nonce_of(fixture.account())), (atomic(20), 20));
}

#[tokio::test]
async fn payments_of_a_process_that_does_not_send_are_paid_by_the_one_that_does() {
    let fixture = Fixture::open().await;
    let settlers = [Arc::new(fixture.settler()), Arc::new(fixture.settler())];
    let payments = prepared(&fixture, &settlers[0], 20).await;
    let settlers = settlers.iter().cycle();
    let pairs = payments.iter().zip(settlers);
    let settling: Vec<_> = pairs.map(|(payment, settler)| payment.settling(settler)).collect();
    for settled in settling {
        settled.await.unwrap().unwrap();
    }
    assert_eq!(nonces(&fixture, &payments).await, (0..20).collect::<Vec<_>>());
    assert_eq!(fixture.paid(), atomic(20));
}

#[tokio::test]
async fn a_sender_that_has_lost_its_lease_hands_its_payments_to_the_next() {
    let fixture = Fixture::open().await;
    let outbox = Arc::new(fixture.outbox.another_process());
    let (stale, chain) = (Arc::new(fixture.settler_on(&outbox)), fixture.chain());
    chain.set_mining(MiningMode::Held);
    let payments = prepared(&fixture, &stale, 3).await;
    let sent = payments[0].settling(&stale);
    until("it is in the pool", async || chain.waiting() == 1).await;
    // Its lease is over, and it does not know.
    outbox.expire();
    let leader = Arc::new(fixture.settler());
    let second = payments[1].settling(&leader);
    until("the next one leads", async || chain.waiting() == 2).await;
    let third = payments[2].settling(&stale);
    until("the next one has sent it", async || chain.waiting() == 3).await;
    chain.mine(1);
    for settled in [sent, second, third] {
        settled.await.unwrap().unwrap();
    }
    assert_eq!(nonces(&fixture, &payments).await, [0, 1, 2]);
    assert_eq!((fixture.paid(), chain.nonce_of(fixture.account())), (atomic(3), 3));
}

#[tokio::test]
async fn a_process_that_does_not_send_withdraws_what_has_no_nonce() {
    let fixture = Fixture::with_short_receipt_time().await;
    let other = fixture.outbox.another_process();
    let leader = fixture.settler();
    let payment = Payment::prepare(&leader, fixture.authorization()).await.unwrap();
    fixture.end(leader).await;
    // A process that has the lease and takes nothing from the queue.
    assert!(other.lease(fixture.sender_account()).await.unwrap().is_some());
    let follower = fixture.settler();
    let withdrawn = payment.settle(&follower).await;
    assert!(matches!(withdrawn, Err(Unsettled::Withdrawn(_))), "{withdrawn:?}");
    other.expire();
    until("the follower leads", async || {
        pay(&follower, fixture.authorization_of("next")).await.is_ok()
    })
    .await;
    assert_eq!((fixture.signed(payment.key()).await, fixture.paid()), (0, atomic(1)));
}
