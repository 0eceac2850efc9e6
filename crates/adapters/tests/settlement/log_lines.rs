//! Log lines about a settlement name its transaction.

use order::ports::Failure;
use pay::transfer::TransferStatus;
use pay::x402::settler::Permit2Settler;
use sandbox::chain::{NodeFault, NodeFaultRule};

use crate::fixture::{Fixture, Payment, measured, until};
use crate::log_capture::log_of_this_test;

const SEND: &str = "eth_sendRawTransaction";

fn has(lines: &[String], sentence: &str, fields: &str) -> bool {
    lines.iter().any(|line| line.contains(sentence) && line.contains(fields))
}

#[tokio::test]
async fn a_settled_payment_is_logged_with_its_transaction() {
    let (log, fixture) = (log_of_this_test(), Fixture::open().await);
    let settler = fixture.settler();
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    let moved = measured(settler).settle(payment.due()).await.unwrap();
    let fields = format!("network=eip155:8453 transaction={}", moved.transaction);
    assert!(has(&log(), "A payment is settled", &fields), "{:?}", log());
}

#[tokio::test]
async fn a_payment_that_a_trace_finds_is_logged_once_with_its_transaction() {
    let (log, fixture) = (log_of_this_test(), Fixture::open().await);
    let settler = fixture.settler();
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    let (settler, due) = (measured(settler), payment.due());
    let moved = settler.settle(due).await.unwrap();
    let told = Some(moved.transaction.as_str());
    let again = settler.trace(due, told).await.unwrap();
    assert!(matches!(again, TransferStatus::Moved(_)));
    let (found, fields) =
        ("A payment was found on the chain", format!("transaction={}", moved.transaction));
    assert!(!has(&log(), found, ""), "{:?}", log());
    settler.trace(due, None).await.unwrap();
    assert!(has(&log(), found, &fields), "{:?}", log());
    fixture.chain().add_fault(NodeFaultRule::always(NodeFault::Reset));
    let unknown = settler.trace(due, told).await;
    assert!(matches!(unknown, Err(Failure::Lost(_))));
    assert!(has(&log(), "The state of a payment is unknown", &fields), "{:?}", log());
}

#[tokio::test]
async fn a_settlement_that_fails_in_a_block_is_logged_with_its_transaction() {
    let (log, fixture) = (log_of_this_test(), Fixture::open().await);
    let settler = fixture.settler();
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    fixture.chain().add_fault(NodeFaultRule::once(NodeFault::Revert, SEND));
    payment.settle(&settler).await.unwrap_err();
    let sent = fixture.sent(payment.key()).await;
    let fields = format!("transaction={}", sent[0].hashes[0]);
    let sentence = "A settlement failed in a block and has cost gas";
    until("the failure is logged", async || has(&log(), sentence, &fields)).await;
    assert!(!has(&log(), "A payment is settled", ""), "{:?}", log());
}

#[tokio::test]
async fn a_replacement_is_logged_with_both_transactions() {
    let (log, fixture) = (log_of_this_test(), Fixture::open().await);
    let settler = fixture.settler();
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    fixture.chain().add_fault(NodeFaultRule::once(NodeFault::Drop, SEND));
    payment.settle(&settler).await.unwrap();
    let sent = fixture.sent(payment.key()).await;
    let [first, second] = sent[0].hashes[..] else { panic!("{sent:?}") };
    let fields = format!("transaction={first} replacement={second}");
    let sentence = "A transaction that no block took is replaced";
    assert!(has(&log(), sentence, &fields), "{:?}", log());
}
