//! A transaction that is not mined: it and the later ones are replaced with their nonces.

use std::sync::Arc;

use adapters::settlement::{Settler, SettlerLimits};
use order::model::payment::Finality;
use order::tender::Unsettled;
use pay::transfer::{ConfirmedTransfer, TransferStatus};
use sandbox::chain::{ChainHandle, MiningMode, NodeFault, NodeFaultRule};
use tokio::task::JoinHandle;

use crate::fixture::{AUTHORIZATION_SECONDS, BASE, Fixture, Payment, atomic, until};
use crate::watched_outbox::WatchedOutbox;

/// Above what a transaction offers that was signed at the sandbox's usual base fee.
const HIGH_BASE_FEE: u128 = 22_000_000;
const USUAL_BASE_FEE: u128 = 10_000_000;

/// Two payments in the pool of a node that makes no blocks, whose base fee has risen.
struct Stuck {
    fixture: Fixture,
    outbox: Arc<WatchedOutbox>,
    settler: Arc<Settler>,
    head: Payment,
    behind: Payment,
    settling: [JoinHandle<Result<ConfirmedTransfer, Unsettled>>; 2],
}

impl Stuck {
    async fn new(limits: SettlerLimits) -> Self {
        let fixture = Fixture::open().await;
        let outbox = Arc::new(WatchedOutbox::new(&fixture, &[]));
        let settler = Arc::new(fixture.settler_with(|settings| {
            settings.networks.insert(BASE, (fixture.node(BASE), limits));
            settings.outbox = outbox.clone();
        }));
        let chain = fixture.chain();
        chain.set_mining(MiningMode::Held);
        let head = Payment::prepare(&settler, fixture.authorization_of("head")).await.unwrap();
        fixture.clock.forward(60);
        let behind = Payment::prepare(&settler, fixture.authorization_of("behind")).await.unwrap();
        let first = head.settling(&settler);
        until("the first is in the pool", async || chain.waiting() == 1).await;
        let second = behind.settling(&settler);
        until("both are in the pool", async || chain.waiting() == 2).await;
        chain.set_base_fee(HIGH_BASE_FEE);
        Self { fixture, outbox, settler, head, behind, settling: [first, second] }
    }

    fn chain(&self) -> ChainHandle {
        self.fixture.chain()
    }

    /// Waits until the node has a second transaction for the first nonce.
    async fn until_replaced(&self) {
        until("the head is replaced", async || {
            let sent = self.fixture.sent(self.head.key()).await;
            let newest = sent[0].hashes.last().copied();
            let known = newest.and_then(|hash| self.chain().settled(hash.0)).is_some();
            sent[0].hashes.len() == 2 && known
        })
        .await;
    }

    async fn results(self) -> (Self, [Result<ConfirmedTransfer, Unsettled>; 2]) {
        let Self { settling: [first, second], fixture, outbox, settler, head, behind } = self;
        let results = [first.await.unwrap(), second.await.unwrap()];
        let settling = [tokio::spawn(async { nothing() }), tokio::spawn(async { nothing() })];
        (Self { fixture, outbox, settler, head, behind, settling }, results)
    }
}

fn nothing() -> Result<ConfirmedTransfer, Unsettled> {
    Err(Unsettled::Lost("it was read already".to_owned()))
}

/// The sender knows final blocks of a few seconds ago; a trace asks for them.
fn final_movement(moved: &ConfirmedTransfer) -> TransferStatus {
    TransferStatus::Moved(ConfirmedTransfer { finality: Finality::Final, ..moved.clone() })
}

#[tokio::test]
async fn a_head_below_the_base_fee_is_replaced_under_its_own_nonce() {
    let stuck = Stuck::new(SettlerLimits::of(BASE)).await;
    stuck.until_replaced().await;
    stuck.chain().set_base_fee(USUAL_BASE_FEE);
    stuck.chain().mine(1);
    let (stuck, results) = stuck.results().await;
    let Stuck { fixture, head, behind, settler, .. } = &stuck;
    let sent = fixture.sent(head.key()).await;
    let [Ok(first), Ok(_)] = &results else { panic!("{results:?}") };
    assert_eq!((sent.len(), sent[0].nonce), (1, 0));
    assert_eq!(first.transaction, sent[0].hashes.last().unwrap().to_string());
    // Those behind it stay as they were.
    assert_eq!(fixture.signed(behind.key()).await, 1);
    assert_eq!((fixture.paid(), fixture.chain().nonce_of(fixture.account())), (atomic(2), 2));
    assert_eq!(stuck.outbox.sent_too_early(), Vec::<u64>::new());
    assert_eq!(head.trace(settler).await, Ok(final_movement(first)));
}

#[tokio::test]
async fn the_older_of_two_transactions_is_recognised_when_it_is_the_one_in_a_block() {
    let stuck = Stuck::new(SettlerLimits::of(BASE)).await;
    stuck.until_replaced().await;
    let sent = stuck.fixture.sent(stuck.head.key()).await;
    let account = stuck.fixture.sender_account();
    let rows = adapters::settlement::outbox::Outbox::open_rows(&stuck.fixture.outbox, account);
    let older = rows.await.unwrap()[0].transactions[0].raw.clone();
    let chain = stuck.chain();
    chain.drop_waiting();
    chain.set_base_fee(USUAL_BASE_FEE);
    chain.send(&older).unwrap();
    chain.mine(1);
    let first = stuck.head.settle(&stuck.settler).await.unwrap();
    assert_eq!(first.transaction, sent[0].hashes[0].to_string());
    assert_eq!(stuck.head.trace(&stuck.settler).await, Ok(final_movement(&first)));
}

#[tokio::test]
async fn a_head_that_was_signed_near_the_cap_is_replaced_above_it() {
    // It offers 21 million, and a replacement must offer an eighth more.
    let stuck = Stuck::new(SettlerLimits { fee_cap: 22_500_000, ..SettlerLimits::of(BASE) }).await;
    stuck.until_replaced().await;
    stuck.chain().mine(1);
    stuck.chain().set_base_fee(USUAL_BASE_FEE);
    stuck.chain().mine(1);
    let (stuck, results) = stuck.results().await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(stuck.fixture.paid(), atomic(2));
}

#[tokio::test]
async fn an_expired_head_is_replaced_by_an_empty_transaction() {
    let stuck = Stuck::new(SettlerLimits::of(BASE)).await;
    let chain = stuck.chain();
    stuck.fixture.clock.forward(AUTHORIZATION_SECONDS - 30);
    chain.mine(2);
    stuck.until_replaced().await;
    chain.set_base_fee(USUAL_BASE_FEE);
    chain.mine(1);
    let (stuck, results) = stuck.results().await;
    let Stuck { fixture, head, behind, settler, .. } = &stuck;
    let [Err(Unsettled::Lost(_)), Ok(moved)] = &results else { panic!("{results:?}") };
    assert_eq!(behind.trace(settler).await, Ok(final_movement(moved)));
    assert_eq!(fixture.signed(behind.key()).await, 1);
    assert_eq!((fixture.paid(), chain.nonce_of(fixture.account())), (atomic(1), 2));
    // The payment that was replaced can never move any more.
    assert_eq!(head.trace(settler).await, Ok(TransferStatus::Void));
}

/// Seen on a development node: the next nonce is filed as waiting for its predecessor, and
/// the same bytes are answered "already known" for ever.
#[tokio::test]
async fn a_node_that_files_the_next_nonce_as_waiting_delays_payments_by_seconds() {
    let fixture = Fixture::open().await;
    let settler = Arc::new(fixture.settler());
    let chain = fixture.chain();
    chain.add_fault(NodeFaultRule {
        skip: 3,
        ..NodeFaultRule::once(NodeFault::Strand, "eth_sendRawTransaction")
    });
    let mut settling = Vec::new();
    for number in 0..12 {
        let authorization = fixture.authorization_of(&format!("payer {number}"));
        let payment = Payment::prepare(&settler, authorization).await.unwrap();
        settling.push(payment.settling(&settler));
    }
    for payment in settling {
        payment.await.unwrap().unwrap();
    }
    assert_eq!((fixture.paid(), chain.waiting()), (atomic(12), 0));
}
