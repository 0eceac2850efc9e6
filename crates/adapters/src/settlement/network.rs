//! One network as both rails use it: simulate a call, hand it to the sender, wait for its block.

use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::Bytes;
use order::model::chain::{EvmAddress, Network};
use order::model::ids::Timestamp;
use order::model::payment::{Finality, PaymentKey};
use order::ports::Clock;
use order::tender::{Rejection, Unsettled};
use pay::movement::Moved;
use tokio::sync::{Semaphore, SemaphorePermit, mpsc, oneshot};
use tokio::time::timeout;

use super::chain::{Chain, Judged, LATEST, Paid, Seen};
use super::fees::{Fees, GasTerms, Quote};
use super::outbox::{
    AccountCode, Outbox, SenderAccount, SentTransactions, SettlementRequest, Withdrawal,
};
use super::preparation::PreparedCall;
use super::sender::{
    Command, MinedTransaction, NotSentReason, Sender, SenderOutcome, SenderParts, TERMS_LIFE,
};
use super::transaction::Signer;
use super::wallet_questions::WalletQuestions;
use super::{ContractWallets, Limits};
use crate::rpc::{NoAnswer, Outcome, Simulated, SimulatedFees};

/// How many payments the node is asked about at once. A node that gets the questions of a
/// thousand payers together answers all of them late; in turn, it answers each in time.
const SIMULATIONS_MAX: usize = 64;
/// How long a payment waits for its turn. It has moved nothing by then.
const TURN_TIME: Duration = Duration::from_secs(10);

/// One account on one network.
pub(super) struct NetworkSettler {
    pub(super) chain: Arc<Chain>,
    account: SenderAccount,
    limits: Limits,
    contract_wallets: ContractWallets,
    outbox: Arc<dyn Outbox>,
    clock: Arc<dyn Clock>,
    receipt_time: Duration,
    commands: mpsc::UnboundedSender<Command>,
    pub(super) wallet_questions: WalletQuestions,
    turns: Semaphore,
}

/// A contract call of a payment.
pub(super) struct PaymentCall {
    pub(super) key: PaymentKey,
    pub(super) payer: EvmAddress,
    pub(super) to: EvmAddress,
    pub(super) data: Vec<u8>,
    /// The last second in which a block may take it.
    pub(super) deadline: u64,
}

/// Why a call is not to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unready {
    /// The contract would not do it.
    Reverted(Bytes),
    Node(NoAnswer),
    /// The outbox did not answer.
    Store,
    /// Above what the operator allows for gas.
    TooDear,
    /// The account cannot pay for it.
    NoFunds,
    /// The payer's account has code, and the operator takes none of those.
    CodeRefused,
    /// The payer's account has code, and its last payment failed in a block.
    CodeFailed,
}

impl From<NoAnswer> for Unready {
    fn from(why: NoAnswer) -> Self {
        match why {
            NoAnswer::Reverted(bytes) => Self::Reverted(bytes),
            NoAnswer::Silent(_)
            | NoAnswer::Refused(_)
            | NoAnswer::Unusable
            | NoAnswer::UnknownBlock
            | NoAnswer::OtherChain(_) => Self::Node(why),
        }
    }
}

/// Why there is no receipt that pays.
pub(super) enum Unpaid {
    /// No transaction for this payment was ever sent.
    NeverSent(NotSentReason),
    /// Everything that was signed has failed in blocks that stay.
    Reverted(String),
    /// It may still pay.
    Unknown(String),
}

impl Unpaid {
    pub(super) fn words(self) -> String {
        match self {
            Self::NeverSent(reason) => reason.to_string(),
            Self::Reverted(why) | Self::Unknown(why) => why,
        }
    }
}

/// For a payment that only we can send: what has failed for good is over.
impl From<Unpaid> for Unsettled {
    fn from(unpaid: Unpaid) -> Self {
        match unpaid {
            Unpaid::NeverSent(reason) => Self::Withdrawn(reason.to_string()),
            Unpaid::Reverted(why) => Self::Refused(why),
            Unpaid::Unknown(why) => Self::Lost(why),
        }
    }
}

/// What every network shares.
pub(super) struct Shared {
    pub(super) signer: Arc<Signer>,
    pub(super) outbox: Arc<dyn Outbox>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) contract_wallets: ContractWallets,
    pub(super) receipt_time: Duration,
}

impl NetworkSettler {
    /// The settler of one network, and its sender, which is to be run.
    pub(super) fn new(
        network: Network,
        chain: Chain,
        limits: Limits,
        shared: &Shared,
    ) -> (Self, Sender) {
        let account = SenderAccount { network, address: shared.signer.address() };
        let chain = Arc::new(chain);
        let (commands, received) = mpsc::unbounded_channel();
        let parts = SenderParts {
            account,
            node: chain.clone(),
            outbox: shared.outbox.clone(),
            signer: shared.signer.clone(),
            limits,
            clock: shared.clock.clone(),
        };
        let settler = Self {
            chain,
            account,
            limits,
            contract_wallets: shared.contract_wallets,
            outbox: shared.outbox.clone(),
            clock: shared.clock.clone(),
            receipt_time: shared.receipt_time,
            commands,
            wallet_questions: WalletQuestions::new(shared.clock.clone()),
            turns: Semaphore::new(SIMULATIONS_MAX),
        };
        (settler, Sender::new(parts, received))
    }

    pub(super) fn address(&self) -> EvmAddress {
        self.account.address
    }

    /// Waits until the node may be asked about one more payment.
    pub(super) async fn turn(&self) -> Result<SemaphorePermit<'_>, Rejection> {
        match timeout(TURN_TIME, self.turns.acquire()).await {
            Ok(Ok(turn)) => Ok(turn),
            Ok(Err(_)) | Err(_) => Err(Rejection::Unavailable),
        }
    }

    /// Whether the contract would do it now, whatever gas costs.
    pub(super) async fn try_call(&self, call: &PaymentCall) -> Result<(), Unready> {
        let PaymentCall { to, data, .. } = call;
        let simulated = Simulated { from: self.address(), to: *to, data, fees: None };
        Ok(self.chain.node.simulate(&simulated, LATEST).await.map(drop)?)
    }

    /// Tries a call as the transaction that would make it, with its sender and its fees.
    pub(super) async fn simulate(&self, call: &PaymentCall) -> Result<PreparedCall, Unready> {
        let own = self.address();
        let GasTerms { quote, balance } = self.chain.terms(own, TERMS_LIFE).await?;
        let (quote, balance, offered) = match self.offer(quote, balance) {
            Ok(offered) => (quote, balance, offered),
            // Before a payment is refused, what was remembered is asked for again.
            Err(_) => {
                let GasTerms { quote, balance } = self.chain.terms(own, Duration::ZERO).await?;
                (quote, balance, self.offer(quote, balance)?)
            }
        };
        let Fees { most: max, tip: priority } = offered;
        let fees = Some(SimulatedFees { max, priority });
        let affordable = |gas: u64| balance >= max.saturating_mul(gas.into());
        // An estimate runs the call, and fails as the call does.
        let simulated = Simulated { from: own, to: call.to, data: &call.data, fees };
        let (code, gas) = tokio::join!(
            self.chain.node.code(call.payer, LATEST),
            self.chain.node.estimate(&simulated)
        );
        let code = if code?.is_empty() { AccountCode::None } else { AccountCode::Present };
        self.admits(code, call.payer).await?;
        let gas = gas?;
        // A quarter more: until it is mined, others may have changed what it touches.
        let gas = gas.saturating_add(gas / 4);
        if gas > self.limits.gas_max {
            return Err(Unready::TooDear);
        }
        if !affordable(gas) {
            return Err(Unready::NoFunds);
        }
        Ok(PreparedCall::new(quote.head, own, gas, code))
    }

    /// What we offer for gas, if the operator allows it and the account can pay it: a node
    /// takes no call with fees from an account that cannot.
    fn offer(&self, quote: Quote, balance: u128) -> Result<Fees, Unready> {
        let fees = quote.offer(self.limits.fee_cap, None).ok_or(Unready::TooDear)?;
        if balance < fees.most.saturating_mul(INTRINSIC_GAS.into()) {
            return Err(Unready::NoFunds);
        }
        Ok(fees)
    }

    /// Code can behave differently in a block than in a simulation, and then we pay the gas.
    async fn admits(&self, code: AccountCode, payer: EvmAddress) -> Result<(), Unready> {
        match (code, self.contract_wallets) {
            (AccountCode::None, _) => return Ok(()),
            (AccountCode::Present, ContractWallets::Refused) => return Err(Unready::CodeRefused),
            (AccountCode::Present, ContractWallets::Accepted) => {}
        }
        let since = self.clock.now().0.saturating_sub(super::WALLET_REFUSED_SECONDS);
        let failures = self.outbox.failures(self.account, Timestamp(since)).await;
        let failures = failures.map_err(|_| Unready::Store)?;
        if failures.iter().any(|failure| failure.payer == payer) {
            return Err(Unready::CodeFailed);
        }
        Ok(())
    }

    /// Hands a prepared call to the sender and waits for its block.
    pub(super) async fn settle(
        &self,
        call: PaymentCall,
        prepared: &PreparedCall,
        paid: &Paid<'_>,
    ) -> Result<Moved, Unpaid> {
        let key = call.key;
        let Some(gas) = prepared.gas else {
            return Err(Unpaid::Unknown("nothing to send".to_owned()));
        };
        let PaymentCall { payer, to, data, deadline, .. } = call;
        let code = prepared.code;
        let request = SettlementRequest { key, payer, code, to, data, gas, deadline };
        match self.outcome(request).await {
            SenderOutcome::Mined(mined) => match self.judge(&mined, paid).await {
                Ok(Some(Judged::Paid(moved))) => Ok(moved),
                Ok(Some(Judged::Failed(_))) => self.failed(key, paid).await,
                Ok(Some(Judged::NotShown)) => {
                    Err(Unpaid::Unknown("its transaction shows no payment".to_owned()))
                }
                Ok(None) => Err(Unpaid::Unknown("its block was replaced".to_owned())),
                Err(why) => Err(Unpaid::Unknown(why.to_string())),
            },
            SenderOutcome::NotSent(reason) => match self.sent(key).await {
                Ok(sent) if sent.is_empty() => Err(Unpaid::NeverSent(reason)),
                Ok(_) | Err(_) => self.failed(key, paid).await,
            },
            SenderOutcome::Unknown(why) => Err(Unpaid::Unknown(why.to_owned())),
        }
    }

    /// What a transaction in a block proves. The sender has seen the block of most payments.
    async fn judge(
        &self,
        MinedTransaction { receipt, in_block }: &MinedTransaction,
        paid: &Paid<'_>,
    ) -> Result<Option<Judged>, NoAnswer> {
        match in_block {
            Some((at, finality)) if receipt.outcome == Outcome::Succeeded && paid(receipt) => {
                let transaction = receipt.transaction.to_string();
                let (at, finality) = (*at, *finality);
                Ok(Some(Judged::Paid(Moved { transaction, at, finality })))
            }
            Some(_) | None => self.chain.judge(receipt, paid).await,
        }
    }

    /// One transaction has failed, or none more is signed: what all of them say together.
    async fn failed(&self, key: PaymentKey, paid: &Paid<'_>) -> Result<Moved, Unpaid> {
        let unknown = |why: &str| Err(Unpaid::Unknown(why.to_owned()));
        // Nothing more may be signed for it once it is called refused.
        match self.withdraw(key).await {
            Withdrawal::Withdrawn | Withdrawal::NotQueued => {}
            Withdrawal::Unknown => return unknown("it may still be sent"),
        }
        let Ok(sent) = self.sent(key).await else { return unknown("the outbox did not answer") };
        match self.chain.look(&sent, paid).await {
            Ok(Seen::Paid(moved)) => Ok(moved),
            Ok(Seen::Failed(Finality::Final)) => {
                Err(Unpaid::Reverted("the transaction was reverted".to_owned()))
            }
            Ok(Seen::Failed(Finality::Provisional)) => {
                unknown("reverted, in a block that may not stay")
            }
            Ok(Seen::Nothing) => unknown("a transaction is in no block"),
            Err(why) => unknown(&why.to_string()),
        }
    }

    async fn outcome(&self, request: SettlementRequest) -> SenderOutcome {
        const STOPPED: SenderOutcome = SenderOutcome::Unknown("the sender has stopped");
        let key = request.key;
        let (answer, answered) = oneshot::channel();
        let command = Command::Settle { request: Box::new(request), answer };
        if self.commands.send(command).is_err() {
            return STOPPED;
        }
        let milliseconds = u64::try_from(self.receipt_time.as_millis()).unwrap_or(u64::MAX);
        tokio::select! {
            biased;
            outcome = answered => return outcome.unwrap_or(STOPPED),
            _ = self.clock.moment(milliseconds) => {}
        }
        // What has no nonce by now is taken back, so that it certainly moves nothing.
        match self.withdraw(key).await {
            Withdrawal::Withdrawn => SenderOutcome::NotSent(NotSentReason::TimedOut),
            Withdrawal::NotQueued | Withdrawal::Unknown => {
                SenderOutcome::Unknown("no receipt in time")
            }
        }
    }

    async fn withdraw(&self, key: PaymentKey) -> Withdrawal {
        let (answer, answered) = oneshot::channel();
        if self.commands.send(Command::Withdraw { key, answer }).is_err() {
            return Withdrawal::Unknown;
        }
        answered.await.unwrap_or(Withdrawal::Unknown)
    }

    /// Every transaction that was ever signed for a payment.
    pub(super) async fn sent(&self, key: PaymentKey) -> Result<Vec<SentTransactions>, NoAnswer> {
        self.outbox.transactions(&[key]).await.map_err(|_| NoAnswer::Unusable)
    }
}

/// No transaction takes less gas.
const INTRINSIC_GAS: u64 = 21_000;
