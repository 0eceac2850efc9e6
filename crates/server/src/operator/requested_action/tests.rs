//! Tests of requested actions: their limits, and orders that change meanwhile.

use async_trait::async_trait;
use order::checkout::Request;
use order::lifecycle::schedule::CLAIM_SECONDS;
use order::model::chain::{EvmAddress, Network};
use order::model::ids::WorkerId;
use order::model::mail::Promises;
use order::model::payment::TenderKind;
use order::operator::transfers::{ChainTransaction, ReceivedTransfer, UsdcTransfers};
use order::ports::Failure;
use order::testing::fakes::cards::card;
use order::testing::fakes::fault_schedule::{EFFECT_FAULTS, FaultSchedule, SimulatedFault};
use order::testing::fakes::manual_time::ManualTime;
use order::testing::fakes::tender::{CREDENTIAL_SECONDS, FakeCredential};
use order::testing::fakes::world::FakeWorld;

use super::*;

const PROMISES: Promises =
    Promises { idempotent_seconds: None, cancel_seconds: 0, visibility_lag_seconds: 0 };

/// The settlement succeeds, and the answer to the submission is lost.
struct LostSubmission(Vec<SimulatedFault>);

impl FaultSchedule for LostSubmission {
    fn choose(&mut self, options: &[SimulatedFault]) -> SimulatedFault {
        let is_effect = options == EFFECT_FAULTS;
        if is_effect { self.0.pop() } else { None }.unwrap_or(SimulatedFault::None)
    }
}

struct NoTransfers;

#[async_trait]
impl UsdcTransfers for NoTransfers {
    fn networks(&self) -> Vec<Network> {
        Vec::new()
    }

    async fn transaction(
        &self,
        _: Network,
        _: &TransactionHash,
    ) -> Result<ChainTransaction, Failure> {
        Ok(ChainTransaction::Unknown)
    }

    async fn received(
        &self,
        _: Network,
        _: &[EvmAddress],
        _: Timestamp,
        _: Timestamp,
    ) -> Result<Vec<ReceivedTransfer>, Failure> {
        Ok(Vec::new())
    }
}

/// A shop with one order whose card may have been mailed.
struct LostOrder {
    world: Arc<FakeWorld>,
    actions: OperatorActions,
    /// As the operator saw it.
    seen: Stored,
    facts_digest: String,
}

impl LostOrder {
    async fn seen() -> Self {
        let effects = LostSubmission(vec![SimulatedFault::LostBefore, SimulatedFault::None]);
        let time = Box::new(ManualTime::default());
        let world = FakeWorld::new(Box::new(effects), time, PROMISES);
        let process = world.process();
        let deadline = world.time().0 + CREDENTIAL_SECONDS;
        let signed = FakeCredential { nonce: 1, most: 3_500_000, deadline, payee: 0xa1 };
        let (seller, operation_id, credential) = (None, None, Some(signed.credential()));
        let request =
            Request { seller, operation_id, card: card("a card"), quote: None, credential };
        let _ = process.send(&world.tender(TenderKind::X402), request).await;
        let seen = world.store.orders().pop().unwrap();
        assert_eq!(seen.headline(), "unfulfilled_lost");
        let facts_digest = order_facts::facts_digest(&seen, world.time());
        let (writer, tenders) = (Arc::new(process.writer().clone()), world.tenders());
        let actions = OperatorActions { writer, tenders, transfers: Arc::new(NoTransfers) };
        Self { world, actions, seen, facts_digest }
    }

    /// The reconciler of another process claims the order.
    async fn claim(&self) {
        let now = self.world.time().plus(3600);
        let until = now.plus(CLAIM_SECONDS);
        let claimed = self.world.store.claim(WorkerId::from_bytes([9; 16]), now, until, 9).await;
        assert_eq!(claimed.unwrap().len(), 1);
        let found = self.world.store.get(self.seen.id()).unwrap();
        assert!(found.version() > self.seen.version());
    }

    async fn act(
        &self,
        kind: ActionKind,
        facts_digest: Option<&str>,
    ) -> Result<&'static str, ActionRejection> {
        let version = Some(self.seen.version());
        let fields =
            ActionFields { version, facts_digest, note: Some("seen"), ..ActionFields::default() };
        let operator = "ada".parse().unwrap();
        let requested = RequestedAction::parse(kind, self.seen.id(), operator, &fields);
        let done = requested.unwrap_or_else(|fault| panic!("{fault:?}")).act(&self.actions).await;
        done.map(|done| done.code())
    }
}

#[tokio::test]
async fn an_examination_since_the_order_was_shown_does_not_reject_the_action() {
    let shop = LostOrder::seen().await;
    shop.claim().await;
    let by_version = shop.act(ActionKind::Erase, None).await;
    assert_eq!(by_version, Err(ActionRejection::Changed));
    let other = shop.act(ActionKind::Erase, Some("0000000000000000")).await;
    assert_eq!(other, Err(ActionRejection::Changed));
    assert_eq!(shop.act(ActionKind::Erase, Some(&shop.facts_digest)).await, Ok("erased"));
}

#[tokio::test]
async fn an_action_of_another_operator_since_the_order_was_shown_rejects_the_action() {
    let shop = LostOrder::seen().await;
    let digest = Some(shop.facts_digest.as_str());
    assert_eq!(shop.act(ActionKind::Reveal, digest).await, Ok("revealed"));
    let stored = shop.world.store.get(shop.seen.id()).unwrap();
    assert_eq!(order_facts::facts_digest(&stored, shop.world.time()), shop.facts_digest);
    assert_eq!(shop.act(ActionKind::Erase, digest).await, Err(ActionRejection::Changed));
}

#[tokio::test]
async fn a_change_of_what_was_shown_rejects_the_action() {
    let shop = LostOrder::seen().await;
    let first = shop.act(ActionKind::Acknowledge, Some(&shop.facts_digest)).await;
    assert_eq!(first, Ok("acknowledged"));
    let second = shop.act(ActionKind::Erase, Some(&shop.facts_digest)).await;
    assert_eq!(second, Err(ActionRejection::Changed));
    let stored = shop.world.store.get(shop.seen.id()).unwrap();
    assert_eq!(stored.headline(), "unfulfilled_lost");
}

#[test]
fn an_action_needs_a_version_and_what_it_does_within_limits() {
    let parse = |kind, fields: ActionFields<'_>| {
        RequestedAction::parse(kind, OrderId::from_bytes([1; 16]), "ada".parse().unwrap(), &fields)
    };
    let hash = format!("0x{}", "5E".repeat(32));
    let given = ActionFields {
        version: Some(3),
        note: Some(" done "),
        mailpiece: Some("psc_1"),
        transaction: Some(&hash),
        facts_digest: None,
    };
    let refund = parse(ActionKind::Refund, given).unwrap_or_else(|fault| panic!("{fault:?}"));
    assert_eq!((refund.instruction.version, refund.instruction.note.as_str()), (3, "done"));
    assert_eq!(refund.named(), hash.to_lowercase());
    let attach = parse(ActionKind::Attach, given).unwrap_or_else(|fault| panic!("{fault:?}"));
    assert_eq!(attach.named(), "psc_1");
    let (long_note, long_id) = ("x".repeat(501), "7".repeat(201));
    for (kind, fields) in [
        (ActionKind::Resubmit, ActionFields { version: None, ..given }),
        (ActionKind::Resubmit, ActionFields { note: Some(&long_note), ..given }),
        (ActionKind::Resubmit, ActionFields { note: Some("two\nlines"), ..given }),
        (ActionKind::Refund, ActionFields { transaction: None, ..given }),
        (ActionKind::Refund, ActionFields { transaction: Some("0x12"), ..given }),
        (ActionKind::Attach, ActionFields { mailpiece: None, ..given }),
        (ActionKind::Attach, ActionFields { mailpiece: Some(&long_id), ..given }),
        (ActionKind::Acknowledge, ActionFields { note: Some("  "), ..given }),
        (ActionKind::Acknowledge, ActionFields { note: None, ..given }),
    ] {
        let status = parse(kind, fields).err().map(|fault| fault.status);
        assert_eq!(status, Some(StatusCode::BAD_REQUEST), "{kind:?}");
    }
}
