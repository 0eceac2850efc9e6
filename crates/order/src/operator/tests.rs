//! Operators act on orders: what is possible, what is rejected, and that nothing is lost or doubled.

mod actions;
mod audit;
mod refunds;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use super::{ActionOutcome, Instruction, OperatorActions};
use crate::checkout::Request;
use crate::lifecycle::Stored;
use crate::model::chain::{EvmAddress, Network};
use crate::model::ids::{OrderId, Timestamp};
use crate::model::mail::Promises;
use crate::model::payment::TenderKind;
use crate::operator::rejection::ActionRejection;
use crate::operator::transfers::{
    ChainTransaction, ReceivedTransfer, TransactionHash, UsdcTransfers,
};
use crate::ports::Failure;
use crate::testing::fakes::cards::card;
use crate::testing::fakes::fault_schedule::{EFFECT_FAULTS, FaultSchedule, SimulatedFault};
use crate::testing::fakes::manual_time::{ManualTime, poll_once};
use crate::testing::fakes::process::FakeProcess;
use crate::testing::fakes::tender::{CREDENTIAL_SECONDS, FakeCredential};
use crate::testing::fakes::world::FakeWorld;

const PROMISES: Promises =
    Promises { idempotent_seconds: None, cancel_seconds: 0, visibility_lag_seconds: 0 };

/// The outcome of each call with an effect, then none fails: settlement, submission, …
struct Effects(Vec<SimulatedFault>);

impl FaultSchedule for Effects {
    fn choose(&mut self, options: &[SimulatedFault]) -> SimulatedFault {
        if options == EFFECT_FAULTS && !self.0.is_empty() {
            self.0.remove(0)
        } else {
            SimulatedFault::None
        }
    }
}

/// What the chain says about every transaction.
struct OneTransaction(Mutex<Result<ChainTransaction, Failure>>);

#[async_trait]
impl UsdcTransfers for OneTransaction {
    fn networks(&self) -> Vec<Network> {
        Network::ALL.to_vec()
    }

    async fn transaction(
        &self,
        _network: Network,
        _transaction: &TransactionHash,
    ) -> Result<ChainTransaction, Failure> {
        self.0.lock().unwrap().clone()
    }

    async fn received(
        &self,
        _network: Network,
        _accounts: &[EvmAddress],
        _from: Timestamp,
        _until: Timestamp,
    ) -> Result<Vec<ReceivedTransfer>, Failure> {
        Ok(Vec::new())
    }
}

/// A shop with one paid order, whose card was submitted with this result.
struct Shop {
    world: Arc<FakeWorld>,
    time: ManualTime,
    process: FakeProcess,
    actions: OperatorActions,
    chain: Arc<OneTransaction>,
    order: OrderId,
}

impl Shop {
    fn after(submission: SimulatedFault) -> Self {
        let time = ManualTime::default();
        let effects = Effects(vec![SimulatedFault::None, submission]);
        let world = FakeWorld::new(Box::new(effects), Box::new(time.clone()), PROMISES);
        let process = world.process();
        let order = buy(&world, &process, 1);
        let chain = Arc::new(OneTransaction(Mutex::new(Ok(ChainTransaction::Unknown))));
        let writer = Arc::new(process.writer().clone());
        let (tenders, transfers) = (world.tenders(), chain.clone());
        let actions = OperatorActions { writer, tenders, transfers };
        Self { world, time, process, actions, chain, order }
    }

    fn stored(&self) -> Stored {
        self.world.store.get(self.order).unwrap()
    }

    fn state(&self) -> &'static str {
        self.stored().headline()
    }

    /// An instruction for the order as it is now.
    fn instruction(&self) -> Instruction {
        Instruction {
            order: self.order,
            version: self.stored().version(),
            operator: "ada".parse().unwrap(),
            note: String::new(),
        }
    }

    /// Until the provider lists what it has accepted.
    fn pass_grace(&self) {
        self.time.advance(PROMISES.grace_seconds() + 1);
    }

    fn resubmit(&self) -> Result<ActionOutcome, ActionRejection> {
        poll_once(self.actions.resubmit(&self.instruction())).unwrap()
    }

    fn erase(&self) -> Result<ActionOutcome, ActionRejection> {
        poll_once(self.actions.erase(&self.instruction())).unwrap()
    }

    fn cards(&self) -> usize {
        self.world.provider.lock().unwrap().live(self.order)
    }

    fn last_event(&self) -> (String, String) {
        let event = self.world.store.history().pop().unwrap();
        (event.actor, event.note)
    }
}

fn buy(world: &Arc<FakeWorld>, process: &FakeProcess, nonce: u64) -> OrderId {
    let deadline = world.time().0 + CREDENTIAL_SECONDS;
    let signed = FakeCredential { nonce, most: 3_500_000, deadline, payee: 0xa1 }.credential();
    let card = card(&format!("card {nonce}"));
    let request =
        Request { seller: None, operation_id: None, card, quote: None, credential: Some(signed) };
    let _ = poll_once(process.send(&world.tender(TenderKind::X402), request)).unwrap();
    world.store.orders().last().unwrap().id()
}
