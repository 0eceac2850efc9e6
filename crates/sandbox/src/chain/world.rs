//! What somebody in the same process can see of a chain, and do to it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use alloy_primitives::{Address, B256, U256};
use alloy_sol_types::SolEvent;
use order::model::chain::EvmAddress;
use order::ports::Clock;

use super::abi::Usdc;
use super::block::Outcome;
use super::contracts::{self, Env, Execution, WalletKind};
use super::faults::{Faults, Rule};
use super::hands::Hands;
use super::journal::{Call, Journal};
use super::names::Names;
use super::network::{ChainId, address, noun};
use super::node::{Depths, Fate, Mining, Node};
use super::state::{Changes, Slot};

/// One chain with everything that is kept beside it.
pub(super) struct Kept {
    pub(super) node: Node,
    pub(super) faults: Faults,
    pub(super) journal: Journal,
}

/// All chains, and the names that one of them knows. Whoever needs both locks the
/// chain first.
pub(super) struct World {
    hands: Arc<Hands>,
    chains: BTreeMap<ChainId, Mutex<Kept>>,
    names: Mutex<Names>,
}

impl World {
    pub(super) fn new(clock: Arc<dyn Clock>, names: Names, mining: Mining, depths: Depths) -> Self {
        let hands = Arc::new(Hands::new(clock));
        let keep = |chain| {
            let node = Node::new(chain, Arc::clone(&hands), mining, depths);
            let kept = Kept { node, faults: Faults::default(), journal: Journal::default() };
            (chain, Mutex::new(kept))
        };
        let chains = ChainId::ALL.map(keep).into();
        Self { hands, chains, names: Mutex::new(names) }
    }

    pub(super) fn hands(&self) -> &Hands {
        &self.hands
    }

    pub(super) fn chain(&self, chain: ChainId) -> MutexGuard<'_, Kept> {
        self.chains[&chain].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The latest block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub number: u64,
    pub hash: [u8; 32],
    pub timestamp: u64,
}

/// What became of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    Waiting,
    Succeeded { block: u64 },
    Reverted { block: u64 },
}

/// USDC that moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub from: EvmAddress,
    pub to: EvmAddress,
    pub amount: u128,
    pub transaction: [u8; 32],
    pub block: u64,
}

/// A chain, as seen from inside the process. Clones mean the same chain.
#[derive(Clone)]
pub struct Chain {
    world: Arc<World>,
    id: ChainId,
}

impl Chain {
    pub(super) fn new(world: Arc<World>, id: ChainId) -> Self {
        Self { world, id }
    }

    pub fn id(&self) -> ChainId {
        self.id
    }

    pub fn usdc(&self) -> EvmAddress {
        noun(self.id.usdc())
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.world.chain(self.id)
    }

    pub fn head(&self) -> Head {
        let mut kept = self.kept();
        kept.node.tick(&self.world.names());
        let head = kept.node.head();
        Head { number: head.number, hash: head.hash.0, timestamp: head.timestamp }
    }

    pub fn mine(&self, blocks: u64) {
        let mut kept = self.kept();
        for _ in 0..blocks {
            kept.node.mine_now(&self.world.names());
        }
    }

    pub fn set_mining(&self, mining: Mining) {
        self.kept().node.mining = mining;
    }

    pub fn set_depths(&self, depths: Depths) {
        self.kept().node.depths = depths;
    }

    /// What a unit of gas costs from now on; what offers less waits.
    pub fn set_base_fee(&self, wei: u128) {
        self.kept().node.base_fee = U256::from(wei);
    }

    /// Replaces the last blocks by others, and one more.
    pub fn reorganise(&self, blocks: u64, fate: Fate) {
        self.kept().node.reorganise(&self.world.names(), blocks, fate);
    }

    /// Forgets every transaction that waits.
    pub fn drop_waiting(&self) {
        self.kept().node.pool.clear();
    }

    pub fn waiting(&self) -> usize {
        self.kept().node.pool.len()
    }

    pub fn add_fault(&self, rule: Rule) {
        self.kept().faults.add(rule);
    }

    pub fn faults(&self) -> Vec<Rule> {
        self.kept().faults.all()
    }

    pub fn clear_faults(&self) {
        self.kept().faults.clear();
    }

    /// The last calls, oldest first.
    pub fn journal(&self) -> Vec<Call> {
        self.kept().journal.calls()
    }

    /// How often each method was called.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        self.kept().journal.counts()
    }

    pub fn clear_journal(&self) {
        self.kept().journal.clear();
    }

    fn peek(&self, slot: Slot) -> u128 {
        u128::try_from(self.kept().node.latest().peek(slot)).unwrap_or(u128::MAX)
    }

    fn place(&self, slot: Slot, value: U256) {
        self.kept().node.place(Changes::from([(slot, value)]));
    }

    pub fn usdc_of(&self, account: EvmAddress) -> u128 {
        self.peek(Slot::Usdc(address(account)))
    }

    pub fn native_of(&self, account: EvmAddress) -> u128 {
        self.peek(Slot::Native(address(account)))
    }

    pub fn nonce_of(&self, account: EvmAddress) -> u64 {
        self.kept().node.nonce(address(account))
    }

    /// The nonce behind everything of this account that waits for a block.
    pub fn next_nonce_of(&self, account: EvmAddress) -> u64 {
        let kept = self.kept();
        let account = address(account);
        kept.node.pool.nonce_after(account, kept.node.nonce(account))
    }

    /// What a call without fees would answer now, or the bytes with which it would
    /// fail. Nothing changes.
    pub fn simulate(
        &self,
        from: EvmAddress,
        to: EvmAddress,
        data: &[u8],
    ) -> Result<Vec<u8>, Vec<u8>> {
        let mut kept = self.kept();
        let names = self.world.names();
        kept.node.tick(&names);
        let env = Env {
            chain: self.id,
            now: kept.node.head().timestamp,
            names: &names,
            gas_price: U256::ZERO,
            execution: Execution::Simulation,
        };
        let said = contracts::call(&mut kept.node.latest(), &env, address(from), address(to), data);
        said.map(|answer| answer.to_vec()).map_err(|revert| revert.0.to_vec())
    }

    /// How much USDC `spender` may take; more than fits is the most that fits.
    pub fn allowance(&self, owner: EvmAddress, spender: EvmAddress) -> u128 {
        self.peek(Slot::Allowance { owner: address(owner), spender: address(spender) })
    }

    pub fn set_usdc(&self, account: EvmAddress, amount: u128) {
        let (slot, amount) = (Slot::Usdc(address(account)), U256::from(amount));
        let mut kept = self.kept();
        let view = kept.node.latest();
        let supply = view.peek(Slot::Supply).saturating_sub(view.peek(slot)).saturating_add(amount);
        kept.node.place(Changes::from([(slot, amount), (Slot::Supply, supply)]));
    }

    pub fn set_native(&self, account: EvmAddress, wei: u128) {
        self.place(Slot::Native(address(account)), U256::from(wei));
    }

    pub fn set_allowance(&self, owner: EvmAddress, spender: EvmAddress, amount: u128) {
        // The most that we can say means the most that there is.
        let amount = if amount == u128::MAX { U256::MAX } else { U256::from(amount) };
        self.place(Slot::Allowance { owner: address(owner), spender: address(spender) }, amount);
    }

    /// Circle stops the whole token.
    pub fn pause(&self) {
        self.place(Slot::Paused, U256::ONE);
    }

    pub fn resume(&self) {
        self.place(Slot::Paused, U256::ZERO);
    }

    /// Circle stops one holder.
    pub fn blacklist(&self, account: EvmAddress) {
        self.place(Slot::Blacklisted(address(account)), U256::ONE);
    }

    pub fn unblacklist(&self, account: EvmAddress) {
        self.place(Slot::Blacklisted(address(account)), U256::ZERO);
    }

    /// Makes the account a contract that confirms no signature.
    pub fn place_code(&self, account: EvmAddress) {
        self.place(Slot::Code(address(account)), U256::ONE);
    }

    /// Makes the account a wallet that confirms what this owner has signed.
    pub fn place_wallet(&self, account: EvmAddress, owner: EvmAddress) {
        self.place_wallet_of_kind(account, owner, WalletKind::Standard);
    }

    /// Makes the account a wallet of this owner that behaves in this way.
    pub fn place_wallet_of_kind(&self, account: EvmAddress, owner: EvmAddress, kind: WalletKind) {
        let (account, owner) = (address(account), address(owner).into_word());
        self.kept().node.place(Changes::from([
            (Slot::Code(account), U256::from_be_bytes(owner.0)),
            (Slot::WalletKind(account), kind.number()),
        ]));
    }

    pub fn remove_code(&self, account: EvmAddress) {
        self.place(Slot::Code(address(account)), U256::ZERO);
    }

    /// As `eth_sendRawTransaction` without the way there.
    pub fn send(&self, raw: &[u8]) -> Result<[u8; 32], String> {
        let mut kept = self.kept();
        kept.node.submit(&self.world.names(), raw).map(|hash| hash.0)
    }

    pub fn settled(&self, transaction: [u8; 32]) -> Option<Settled> {
        let kept = self.kept();
        let hash = B256::from(transaction);
        let Some((block, index)) = kept.node.mined(hash) else {
            return kept.node.pool.find(hash).map(|_| Settled::Waiting);
        };
        let block_number = block.number;
        Some(match block.transactions[index].outcome {
            Outcome::Succeeded => Settled::Succeeded { block: block_number },
            Outcome::Reverted => Settled::Reverted { block: block_number },
        })
    }

    /// Every USDC transfer to this account that is remembered, oldest first: what
    /// the payee was really paid, whatever anybody says.
    pub fn transfers_to(&self, account: EvmAddress) -> Vec<Transfer> {
        let kept = self.kept();
        let mut found = Vec::new();
        for number in kept.node.oldest()..=kept.node.head().number {
            let Some(block) = kept.node.block(number) else { continue };
            for mined in &block.transactions {
                let transfers = mined.events.iter().filter_map(|event| {
                    transfer(self.id.usdc(), event.address, &event.topics, &event.data)
                });
                found.extend(transfers.filter(|(_, to, _)| *to == address(account)).map(
                    |(from, to, value)| Transfer {
                        from: noun(from),
                        to: noun(to),
                        amount: u128::try_from(value).unwrap_or(u128::MAX),
                        transaction: mined.transaction.hash.0,
                        block: number,
                    },
                ));
            }
        }
        found
    }
}

fn transfer(
    usdc: Address,
    emitter: Address,
    topics: &[B256],
    data: &[u8],
) -> Option<(Address, Address, U256)> {
    let event = Usdc::Transfer::decode_raw_log(topics.iter().copied(), data).ok()?;
    (emitter == usdc).then_some((event.from, event.to, event.value))
}
