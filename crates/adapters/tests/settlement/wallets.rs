//! Payers whose account has code, which may pass a simulation and fail in a block.

use std::sync::Arc;

use adapters::settlement::{ContractWallets, Settler};
use order::model::chain::EvmAddress;
use order::tender::{Rejection, Unsettled};
use pay::x402::credential::Permit2Authorization;
use pay::x402::settler::{Permit2Settler, SignatureKind};
use sandbox::chain::{MiningMode, NodeFault, NodeFaultRule, PERMIT2};
use tokio::time::Instant;

use crate::fixture::{BASE, Fixture, Payment, atomic, pay, until};
use crate::signing::CHARGE;

const WALLET: EvmAddress = EvmAddress::from_bytes([0x77; 20]);

/// A wallet contract with money and an allowance.
fn place_wallet(fixture: &Fixture) {
    fixture.chains.fill_account(BASE.into(), WALLET);
    fixture.chain().set_allowance(WALLET, PERMIT2, u128::MAX);
    fixture.chain().place_wallet(WALLET, fixture.chains.key("owner").address());
}

fn authorization(fixture: &Fixture) -> Permit2Authorization {
    fixture.terms(WALLET).signed_by(&fixture.chains.key("owner"))
}

async fn prepared(fixture: &Fixture, settler: &Settler) -> Result<Payment, Rejection> {
    Payment::prepare(settler, authorization(fixture)).await
}

#[tokio::test]
async fn a_wallet_contract_that_failed_on_chain_is_refused_for_an_hour() {
    let fixture = Fixture::open().await;
    let (settler, chain) = (fixture.settler(), fixture.chain());
    place_wallet(&fixture);
    let payment = prepared(&fixture, &settler).await.unwrap();
    let waiting = prepared(&fixture, &settler).await.unwrap();
    chain.add_fault(NodeFaultRule::once(NodeFault::Revert, "eth_sendRawTransaction"));
    let refused = payment.settle(&settler).await;
    assert!(matches!(refused, Err(Unsettled::Refused(_))), "{refused:?}");
    let recently = Rejection::Invalid("contract_wallet_failed_recently".to_owned());
    assert_eq!(prepared(&fixture, &settler).await.map(drop), Err(recently.clone()));
    // Neither is one that was prepared before.
    let withdrawn = waiting.settle(&settler).await;
    let words = "another payment of this wallet failed lately".to_owned();
    assert_eq!(withdrawn, Err(Unsettled::Withdrawn(words)));
    assert_eq!(chain.nonce_of(fixture.account()), 1);
    // Other payers are not affected, and another process knows it too.
    pay(&settler, fixture.authorization()).await.unwrap();
    fixture.end(settler).await;
    let settler = fixture.settler();
    assert_eq!(prepared(&fixture, &settler).await.map(drop), Err(recently));
    fixture.clock.forward(60 * 60 + 1);
    chain.mine(1);
    let later = prepared(&fixture, &settler).await.unwrap();
    later.settle(&settler).await.unwrap();
    assert_eq!(fixture.paid(), atomic(2));
}

#[tokio::test]
async fn a_wallet_contract_has_one_settlement_in_flight() {
    let fixture = Fixture::open().await;
    let (settler, chain) = (Arc::new(fixture.settler()), fixture.chain());
    place_wallet(&fixture);
    let first = prepared(&fixture, &settler).await.unwrap();
    let second = prepared(&fixture, &settler).await.unwrap();
    let other = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    chain.set_mining(MiningMode::Held);
    let first = first.settling(&settler);
    until("the first is in the pool", async || chain.waiting() == 1).await;
    let waiting = second.settling(&settler);
    let other = other.settling(&settler);
    until("another payer's is in the pool", async || chain.waiting() == 2).await;
    assert_eq!(fixture.signed(second.key()).await, 0);
    chain.mine(1);
    first.await.unwrap().unwrap();
    other.await.unwrap().unwrap();
    until("the second is in the pool", async || chain.waiting() == 1).await;
    chain.mine(1);
    waiting.await.unwrap().unwrap();
    assert_eq!((fixture.paid(), chain.nonce_of(fixture.account())), (atomic(3), 3));
}

#[tokio::test]
async fn a_settlement_that_waits_behind_one_that_fails_is_withdrawn() {
    let fixture = Fixture::open().await;
    let (settler, chain) = (Arc::new(fixture.settler()), fixture.chain());
    place_wallet(&fixture);
    let first = prepared(&fixture, &settler).await.unwrap();
    let second = prepared(&fixture, &settler).await.unwrap();
    chain.set_mining(MiningMode::Held);
    let failing = first.settling(&settler);
    until("the first is in the pool", async || chain.waiting() == 1).await;
    let waiting = second.settling(&settler);
    chain.pause();
    chain.mine(1);
    chain.resume();
    let refused = failing.await.unwrap();
    assert!(matches!(refused, Err(Unsettled::Refused(_))), "{refused:?}");
    let withdrawn = waiting.await.unwrap();
    assert!(matches!(withdrawn, Err(Unsettled::Withdrawn(_))), "{withdrawn:?}");
    assert_eq!((fixture.paid(), chain.nonce_of(fixture.account())), (0, 1));
}

#[tokio::test]
async fn an_operator_can_refuse_all_accounts_with_code() {
    let fixture = Fixture::open().await;
    let settler = fixture.settler_with(|settings| {
        settings.contract_wallets = ContractWallets::Refused;
    });
    place_wallet(&fixture);
    let refused = settler.prepare(&authorization(&fixture), CHARGE, None).await.map(drop);
    assert_eq!(refused, Err(Rejection::Invalid("contract_wallet_not_accepted".to_owned())));
    pay(&settler, fixture.authorization()).await.unwrap();
}

#[tokio::test]
async fn signatures_that_no_key_made_cost_a_limited_number_of_calls_and_a_known_wallet_pays() {
    let fixture = Fixture::open().await;
    place_wallet(&fixture);
    let settler = fixture.settler();
    let owner = fixture.chains.key("owner");
    let known = fixture.terms(WALLET).signed_by(&owner);
    assert_eq!(settler.verify(&known, SignatureKind::Contract).await, Ok(()));

    let (before, started) = (fixture.chain().counts()["eth_getCode"], Instant::now());
    let stranger = EvmAddress::from_bytes([0x99; 20]);
    let mut verdicts = Vec::new();
    for _ in 0..500 {
        let garbage = fixture.terms(stranger).signed_by(&owner);
        verdicts.push(settler.verify(&garbage, SignatureKind::Contract).await);
    }
    let asked = fixture.chain().counts()["eth_getCode"] - before;
    // The limit: 60 at once, and 5 a second.
    let allowed = 60 + 5 * (started.elapsed().as_secs() + 1);
    assert!((1..=allowed).contains(&asked), "{asked} calls for 500 signatures");
    assert_eq!(verdicts.last(), Some(&Err(Rejection::Unavailable)));
    let again = fixture.terms(WALLET).signed_by(&owner);
    assert_eq!(settler.verify(&again, SignatureKind::Contract).await, Ok(()));
}
