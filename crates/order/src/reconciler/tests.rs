//! An order whose node does not answer does not delay the others. The fault walk of the checkout covers every other fault.

mod recovery;
mod reminders;
mod spares;
mod switch;
mod unchanged;
mod unrest;

use std::future::pending;
use std::sync::Arc;

use async_trait::async_trait;

use crate::checkout::Request;
use crate::lifecycle::Stored;
use crate::lifecycle::schedule::CLAIM_SECONDS;
use crate::model::ids::OrderId;
use crate::model::mail::Promises;
use crate::model::payment::{Credential, CredentialDigest, TenderKind};
use crate::outcome::Outcome;
use crate::tender::{Tender, Tenders};
use crate::testing::fakes::cards::card;
use crate::testing::fakes::fault_schedule::ExhaustiveFaults;
use crate::testing::fakes::intercepted_tender::{InterceptedTender, Interceptor, SessionCall};
use crate::testing::fakes::manual_time::{ManualTime, poll_once};
use crate::testing::fakes::process::FakeProcess;
use crate::testing::fakes::tender::{CREDENTIAL_SECONDS, FakeCredential};
use crate::testing::fakes::world::FakeWorld;

const PROMISES: Promises =
    Promises { idempotent_seconds: None, cancel_seconds: 0, visibility_lag_seconds: 0 };

/// Does not answer for one payment.
struct NoTrace {
    of: CredentialDigest,
    failure: TraceFailure,
}

#[derive(Clone, Copy)]
enum TraceFailure {
    NeverAnswers,
    Fails,
}

#[async_trait]
impl Interceptor for NoTrace {
    async fn before(&self, call: SessionCall, credential: CredentialDigest) -> Result<(), String> {
        match self.failure {
            _ if call != SessionCall::Trace || credential != self.of => Ok(()),
            TraceFailure::NeverAnswers => pending().await,
            TraceFailure::Fails => Err("no answer".into()),
        }
    }
}

/// A tender that does not answer for one payment.
fn without_trace(
    world: &Arc<FakeWorld>,
    of: CredentialDigest,
    failure: TraceFailure,
) -> Arc<dyn Tender> {
    let tender = world.tender(TenderKind::X402);
    Arc::new(InterceptedTender { tender, interceptor: NoTrace { of, failure } })
}

/// Buys a card, and returns its order and the digest of its credential.
fn buy(world: &Arc<FakeWorld>, process: &FakeProcess, nonce: u64) -> (OrderId, CredentialDigest) {
    let deadline = world.time().0 + CREDENTIAL_SECONDS;
    let signed = FakeCredential { nonce, most: 3_500_000, deadline, payee: 0xa1 }.credential();
    let digest = signed.digest();
    let card = card(&format!("card {nonce}"));
    let request =
        Request { seller: None, operation_id: None, card, quote: None, credential: Some(signed) };
    match poll_once(process.send(&world.tender(TenderKind::X402), request)).unwrap().unwrap() {
        Outcome::Paid { order, .. } => (order, digest),
        Outcome::Due(offer) => panic!("{offer:?}"),
    }
}

fn looks(world: &FakeWorld, order: OrderId) -> u32 {
    match world.store.get(order) {
        Some(Stored::Mailed(order)) => order.attention.looks,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_node_that_never_answers_about_one_payment_does_not_delay_the_others() {
    for stuck in 0..4 {
        let still = ManualTime::default();
        let world = FakeWorld::new(
            Box::new(ExhaustiveFaults::default()),
            Box::new(still.clone()),
            PROMISES,
        );
        let process = world.process();
        let bought: Vec<_> = (1..=4).map(|nonce| buy(&world, &process, nonce)).collect();
        still.advance(CLAIM_SECONDS);
        let silent = without_trace(&world, bought[stuck].1, TraceFailure::NeverAnswers);
        let tenders = Tenders(vec![silent]);
        assert_eq!(
            poll_once(process.reconcile(&tenders, &|_| ())),
            None,
            "one of them still waits"
        );
        let looked: Vec<u32> = bought.iter().map(|(order, _)| looks(&world, *order)).collect();
        let expected: Vec<u32> = (0..4).map(|number| u32::from(number != stuck)).collect();
        assert_eq!(looked, expected);
    }
}
