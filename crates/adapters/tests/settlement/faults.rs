//! Every fault of a node at every call of an x402 payment, and many faults at once.

use std::collections::VecDeque;
use std::time::Duration;

use adapters::settlement::Settler;
use order::ports::Clock;
use order::tender::Unsettled;
use pay::transfer::TransferStatus;
use pay::x402::settler::{Permit2Settler, SignatureKind};
use sandbox::chain::{NodeFault, NodeFaultRule, TagDepths};
use tokio::task::{JoinSet, LocalSet};

use crate::fixture::{Fixture, Payment, atomic, pay};

fn faults() -> Vec<NodeFault> {
    let error = |code, message: &str| NodeFault::Error { code, message: message.to_owned() };
    vec![
        NodeFault::Reset,
        NodeFault::Unavailable,
        NodeFault::RateLimited { seconds: 1 },
        NodeFault::LoseAnswer,
        NodeFault::Garbage,
        NodeFault::Revert,
        error(-32000, "internal error"),
        error(-32603, "upstream timed out"),
        error(-32000, "nonce too low"),
        error(-32000, "replacement transaction underpriced"),
        error(-32000, "insufficient funds for gas * price + value"),
        NodeFault::ChainId(1),
        NodeFault::Stale { blocks: 1 },
        NodeFault::Hang,
        NodeFault::HangAfter,
    ]
}

/// Without those that wait for a deadline of real time.
pub(crate) fn quick_faults() -> Vec<NodeFault> {
    let hangs = |fault: &NodeFault| matches!(fault, NodeFault::Hang | NodeFault::HangAfter);
    faults().into_iter().filter(|fault| !hangs(fault)).collect()
}

/// What the payer was told about a payment with a fault in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// It was rejected before it was handed to the sender.
    NotTaken,
    Refused,
    /// It was certainly not sent.
    Withdrawn,
    Paid,
    Lost,
}

impl Told {
    pub(crate) fn of(unsettled: &Unsettled) -> Self {
        match unsettled {
            Unsettled::Refused(_) => Self::Refused,
            Unsettled::Withdrawn(_) => Self::Withdrawn,
            Unsettled::Lost(_) => Self::Lost,
        }
    }

    /// What the payer is charged if this and the final state agree; none if they contradict.
    pub(crate) fn charge(self, became: &TransferStatus, price: u128) -> Option<u128> {
        match (self, became) {
            (Self::Paid | Self::Lost, TransferStatus::Moved(_)) => Some(price),
            (
                Self::NotTaken | Self::Refused | Self::Withdrawn | Self::Lost,
                TransferStatus::Void,
            ) => Some(0),
            (Self::NotTaken | Self::Refused | Self::Withdrawn, TransferStatus::Moved(_))
            | (Self::Paid, TransferStatus::Void)
            | (_, TransferStatus::Open) => None,
        }
    }
}

/// Pays with whatever faults are set, and finds out the rest without them.
async fn try_to_pay(fixture: &Fixture, settler: &Settler) -> (Told, TransferStatus) {
    let authorization = fixture.authorization();
    let verdict = settler.verify(&authorization, SignatureKind::Key).await;
    let prepared = match verdict {
        Ok(()) => Payment::prepare(settler, authorization).await,
        Err(why) => Err(why),
    };
    let Ok(mut payment) = prepared else { return (Told::NotTaken, TransferStatus::Void) };
    let told = match payment.settle(settler).await {
        Ok(moved) => return (Told::Paid, TransferStatus::Moved(moved)),
        Err(unsettled) => Told::of(&unsettled),
    };
    fixture.chain().clear_faults();
    if told == Told::Lost {
        return (told, payment.chase(fixture, settler).await);
    }
    // It does not go in by itself either.
    fixture.chain().mine(2);
    (told, TransferStatus::Void)
}

/// The calls of one payment: each method as often as it was called. A sender works beside the
/// request, so only the calls of one method have an order.
pub(crate) fn calls(fixture: &Fixture) -> Vec<(String, u32)> {
    let counts = fixture.chain().counts().into_iter();
    counts.map(|(method, count)| (method, u32::try_from(count).unwrap())).collect()
}

/// One fault at every call of a payment, on a chain of its own.
async fn walk_one(depths: TagDepths, fault: NodeFault) -> Vec<Told> {
    let mut fixture = Fixture::open().await;
    let chain = fixture.chain();
    chain.set_depths(depths);
    let settler = fixture.settler();
    pay(&settler, fixture.authorization()).await.unwrap();
    fixture.end(settler).await;
    let calls = calls(&fixture);
    assert!(calls.len() >= 10, "{calls:?}");
    if matches!(fault, NodeFault::Hang | NodeFault::HangAfter) {
        // A call that is late without a fault is one more fault.
        fixture.node_deadline = Duration::from_millis(250);
    }
    let mut told = Vec::new();
    for (method, skip) in
        calls.iter().flat_map(|(method, count)| (0..*count).map(move |skip| (method, skip)))
    {
        let before = fixture.paid();
        chain.add_fault(NodeFaultRule { skip, ..NodeFaultRule::once(fault.clone(), method) });
        // Another process, which must recognise its node too.
        let settler = fixture.settler();
        let (said, became) = try_to_pay(&fixture, &settler).await;
        chain.clear_faults();
        let moved = fixture.paid() - before;
        let charge = said.charge(&became, atomic(1));
        assert_eq!(Some(moved), charge, "{fault:?} at {method} {skip}: {said:?}, {became:?}");
        told.push(said);
        fixture.end(settler).await;
    }
    assert_eq!(chain.waiting(), 0, "{fault:?}");
    told
}

async fn walk(depths: TagDepths, faults: Vec<NodeFault>) -> Vec<Told> {
    let told = LocalSet::new()
        .run_until(async {
            let mut walks = JoinSet::new();
            for fault in faults {
                walks.spawn_local(walk_one(depths, fault));
            }
            walks.join_all().await.concat()
        })
        .await;
    for outcome in [Told::NotTaken, Told::Paid] {
        assert!(told.contains(&outcome), "{outcome:?} never happened, so nothing was shown");
    }
    told
}

#[tokio::test]
async fn no_fault_at_any_call_moves_money_twice_or_denies_that_it_moved() {
    // What failed in a final block is over, since only our account can send it.
    assert!(walk(TagDepths::default(), faults()).await.contains(&Told::Refused));
}

#[tokio::test]
async fn no_fault_moves_money_twice_where_blocks_become_final_late() {
    let told = walk(TagDepths { safe: 2, finalized: 4 }, quick_faults()).await;
    assert!(told.contains(&Told::Lost));
    assert!(!told.contains(&Told::Refused), "a failed transaction may be undone");
}

const COUNT: u64 = 40;
const SEND: &str = "eth_sendRawTransaction";

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

/// Faults at calls by chance, and every fault at a send by plan. The sender polls as fast as the
/// machine lets it, so chance alone may spare every send, and nothing else interrupts a payer.
struct Storm {
    dice: Dice,
    /// What has not yet struck a send.
    at_send: VecDeque<NodeFault>,
}

impl Storm {
    fn new() -> Self {
        let mut faults = quick_faults();
        // A transaction that fails in its block certainly interrupts its payer, if no earlier
        // payment has left one that is sent again.
        faults.sort_by_key(|fault| *fault != NodeFault::Revert);
        Self { dice: Dice(7), at_send: faults.into() }
    }

    /// From now on every third call is struck, or about that.
    fn begin(&mut self, fixture: &Fixture) {
        self.begin_with(fixture, None);
    }

    /// Strikes the next send with this. The first rule that applies to a call decides.
    fn begin_with(&mut self, fixture: &Fixture, at_send: Option<NodeFaultRule>) {
        let (chain, faults) = (fixture.chain(), quick_faults());
        chain.clear_faults();
        if let Some(rule) = at_send {
            chain.add_fault(rule);
        }
        for skip in 0..60 {
            let fault = faults[self.dice.roll(faults.len())].clone();
            if self.dice.roll(3) > 0 {
                continue;
            }
            let rule = NodeFaultRule { skip, times: Some(1), ..NodeFaultRule::always(fault) };
            chain.add_fault(rule);
        }
    }

    /// The fault at the next send.
    fn at_send(&self) -> Option<NodeFaultRule> {
        self.at_send.front().map(|fault| NodeFaultRule::once(fault.clone(), SEND))
    }
}

/// A payer who retries, and a reconciler that looks again.
async fn pay_in_the_storm(
    fixture: &Fixture,
    settler: &Settler,
    storm: &mut Storm,
) -> (Told, TransferStatus) {
    let authorization = fixture.authorization();
    let mut payment = loop {
        storm.begin(fixture);
        if settler.verify(&authorization, SignatureKind::Key).await.is_ok()
            && let Ok(payment) = Payment::prepare(settler, authorization.clone()).await
        {
            break payment;
        }
    };
    let at_send = storm.at_send();
    storm.begin_with(fixture, at_send.clone());
    let settled = payment.settle(settler).await;
    if at_send.is_some_and(|rule| !fixture.chain().faults().contains(&rule)) {
        storm.at_send.pop_front();
    }
    match settled {
        Ok(moved) => return (Told::Paid, TransferStatus::Moved(moved)),
        Err(unsettled) if Told::of(&unsettled) != Told::Lost => {
            return (Told::of(&unsettled), TransferStatus::Void);
        }
        Err(_) => {}
    }
    loop {
        storm.begin(fixture);
        match payment.look(settler).await {
            Ok(end @ (TransferStatus::Moved(_) | TransferStatus::Void)) => {
                return (Told::Lost, end);
            }
            Ok(TransferStatus::Open) | Err(_) => fixture.clock.wait(5).await,
        }
        // Authorizations expire by the time of blocks.
        fixture.chain().mine(1);
    }
}

#[tokio::test]
async fn a_fault_in_every_third_call_costs_time_and_nothing_else() {
    let fixture = Fixture::open().await;
    fixture.chain().set_depths(TagDepths { safe: 1, finalized: 2 });
    let (mut storm, mut owed, mut told) = (Storm::new(), 0, Vec::new());
    let settler = fixture.settler();
    for number in 0..COUNT {
        let (said, became) = pay_in_the_storm(&fixture, &settler, &mut storm).await;
        fixture.chain().clear_faults();
        fixture.chain().mine(3);
        owed += u64::from(matches!(became, TransferStatus::Moved(_)));
        assert_eq!(fixture.paid(), atomic(owed), "payment {number}: {said:?}, {became:?}");
        told.push(said);
    }
    assert_eq!(storm.at_send, [], "these never struck a send");
    let interrupted = told.iter().filter(|said| **said != Told::Paid).count();
    assert!(owed > COUNT / 2 && interrupted > 0, "{owed} paid, {interrupted} interrupted");
    // Whatever the faults left behind, the next payment goes in.
    pay(&settler, fixture.authorization()).await.unwrap();
    assert_eq!((fixture.paid(), fixture.chain().waiting()), (atomic(owed + 1), 0));
}
