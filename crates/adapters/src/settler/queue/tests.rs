//! The queue alone, with its counts and its time in the test's hand.

use alloy_primitives::B256;

use super::*;

const FEES: Fees = Fees { most: 100, tip: 1 };

fn errand(byte: u8) -> ErrandId {
    ErrandId([byte; 32])
}

fn counts(mined: u64, pooled: u64) -> Counts {
    Counts { mined, pooled }
}

fn signed(nonce: u64) -> Signed {
    let raw = nonce.to_be_bytes().to_vec();
    Signed { nonce, fees: FEES, hash: B256::ZERO, raw: raw.into() }
}

fn raw(nonce: u64) -> Repair {
    Repair::SendAgain(signed(nonce).raw)
}

fn fill(nonce: u64) -> Repair {
    Repair::Fill(Place { nonce, replaces: None })
}

/// Begins, and hears that it was taken.
fn send(queue: &Queue, byte: u8, nonce: u64, now: u64) {
    queue.begin(errand(byte), &signed(nonce), now);
    queue.sent(errand(byte), nonce);
}

#[test]
fn every_errand_gets_the_lowest_number_that_nobody_has() {
    let queue = Queue::default();
    let given: Vec<u64> =
        (1..=50).map(|byte| queue.take(errand(byte), counts(7, 7), 0).nonce).collect();
    assert_eq!(given, (7..57).collect::<Vec<_>>());
    // What waits in the pool from before counts as taken.
    assert_eq!(Queue::default().take(errand(1), counts(7, 9), 0).nonce, 9);
}

#[test]
fn the_same_errand_has_one_place_however_often_it_asks() {
    let queue = Queue::default();
    let place = Place { nonce: 7, replaces: None };
    assert_eq!(queue.take(errand(1), counts(7, 7), 0), place);
    assert_eq!(queue.take(errand(1), counts(7, 7), 5), place);
    assert_eq!(queue.take(errand(2), counts(7, 7), 5).nonce, 8);
    queue.begin(errand(1), &signed(7), 6);
    let replacing = Place { nonce: 7, replaces: Some(FEES) };
    assert_eq!(queue.take(errand(1), counts(7, 8), 7), replacing);
    assert_eq!(queue.take(errand(1), counts(8, 8), 8).nonce, 9);
}

#[test]
fn a_number_that_was_never_used_goes_to_the_next_one_when_the_loan_ends() {
    let queue = Queue::default();
    assert_eq!(queue.take(errand(1), counts(7, 7), 0).nonce, 7);
    assert_eq!(queue.take(errand(2), counts(7, 7), LOAN_SECONDS - 1).nonce, 8);
    assert_eq!(queue.take(errand(3), counts(7, 7), LOAN_SECONDS).nonce, 7);
    // And its first holder must not send any more.
    assert_eq!(queue.begin(errand(1), &signed(7), LOAN_SECONDS), Turn::Others);
    assert_eq!(queue.begin(errand(3), &signed(7), LOAN_SECONDS), Turn::First);
    assert_eq!(queue.begin(errand(3), &signed(7), LOAN_SECONDS), Turn::Again);
}

#[test]
fn a_number_that_was_given_back_is_free_at_once() {
    let queue = Queue::default();
    queue.take(errand(1), counts(7, 7), 0);
    assert_eq!(queue.release(errand(2), 7), Release::PerhapsSent);
    assert_eq!(queue.take(errand(3), counts(7, 7), 0).nonce, 8);
    assert_eq!(queue.release(errand(1), 7), Release::NeverSent);
    assert_eq!(queue.take(errand(4), counts(7, 7), 0).nonce, 7);
}

#[test]
fn a_transaction_stands_while_its_number_is_its_own_and_not_used() {
    let queue = Queue::default();
    queue.take(errand(1), counts(7, 7), 0);
    assert_eq!(queue.standing(errand(1), &signed(7), counts(7, 7), 90), Standing::Good);
    assert_eq!(queue.standing(errand(2), &signed(7), counts(7, 7), 0), Standing::Lost);
    assert_eq!(queue.standing(errand(1), &signed(7), counts(8, 8), 0), Standing::Lost);
}

#[test]
fn after_a_restart_a_transaction_stands_only_where_nothing_unknown_is_before_it() {
    let queue = Queue::default();
    assert_eq!(queue.standing(errand(3), &signed(9), counts(7, 7), 0), Standing::Lost);
    assert_eq!(queue.standing(errand(1), &signed(7), counts(7, 7), 0), Standing::Good);
    assert_eq!(queue.standing(errand(2), &signed(8), counts(7, 7), 0), Standing::Good);
    assert_eq!(queue.take(errand(3), counts(7, 7), 0).nonce, 9);
    // What waits in the pool is known to be there.
    assert_eq!(Queue::default().standing(errand(3), &signed(9), counts(7, 9), 0), Standing::Good);
}

#[test]
fn a_gap_before_a_sent_transaction_is_filled_when_its_loan_ends() {
    let queue = Queue::default();
    for byte in 1..=4 {
        queue.take(errand(byte), counts(7, 7), 0);
    }
    send(&queue, 3, 9, 1);
    assert_eq!(queue.repairs(counts(7, 7), 0, 5), [], "somebody is about to send it");
    let now = LOAN_SECONDS;
    assert_eq!(queue.repairs(counts(7, 7), 0, now), [fill(7), fill(8), raw(9)]);
    assert_eq!(queue.repairs(counts(7, 7), 0, now + 1), [], "one looks after it, not all");
    // A filling is nobody's, and nobody else may have its number now.
    assert_eq!(queue.begin(errand(1), &signed(7), now + 1), Turn::Others);
    queue.occupy(&signed(7), now + 1);
    assert_eq!(queue.take(errand(5), counts(7, 8), now + 1).nonce, 10);
}

#[test]
fn what_the_pool_or_a_reorganisation_lost_is_sent_again_and_keeps_its_number() {
    let queue = Queue::default();
    for (byte, nonce) in [(1, 7), (2, 8)] {
        queue.take(errand(byte), counts(7, 7), 0);
        send(&queue, byte, nonce, 0);
    }
    assert_eq!(queue.repairs(counts(9, 9), 0, 5), []);
    // Both were in blocks, and are not now.
    assert_eq!(queue.take(errand(3), counts(7, 7), 10).nonce, 9);
    assert_eq!(queue.repairs(counts(7, 7), 0, 10), [raw(7), raw(8)]);
    // An hour later nobody remembers, and nobody needs to.
    queue.take(errand(4), counts(9, 9), MEMORY_SECONDS);
    assert_eq!(queue.take(errand(5), counts(7, 7), MEMORY_SECONDS).nonce, 7);
}

#[test]
fn a_first_transaction_that_pays_too_little_is_replaced_after_a_minute() {
    let queue = Queue::default();
    queue.take(errand(1), counts(7, 7), 0);
    send(&queue, 1, 7, 0);
    assert_eq!(queue.repairs(counts(7, 8), 101, 4), []);
    assert_eq!(queue.repairs(counts(7, 8), 100, STUCK_SECONDS + 4), [], "it pays enough");
    let replaced = [Repair::Fill(Place { nonce: 7, replaces: Some(FEES) })];
    assert_eq!(queue.repairs(counts(7, 8), 101, STUCK_SECONDS + 8), replaced);
    // One that came just now has not waited long, however long the account rested.
    let queue = Queue::default();
    queue.take(errand(1), counts(7, 7), 0);
    queue.take(errand(1), counts(7, 7), 500);
    send(&queue, 1, 7, 500);
    assert_eq!(queue.repairs(counts(7, 8), 101, 504), []);
}

#[test]
fn a_first_transaction_that_the_node_does_not_count_is_replaced_after_a_minute() {
    let queue = Queue::default();
    for (byte, nonce) in [(1, 7), (2, 8)] {
        queue.take(errand(byte), counts(7, 7), 0);
        send(&queue, byte, nonce, 0);
    }
    assert_eq!(queue.repairs(counts(7, 7), 0, 4), [raw(7), raw(8)]);
    assert_eq!(queue.repairs(counts(7, 7), 0, STUCK_SECONDS - 1), [raw(7), raw(8)]);
    let replaced = Repair::Fill(Place { nonce: 7, replaces: Some(FEES) });
    assert_eq!(queue.repairs(counts(7, 7), 0, STUCK_SECONDS + 8), [replaced.clone(), raw(8)]);
    // Counted once meanwhile, its minute begins anew.
    assert_eq!(queue.repairs(counts(7, 9), 0, STUCK_SECONDS + 12), []);
    assert_eq!(queue.repairs(counts(7, 7), 0, STUCK_SECONDS + 16), [raw(7), raw(8)]);
    let later = 2 * STUCK_SECONDS + 16;
    assert_eq!(queue.repairs(counts(7, 7), 0, later), [replaced, raw(8)]);
}

#[test]
fn what_is_sent_for_the_first_time_is_sent_by_its_owner_alone() {
    let queue = Queue::default();
    for byte in [1, 2] {
        queue.take(errand(byte), counts(7, 7), 0);
    }
    send(&queue, 2, 8, 0);
    assert_eq!(queue.begin(errand(1), &signed(7), 0), Turn::First);
    assert_eq!(queue.repairs(counts(7, 7), 0, 4), [], "its owner has not heard yet");
    assert_eq!(queue.release(errand(1), 7), Release::NeverSent);
    // The next one under that number is dead or asleep for longer than any node takes.
    queue.take(errand(3), counts(7, 7), 8);
    assert_eq!(queue.begin(errand(3), &signed(7), 8), Turn::First);
    assert_eq!(queue.repairs(counts(7, 7), 0, 8 + LOAN_SECONDS), [raw(7), raw(8)]);
    assert_eq!(queue.release(errand(3), 7), Release::PerhapsSent, "somebody else sends it");
    assert_eq!(queue.begin(errand(3), &signed(7), 30), Turn::Again);
}

#[test]
fn two_who_send_the_same_transaction_cannot_both_say_that_nobody_did() {
    let queue = Queue::default();
    queue.take(errand(1), counts(7, 7), 0);
    assert_eq!(queue.begin(errand(1), &signed(7), 0), Turn::First);
    assert_eq!(queue.begin(errand(1), &signed(7), 1), Turn::Again);
    assert_eq!(queue.release(errand(1), 7), Release::PerhapsSent);
    assert_eq!(queue.take(errand(2), counts(7, 7), 2).nonce, 8, "it keeps its number");
}
