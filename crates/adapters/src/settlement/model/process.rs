//! The processes of the model, the payers who use them, and what became of each payment.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use alloy_primitives::keccak256;
use async_trait::async_trait;
use order::model::chain::{EvmAddress, Network};
use order::model::ids::Timestamp;
use order::model::payment::PaymentKey;
use order::ports::{Clock, Moment};
use order::testing::fakes::fault_schedule::SeededRng;
use order::testing::simulation::executor::{ExecutorHandle, TaskGroup};
use tokio::sync::{mpsc, oneshot};
use zeroize::Zeroizing;

use super::chain::{BEGIN, ModelChain};
use super::outbox::ModelOutbox;
use super::report::{FAULTS_END, PAYMENTS_PER_SCENARIO, SenderBreach, SenderReport, locked};
use crate::rpc::ReceiptStatus;
use crate::settlement::limits::SettlerLimits;
use crate::settlement::outbox::{
    AccountCode, MemoryOutbox, SenderAccount, SettlementRequest, Withdrawal,
};
use crate::settlement::sender::{Command, Sender, SenderOutcome, SenderParts};
use crate::settlement::transaction::TransactionSigner;

const PROCESSES: usize = 2;
const NETWORK: Network = Network::Base;
/// How long a request waits for its block, and how long an authorization lives.
const PATIENCE_MILLISECONDS: u64 = 4_000;
const VALID_SECONDS: u64 = 80;

/// Where the tasks that never crash belong.
const WORLD: TaskGroup = TaskGroup(0);

pub(super) struct Scenario {
    executor: Arc<ExecutorHandle>,
    chain: Arc<ModelChain>,
    outbox: Arc<MemoryOutbox>,
    signer: Arc<TransactionSigner>,
    rng: Mutex<SeededRng>,
    processes: Mutex<Vec<Process>>,
    payments: Mutex<Vec<Payment>>,
    counts: Mutex<SenderReport>,
    groups: Mutex<u64>,
}

struct Process {
    group: TaskGroup,
    outbox: Arc<ModelOutbox>,
    commands: mpsc::UnboundedSender<Command>,
}

struct Payment {
    key: PaymentKey,
    deadline: u64,
    end: Option<End>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    ConfirmedTransfer,
    Failed,
    /// The payer heard that nothing was sent, and gave up.
    Unsent,
    Expired,
}

/// Whether a payment was handed to a sender before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Never,
    Before,
}

struct ModelClock(Arc<ExecutorHandle>);

#[async_trait]
impl Clock for ModelClock {
    fn now(&self) -> Timestamp {
        Timestamp(BEGIN + self.uptime())
    }

    fn uptime(&self) -> u64 {
        self.0.elapsed() / 1_000
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.0.elapsed())
    }

    async fn wait(&self, seconds: u64) {
        self.0.sleep(1_000 * seconds).await;
    }

    async fn moment(&self, milliseconds: u64) -> Moment {
        self.0.sleep(milliseconds.max(1)).await;
        Moment::Waited
    }
}

impl Scenario {
    pub(super) fn new(
        executor: Arc<ExecutorHandle>,
        chain: Arc<ModelChain>,
        rng: SeededRng,
    ) -> Self {
        let outbox = Arc::new(MemoryOutbox::default());
        chain.watch(outbox.clone());
        let signer = TransactionSigner::new(&Zeroizing::new([7; 32])).expect("seven is a key");
        Self {
            executor,
            chain,
            outbox,
            signer: Arc::new(signer),
            rng: Mutex::new(rng),
            processes: Mutex::default(),
            payments: Mutex::default(),
            counts: Mutex::default(),
            groups: Mutex::new(0),
        }
    }

    pub(super) fn begin(self: &Arc<Self>) {
        self.executor.spawn(WORLD, self.chain.clone().make_blocks());
        for _ in 0..PROCESSES {
            let process = self.start();
            locked(&self.processes).push(process);
        }
        for number in 0..PAYMENTS_PER_SCENARIO {
            let key = PaymentKey(keccak256(number.to_be_bytes()).0);
            if number % 6 == 5 {
                self.chain.let_fail(key);
            }
            let deadline = BEGIN + VALID_SECONDS;
            locked(&self.payments).push(Payment { key, deadline, end: None });
            let place = usize::try_from(number).expect("a small number");
            self.executor.spawn(WORLD, self.clone().pay(place));
        }
        self.executor.spawn(WORLD, self.clone().crash());
    }

    fn start(&self) -> Process {
        let group = {
            let mut groups = locked(&self.groups);
            *groups += 1;
            TaskGroup(*groups)
        };
        let rng = SeededRng::new(locked(&self.rng).next_u64());
        let inner = self.outbox.another_process();
        let outbox = Arc::new(ModelOutbox::new(inner, self.executor.clone(), rng, FAULTS_END));
        let (commands, received) = mpsc::unbounded_channel();
        let parts = SenderParts {
            account: SenderAccount { network: NETWORK, address: self.signer.address() },
            node: self.chain.clone(),
            outbox: outbox.clone(),
            signer: self.signer.clone(),
            limits: SettlerLimits::of(NETWORK),
            clock: Arc::new(ModelClock(self.executor.clone())),
        };
        self.executor.spawn(group, Sender::new(parts, received).run());
        Process { group, outbox, commands }
    }

    /// Kills a process now and then, or takes its lease away while it goes on.
    async fn crash(self: Arc<Self>) {
        while self.executor.elapsed() < FAULTS_END {
            let (pause, place, suspended) = {
                let mut rng = locked(&self.rng);
                (200 + rng.below(4_000), rng.below(2), rng.below(3) == 0)
            };
            self.executor.sleep(pause).await;
            let place = usize::try_from(place).expect("a small number");
            if suspended {
                locked(&self.processes)[place].outbox.inner.expire();
                locked(&self.counts).leases_lost += 1;
                continue;
            }
            let group = locked(&self.processes)[place].group;
            self.executor.kill(group);
            locked(&self.processes)[place].outbox.inner.expire();
            let process = self.start();
            locked(&self.processes)[place] = process;
            locked(&self.counts).crashes += 1;
        }
    }

    /// Asks for one payment until it is known what became of it, as request and
    /// reconciler do.
    async fn pay(self: Arc<Self>, place: usize) {
        let (key, deadline) = {
            let payments = locked(&self.payments);
            (payments[place].key, payments[place].deadline)
        };
        let begin = locked(&self.rng).below(FAULTS_END / 2);
        self.executor.sleep(begin).await;
        let mut asked = Asked::Never;
        let end = loop {
            if self.chain.has_moved(key) {
                break End::ConfirmedTransfer;
            }
            if self.chain.time() > deadline {
                break End::Expired;
            }
            match self.settle(key, deadline).await {
                Some(SenderOutcome::Mined(found)) => match found.receipt.outcome {
                    ReceiptStatus::Succeeded => {}
                    ReceiptStatus::Reverted if locked(&self.rng).below(3) == 0 => {
                        break End::Failed;
                    }
                    ReceiptStatus::Reverted => {}
                },
                Some(SenderOutcome::NotSent(_)) => {
                    // An earlier request may have signed something; the first one has not.
                    let certain = asked == Asked::Never || !self.outbox.has_payment(key);
                    if certain && locked(&self.rng).below(2) == 0 {
                        break End::Unsent;
                    }
                }
                Some(SenderOutcome::Unknown(_)) | None => {}
            }
            asked = Asked::Before;
            let pause = 200 + locked(&self.rng).below(2_000);
            self.executor.sleep(pause).await;
        };
        locked(&self.payments)[place].end = Some(end);
    }

    /// None if the process died.
    async fn settle(&self, key: PaymentKey, deadline: u64) -> Option<SenderOutcome> {
        let commands = {
            let processes = locked(&self.processes);
            let place = locked(&self.rng).below(2);
            processes[usize::try_from(place).expect("a small number")].commands.clone()
        };
        let request = SettlementRequest {
            key,
            payer: EvmAddress::from_bytes([9; 20]),
            code: AccountCode::None,
            to: EvmAddress::from_bytes([8; 20]),
            data: key.0.to_vec(),
            gas: 100_000,
            deadline,
        };
        let (answer, answered) = oneshot::channel();
        commands.send(Command::Settle { request: Box::new(request), answer }).ok()?;
        let patience = {
            let short = locked(&self.rng).below(6) == 0;
            if short { 3 } else { PATIENCE_MILLISECONDS }
        };
        tokio::select! {
            biased;
            outcome = answered => return outcome.ok(),
            () = self.executor.sleep(patience) => {}
        }
        let (answer, answered) = oneshot::channel();
        commands.send(Command::Withdraw { key, answer }).ok()?;
        match answered.await.ok()? {
            Withdrawal::Withdrawn => {
                Some(SenderOutcome::NotSent(crate::settlement::sender::NotSentReason::TimedOut))
            }
            Withdrawal::NotQueued | Withdrawal::Unknown => {
                Some(SenderOutcome::Unknown("no receipt in time"))
            }
        }
    }

    pub(super) fn report(&self) -> SenderReport {
        let mut report = locked(&self.counts).clone();
        let (reorganisations, replacements, breaches) = self.chain.counts();
        (report.reorganisations, report.replacements) = (reorganisations, replacements);
        report.breaches = breaches;
        let mut breach = |kind| *report.breaches.entry(kind).or_default() += 1;
        for payment in locked(&self.payments).iter() {
            report.payments += 1;
            let moved = self.chain.has_moved(payment.key);
            match payment.end {
                Some(End::ConfirmedTransfer) if moved => report.settled += 1,
                Some(End::ConfirmedTransfer) | None => breach(SenderBreach::Stuck),
                Some(End::Failed) => report.failed += 1,
                Some(End::Unsent) => {
                    report.unsent += 1;
                    if self.chain.was_sent(payment.key) {
                        breach(SenderBreach::SentAfterWithdrawal);
                    }
                }
                // Only what fails in every block may still be open when it expires.
                Some(End::Expired) if self.chain.is_failing(payment.key) => report.failed += 1,
                Some(End::Expired) => breach(SenderBreach::Stuck),
            }
        }
        report
    }
}
