//! Payers whose account has code, which may pass a simulation and fail in a block.

use std::sync::Arc;

use adapters::settlement::{ContractWallets, Settler};
use alloy_primitives::{Address, Bytes};
use alloy_sol_types::SolValue;
use order::model::chain::{EvmAddress, Network};
use order::tender::{Rejection, Unsettled};
use pay::x402::credential::Permit2Authorization;
use pay::x402::settler::{KnownAccount, Permit2Settler, SignatureKind};
use sandbox::chain::{MiningMode, NodeFault, NodeFaultRule, PERMIT2};
use sandbox::payee::payee;
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

/// How often the chain was asked about a payer or a signature.
fn questions(fixture: &Fixture) -> u64 {
    let counts = fixture.chain().counts();
    let asked = ["eth_getCode", "eth_call", "eth_estimateGas"];
    asked.iter().filter_map(|method| counts.get(*method)).sum()
}

#[tokio::test]
async fn signatures_that_no_key_made_cost_a_limited_number_of_calls() {
    let fixture = Fixture::open().await;
    place_wallet(&fixture);
    let settler = fixture.settler();
    let owner = fixture.chains.key("owner");
    let verify = async |payer| {
        let authorization = fixture.terms(payer).signed_by(&owner);
        settler.verify(&authorization, SignatureKind::Contract).await
    };
    assert_eq!(verify(WALLET).await, Ok(()));

    let (before, started) = (fixture.chain().counts()["eth_getCode"], Instant::now());
    let mut verdicts = Vec::new();
    for number in 0..500_u16 {
        let mut stranger = [0x99; 20];
        stranger[..2].copy_from_slice(&number.to_be_bytes());
        verdicts.push(verify(EvmAddress::from_bytes(stranger)).await);
    }
    let asked = fixture.chain().counts()["eth_getCode"] - before;
    // The limit: 60 at once, and 5 a second.
    let allowed = 60 + 5 * (started.elapsed().as_secs() + 1);
    assert!((1..=allowed).contains(&asked), "{asked} calls for 500 signatures");
    assert_eq!(verdicts.last(), Some(&Err(Rejection::Unavailable)));
    // A wallet that has paid has a limit of its own.
    assert_eq!(verify(WALLET).await, Ok(()));
}

#[tokio::test]
async fn a_wallet_that_has_paid_is_asked_about_a_limited_number_of_forged_signatures() {
    let fixture = Fixture::open().await;
    place_wallet(&fixture);
    let settler = fixture.settler();
    let verify = async |key: &str| {
        let authorization = fixture.terms(WALLET).signed_by(&fixture.chains.key(key));
        settler.verify(&authorization, SignatureKind::Contract).await
    };
    assert_eq!(verify("owner").await, Ok(()));
    let (before, started) = (questions(&fixture), Instant::now());
    for _ in 0..200 {
        assert!(verify("thief").await.is_err());
    }
    // The limit: 10 at once, and one a second, each two calls.
    let allowed = 2 * (10 + started.elapsed().as_secs() + 1);
    let asked = questions(&fixture) - before;
    assert!((2..=allowed).contains(&asked), "{asked} calls for 200 signatures");
}

#[tokio::test]
async fn an_account_without_code_is_known_for_a_minute_after_a_payment_or_a_question() {
    let fixture = Fixture::open().await;
    let (settler, payer) = (fixture.settler(), fixture.chains.faucet().payer().address());
    let stranger = EvmAddress::from_bytes([0x99; 20]);
    assert_eq!(settler.known_account(BASE, payer), KnownAccount::Unknown);
    pay(&settler, fixture.authorization()).await.unwrap();
    assert_eq!(settler.known_account(BASE, payer), KnownAccount::WithoutCode);
    assert_eq!(settler.known_account(Network::Polygon, payer), KnownAccount::Unknown);
    let forged = fixture.terms(stranger).signed_by(&fixture.chains.key("owner"));
    let bad = Err(Rejection::Invalid("invalid_permit2_signature".to_owned()));
    assert_eq!(settler.verify(&forged, SignatureKind::Contract).await, bad);
    assert_eq!(settler.known_account(BASE, stranger), KnownAccount::WithoutCode);
    fixture.clock.forward(60);
    for account in [payer, stranger] {
        assert_eq!(settler.known_account(BASE, account), KnownAccount::Unknown);
    }
    // An account that has code by now is not known as one without.
    fixture.chain().place_wallet(payer, payer);
    pay(&settler, fixture.authorization()).await.unwrap();
    assert_eq!(settler.known_account(BASE, payer), KnownAccount::Unknown);
}

/// A signature with how its wallet is deployed (ERC-6492).
fn wrapped(mut authorization: Permit2Authorization) -> Permit2Authorization {
    let (factory, call) = (Address::repeat_byte(0x11), Bytes::from_static(b"deploy"));
    let signature = Bytes::copy_from_slice(&authorization.signature);
    let arguments = (factory, call, signature).abi_encode_params();
    authorization.signature = [arguments, [0x64, 0x92].repeat(16)].concat();
    authorization
}

#[tokio::test]
async fn a_deployed_wallet_pays_with_a_signature_that_says_how_it_is_deployed() {
    let fixture = Fixture::open().await;
    let (settler, authorization) = (fixture.settler(), wrapped(authorization(&fixture)));
    fixture.chains.fill_account(BASE.into(), WALLET);
    fixture.chain().set_allowance(WALLET, PERMIT2, u128::MAX);
    let verdict = async || settler.verify(&authorization, SignatureKind::Contract).await;
    let undeployed = Err(Rejection::Invalid("contract_wallet_not_deployed".to_owned()));
    assert_eq!(verdict().await, undeployed);
    // It can be deployed at once, so it does not count as an account without code.
    assert_eq!(settler.known_account(BASE, WALLET), KnownAccount::Unknown);
    place_wallet(&fixture);
    assert_eq!(verdict().await, Ok(()));
    let payment = Payment::prepare(&settler, authorization.clone()).await.unwrap();
    payment.settle(&settler).await.unwrap();
    assert_eq!(fixture.paid(), atomic(1));
}

#[tokio::test]
async fn an_account_with_a_key_and_code_pays_if_the_code_accepts_the_key() {
    let fixture = Fixture::open().await;
    let (settler, chain) = (fixture.settler(), fixture.chain());
    let payer = fixture.chains.faucet().payer().address();
    chain.place_wallet(payer, payer);
    pay(&settler, fixture.authorization()).await.unwrap();
    chain.place_wallet(payer, payee());
    let authorization = fixture.authorization();
    assert_eq!(settler.verify(&authorization, SignatureKind::Key).await, Ok(()));
    let rejected = Rejection::Invalid("contract_wallet_rejected_signature".to_owned());
    let prepared = Payment::prepare(&settler, authorization).await.map(drop);
    assert_eq!(prepared, Err(rejected));
    assert_eq!(fixture.paid(), atomic(1));
}
