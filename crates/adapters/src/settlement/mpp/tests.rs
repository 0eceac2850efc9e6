//! The call and the proof alone.

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::SolEvent;
use evm::interfaces::Usdc;
use order::model::chain::EvmAddress;
use order::model::money::Usdc as Money;

use super::transfer::key;
use super::*;
use crate::rpc::{EventLog, ReceiptStatus, to_alloy};

fn authorization() -> TransferAuthorization {
    let mut signature = [0x11; 65];
    signature[32..64].fill(0x22);
    signature[64] = 28;
    TransferAuthorization {
        network: Network::Base,
        token: Network::Base.usdc(),
        from: EvmAddress::from_bytes([0xaa; 20]),
        to: EvmAddress::from_bytes([0xbb; 20]),
        value: Money::from_atomic(3_500_000),
        valid_after: 0,
        valid_before: 1_794_708_682,
        nonce: [0x42; 32],
        signature,
    }
}

#[test]
fn the_call_is_the_one_that_the_token_publishes_word_for_word() {
    let call = call(&authorization());
    assert_eq!(call.to, Network::Base.usdc());
    let words = [
        "e3ee160e",
        "000000000000000000000000aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "000000000000000000000000bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
        "00000000000000000000000000000000000000000000000000000000003567e0",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "000000000000000000000000000000000000000000000000000000006af914ca",
        "4242424242424242424242424242424242424242424242424242424242424242",
        "000000000000000000000000000000000000000000000000000000000000001c",
        "1111111111111111111111111111111111111111111111111111111111111111",
        "2222222222222222222222222222222222222222222222222222222222222222",
    ];
    assert_eq!(alloy_primitives::hex::encode(call.data), words.concat());
}

#[test]
fn a_payment_key_depends_on_network_payer_and_nonce_only() {
    let first = authorization();
    let other = |change: fn(&mut TransferAuthorization)| {
        let mut changed = first.clone();
        change(&mut changed);
        key(&changed)
    };
    assert_eq!(other(|one| one.valid_before += 1), key(&first));
    assert_ne!(other(|one| one.network = Network::Polygon), key(&first));
    assert_ne!(other(|one| one.nonce[0] ^= 1), key(&first));
    assert_ne!(other(|one| one.from = one.to), key(&first));
}

fn log(event: &impl SolEvent) -> EventLog {
    let data = event.encode_log_data();
    EventLog {
        address: to_alloy(Network::Base.usdc()),
        topics: data.topics().to_vec(),
        data: data.data,
        transaction: B256::ZERO,
        block: 1,
        block_hash: B256::ZERO,
        removed: false,
    }
}

fn used(nonce: [u8; 32]) -> EventLog {
    log(&Usdc::AuthorizationUsed {
        authorizer: to_alloy(authorization().from),
        nonce: nonce.into(),
    })
}

fn transfer(to: EvmAddress, atomic: u64) -> EventLog {
    let value = U256::from(atomic);
    log(&Usdc::Transfer { from: to_alloy(authorization().from), to: to_alloy(to), value })
}

fn receipt(logs: Vec<EventLog>) -> TransactionReceipt {
    let (transaction, block_hash) = (B256::ZERO, B256::ZERO);
    TransactionReceipt {
        transaction,
        block: 1,
        block_hash,
        outcome: ReceiptStatus::Succeeded,
        logs,
        sender: None,
        fee_wei: None,
    }
}

#[test]
fn only_the_tokens_transfer_right_behind_the_use_of_this_nonce_is_proof() {
    let one = authorization();
    let good = || vec![used(one.nonce), transfer(one.to, 3_500_000)];
    assert!(shows(&receipt(good()), &one));
    let changes: [fn(&mut Vec<EventLog>); 8] = [
        |logs| logs[0].address = Address::ZERO,
        |logs| logs[1].address = Address::ZERO,
        |logs| logs[0].topics.swap(1, 2),
        |logs| logs[1].topics.swap(1, 2),
        |logs| logs[1].data = Bytes::new(),
        |logs| logs[1] = transfer(authorization().to, 3_499_999),
        |logs| logs.swap(0, 1),
        |logs| logs.truncate(1),
    ];
    for (number, change) in changes.iter().enumerate() {
        let mut logs = good();
        change(&mut logs);
        assert!(!shows(&receipt(logs), &one), "change {number}");
    }
}

/// Two authorizations of one payer in one transaction: one pays the seller, the other the
/// payer's own second account. The seller's money must not be counted twice.
#[test]
fn a_transfer_beside_the_use_of_another_nonce_is_that_ones() {
    let one = authorization();
    let own = EvmAddress::from_bytes([0xcc; 20]);
    let logs = vec![
        used(one.nonce),
        transfer(own, 3_500_000),
        used([0x43; 32]),
        transfer(one.to, 3_500_000),
    ];
    assert!(!shows(&receipt(logs.clone()), &one));
    assert!(shows(&receipt(logs), &TransferAuthorization { nonce: [0x43; 32], ..one }));
}

#[test]
fn what_the_token_says_no_with_is_said_in_words_for_a_payer() {
    let said = |words: &str| reason(&Revert::from(words).abi_encode());
    assert_eq!(said("FiatTokenV2: authorization is used or canceled"), USED);
    for (words, part) in [
        ("FiatTokenV2: authorization is expired", "run out"),
        ("FiatTokenV2: authorization is not yet valid", "not valid yet"),
        ("ERC20: transfer amount exceeds balance", "enough USDC"),
        ("Blacklistable: account is blacklisted", "blocked"),
        ("Pausable: paused", "paused"),
        ("FiatTokenV2: invalid signature", "signature"),
        ("ECRecover: invalid signature 's' value", "signature"),
        ("something new", "refused the transfer"),
    ] {
        assert!(said(words).contains(part), "{words}: {}", said(words));
    }
    assert!(reason(&[]).contains("refused the transfer"));
}
