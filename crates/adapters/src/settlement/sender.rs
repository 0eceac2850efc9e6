//! The sender: one task per network that assigns nonces, signs, sends in order and follows blocks.
//!
//! Requests that settle a payment pass their call to it and wait. In the process that has the
//! account's lease it is the leader and writes to the outbox; in any other process it is a
//! follower, which hands settlements over by the queue of the store.
//!
//! Reading order: `leader`, one round of the sending process; `assign`, nonces for waiting
//! settlements; `blocks`, receipts and replacements; `follower`, the other processes;
//! `in_flight`, the leader's open rows.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::{B256, Bytes};
use async_trait::async_trait;
use order::model::chain::EvmAddress;
use order::model::payment::PaymentKey;
use order::ports::Clock;
use tokio::sync::{mpsc, oneshot};

mod assign;
mod blocks;
mod follower;
mod in_flight;
mod leader;

use super::chain::Chain;
use super::fees::GasTerms;
use super::gas_budget::GasBudget;
use super::limits::SettlerLimits;
use super::outbox::{
    Epoch, MinedTransaction, Notices, Outbox, SenderAccount, SettlementQueue, SettlementRequest,
    Withdrawal,
};
use super::transaction::TransactionSigner;
use crate::rpc::{AccountProgress, BlockHead, NodeError, SendError, SendOutcome, SimulatedCall};

/// How long to wait after the store or the node did not answer.
const RETRY: Duration = Duration::from_millis(250);

/// The outcome of a settlement.
#[derive(Clone, Debug)]
pub(super) enum SenderOutcome {
    /// One of its transactions is in a block, where it succeeded or failed.
    Mined(Box<MinedTransaction>),
    /// It got no nonce, so nothing was sent this time.
    NotSent(NotSentReason),
    /// It may still be mined.
    Unknown(&'static str),
}

/// Why a settlement got no nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotSentReason {
    /// The authorization is about to expire.
    Expiring,
    /// Gas costs more than the operator allows.
    FeesTooHigh,
    /// The account cannot pay for gas.
    NoFunds,
    /// The gas budget of this hour is spent.
    BudgetSpent,
    /// It failed in blocks as often as one payment may.
    TooManyFailures,
    /// The payer's account has code, and another payment of it failed lately.
    WalletFailedLately,
    /// No sender took it in time.
    TimedOut,
    /// The sending process refused it, for one of the other reasons.
    RefusedBySender,
}

impl fmt::Display for NotSentReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Expiring => "the authorization is about to expire",
            Self::FeesTooHigh => "gas costs more than the settler may pay",
            Self::NoFunds => "the settler's account cannot pay for gas",
            Self::BudgetSpent => "the gas budget of this hour is spent",
            Self::TooManyFailures => "the payment has failed in blocks too often",
            Self::WalletFailedLately => "another payment of this wallet failed lately",
            Self::TimedOut => "no sender took it in time",
            Self::RefusedBySender => "the sending process refused it",
        })
    }
}

pub(super) enum Command {
    Settle {
        request: Box<SettlementRequest>,
        answer: oneshot::Sender<SenderOutcome>,
    },
    /// Withdraws a settlement that has no nonce yet.
    Withdraw {
        key: PaymentKey,
        answer: oneshot::Sender<Withdrawal>,
    },
}

/// The node calls of a sender. A trait, so that a model can replace the chain.
#[async_trait]
pub(super) trait ChainNode: Send + Sync {
    async fn send_all(&self, raws: &[Bytes]) -> Vec<Result<SendOutcome, SendError>>;
    async fn progress(&self, of: EvmAddress, hashes: &[B256])
    -> Result<AccountProgress, NodeError>;
    /// The blocks with these numbers, in one exchange; none where there is no such block.
    async fn blocks(&self, numbers: &[u64]) -> Result<Vec<Option<BlockHead>>, NodeError>;
    /// Fees, and the balance of our account.
    async fn terms(&self, own: EvmAddress) -> Result<GasTerms, NodeError>;
    async fn final_head(&self) -> Result<BlockHead, NodeError>;
    /// The gas of a transaction that does nothing.
    async fn empty_gas(&self, own: EvmAddress) -> Result<u64, NodeError>;
}

#[async_trait]
impl ChainNode for Chain {
    async fn send_all(&self, raws: &[Bytes]) -> Vec<Result<SendOutcome, SendError>> {
        self.node.send_all(raws).await
    }

    async fn progress(
        &self,
        of: EvmAddress,
        hashes: &[B256],
    ) -> Result<AccountProgress, NodeError> {
        self.node.progress(of, hashes).await
    }

    async fn blocks(&self, numbers: &[u64]) -> Result<Vec<Option<BlockHead>>, NodeError> {
        self.node.blocks(numbers).await
    }

    async fn terms(&self, own: EvmAddress) -> Result<GasTerms, NodeError> {
        Chain::terms(self, own, Duration::ZERO).await
    }

    async fn final_head(&self) -> Result<BlockHead, NodeError> {
        Chain::final_head(self).await
    }

    async fn empty_gas(&self, own: EvmAddress) -> Result<u64, NodeError> {
        let nothing = SimulatedCall { from: own, to: own, data: &[], fees: None, gas: None };
        self.node.estimate(&nothing).await
    }
}

/// The dependencies of a sender.
pub(super) struct SenderParts {
    pub(super) account: SenderAccount,
    pub(super) node: Arc<dyn ChainNode>,
    pub(super) outbox: Arc<dyn Outbox>,
    pub(super) signer: Arc<TransactionSigner>,
    pub(super) limits: SettlerLimits,
    pub(super) clock: Arc<dyn Clock>,
}

pub(super) struct Sender {
    parts: SenderParts,
    commands: mpsc::UnboundedReceiver<Command>,
    /// Requests that wait for the end of a settlement, in any role.
    waiters: BTreeMap<PaymentKey, Vec<oneshot::Sender<SenderOutcome>>>,
    gas: GasBudget,
    /// Notices of other processes; none in a store that only one process uses.
    notices: Option<Notices>,
}

/// Why a role ended.
enum RoleEnd {
    /// The command channel is closed.
    Closed,
    /// The leader lost its lease.
    LeaseLost,
    /// The follower got the lease.
    Leads(Epoch),
}

impl Sender {
    pub(super) fn new(parts: SenderParts, commands: mpsc::UnboundedReceiver<Command>) -> Self {
        let gas = GasBudget::new(parts.limits.gas_budget_per_hour);
        let notices = parts.outbox.queue().map(SettlementQueue::notices);
        Self { parts, commands, waiters: BTreeMap::new(), gas, notices }
    }

    /// Runs until the command channel is closed.
    pub(super) async fn run(mut self) {
        let mut waiting = Vec::new();
        loop {
            let (end, left) = self.follow(waiting).await;
            waiting = left;
            let epoch = match end {
                RoleEnd::Leads(epoch) => epoch,
                RoleEnd::LeaseLost => continue,
                RoleEnd::Closed => return,
            };
            let (end, left) = self.lead(epoch, waiting).await;
            waiting = left;
            if matches!(end, RoleEnd::Closed) {
                return;
            }
            tracing::warn!(
                network = self.parts.account.network.caip2(),
                "Another process has the sender lease"
            );
        }
    }

    fn wait_for(&mut self, key: PaymentKey, answer: oneshot::Sender<SenderOutcome>) {
        let waiters = self.waiters.entry(key).or_default();
        waiters.retain(|waiter| !waiter.is_closed());
        waiters.push(answer);
    }

    fn answer(&mut self, key: PaymentKey, outcome: &SenderOutcome) {
        for waiter in self.waiters.remove(&key).unwrap_or_default() {
            let _ = waiter.send(outcome.clone());
        }
    }

    fn now(&self) -> Duration {
        self.parts.clock.monotonic()
    }
}
