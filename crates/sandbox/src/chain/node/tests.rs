//! Blocks, the pool and reorganisations.

use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use evm::interfaces::Usdc;
use evm::transaction::UnsignedTransaction;

use super::*;
use crate::chain::network::{ChainId, address};
use crate::chain::testing::{NOW, key, no_names, node, put, unsigned};
use crate::keys::Key;

const CHAIN: ChainId = ChainId::Base;
const PAYEE: Address = Address::repeat_byte(0x22);

fn who(key: &Key) -> Address {
    address(key.address())
}

/// A payer with ten dollars and one coin for gas.
fn funded() -> (EmulatedNode, Arc<ChainClock>, Key) {
    let (mut node, clock) = node(CHAIN);
    let payer = key("payer");
    put(&mut node, Slot::Usdc(who(&payer)), 10_000_000);
    put(&mut node, Slot::Native(who(&payer)), 1_000_000_000_000_000_000);
    (node, clock, payer)
}

fn pay(amount: u64) -> Vec<u8> {
    Usdc::transferCall { to: PAYEE, value: U256::from(amount) }.abi_encode()
}

fn send(node: &mut EmulatedNode, payer: &Key, nonce: u64, amount: u64) -> Result<B256, String> {
    node.submit(
        &no_names(),
        &unsigned(CHAIN, nonce, CHAIN.usdc(), pay(amount)).sign(payer.signing_key()),
    )
}

fn paid(node: &EmulatedNode) -> U256 {
    node.latest().peek(Slot::Usdc(PAYEE))
}

#[test]
fn a_transaction_is_in_a_block_at_once_and_pays_for_its_gas() {
    let (mut node, _, payer) = funded();
    let before = node.head().number;
    let hash = send(&mut node, &payer, 0, 5).unwrap();
    let (block, index) = node.mined(hash).unwrap();
    let mined = &block.transactions[index];
    assert_eq!((block.number, mined.outcome), (before + 1, MinedOutcome::Succeeded));
    assert_eq!(paid(&node), U256::from(5));
    assert_eq!(node.nonce(who(&payer)), 1);
    let fee = U256::from(mined.gas_used) * mined.price;
    let left = node.latest().peek(Slot::Native(who(&payer)));
    assert_eq!(left, U256::from(1_000_000_000_000_000_000_u64) - fee);
    assert_eq!(block.parent, node.block(before).unwrap().hash);
}

#[test]
fn a_failed_transaction_keeps_its_nonce_and_its_fee_and_nothing_else() {
    let (mut node, _, payer) = funded();
    let hash = send(&mut node, &payer, 0, 10_000_001).unwrap();
    let (block, index) = node.mined(hash).unwrap();
    assert_eq!(block.transactions[index].outcome, MinedOutcome::Reverted);
    assert_eq!(block.transactions[index].events, []);
    assert_eq!((paid(&node), node.nonce(who(&payer))), (U256::ZERO, 1));
    assert!(node.latest().peek(Slot::Native(who(&payer))) < U256::from(10_u64.pow(18)));
}

#[test]
fn a_transaction_out_of_gas_reverts_and_pays_for_all_its_gas() {
    let (mut node, _, payer) = funded();
    let mut short = unsigned(CHAIN, 0, CHAIN.usdc(), pay(5));
    short.gas = 25_000;
    let hash = node.submit(&no_names(), &short.sign(payer.signing_key())).unwrap();
    let (block, index) = node.mined(hash).unwrap();
    let mined = &block.transactions[index];
    assert_eq!((mined.outcome, mined.gas_used), (MinedOutcome::Reverted, 25_000));
    assert_eq!(paid(&node), U256::ZERO);
}

#[test]
fn nonces_are_sequential_gaps_wait_and_used_nonces_are_refused() {
    let (mut node, _, payer) = funded();
    let second = send(&mut node, &payer, 1, 7).unwrap();
    assert!(node.mined(second).is_none());
    assert!(node.pool.find(second).is_some());
    assert_eq!(node.pool.nonce_after(who(&payer), 0), 0);
    send(&mut node, &payer, 0, 5).unwrap();
    assert!(node.mined(second).is_some(), "the gap is closed, so both are mined");
    assert_eq!(paid(&node), U256::from(12));
    let again = send(&mut node, &payer, 0, 5).unwrap_err();
    assert_eq!(again, "nonce too low: next nonce 2, tx nonce 0");
}

#[test]
fn a_pending_transaction_is_replaced_only_by_a_higher_fee() {
    let (mut node, _, payer) = funded();
    node.mining = MiningMode::Held;
    let first = send(&mut node, &payer, 0, 5).unwrap();
    assert_eq!(send(&mut node, &payer, 0, 5).unwrap_err(), "already known");
    let mut better = unsigned(CHAIN, 0, CHAIN.usdc(), pay(6));
    better.max_fee = 109_000_000;
    better.priority_fee = 2_000_000;
    let refused = node.submit(&no_names(), &better.sign(payer.signing_key())).unwrap_err();
    assert_eq!(refused, "replacement transaction underpriced");
    better.max_fee = 110_000_000;
    let second = node.submit(&no_names(), &better.sign(payer.signing_key())).unwrap();
    assert!(node.pool.find(first).is_none());
    node.mine_now(&no_names());
    assert!(node.mined(first).is_none() && node.mined(second).is_some());
    assert_eq!(paid(&node), U256::from(6));
}

#[test]
fn unpayable_and_foreign_transactions_are_refused() {
    let (mut node, _, payer) = funded();
    let refused = |node: &mut EmulatedNode, change: fn(&mut UnsignedTransaction)| {
        let mut draft = unsigned(CHAIN, 0, CHAIN.usdc(), pay(5));
        change(&mut draft);
        node.submit(&no_names(), &draft.sign(key("payer").signing_key())).unwrap_err()
    };
    assert!(refused(&mut node, |draft| draft.value = u128::MAX).starts_with("insufficient funds"));
    assert!(refused(&mut node, |draft| draft.gas = 21_000).starts_with("intrinsic gas too low"));
    assert!(refused(&mut node, |draft| draft.gas = 1 << 40).starts_with("exceeds block gas"));
    assert!(refused(&mut node, |draft| draft.chain_id = 137).starts_with("invalid chain id"));
    assert!(refused(&mut node, |draft| draft.max_fee = 1).starts_with("max priority fee"));
    assert_eq!(node.nonce(who(&payer)), 0);
}

#[test]
fn a_transaction_below_the_base_fee_waits_until_the_fee_falls() {
    let (mut node, _, payer) = funded();
    node.base_fee = U256::from(200_000_000);
    let hash = send(&mut node, &payer, 0, 5).unwrap();
    node.mine_now(&no_names());
    assert!(node.mined(hash).is_none());
    node.base_fee = U256::from(50_000_000);
    node.mine_now(&no_names());
    assert!(node.mined(hash).is_some());
}

#[test]
fn historical_state_can_be_read() {
    let (mut node, _, payer) = funded();
    let start = node.head().number;
    for nonce in 0..4 {
        send(&mut node, &payer, nonce, 10).unwrap();
    }
    for past in 0..=4 {
        let view = node.view(start + past).unwrap();
        assert_eq!(view.peek(Slot::Usdc(PAYEE)), U256::from(past * 10));
        assert_eq!(view.peek(Slot::Nonce(who(&payer))), U256::from(past));
    }
    assert!(node.view(start + 5).is_none());
}

#[test]
fn a_reorganisation_replaces_blocks_by_a_longer_chain_with_other_hashes() {
    for (reorged, left) in [
        (ReorgedTransactions::Dropped, 10),
        (ReorgedTransactions::Waiting, 10),
        (ReorgedTransactions::MinedAgain, 40),
    ] {
        let (mut node, _, payer) = funded();
        let hashes: Vec<B256> =
            (0..4).map(|nonce| send(&mut node, &payer, nonce, 10).unwrap()).collect();
        let (head, old) = (node.head().number, node.head().hash);
        node.reorganise(&no_names(), 3, reorged);
        assert_eq!(node.head().number, head + 1);
        assert_ne!(node.block(head).unwrap().hash, old);
        assert!(node.block_by_hash(old).is_none());
        assert_eq!(paid(&node), U256::from(left), "{reorged:?}");
        assert!(node.mined(hashes[0]).is_some());
        assert_eq!(node.mined(hashes[3]).is_some(), reorged == ReorgedTransactions::MinedAgain);
        assert_eq!(node.pool.find(hashes[3]).is_some(), reorged == ReorgedTransactions::Waiting);
        for number in head - 3..=head + 1 {
            let (block, parent) = (node.block(number).unwrap(), node.block(number - 1).unwrap());
            assert_eq!(block.parent, parent.hash);
        }
        node.mine_now(&no_names());
        let expected = if reorged == ReorgedTransactions::Dropped { 10 } else { 40 };
        assert_eq!(paid(&node), U256::from(expected), "{reorged:?}");
    }
}

#[test]
fn state_set_directly_survives_a_reorganisation() {
    let (mut node, _, payer) = funded();
    send(&mut node, &payer, 0, 10).unwrap();
    put(&mut node, Slot::Usdc(PAYEE), 77);
    node.reorganise(&no_names(), 1, ReorgedTransactions::Dropped);
    assert_eq!(paid(&node), U256::from(77));
}

#[test]
fn due_blocks_are_mined_at_the_next_read() {
    let (mut node, clock, payer) = funded();
    node.mining = MiningMode::Every { seconds: 2 };
    let start = node.head().number;
    let hash = send(&mut node, &payer, 0, 5).unwrap();
    node.tick(&no_names());
    assert!(node.mined(hash).is_none());
    clock.advance(5);
    node.tick(&no_names());
    assert_eq!(node.head().number, start + 2);
    assert!(node.mined(hash).is_some());
    clock.advance(1_000_000);
    node.tick(&no_names());
    assert_eq!(node.head().timestamp, NOW + 1_000_005, "a long silence is skipped");
    assert_eq!(node.head().number, start + 34);
    node.mining = MiningMode::OnArrival { heartbeat: 2 };
    clock.advance(2);
    node.tick(&no_names());
    node.tick(&no_names());
    assert_eq!(node.head().number, start + 35);
}

#[test]
fn old_blocks_and_their_transactions_are_pruned() {
    let (mut node, _, payer) = funded();
    let hash = send(&mut node, &payer, 0, 5).unwrap();
    let names = no_names();
    for _ in 0..=HISTORY {
        node.mine_now(&names);
    }
    assert_eq!(node.blocks.len(), HISTORY);
    assert!(node.mined(hash).is_none() && node.places.is_empty());
    assert_eq!(paid(&node), U256::from(5));
}

#[test]
fn a_transaction_can_be_made_to_revert() {
    let (mut node, _, payer) = funded();
    let raw = unsigned(CHAIN, 0, CHAIN.usdc(), pay(5)).sign(payer.signing_key());
    node.fail(alloy_primitives::keccak256(&raw));
    let hash = node.submit(&no_names(), &raw).unwrap();
    let (block, index) = node.mined(hash).unwrap();
    assert_eq!(block.transactions[index].outcome, MinedOutcome::Reverted);
    assert_eq!(paid(&node), U256::ZERO);
}
