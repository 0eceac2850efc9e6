//! The chain of the model: a pool that forgets, blocks that are replaced, and a record of what was sent.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use alloy_primitives::{B256, Bytes, keccak256};
use async_trait::async_trait;
use evm::rlp::{self, RlpItem};
use order::model::chain::EvmAddress;
use order::model::payment::PaymentKey;
use order::testing::fakes::fault_schedule::SeededRng;
use order::testing::simulation::executor::ExecutorHandle;

use super::report::{SenderBreach, locked};
use crate::http::{CallError, CallErrorKind};
use crate::rpc::{
    AccountProgress, BlockHead, NodeError, ReceiptStatus, SendError, SendOutcome,
    TransactionReceipt, TransactionRejection,
};
use crate::settlement::fees::{GasPrice, GasTerms};
use crate::settlement::outbox::MemoryOutbox;
use crate::settlement::sender::ChainNode;

/// Blocks stay once this many others stand on them.
const FINAL_DEPTH: usize = 3;
/// The chain's time at the beginning of a scenario, in seconds.
pub(super) const BEGIN: u64 = 1_000_000;
const BLOCK_MILLISECONDS: u64 = 500;

pub(super) struct ModelChain {
    executor: Arc<ExecutorHandle>,
    faults_end: u64,
    state: Mutex<State>,
}

struct State {
    rng: SeededRng,
    pool: BTreeMap<u64, Waiting>,
    blocks: Vec<Block>,
    outbox: Option<Arc<MemoryOutbox>>,
    sent: HashMap<B256, ModelTransaction>,
    by_nonce: BTreeMap<u64, BTreeSet<PaymentKey>>,
    by_payment: HashMap<PaymentKey, BTreeSet<u64>>,
    failing: BTreeSet<PaymentKey>,
    /// Nonces that were in a block at any time.
    used: BTreeSet<u64>,
    breaches: BTreeMap<SenderBreach, u64>,
    reorganisations: u64,
    replacements: u64,
}

struct Waiting {
    transaction: ModelTransaction,
    stranded: bool,
}

#[derive(Clone)]
struct ModelTransaction {
    hash: B256,
    nonce: u64,
    max_fee: u128,
    /// None for an empty transaction.
    payment: Option<PaymentKey>,
}

struct Block {
    hash: B256,
    timestamp: u64,
    transactions: Vec<(ModelTransaction, ReceiptStatus)>,
}

impl ModelChain {
    pub(super) fn new(executor: Arc<ExecutorHandle>, rng: SeededRng, faults_end: u64) -> Self {
        let genesis = Block { hash: B256::ZERO, timestamp: BEGIN, transactions: Vec::new() };
        let state = State {
            rng,
            pool: BTreeMap::new(),
            blocks: vec![genesis],
            outbox: None,
            sent: HashMap::new(),
            by_nonce: BTreeMap::new(),
            by_payment: HashMap::new(),
            failing: BTreeSet::new(),
            used: BTreeSet::new(),
            breaches: BTreeMap::new(),
            reorganisations: 0,
            replacements: 0,
        };
        Self { executor, faults_end, state: Mutex::new(state) }
    }

    /// Whose rows must be there before a transaction is sent.
    pub(super) fn watch(&self, outbox: Arc<MemoryOutbox>) {
        locked(&self.state).outbox = Some(outbox);
    }

    /// A payment that passes every simulation and fails in every block.
    pub(super) fn let_fail(&self, key: PaymentKey) {
        locked(&self.state).failing.insert(key);
    }

    pub(super) fn has_moved(&self, key: PaymentKey) -> bool {
        locked(&self.state).has_moved(key)
    }

    pub(super) fn is_failing(&self, key: PaymentKey) -> bool {
        locked(&self.state).failing.contains(&key)
    }

    pub(super) fn was_sent(&self, key: PaymentKey) -> bool {
        locked(&self.state).by_payment.contains_key(&key)
    }

    pub(super) fn time(&self) -> u64 {
        BEGIN + self.executor.elapsed() / 1_000
    }

    pub(super) fn counts(&self) -> (u64, u64, BTreeMap<SenderBreach, u64>) {
        let state = locked(&self.state);
        (state.reorganisations, state.replacements, state.breaches.clone())
    }

    /// Makes blocks for ever, and sometimes replaces the newest.
    pub(super) async fn make_blocks(self: Arc<Self>) {
        loop {
            self.executor.sleep(BLOCK_MILLISECONDS).await;
            let (time, faulty) = (self.time(), self.is_faulty());
            let mut state = locked(&self.state);
            if faulty && state.rng.below(20) == 0 {
                state.reorganise();
            }
            if faulty && state.rng.below(40) == 0 {
                state.pool.clear();
            }
            state.make_block(time);
        }
    }

    fn is_faulty(&self) -> bool {
        self.executor.elapsed() < self.faults_end
    }

    async fn travel(&self) {
        let time = locked(&self.state).rng.below(20);
        self.executor.sleep(1 + time).await;
    }

    /// Whether the call, or its answer, is lost.
    fn fault(&self, one_in: u64) -> bool {
        self.is_faulty() && locked(&self.state).rng.below(one_in) == 0
    }
}

impl State {
    fn mined_count(&self) -> u64 {
        let count = self.blocks.iter().map(|block| block.transactions.len()).sum::<usize>();
        u64::try_from(count).expect("a count fits 64 bits")
    }

    fn has_moved(&self, key: PaymentKey) -> bool {
        self.outcomes().any(|(transaction, outcome)| {
            transaction.payment == Some(key) && *outcome == ReceiptStatus::Succeeded
        })
    }

    fn outcomes(&self) -> impl Iterator<Item = &(ModelTransaction, ReceiptStatus)> {
        self.blocks.iter().flat_map(|block| &block.transactions)
    }

    fn make_block(&mut self, timestamp: u64) {
        let mut transactions = Vec::new();
        let mut nonce = self.mined_count();
        while self.pool.get(&nonce).is_some_and(|waiting| !waiting.stranded) {
            let Some(Waiting { transaction, .. }) = self.pool.remove(&nonce) else { break };
            let fails = transaction.payment.is_some_and(|key| {
                let moved =
                    |(other, _): &(ModelTransaction, ReceiptStatus)| other.payment == Some(key);
                self.failing.contains(&key) || self.has_moved(key) || transactions.iter().any(moved)
            });
            let outcome = if fails { ReceiptStatus::Reverted } else { ReceiptStatus::Succeeded };
            transactions.push((transaction, outcome));
            self.used.insert(nonce);
            nonce += 1;
        }
        let salt = self.rng.next_u64().to_be_bytes();
        self.blocks.push(Block { hash: keccak256(salt), timestamp, transactions });
    }

    fn reorganise(&mut self) {
        if self.blocks.len() <= FINAL_DEPTH {
            return;
        }
        self.reorganisations += 1;
        let Some(taken) = self.blocks.pop() else { return };
        let back = self.rng.below(2) == 0;
        for (transaction, _) in taken.transactions {
            if back {
                let nonce = transaction.nonce;
                self.pool.insert(nonce, Waiting { transaction, stranded: false });
            }
        }
        let salt = self.rng.next_u64().to_be_bytes();
        let empty =
            Block { hash: keccak256(salt), timestamp: taken.timestamp, transactions: Vec::new() };
        self.blocks.push(empty);
    }

    fn breach(&mut self, breach: SenderBreach) {
        *self.breaches.entry(breach).or_default() += 1;
    }

    /// What the rules say about a transaction that has just left a process.
    fn audit(&mut self, transaction: &ModelTransaction) {
        if self.sent.contains_key(&transaction.hash) {
            return;
        }
        let committed =
            self.outbox.as_ref().is_none_or(|outbox| outbox.has_transaction(transaction.hash));
        if !committed {
            self.breach(SenderBreach::SentBeforeCommit);
        }
        let nonce = transaction.nonce;
        let before = nonce.checked_sub(1);
        if before.is_some_and(|before| !self.by_nonce.contains_key(&before)) {
            self.breach(SenderBreach::SentOutOfOrder);
        }
        if self.by_nonce.contains_key(&nonce) {
            self.replacements += 1;
        }
        let known = self.by_nonce.entry(nonce).or_default();
        if let Some(key) = transaction.payment {
            known.insert(key);
            let shared = known.len() > 1;
            let earlier = self.by_payment.entry(key).or_default();
            let is_new = earlier.insert(nonce);
            // One that failed in a block may be tried again, even if that block is replaced.
            let live =
                is_new && earlier.iter().any(|other| *other != nonce && !self.used.contains(other));
            if shared {
                self.breach(SenderBreach::NonceShared);
            }
            if live {
                self.breach(SenderBreach::SecondNonce);
            }
        }
        self.sent.insert(transaction.hash, transaction.clone());
    }

    fn take(
        &mut self,
        transaction: ModelTransaction,
        stranded: bool,
    ) -> Result<SendOutcome, SendError> {
        if transaction.nonce < self.mined_count() {
            return Err(SendError::TransactionRejection(TransactionRejection::NonceTooLow));
        }
        if let Some(known) = self.pool.get(&transaction.nonce) {
            if known.transaction.hash == transaction.hash {
                return Ok(SendOutcome::AlreadyKnown);
            }
            if transaction.max_fee * 10 < known.transaction.max_fee * 11 {
                return Err(SendError::TransactionRejection(TransactionRejection::Outbid));
            }
        }
        self.pool.insert(transaction.nonce, Waiting { transaction, stranded });
        Ok(SendOutcome::Accepted)
    }

    fn head(&self, number: usize) -> BlockHead {
        let block = &self.blocks[number];
        let parent = number.checked_sub(1).map_or(B256::ZERO, |parent| self.blocks[parent].hash);
        let number = u64::try_from(number).expect("a count fits 64 bits");
        BlockHead { number, hash: block.hash, parent, timestamp: block.timestamp }
    }

    fn receipt(&self, hash: B256) -> Option<TransactionReceipt> {
        self.blocks.iter().zip(0_u64..).find_map(|(block, number)| {
            let found = block.transactions.iter().find(|(one, _)| one.hash == hash)?;
            let (transaction, outcome) = (found.0.hash, found.1);
            Some(TransactionReceipt {
                transaction,
                block: number,
                block_hash: block.hash,
                outcome,
                logs: Vec::new(),
                sender: None,
                fee_wei: None,
            })
        })
    }
}

#[async_trait]
impl ChainNode for ModelChain {
    async fn send_all(&self, raws: &[Bytes]) -> Vec<Result<SendOutcome, SendError>> {
        let lost = || SendError::Lost(NodeError::Http(CallError::Lost(CallErrorKind::TimedOut)));
        self.travel().await;
        if self.fault(12) {
            let unheard = NodeError::Http(CallError::Refused(CallErrorKind::Unconnected));
            return raws.iter().map(|_| Err(SendError::NotSent(unheard.clone()))).collect();
        }
        let mut answers = Vec::new();
        for raw in raws {
            let transaction = read(raw);
            let (drop, strand) = (self.fault(8), self.fault(15));
            let mut state = locked(&self.state);
            state.audit(&transaction);
            answers.push(if drop {
                Ok(SendOutcome::Accepted)
            } else {
                state.take(transaction, strand)
            });
        }
        self.travel().await;
        if self.fault(10) {
            return raws.iter().map(|_| Err(lost())).collect();
        }
        answers
    }

    async fn progress(
        &self,
        _of: EvmAddress,
        hashes: &[B256],
    ) -> Result<AccountProgress, NodeError> {
        self.travel().await;
        if self.fault(8) {
            return Err(NodeError::Http(CallError::Lost(CallErrorKind::TimedOut)));
        }
        let state = locked(&self.state);
        let receipts = hashes.iter().map(|hash| state.receipt(*hash)).collect();
        let head = state.head(state.blocks.len() - 1);
        Ok(AccountProgress { head, mined: state.mined_count(), receipts })
    }

    async fn blocks(&self, numbers: &[u64]) -> Result<Vec<Option<BlockHead>>, NodeError> {
        self.travel().await;
        if self.fault(8) {
            return Err(NodeError::Http(CallError::Lost(CallErrorKind::TimedOut)));
        }
        let state = locked(&self.state);
        let known = |number: &u64| {
            let number = usize::try_from(*number).ok()?;
            (number < state.blocks.len()).then(|| state.head(number))
        };
        Ok(numbers.iter().map(known).collect())
    }

    async fn terms(&self, _own: EvmAddress) -> Result<GasTerms, NodeError> {
        self.travel().await;
        if self.fault(15) {
            return Err(NodeError::Unusable);
        }
        let head = u64::try_from(locked(&self.state).blocks.len()).unwrap_or_default();
        let gas_price = GasPrice { base: 1_000, tip: 100, head };
        Ok(GasTerms { gas_price, balance: u128::from(u64::MAX) })
    }

    async fn final_head(&self) -> Result<BlockHead, NodeError> {
        self.travel().await;
        let state = locked(&self.state);
        Ok(state.head((state.blocks.len() - 1).saturating_sub(FINAL_DEPTH)))
    }

    async fn empty_gas(&self, _own: EvmAddress) -> Result<u64, NodeError> {
        Ok(21_000)
    }
}

/// Reads what the model needs of an EIP-1559 transaction: nonce, maximum fee and data. The
/// signature is not checked, because the model reads the same bytes very often.
fn read(raw: &[u8]) -> ModelTransaction {
    let Ok(RlpItem::List(items)) = rlp::decode(&raw[1..]) else {
        unreachable!("the sender signs transactions only")
    };
    let number = |item: &RlpItem| {
        let word = item.as_number().expect("a number");
        u128::from_be_bytes(*word.last_chunk().expect("a word has 32 bytes"))
    };
    let nonce = u64::try_from(number(&items[1])).expect("a nonce fits 64 bits");
    let data = items[7].as_bytes().expect("data is a byte string");
    let (hash, payment) = (keccak256(raw), data.try_into().ok().map(PaymentKey));
    ModelTransaction { hash, nonce, max_fee: number(&items[3]), payment }
}
