//! The settler of one network: simulates a call, passes it to the sender, waits for its block.

use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::Bytes;
use order::model::chain::{EvmAddress, Network};
use order::model::ids::Timestamp;
use order::model::payment::{Finality, PaymentKey};
use order::ports::Clock;
use order::tender::{Rejection, Unsettled};
use pay::transfer::ConfirmedTransfer;
use tokio::sync::{Semaphore, SemaphorePermit, mpsc, oneshot};
use tokio::time::timeout;

use super::chain::{Chain, LATEST, PaymentReceipts, PaymentTest, ReceiptProof};
use super::fees::{Fees, GasPrice, GasTerms};
use super::limits::{ContractWallets, SettlerLimits, TERMS_LIFE, WALLET_REFUSED_SECONDS};
use super::outbox::{
    AccountCode, Outbox, SenderAccount, SentTransactions, SettlementRequest, Withdrawal,
};
use super::preparation::PreparedCall;
use super::sender::{Command, NotSentReason, Sender, SenderOutcome, SenderParts};
use super::transaction::TransactionSigner;
use crate::payer_accounts::PayerAccounts;
use crate::permit2::x402_signature::SignatureCheck;
use crate::rpc::{NodeError, SimulatedCall, SimulatedFees};

/// The most payments that are simulated at once. A node that gets the calls of a thousand
/// payments together answers all of them late.
const SIMULATIONS_MAX: usize = 64;
/// How long a payment waits for a simulation. Nothing was sent by then.
const SIMULATION_WAIT: Duration = Duration::from_secs(10);

/// One account on one network.
pub(super) struct NetworkSettler {
    pub(super) chain: Arc<Chain>,
    account: SenderAccount,
    limits: SettlerLimits,
    contract_wallets: ContractWallets,
    outbox: Arc<dyn Outbox>,
    clock: Arc<dyn Clock>,
    receipt_time: Duration,
    commands: mpsc::UnboundedSender<Command>,
    pub(super) accounts: PayerAccounts,
    simulations: Semaphore,
}

/// A contract call of a payment.
pub(super) struct PaymentCall {
    pub(super) key: PaymentKey,
    pub(super) payer: EvmAddress,
    pub(super) to: EvmAddress,
    pub(super) data: Vec<u8>,
    /// The last block time at which it is valid.
    pub(super) deadline: u64,
}

/// Why a call cannot be prepared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PrepareError {
    /// The contract reverts.
    Reverted(Bytes),
    Node(NodeError),
    /// The outbox did not answer.
    Store,
    /// Gas costs more than the limit.
    TooDear,
    /// The account cannot pay for it.
    NoFunds,
    /// The payer is a contract wallet, and those are refused.
    CodeRefused,
    /// The payer is a contract wallet whose last payment failed in a block.
    CodeFailed,
}

impl From<NodeError> for PrepareError {
    fn from(why: NodeError) -> Self {
        match why {
            NodeError::Reverted(bytes) => Self::Reverted(bytes),
            NodeError::OutOfGas => Self::TooDear,
            NodeError::Http(_)
            | NodeError::Refused(_)
            | NodeError::Unusable
            | NodeError::UnknownBlock
            | NodeError::OtherChain(_) => Self::Node(why),
        }
    }
}

/// Why a settlement has no paying receipt.
pub(super) enum SettleFailure {
    /// No transaction for this payment was ever sent.
    NeverSent(NotSentReason),
    /// All its transactions failed in final blocks.
    Reverted(String),
    /// It may still pay.
    Unknown(String),
}

impl SettleFailure {
    pub(super) fn reason(self) -> String {
        match self {
            Self::NeverSent(reason) => reason.to_string(),
            Self::Reverted(why) | Self::Unknown(why) => why,
        }
    }
}

/// For a payment that only we can send: a final failure refuses it.
impl From<SettleFailure> for Unsettled {
    fn from(unpaid: SettleFailure) -> Self {
        match unpaid {
            SettleFailure::NeverSent(reason) => Self::Withdrawn(reason.to_string()),
            SettleFailure::Reverted(why) => Self::Refused(why),
            // mutant: unknown-is-refused
            SettleFailure::Unknown(why) => Self::Lost(why),
        }
    }
}

/// What every network shares.
pub(super) struct SharedParts {
    pub(super) signer: Arc<TransactionSigner>,
    pub(super) outbox: Arc<dyn Outbox>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) contract_wallets: ContractWallets,
    pub(super) receipt_time: Duration,
}

impl NetworkSettler {
    /// The settler of one network, and its sender, which the caller runs.
    pub(super) fn new(
        network: Network,
        chain: Chain,
        limits: SettlerLimits,
        shared: &SharedParts,
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
            accounts: PayerAccounts::new(shared.clock.clone()),
            simulations: Semaphore::new(SIMULATIONS_MAX),
        };
        (settler, Sender::new(parts, received))
    }

    pub(super) fn address(&self) -> EvmAddress {
        self.account.address
    }

    /// Waits until one more payment may be simulated.
    pub(super) async fn simulation_permit(&self) -> Result<SemaphorePermit<'_>, Rejection> {
        match timeout(SIMULATION_WAIT, self.simulations.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) | Err(_) => Err(Rejection::Unavailable),
        }
    }

    /// The check of signatures that no key of a payer made.
    pub(super) fn signatures(&self) -> SignatureCheck<'_> {
        SignatureCheck {
            node: &self.chain.node,
            accounts: &self.accounts,
            contract_wallets: self.contract_wallets,
            gas_max: self.limits.gas_max,
        }
    }

    /// Simulates a call without fees.
    pub(super) async fn try_call(&self, call: &PaymentCall) -> Result<(), PrepareError> {
        let PaymentCall { to, data, .. } = call;
        let (from, gas) = (self.address(), Some(self.limits.gas_max));
        let simulated = SimulatedCall { from, to: *to, data, fees: None, gas };
        Ok(self.chain.node.simulate(&simulated, LATEST).await.map(drop)?)
    }

    /// Simulates a call with the sender and the fees of its transaction.
    pub(super) async fn simulate(&self, call: &PaymentCall) -> Result<PreparedCall, PrepareError> {
        let own = self.address();
        let GasTerms { gas_price, balance } = self.chain.terms(own, TERMS_LIFE).await?;
        let (gas_price, balance, offered) = match self.offer(gas_price, balance) {
            Ok(offered) => (gas_price, balance, offered),
            // Before a payment is refused, the cached terms are read again.
            Err(_) => {
                let GasTerms { gas_price, balance } = self.chain.terms(own, Duration::ZERO).await?;
                (gas_price, balance, self.offer(gas_price, balance)?)
            }
        };
        let Fees { most: max, tip: priority } = offered;
        let fees = Some(SimulatedFees { max, priority });
        let affordable = |gas: u64| balance >= max.saturating_mul(gas.into());
        // An estimate runs the call, and fails as the call does.
        // A payer's code runs as long as its gas lasts, so no more than may be paid is simulated.
        // Some nodes refuse an estimate with gas that the account cannot pay.
        let gas_max = self.limits.gas_max;
        let payable = u64::try_from(balance / max.max(1)).unwrap_or(u64::MAX);
        let gas = Some(gas_max.min(payable));
        let simulated = SimulatedCall { from: own, to: call.to, data: &call.data, fees, gas };
        let (code, gas) = tokio::join!(
            self.chain.node.code(call.payer, LATEST),
            self.chain.node.estimate(&simulated)
        );
        let code = AccountCode::of(&code?);
        self.accounts.saw(call.payer, code);
        self.admits(code, call.payer).await?;
        let gas = match gas {
            Err(NodeError::OutOfGas) if payable < gas_max => return Err(PrepareError::NoFunds),
            gas => gas?,
        };
        // 25 % more: the state may change until it is mined.
        let gas = gas.saturating_add(gas / 4);
        if gas > gas_max {
            return Err(PrepareError::TooDear);
        }
        if !affordable(gas) {
            return Err(PrepareError::NoFunds);
        }
        Ok(PreparedCall::new(gas_price.head, own, gas, code))
    }

    /// The fees that we offer, if they are within the limit and the balance. Nodes reject calls
    /// with fees that the account cannot pay.
    fn offer(&self, gas_price: GasPrice, balance: u128) -> Result<Fees, PrepareError> {
        let fees = gas_price.offer(self.limits.fee_cap, None).ok_or(PrepareError::TooDear)?;
        if balance < fees.most.saturating_mul(INTRINSIC_GAS.into()) {
            return Err(PrepareError::NoFunds);
        }
        Ok(fees)
    }

    /// Code can behave differently in a block than in a simulation, and then we pay the gas.
    async fn admits(&self, code: AccountCode, payer: EvmAddress) -> Result<(), PrepareError> {
        match (code, self.contract_wallets) {
            (AccountCode::None, _) => return Ok(()),
            (AccountCode::Present, ContractWallets::Refused) => {
                return Err(PrepareError::CodeRefused);
            }
            (AccountCode::Present, ContractWallets::Accepted) => {}
        }
        let since = self.clock.now().0.saturating_sub(WALLET_REFUSED_SECONDS);
        let failures = self.outbox.failures(self.account, Timestamp(since)).await;
        let failures = failures.map_err(|_| PrepareError::Store)?;
        if failures.iter().any(|failure| failure.payer == payer) {
            return Err(PrepareError::CodeFailed);
        }
        Ok(())
    }

    /// Passes a prepared call to the sender and waits for its block.
    pub(super) async fn settle(
        &self,
        call: PaymentCall,
        prepared: &PreparedCall,
        paid: &PaymentTest<'_>,
    ) -> Result<ConfirmedTransfer, SettleFailure> {
        let key = call.key;
        let Some(gas) = prepared.gas else {
            return Err(SettleFailure::Unknown("nothing to send".to_owned()));
        };
        let PaymentCall { payer, to, data, deadline, .. } = call;
        let code = prepared.code;
        let request = SettlementRequest { key, payer, code, to, data, gas, deadline };
        let settled = match self.outcome(request).await {
            SenderOutcome::Mined(mined) => {
                match self.chain.prove(&mined.receipt, mined.in_block, paid).await {
                    Ok(Some(ReceiptProof::Paid(moved))) => Ok(moved),
                    Ok(Some(ReceiptProof::Failed(_))) => self.failed(key, paid).await,
                    Ok(Some(ReceiptProof::NotShown)) => {
                        Err(SettleFailure::Unknown("its transaction shows no payment".to_owned()))
                    }
                    Ok(None) => Err(SettleFailure::Unknown("its block was replaced".to_owned())),
                    Err(why) => Err(SettleFailure::Unknown(why.to_string())),
                }
            }
            SenderOutcome::NotSent(reason) => match self.sent(key).await {
                Ok(sent) if sent.is_empty() => Err(SettleFailure::NeverSent(reason)),
                Ok(_) | Err(_) => self.failed(key, paid).await,
            },
            SenderOutcome::Unknown(why) => Err(SettleFailure::Unknown(why.to_owned())),
        };
        if settled.is_ok() && code == AccountCode::Present {
            self.accounts.paid(payer);
        }
        settled
    }

    /// One transaction has failed, or none more is signed: looks at all of them.
    async fn failed(
        &self,
        key: PaymentKey,
        paid: &PaymentTest<'_>,
    ) -> Result<ConfirmedTransfer, SettleFailure> {
        let unknown = |why: &str| Err(SettleFailure::Unknown(why.to_owned()));
        // Nothing more may be signed for a refused payment.
        match self.withdraw(key).await {
            Withdrawal::Withdrawn | Withdrawal::NotQueued => {}
            Withdrawal::Unknown => return unknown("it may still be sent"),
        }
        let Ok(sent) = self.sent(key).await else { return unknown("the outbox did not answer") };
        match self.chain.look(&sent, paid).await {
            Ok(PaymentReceipts::Paid(moved)) => Ok(moved),
            Ok(PaymentReceipts::Failed(Finality::Final)) => {
                Err(SettleFailure::Reverted("the transaction was reverted".to_owned()))
            }
            Ok(PaymentReceipts::Failed(Finality::Provisional)) => {
                unknown("reverted, in a block that may not stay")
            }
            Ok(PaymentReceipts::Nothing) => unknown("a transaction is in no block"),
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
        // A request without a nonce is withdrawn, so that it certainly moves nothing.
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

    /// Every transaction that was signed for a payment, unless it ended long ago.
    pub(super) async fn sent(&self, key: PaymentKey) -> Result<Vec<SentTransactions>, NodeError> {
        self.outbox.transactions(&[key]).await.map_err(|_| NodeError::Unusable)
    }
}

/// The gas of the smallest transaction.
const INTRINSIC_GAS: u64 = 21_000;
