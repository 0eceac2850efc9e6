//! One chain: blocks, state and transaction pool.

pub(crate) mod block;
mod impersonation;
pub(crate) mod pool;
pub(crate) mod state;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use alloy_primitives::{Address, B256, Bytes, U256};

use crate::chain::clock::ChainClock;
use crate::chain::contracts;
use crate::chain::contracts::env::{CallEnv, CallExecution, Revert};
use crate::chain::contracts::registry::at;
use crate::chain::ens::names::NameRegistry;
use crate::chain::network::ChainId;
use crate::chain::node::block::{EmulatedBlock, Mined, MinedOutcome};
use crate::chain::node::pool::{Pool, PoolAdmission, SenderState};
use crate::chain::node::state::{Changes, Slot, State, StateView};
use crate::chain::transaction::Transaction;

/// Number of blocks kept; older ones are pruned.
const HISTORY: usize = 4_096;
/// Maximum number of transactions in a block.
const BLOCK_ROOM: usize = 256;
pub(crate) const BLOCK_GAS: u64 = 30_000_000;
/// The first block number: large enough for confirmation depths.
const FIRST_BLOCK: u64 = 1_000;

/// When blocks are mined. There is no timer: due blocks are mined at the next read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MiningMode {
    /// One block per transaction, and an empty block every `heartbeat` seconds, so that the
    /// chain's time advances. 0: no empty blocks.
    OnArrival { heartbeat: u64 },
    /// One block every `seconds` seconds, with the pending transactions.
    Every { seconds: u64 },
    /// Only on command.
    Held,
}

/// How many blocks the tags lag behind the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TagDepths {
    pub safe: u64,
    pub finalized: u64,
}

/// What happens to the transactions of blocks that a reorganisation removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReorgedTransactions {
    /// They are dropped, as if never sent.
    Dropped,
    /// They are pending again and go into the next block.
    Waiting,
    /// They are in the first of the new blocks.
    MinedAgain,
}

pub(crate) struct EmulatedNode {
    pub(crate) chain: ChainId,
    pub(crate) mining: MiningMode,
    pub(crate) depths: TagDepths,
    pub(crate) base_fee: U256,
    pub(crate) pool: Pool,
    clock: Arc<ChainClock>,
    state: State,
    blocks: VecDeque<EmulatedBlock>,
    places: HashMap<B256, (u64, usize)>,
    /// Transactions that will revert in their block.
    failing: HashSet<B256>,
    salt: u64,
}

impl EmulatedNode {
    pub(crate) fn new(
        chain: ChainId,
        clock: Arc<ChainClock>,
        mining: MiningMode,
        depths: TagDepths,
    ) -> Self {
        let mut genesis = EmulatedBlock {
            number: FIRST_BLOCK,
            hash: B256::ZERO,
            parent: B256::ZERO,
            timestamp: clock.now(),
            base_fee: U256::from(10_000_000),
            transactions: Vec::new(),
            undo: Changes::new(),
        };
        genesis.seal(chain, 0);
        Self {
            chain,
            mining,
            depths,
            base_fee: genesis.base_fee,
            pool: Pool::default(),
            clock,
            state: State::default(),
            blocks: VecDeque::from([genesis]),
            places: HashMap::new(),
            failing: HashSet::new(),
            salt: 0,
        }
    }

    pub(crate) fn head(&self) -> &EmulatedBlock {
        // There is always one: pruning keeps at least one block.
        self.blocks.back().unwrap_or_else(|| unreachable!("a chain has a block"))
    }

    pub(crate) fn block(&self, number: u64) -> Option<&EmulatedBlock> {
        let first = self.blocks.front()?.number;
        self.blocks.get(usize::try_from(number.checked_sub(first)?).ok()?)
    }

    pub(crate) fn block_by_hash(&self, hash: B256) -> Option<&EmulatedBlock> {
        self.blocks.iter().rev().find(|block| block.hash == hash)
    }

    pub(crate) fn oldest(&self) -> u64 {
        self.blocks.front().map_or(0, |block| block.number)
    }

    pub(crate) fn mined(&self, hash: B256) -> Option<(&EmulatedBlock, usize)> {
        let (number, index) = *self.places.get(&hash)?;
        Some((self.block(number)?, index))
    }

    /// The state after this block, unless it is pruned.
    pub(crate) fn view(&self, number: u64) -> Option<StateView<'_>> {
        self.block(number)?;
        let mut past = Changes::new();
        for block in self.blocks.iter().rev().take_while(|block| block.number > number) {
            past.extend(block.undo.iter().map(|(slot, value)| (*slot, *value)));
        }
        Some(StateView::at(&self.state, past))
    }

    pub(crate) fn latest(&self) -> StateView<'_> {
        StateView::latest(&self.state)
    }

    pub(crate) fn nonce(&self, account: Address) -> u64 {
        u64::try_from(self.state.get(Slot::Nonce(account))).unwrap_or(u64::MAX)
    }

    /// Sets state directly, as if it had always been so: neither a historical read nor a
    /// reorganisation undoes it.
    pub(crate) fn place(&mut self, changes: Changes) {
        for block in &mut self.blocks {
            block.undo.retain(|slot, _| !changes.contains_key(slot));
        }
        self.state.apply(changes);
    }

    /// Mines the blocks that are due.
    pub(crate) fn tick(&mut self, names: &NameRegistry) {
        let now = self.clock.now();
        match self.mining {
            MiningMode::Held
            | MiningMode::OnArrival { heartbeat: 0 }
            | MiningMode::Every { seconds: 0 } => {}
            MiningMode::OnArrival { heartbeat } => {
                if now >= self.head().timestamp.saturating_add(heartbeat) {
                    self.mine(names, now);
                }
            }
            MiningMode::Every { seconds } => {
                // After a long pause the blocks in between are left out.
                let due = now.saturating_sub(self.head().timestamp) / seconds;
                for missing in (0..due.min(32)).rev() {
                    self.mine(names, now.saturating_sub(missing.saturating_mul(seconds)));
                }
            }
        }
    }

    pub(crate) fn submit(&mut self, names: &NameRegistry, raw: &[u8]) -> Result<B256, String> {
        self.submit_as(names, raw, PoolAdmission::Ready)
    }

    pub(crate) fn submit_as(
        &mut self,
        names: &NameRegistry,
        raw: &[u8],
        admission: PoolAdmission,
    ) -> Result<B256, String> {
        let transaction = Transaction::decode(raw)?;
        let (hash, chain_id) = (transaction.hash, transaction.chain_id);
        if chain_id != self.chain.number() {
            let want = self.chain.number();
            return Err(format!("invalid chain id for signer: have {chain_id} want {want}"));
        }
        if transaction.to.is_none() {
            return Err("the sandbox deploys no contracts".to_owned());
        }
        if transaction.gas > BLOCK_GAS {
            return Err("exceeds block gas limit".to_owned());
        }
        let need = intrinsic(&transaction.data);
        if transaction.gas < need {
            return Err(format!(
                "intrinsic gas too low: gas {}, minimum needed {need}",
                transaction.gas
            ));
        }
        if transaction.priority_fee > transaction.max_fee {
            return Err("max priority fee per gas higher than max fee per gas".to_owned());
        }
        let sender = SenderState {
            nonce: self.nonce(transaction.from),
            balance: self.state.get(Slot::Native(transaction.from)),
        };
        self.pool.add(Arc::new(transaction), &sender, admission)?;
        if admission == PoolAdmission::Ready && matches!(self.mining, MiningMode::OnArrival { .. })
        {
            let now = self.clock.now();
            self.mine(names, now);
        }
        Ok(hash)
    }

    /// Makes this transaction revert in its block.
    pub(crate) fn fail(&mut self, hash: B256) {
        self.failing.insert(hash);
    }

    pub(crate) fn mine_now(&mut self, names: &NameRegistry) {
        let now = self.clock.now();
        self.mine(names, now);
    }

    /// Mines one block, at this time or at that of its parent, whichever is later.
    fn mine(&mut self, names: &NameRegistry, time: u64) {
        let mut block = self.after_head(time);
        while block.transactions.len() < BLOCK_ROOM {
            let Some(next) = self.pool.next(self.base_fee, |account| self.nonce(account)) else {
                break;
            };
            self.pool.remove(&next);
            self.include(names, &mut block, next);
        }
        self.close(block);
    }

    fn after_head(&self, time: u64) -> EmulatedBlock {
        let head = self.head();
        EmulatedBlock {
            number: head.number + 1,
            hash: B256::ZERO,
            parent: head.hash,
            timestamp: head.timestamp.max(time),
            base_fee: self.base_fee,
            transactions: Vec::new(),
            undo: Changes::new(),
        }
    }

    fn close(&mut self, mut block: EmulatedBlock) {
        block.seal(self.chain, self.salt);
        for (index, mined) in block.transactions.iter().enumerate() {
            self.places.insert(mined.transaction.hash, (block.number, index));
            let (from, nonce) = (mined.transaction.from, mined.transaction.nonce);
            self.pool.forget_below(from, nonce.saturating_add(1));
        }
        self.blocks.push_back(block);
        while self.blocks.len() > HISTORY {
            for mined in self.blocks.pop_front().into_iter().flat_map(|old| old.transactions) {
                self.places.remove(&mined.transaction.hash);
            }
        }
    }

    /// Runs a transaction on top of the block so far.
    fn include(
        &mut self,
        names: &NameRegistry,
        block: &mut EmulatedBlock,
        transaction: Arc<Transaction>,
    ) {
        let (from, price) = (transaction.from, transaction.price(block.base_fee));
        let env = CallEnv {
            chain: self.chain,
            now: block.timestamp,
            names,
            gas_price: price,
            execution: CallExecution::Block,
            dispatch: contracts::call,
        };
        let must_fail = self.failing.remove(&transaction.hash);
        let mut view = StateView::latest(&self.state);
        view.set(Slot::Nonce(from), U256::from(transaction.nonce.saturating_add(1)));
        let before = view.gas();
        let spent = |view: &StateView<'_>| intrinsic(&transaction.data) + (view.gas() - before);
        let done = view.attempt(|view| {
            let done =
                if must_fail { Err(Revert::silent()) } else { run(view, &env, &transaction) };
            if spent(view) > transaction.gas { Err(Revert::silent()) } else { done.map(|_| ()) }
        });
        let gas_used = spent(&view).min(transaction.gas);
        let fee = price.saturating_mul(U256::from(gas_used));
        let left = view.peek(Slot::Native(from)).saturating_sub(fee);
        view.set(Slot::Native(from), left);
        let (changes, events) = view.into_parts();
        for (slot, old) in self.state.apply(changes) {
            block.undo.entry(slot).or_insert(old);
        }
        let outcome = if done.is_ok() { MinedOutcome::Succeeded } else { MinedOutcome::Reverted };
        block.transactions.push(Mined { transaction, outcome, gas_used, price, events });
    }

    /// Removes this many blocks and adds one more than that, because the longer chain wins.
    pub(crate) fn reorganise(
        &mut self,
        names: &NameRegistry,
        depth: u64,
        reorged: ReorgedTransactions,
    ) {
        let mut times = Vec::new();
        let mut taken = Vec::new();
        while u64::try_from(times.len()).is_ok_and(|count| count < depth) && self.blocks.len() > 1 {
            let Some(block) = self.blocks.pop_back() else { break };
            times.push(block.timestamp);
            self.state.apply(block.undo);
            for mined in block.transactions.into_iter().rev() {
                self.places.remove(&mined.transaction.hash);
                taken.push(mined.transaction);
            }
        }
        self.salt += 1;
        if reorged != ReorgedTransactions::Dropped {
            for transaction in taken.into_iter().rev() {
                self.pool.put_back(transaction);
            }
        }
        times.reverse();
        times.push(times.last().copied().unwrap_or_default());
        let mut first = reorged == ReorgedTransactions::MinedAgain;
        for time in times {
            if std::mem::take(&mut first) {
                self.mine(names, time);
            } else {
                let empty = self.after_head(time);
                self.close(empty);
            }
        }
    }
}

/// The intrinsic gas of a transaction.
pub(crate) fn intrinsic(data: &[u8]) -> u64 {
    data.iter().map(|byte| if *byte == 0 { 4 } else { 16 }).fold(21_000, |sum, cost| sum + cost)
}

fn run(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    transaction: &Transaction,
) -> Result<Bytes, Revert> {
    let to = transaction.to.ok_or_else(Revert::silent)?;
    send_value(view, env, transaction.from, to, transaction.value)?;
    env.call(view, transaction.from, to, &transaction.data)
}

/// None of the emulated contracts accepts the native coin.
pub(crate) fn send_value(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    from: Address,
    to: Address,
    value: U256,
) -> Result<(), Revert> {
    if value.is_zero() {
        return Ok(());
    }
    if at(view, env, to).is_some() {
        return Err(Revert::silent());
    }
    let left = view.peek(Slot::Native(from)).checked_sub(value).ok_or_else(Revert::silent)?;
    view.set(Slot::Native(from), left);
    let had = view.peek(Slot::Native(to));
    view.set(Slot::Native(to), had.saturating_add(value));
    Ok(())
}

#[cfg(test)]
mod tests;
