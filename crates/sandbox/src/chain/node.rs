//! One chain: its blocks, its state, its pool, and the way between them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use alloy_primitives::{Address, B256, Bytes, U256};

use super::block::{Block, Mined, Outcome};
use super::contracts::{self, Env, Execution, Revert};
use super::hands::Hands;
use super::names::Names;
use super::network::ChainId;
use super::pool::{Filing, Pool, Standing};
use super::state::{Changes, Slot, State, View};
use super::transaction::Transaction;

/// How many blocks are remembered; older ones are as good as pruned.
const HISTORY: usize = 4_096;
/// How many transactions fit into a block.
const BLOCK_ROOM: usize = 256;
pub(super) const BLOCK_GAS: u64 = 30_000_000;
/// Where the chain begins: far enough from zero that depths make sense.
const FIRST_BLOCK: u64 = 1_000;

/// When blocks are made. Nothing ticks by itself: the blocks that are due are made
/// when somebody next looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mining {
    /// With every transaction, and an empty block whenever this many seconds have
    /// passed, so that the chain's own time goes on. Zero: no empty blocks.
    OnArrival { heartbeat: u64 },
    /// One block every so many seconds, with what has arrived.
    Every { seconds: u64 },
    /// None, until told.
    Held,
}

/// How many blocks the tags lag behind the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Depths {
    pub safe: u64,
    pub finalized: u64,
}

/// What becomes of the transactions in blocks that a reorganisation takes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// They are gone, as if never sent.
    Dropped,
    /// They wait again, and come into the next block that takes any.
    Waiting,
    /// They stand in the first of the new blocks.
    MinedAgain,
}

pub(super) struct Node {
    pub(super) chain: ChainId,
    pub(super) mining: Mining,
    pub(super) depths: Depths,
    pub(super) base_fee: U256,
    pub(super) pool: Pool,
    hands: Arc<Hands>,
    state: State,
    blocks: VecDeque<Block>,
    places: HashMap<B256, (u64, usize)>,
    /// Transactions that will fail in their block, whatever they do.
    failing: HashSet<B256>,
    salt: u64,
}

impl Node {
    pub(super) fn new(chain: ChainId, hands: Arc<Hands>, mining: Mining, depths: Depths) -> Self {
        let mut genesis = Block {
            number: FIRST_BLOCK,
            hash: B256::ZERO,
            parent: B256::ZERO,
            timestamp: hands.now(),
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
            hands,
            state: State::default(),
            blocks: VecDeque::from([genesis]),
            places: HashMap::new(),
            failing: HashSet::new(),
            salt: 0,
        }
    }

    pub(super) fn head(&self) -> &Block {
        // There is always one: history is cut to a length, never to nothing.
        self.blocks.back().unwrap_or_else(|| unreachable!("a chain has a block"))
    }

    pub(super) fn block(&self, number: u64) -> Option<&Block> {
        let first = self.blocks.front()?.number;
        self.blocks.get(usize::try_from(number.checked_sub(first)?).ok()?)
    }

    pub(super) fn block_by_hash(&self, hash: B256) -> Option<&Block> {
        self.blocks.iter().rev().find(|block| block.hash == hash)
    }

    pub(super) fn oldest(&self) -> u64 {
        self.blocks.front().map_or(0, |block| block.number)
    }

    pub(super) fn mined(&self, hash: B256) -> Option<(&Block, usize)> {
        let (number, index) = *self.places.get(&hash)?;
        Some((self.block(number)?, index))
    }

    /// The state after this block, if it is still remembered.
    pub(super) fn view(&self, number: u64) -> Option<View<'_>> {
        self.block(number)?;
        let mut past = Changes::new();
        for block in self.blocks.iter().rev().take_while(|block| block.number > number) {
            past.extend(block.undo.iter().map(|(slot, value)| (*slot, *value)));
        }
        Some(View::at(&self.state, past))
    }

    pub(super) fn latest(&self) -> View<'_> {
        View::latest(&self.state)
    }

    pub(super) fn nonce(&self, account: Address) -> u64 {
        u64::try_from(self.state.get(Slot::Nonce(account))).unwrap_or(u64::MAX)
    }

    /// Puts numbers in their place by our own hand, as if they had always been
    /// there: neither a look back nor a reorganisation takes them away.
    pub(super) fn place(&mut self, changes: Changes) {
        for block in &mut self.blocks {
            block.undo.retain(|slot, _| !changes.contains_key(slot));
        }
        self.state.apply(changes);
    }

    /// Makes the blocks that are due.
    pub(super) fn tick(&mut self, names: &Names) {
        let now = self.hands.now();
        match self.mining {
            Mining::Held | Mining::OnArrival { heartbeat: 0 } | Mining::Every { seconds: 0 } => {}
            Mining::OnArrival { heartbeat } => {
                if now >= self.head().timestamp.saturating_add(heartbeat) {
                    self.mine(names, now);
                }
            }
            Mining::Every { seconds } => {
                // After a long silence the blocks in between are left out.
                let due = now.saturating_sub(self.head().timestamp) / seconds;
                for missing in (0..due.min(32)).rev() {
                    self.mine(names, now.saturating_sub(missing.saturating_mul(seconds)));
                }
            }
        }
    }

    pub(super) fn submit(&mut self, names: &Names, raw: &[u8]) -> Result<B256, String> {
        self.submit_as(names, raw, Filing::Ready)
    }

    pub(super) fn submit_as(
        &mut self,
        names: &Names,
        raw: &[u8],
        filing: Filing,
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
        let standing = Standing {
            nonce: self.nonce(transaction.from),
            balance: self.state.get(Slot::Native(transaction.from)),
        };
        self.pool.add(Arc::new(transaction), &standing, filing)?;
        if filing == Filing::Ready && matches!(self.mining, Mining::OnArrival { .. }) {
            let now = self.hands.now();
            self.mine(names, now);
        }
        Ok(hash)
    }

    /// This transaction will fail in its block.
    pub(super) fn fail(&mut self, hash: B256) {
        self.failing.insert(hash);
    }

    pub(super) fn mine_now(&mut self, names: &Names) {
        let now = self.hands.now();
        self.mine(names, now);
    }

    /// One block, at this time or at that of its parent, whichever is later.
    fn mine(&mut self, names: &Names, time: u64) {
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

    fn after_head(&self, time: u64) -> Block {
        let head = self.head();
        Block {
            number: head.number + 1,
            hash: B256::ZERO,
            parent: head.hash,
            timestamp: head.timestamp.max(time),
            base_fee: self.base_fee,
            transactions: Vec::new(),
            undo: Changes::new(),
        }
    }

    fn close(&mut self, mut block: Block) {
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
    fn include(&mut self, names: &Names, block: &mut Block, transaction: Arc<Transaction>) {
        let (from, price) = (transaction.from, transaction.price(block.base_fee));
        let env = Env {
            chain: self.chain,
            now: block.timestamp,
            names,
            gas_price: price,
            execution: Execution::Block,
        };
        let must_fail = self.failing.remove(&transaction.hash);
        let mut view = View::latest(&self.state);
        view.set(Slot::Nonce(from), U256::from(transaction.nonce.saturating_add(1)));
        let before = view.gas();
        let spent = |view: &View<'_>| intrinsic(&transaction.data) + (view.gas() - before);
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
        let outcome = if done.is_ok() { Outcome::Succeeded } else { Outcome::Reverted };
        block.transactions.push(Mined { transaction, outcome, gas_used, price, events });
    }

    /// Takes back this many blocks and puts as many others in their place, and one
    /// more: the longer chain is the one that wins.
    pub(super) fn reorganise(&mut self, names: &Names, depth: u64, fate: Fate) {
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
        if fate != Fate::Dropped {
            for transaction in taken.into_iter().rev() {
                self.pool.put_back(transaction);
            }
        }
        times.reverse();
        times.push(times.last().copied().unwrap_or_default());
        let mut first = fate == Fate::MinedAgain;
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

/// What a transaction costs before it has done anything.
pub(super) fn intrinsic(data: &[u8]) -> u64 {
    data.iter().map(|byte| if *byte == 0 { 4 } else { 16 }).fold(21_000, |sum, cost| sum + cost)
}

fn run(view: &mut View<'_>, env: &Env<'_>, transaction: &Transaction) -> Result<Bytes, Revert> {
    let to = transaction.to.ok_or_else(Revert::silent)?;
    send_value(view, env, transaction.from, to, transaction.value)?;
    contracts::call(view, env, transaction.from, to, &transaction.data)
}

/// None of our contracts takes the chain's own coin.
pub(super) fn send_value(
    view: &mut View<'_>,
    env: &Env<'_>,
    from: Address,
    to: Address,
    value: U256,
) -> Result<(), Revert> {
    if value.is_zero() {
        return Ok(());
    }
    if contracts::at(view, env, to).is_some() {
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
