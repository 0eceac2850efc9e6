//! The sender: one task per network that assigns nonces, signs, sends in order and follows blocks.
//!
//! Requests that settle a payment hand their call to it and wait. In the process that has
//! the account's lease it is the leader and writes to the outbox; in any other process it
//! is a follower, which hands settlements over by the queue of the store.
//!
//! Read it in this order: `leader`, one round of the process that sends; `assign`, from
//! waiting settlement to nonce; `blocks`, what became of what was sent; `follower`, the
//! other processes; `flights`, what the leader knows of its open rows.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::{B256, Bytes};
use async_trait::async_trait;
use order::model::chain::EvmAddress;
use order::model::ids::Timestamp;
use order::model::payment::{Finality, PaymentKey};
use order::ports::Clock;
use tokio::sync::{mpsc, oneshot};

mod assign;
mod blocks;
mod flights;
mod follower;
mod leader;

pub(super) use assign::{TERMS_LIFE, WALLET_REFUSED_SECONDS};

use super::Limits;
use super::chain::Chain;
use super::fees::GasTerms;
use super::gas::GasBudget;
use super::outbox::{
    Epoch, Notices, Outbox, SenderAccount, SettlementQueue, SettlementRequest, Withdrawal,
};
use super::transaction::Signer;
use crate::rpc::{Head, NoAnswer, NotSent, Progress, Receipt, Sent, Simulated};

/// How long to wait after the store or the node did not answer.
const RETRY: Duration = Duration::from_millis(250);

/// What became of a settlement that was handed to the sender.
#[derive(Clone, Debug)]
pub(super) enum SenderOutcome {
    /// One of its transactions is in a block, where it succeeded or failed.
    Mined(Box<MinedTransaction>),
    /// It has no nonce and was certainly not sent.
    NotSent(NotSentReason),
    /// It may be in a block one day.
    Unknown(&'static str),
}

/// A transaction in a block.
#[derive(Clone, Debug)]
pub(super) struct MinedTransaction {
    pub(super) receipt: Receipt,
    /// When its block was made, and whether it stays; none if the sender has not seen the
    /// block in the chain.
    pub(super) in_block: Option<(Timestamp, Finality)>,
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
    /// The payer's account has code, and another payment of it is in flight or failed lately.
    WalletBusy,
    /// No sender took it in time.
    TimedOut,
    /// The process that sends refused it, for one of the other reasons.
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
            Self::WalletBusy => "another payment of this wallet failed lately",
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
    /// Takes a settlement back that has no nonce yet.
    Withdraw {
        key: PaymentKey,
        answer: oneshot::Sender<Withdrawal>,
    },
}

/// What the sender asks of a node. A trait, so that a model can stand in for the chain.
#[async_trait]
pub(super) trait ChainNode: Send + Sync {
    async fn send_all(&self, raws: &[Bytes]) -> Vec<Result<Sent, NotSent>>;
    async fn progress(&self, of: EvmAddress, hashes: &[B256]) -> Result<Progress, NoAnswer>;
    /// The blocks with these numbers, in one exchange; none where there is no such block.
    async fn blocks(&self, numbers: &[u64]) -> Result<Vec<Option<Head>>, NoAnswer>;
    /// Fees, and the balance of our account.
    async fn terms(&self, own: EvmAddress) -> Result<GasTerms, NoAnswer>;
    async fn settled_head(&self) -> Result<Head, NoAnswer>;
    /// The gas of a transaction that does nothing.
    async fn empty_gas(&self, own: EvmAddress) -> Result<u64, NoAnswer>;
}

#[async_trait]
impl ChainNode for Chain {
    async fn send_all(&self, raws: &[Bytes]) -> Vec<Result<Sent, NotSent>> {
        self.node.send_all(raws).await
    }

    async fn progress(&self, of: EvmAddress, hashes: &[B256]) -> Result<Progress, NoAnswer> {
        self.node.progress(of, hashes).await
    }

    async fn blocks(&self, numbers: &[u64]) -> Result<Vec<Option<Head>>, NoAnswer> {
        self.node.blocks(numbers).await
    }

    async fn terms(&self, own: EvmAddress) -> Result<GasTerms, NoAnswer> {
        Chain::terms(self, own, Duration::ZERO).await
    }

    async fn settled_head(&self) -> Result<Head, NoAnswer> {
        Chain::settled_head(self).await
    }

    async fn empty_gas(&self, own: EvmAddress) -> Result<u64, NoAnswer> {
        let nothing = Simulated { from: own, to: own, data: &[], fees: None };
        self.node.estimate(&nothing).await
    }
}

/// Everything a sender works with.
pub(super) struct SenderParts {
    pub(super) account: SenderAccount,
    pub(super) node: Arc<dyn ChainNode>,
    pub(super) outbox: Arc<dyn Outbox>,
    pub(super) signer: Arc<Signer>,
    pub(super) limits: Limits,
    pub(super) clock: Arc<dyn Clock>,
}

pub(super) struct Sender {
    parts: SenderParts,
    commands: mpsc::UnboundedReceiver<Command>,
    /// Requests that wait for the end of a settlement, in any role.
    waiters: BTreeMap<PaymentKey, Vec<oneshot::Sender<SenderOutcome>>>,
    gas: GasBudget,
    /// What other processes tell; none in a store that only one process uses.
    notices: Option<Notices>,
}

/// Why a role ended.
enum RoleEnd {
    /// Nothing can be asked of the sender any more.
    Closed,
    /// The leader lost its lease.
    LeaseLost,
    /// The follower has got it.
    Leads(Epoch),
}

impl Sender {
    pub(super) fn new(parts: SenderParts, commands: mpsc::UnboundedReceiver<Command>) -> Self {
        let gas = GasBudget::new(parts.limits.gas_budget_per_hour);
        let notices = parts.outbox.queue().map(SettlementQueue::notices);
        Self { parts, commands, waiters: BTreeMap::new(), gas, notices }
    }

    /// Goes on until nothing can be asked of it any more.
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
                "another process sends transactions now"
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
