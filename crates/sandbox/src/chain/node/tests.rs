//! Blocks, the pool and reorganisations.

use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;

use super::super::abi::Usdc;
use super::super::network::{ChainId, address};
use super::super::testing::{NOW, key, no_names, node, put, unsigned};
use super::*;
use crate::keys::Key;

const CHAIN: ChainId = ChainId::Base;
const PAYEE: Address = Address::repeat_byte(0x22);

fn who(key: &Key) -> Address {
    address(key.address())
}

/// A payer with ten dollars and one coin for gas.
fn funded() -> (Node, Arc<Hands>, Key) {
    let (mut node, hands) = node(CHAIN);
    let payer = key("payer");
    put(&mut node, Slot::Usdc(who(&payer)), 10_000_000);
    put(&mut node, Slot::Native(who(&payer)), 1_000_000_000_000_000_000);
    (node, hands, payer)
}

fn pay(amount: u64) -> Vec<u8> {
    Usdc::transferCall { to: PAYEE, value: U256::from(amount) }.abi_encode()
}

fn send(node: &mut Node, payer: &Key, nonce: u64, amount: u64) -> Result<B256, String> {
    node.submit(&no_names(), &unsigned(CHAIN, nonce, CHAIN.usdc(), pay(amount)).sign(payer))
}

fn paid(node: &Node) -> U256 {
    node.latest().peek(Slot::Usdc(PAYEE))
}

#[test]
fn a_transaction_is_in_a_block_at_once_and_pays_for_its_gas() {
    let (mut node, _, payer) = funded();
    let before = node.head().number;
    let hash = send(&mut node, &payer, 0, 5).unwrap();
    let (block, index) = node.mined(hash).unwrap();
    let mined = &block.transactions[index];
    assert_eq!((block.number, mined.outcome), (before + 1, Outcome::Succeeded));
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
    assert_eq!(block.transactions[index].outcome, Outcome::Reverted);
    assert_eq!(block.transactions[index].events, []);
    assert_eq!((paid(&node), node.nonce(who(&payer))), (U256::ZERO, 1));
    assert!(node.latest().peek(Slot::Native(who(&payer))) < U256::from(10_u64.pow(18)));
}

#[test]
fn gas_that_does_not_reach_ends_in_failure_with_all_of_it_spent() {
    let (mut node, _, payer) = funded();
    let mut short = unsigned(CHAIN, 0, CHAIN.usdc(), pay(5));
    short.gas = 25_000;
    let hash = node.submit(&no_names(), &short.sign(&payer)).unwrap();
    let (block, index) = node.mined(hash).unwrap();
    let mined = &block.transactions[index];
    assert_eq!((mined.outcome, mined.gas_used), (Outcome::Reverted, 25_000));
    assert_eq!(paid(&node), U256::ZERO);
}

#[test]
fn nonces_count_up_gaps_wait_and_the_used_are_too_low() {
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
fn what_waits_is_known_and_gives_way_only_to_a_better_offer() {
    let (mut node, _, payer) = funded();
    node.mining = Mining::Held;
    let first = send(&mut node, &payer, 0, 5).unwrap();
    assert_eq!(send(&mut node, &payer, 0, 5).unwrap_err(), "already known");
    let mut better = unsigned(CHAIN, 0, CHAIN.usdc(), pay(6));
    better.max_fee = 109_000_000;
    better.priority_fee = 2_000_000;
    let refused = node.submit(&no_names(), &better.sign(&payer)).unwrap_err();
    assert_eq!(refused, "replacement transaction underpriced");
    better.max_fee = 110_000_000;
    let second = node.submit(&no_names(), &better.sign(&payer)).unwrap();
    assert!(node.pool.find(first).is_none());
    node.mine_now(&no_names());
    assert!(node.mined(first).is_none() && node.mined(second).is_some());
    assert_eq!(paid(&node), U256::from(6));
}

#[test]
fn what_cannot_be_paid_or_is_for_another_chain_does_not_get_in() {
    let (mut node, _, payer) = funded();
    let refused = |node: &mut Node, change: fn(&mut super::super::Unsigned)| {
        let mut draft = unsigned(CHAIN, 0, CHAIN.usdc(), pay(5));
        change(&mut draft);
        node.submit(&no_names(), &draft.sign(&key("payer"))).unwrap_err()
    };
    assert!(refused(&mut node, |draft| draft.value = u128::MAX).starts_with("insufficient funds"));
    assert!(refused(&mut node, |draft| draft.gas = 21_000).starts_with("intrinsic gas too low"));
    assert!(refused(&mut node, |draft| draft.gas = 1 << 40).starts_with("exceeds block gas"));
    assert!(refused(&mut node, |draft| draft.chain_id = 137).starts_with("invalid chain id"));
    assert!(refused(&mut node, |draft| draft.max_fee = 1).starts_with("max priority fee"));
    assert_eq!(node.nonce(who(&payer)), 0);
}

#[test]
fn an_offer_below_the_base_fee_waits_until_the_fee_comes_down() {
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
fn an_earlier_block_still_shows_what_was_then() {
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
fn a_reorganisation_takes_back_blocks_and_the_longer_chain_has_other_hashes() {
    for (fate, left) in [(Fate::Dropped, 10), (Fate::Waiting, 10), (Fate::MinedAgain, 40)] {
        let (mut node, _, payer) = funded();
        let hashes: Vec<B256> =
            (0..4).map(|nonce| send(&mut node, &payer, nonce, 10).unwrap()).collect();
        let (head, old) = (node.head().number, node.head().hash);
        node.reorganise(&no_names(), 3, fate);
        assert_eq!(node.head().number, head + 1);
        assert_ne!(node.block(head).unwrap().hash, old);
        assert!(node.block_by_hash(old).is_none());
        assert_eq!(paid(&node), U256::from(left), "{fate:?}");
        assert!(node.mined(hashes[0]).is_some());
        assert_eq!(node.mined(hashes[3]).is_some(), fate == Fate::MinedAgain);
        assert_eq!(node.pool.find(hashes[3]).is_some(), fate == Fate::Waiting);
        for number in head - 3..=head + 1 {
            let (block, parent) = (node.block(number).unwrap(), node.block(number - 1).unwrap());
            assert_eq!(block.parent, parent.hash);
        }
        node.mine_now(&no_names());
        let expected = if fate == Fate::Dropped { 10 } else { 40 };
        assert_eq!(paid(&node), U256::from(expected), "{fate:?}");
    }
}

#[test]
fn what_our_own_hand_put_stays_through_a_reorganisation() {
    let (mut node, _, payer) = funded();
    send(&mut node, &payer, 0, 10).unwrap();
    put(&mut node, Slot::Usdc(PAYEE), 77);
    node.reorganise(&no_names(), 1, Fate::Dropped);
    assert_eq!(paid(&node), U256::from(77));
}

#[test]
fn blocks_that_are_due_are_made_when_somebody_looks() {
    let (mut node, hands, payer) = funded();
    node.mining = Mining::Every { seconds: 2 };
    let start = node.head().number;
    let hash = send(&mut node, &payer, 0, 5).unwrap();
    node.tick(&no_names());
    assert!(node.mined(hash).is_none());
    hands.advance(5);
    node.tick(&no_names());
    assert_eq!(node.head().number, start + 2);
    assert!(node.mined(hash).is_some());
    hands.advance(1_000_000);
    node.tick(&no_names());
    assert_eq!(node.head().timestamp, NOW + 1_000_005, "a long silence is skipped");
    assert_eq!(node.head().number, start + 34);
    node.mining = Mining::OnArrival { heartbeat: 2 };
    hands.advance(2);
    node.tick(&no_names());
    node.tick(&no_names());
    assert_eq!(node.head().number, start + 35);
}

#[test]
fn the_history_is_cut_to_its_length_with_everything_in_it() {
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
fn a_transaction_that_is_told_to_fail_does() {
    let (mut node, _, payer) = funded();
    let raw = unsigned(CHAIN, 0, CHAIN.usdc(), pay(5)).sign(&payer);
    node.fail(alloy_primitives::keccak256(&raw));
    let hash = node.submit(&no_names(), &raw).unwrap();
    let (block, index) = node.mined(hash).unwrap();
    assert_eq!(block.transactions[index].outcome, Outcome::Reverted);
    assert_eq!(paid(&node), U256::ZERO);
}
