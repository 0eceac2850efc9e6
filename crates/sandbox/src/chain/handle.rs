//! The handle of an emulated chain: everything that code in the same process can read and change.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use alloy_primitives::{Address, B256, U256};
use alloy_sol_types::{SolCall, SolEvent};
use evm::interfaces::Usdc;
use order::model::chain::EvmAddress;
use order::ports::Clock;

use crate::chain::clock::ChainClock;
use crate::chain::contracts;
use crate::chain::contracts::env::{CallEnv, CallExecution};
use crate::chain::contracts::wallet::WalletKind;
use crate::chain::ens::names::NameRegistry;
use crate::chain::faults::{NodeFaultRule, NodeFaults};
use crate::chain::journal::{CallJournal, JournaledCall};
use crate::chain::network::{ChainId, address, evm_address};
use crate::chain::node::block::MinedOutcome;
use crate::chain::node::state::{Changes, Slot};
use crate::chain::node::{EmulatedNode, MiningMode, ReorgedTransactions, TagDepths};

/// One chain with its fault rules and journal.
pub(crate) struct EmulatedChain {
    pub(crate) node: EmulatedNode,
    pub(crate) faults: NodeFaults,
    pub(crate) journal: CallJournal,
}

/// All chains and the name registry. Code that needs both locks the chain first.
pub(crate) struct EmulatedChains {
    clock: Arc<ChainClock>,
    chains: BTreeMap<ChainId, Mutex<EmulatedChain>>,
    names: Mutex<NameRegistry>,
}

impl EmulatedChains {
    pub(crate) fn new(
        clock: Arc<dyn Clock>,
        names: NameRegistry,
        mining: MiningMode,
        depths: TagDepths,
    ) -> Self {
        let clock = Arc::new(ChainClock::new(clock));
        let start = |id| {
            let node = EmulatedNode::new(id, Arc::clone(&clock), mining, depths);
            let chain = EmulatedChain {
                node,
                faults: NodeFaults::default(),
                journal: CallJournal::default(),
            };
            (id, Mutex::new(chain))
        };
        let chains = ChainId::ALL.map(start).into();
        Self { clock, chains, names: Mutex::new(names) }
    }

    pub(crate) fn clock(&self) -> &ChainClock {
        &self.clock
    }

    pub(crate) fn chain(&self, chain: ChainId) -> MutexGuard<'_, EmulatedChain> {
        self.chains[&chain].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn names(&self) -> MutexGuard<'_, NameRegistry> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The latest block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainHead {
    pub number: u64,
    pub hash: [u8; 32],
    pub timestamp: u64,
}

/// The status of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStatus {
    Waiting,
    Succeeded { block: u64 },
    Reverted { block: u64 },
}

/// A USDC transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsdcTransfer {
    pub from: EvmAddress,
    pub to: EvmAddress,
    pub amount: u128,
    pub transaction: [u8; 32],
    pub block: u64,
}

/// Access to one chain from inside the process. Clones refer to the same chain.
#[derive(Clone)]
pub struct ChainHandle {
    chains: Arc<EmulatedChains>,
    id: ChainId,
}

impl ChainHandle {
    pub(crate) fn new(chains: Arc<EmulatedChains>, id: ChainId) -> Self {
        Self { chains, id }
    }

    pub fn id(&self) -> ChainId {
        self.id
    }

    pub fn usdc(&self) -> EvmAddress {
        evm_address(self.id.usdc())
    }

    fn lock(&self) -> MutexGuard<'_, EmulatedChain> {
        self.chains.chain(self.id)
    }

    pub fn head(&self) -> ChainHead {
        let mut chain = self.lock();
        chain.node.tick(&self.chains.names());
        let head = chain.node.head();
        ChainHead { number: head.number, hash: head.hash.0, timestamp: head.timestamp }
    }

    pub fn mine(&self, blocks: u64) {
        let mut chain = self.lock();
        for _ in 0..blocks {
            chain.node.mine_now(&self.chains.names());
        }
    }

    pub fn set_mining(&self, mining: MiningMode) {
        self.lock().node.mining = mining;
    }

    pub fn set_depths(&self, depths: TagDepths) {
        self.lock().node.depths = depths;
    }

    /// Sets the base fee. Transactions with a lower maximum fee wait.
    pub fn set_base_fee(&self, wei: u128) {
        self.lock().node.base_fee = U256::from(wei);
    }

    /// Replaces the last blocks by others and adds one more.
    pub fn reorganise(&self, blocks: u64, reorged: ReorgedTransactions) {
        self.lock().node.reorganise(&self.chains.names(), blocks, reorged);
    }

    /// Drops every pending transaction.
    pub fn drop_waiting(&self) {
        self.lock().node.pool.clear();
    }

    pub fn waiting(&self) -> usize {
        self.lock().node.pool.len()
    }

    pub fn add_fault(&self, rule: NodeFaultRule) {
        self.lock().faults.add(rule);
    }

    pub fn faults(&self) -> Vec<NodeFaultRule> {
        self.lock().faults.all()
    }

    pub fn clear_faults(&self) {
        self.lock().faults.clear();
    }

    /// The last calls, oldest first.
    pub fn journal(&self) -> Vec<JournaledCall> {
        self.lock().journal.calls()
    }

    /// How often each method was called.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        self.lock().journal.counts()
    }

    pub fn clear_journal(&self) {
        self.lock().journal.clear();
    }

    fn peek(&self, slot: Slot) -> u128 {
        u128::try_from(self.lock().node.latest().peek(slot)).unwrap_or(u128::MAX)
    }

    fn place(&self, slot: Slot, value: U256) {
        self.lock().node.place(Changes::from([(slot, value)]));
    }

    pub fn usdc_of(&self, account: EvmAddress) -> u128 {
        self.peek(Slot::Usdc(address(account)))
    }

    pub fn native_of(&self, account: EvmAddress) -> u128 {
        self.peek(Slot::Native(address(account)))
    }

    pub fn nonce_of(&self, account: EvmAddress) -> u64 {
        self.lock().node.nonce(address(account))
    }

    /// The next nonce of the account, including pending transactions.
    pub fn next_nonce_of(&self, account: EvmAddress) -> u64 {
        let chain = self.lock();
        let account = address(account);
        chain.node.pool.nonce_after(account, chain.node.nonce(account))
    }

    /// The result of a call without fees, or its revert data. Nothing changes.
    pub fn simulate(
        &self,
        from: EvmAddress,
        to: EvmAddress,
        data: &[u8],
    ) -> Result<Vec<u8>, Vec<u8>> {
        let mut chain = self.lock();
        let names = self.chains.names();
        chain.node.tick(&names);
        let env = CallEnv {
            chain: self.id,
            now: chain.node.head().timestamp,
            names: &names,
            gas_price: U256::ZERO,
            execution: CallExecution::Simulation,
            dispatch: contracts::call,
        };
        let said =
            contracts::call(&mut chain.node.latest(), &env, address(from), address(to), data);
        said.map(|answer| answer.to_vec()).map_err(|revert| revert.0.to_vec())
    }

    /// The USDC allowance of `spender`, saturated at the maximum of the type.
    pub fn allowance(&self, owner: EvmAddress, spender: EvmAddress) -> u128 {
        self.peek(Slot::Allowance { owner: address(owner), spender: address(spender) })
    }

    pub fn set_usdc(&self, account: EvmAddress, amount: u128) {
        let (slot, amount) = (Slot::Usdc(address(account)), U256::from(amount));
        let mut chain = self.lock();
        let view = chain.node.latest();
        let supply = view.peek(Slot::Supply).saturating_sub(view.peek(slot)).saturating_add(amount);
        chain.node.place(Changes::from([(slot, amount), (Slot::Supply, supply)]));
    }

    pub fn set_native(&self, account: EvmAddress, wei: u128) {
        self.place(Slot::Native(address(account)), U256::from(wei));
    }

    pub fn set_allowance(&self, owner: EvmAddress, spender: EvmAddress, amount: u128) {
        // The maximum of our type stands for the maximum of the contract's.
        let amount = if amount == u128::MAX { U256::MAX } else { U256::from(amount) };
        self.place(Slot::Allowance { owner: address(owner), spender: address(spender) }, amount);
    }

    /// Pauses the token, as its issuer can.
    pub fn pause(&self) {
        self.place(Slot::Paused, U256::ONE);
    }

    pub fn resume(&self) {
        self.place(Slot::Paused, U256::ZERO);
    }

    /// Blacklists an account, as the token's issuer can.
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
        self.lock().node.place(Changes::from([
            (Slot::Code(account), U256::from_be_bytes(owner.0)),
            (Slot::WalletKind(account), kind.number()),
        ]));
    }

    pub fn remove_code(&self, account: EvmAddress) {
        self.place(Slot::Code(address(account)), U256::ZERO);
    }

    /// The same as `eth_sendRawTransaction`, without HTTP.
    pub fn send(&self, raw: &[u8]) -> Result<[u8; 32], String> {
        let mut chain = self.lock();
        chain.node.submit(&self.chains.names(), raw).map(|hash| hash.0)
    }

    pub fn settled(&self, transaction: [u8; 32]) -> Option<TransactionStatus> {
        let chain = self.lock();
        let hash = B256::from(transaction);
        let Some((block, index)) = chain.node.mined(hash) else {
            return chain.node.pool.find(hash).map(|_| TransactionStatus::Waiting);
        };
        let block_number = block.number;
        Some(match block.transactions[index].outcome {
            MinedOutcome::Succeeded => TransactionStatus::Succeeded { block: block_number },
            MinedOutcome::Reverted => TransactionStatus::Reverted { block: block_number },
        })
    }

    /// Transfers USDC in the name of any account, and returns the mined transaction.
    pub fn transfer(
        &self,
        from: EvmAddress,
        to: EvmAddress,
        amount: u128,
    ) -> Result<[u8; 32], String> {
        let call = Usdc::transferCall { to: address(to), value: U256::from(amount) }.abi_encode();
        let mut chain = self.lock();
        let (names, usdc) = (self.chains.names(), self.id.usdc());
        chain.node.call_as(&names, address(from), usdc, call.into()).map(|hash| hash.0)
    }

    /// Every USDC transfer to this account in the stored blocks, oldest first.
    pub fn transfers_to(&self, account: EvmAddress) -> Vec<UsdcTransfer> {
        let chain = self.lock();
        let mut found = Vec::new();
        for number in chain.node.oldest()..=chain.node.head().number {
            let Some(block) = chain.node.block(number) else { continue };
            for mined in &block.transactions {
                let transfers = mined.events.iter().filter_map(|event| {
                    transfer(self.id.usdc(), event.address, &event.topics, &event.data)
                });
                found.extend(transfers.filter(|(_, to, _)| *to == address(account)).map(
                    |(from, to, value)| UsdcTransfer {
                        from: evm_address(from),
                        to: evm_address(to),
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
