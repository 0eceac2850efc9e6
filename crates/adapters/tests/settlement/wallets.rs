//! Payers whose account has code, which may pass a simulation and fail in a block.

use std::sync::Arc;

use adapters::settlement::{ContractWallets, Settler};
use alloy_primitives::{Address, Bytes};
use alloy_sol_types::SolValue;
use order::model::chain::{EvmAddress, Network};
use order::tender::{Rejection, Unsettled};
use pay::x402::credential::Permit2Authorization;
use pay::x402::settler::{KnownAccount, Permit2Settler, SignatureKind};
use sandbox::chain::{ChainHandle, MiningMode, NodeFault, NodeFaultRule, PERMIT2};
use sandbox::payee::payee;

mod limits;

use crate::fixture::{BASE, Fixture, Payment, atomic, pay, until};
use crate::signing::{CHARGE, MOST, permit};

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

fn invalid<T>(reason: &str) -> Result<T, Rejection> {
    Err(Rejection::Invalid(reason.to_owned()))
}

/// A settler that accepts no accounts with code.
fn refusing(fixture: &Fixture) -> Settler {
    fixture.settler_with(|settings| settings.contract_wallets = ContractWallets::Refused)
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
    let (settler, chain) = (refusing(&fixture), fixture.chain());
    let good = authorization(&fixture);
    let forged = fixture.terms(WALLET).signed_by(&fixture.chains.key("thief"));
    let verify = async |signed| settler.verify(signed, SignatureKind::Contract).await;
    assert_eq!(verify(&forged).await, invalid("invalid_permit2_signature"), "no code yet");
    place_wallet(&fixture);
    let asked = chain.counts().get("eth_call").copied();
    for signed in [&good, &forged] {
        assert_eq!(verify(signed).await, invalid("contract_wallet_not_accepted"));
        let prepared = settler.prepare(signed, CHARGE, None).await.map(drop);
        assert_eq!(prepared, invalid("contract_wallet_not_accepted"));
    }
    assert_eq!(chain.counts().get("eth_call").copied(), asked, "no code was asked");
    pay(&settler, fixture.authorization()).await.unwrap();
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

/// An account with a key, code and no allowance (EIP-7702) that signs a permit too.
fn permitting(fixture: &Fixture) -> Permit2Authorization {
    let key = fixture.chains.faucet().newcomer();
    let mut authorization = fixture.terms(key.address()).signed_by(&key);
    authorization.permit = Some(permit(&authorization, &key, MOST));
    authorization
}

#[tokio::test]
async fn an_account_with_a_key_and_code_gets_the_reason_of_its_code_with_a_permit_too() {
    let fixture = Fixture::open().await;
    let (settler, chain, authorization) =
        (fixture.settler(), fixture.chain(), permitting(&fixture));
    let (payer, refusing) = (authorization.payer, refusing(&fixture));
    let verify = async |settler: &Settler| settler.verify(&authorization, SignatureKind::Key).await;
    let prepare =
        async |settler: &Settler| settler.prepare(&authorization, CHARGE, None).await.map(drop);
    let says_no: fn(&ChainHandle, EvmAddress) = |chain, payer| chain.place_wallet(payer, payee());
    let reverts: fn(&ChainHandle, EvmAddress) = |chain, payer| chain.place_code(payer);
    for place in [says_no, reverts] {
        place(&chain, payer);
        for verdict in [verify(&settler).await, prepare(&settler).await] {
            assert_eq!(verdict, invalid("contract_wallet_rejected_signature"));
        }
        for verdict in [verify(&refusing).await, prepare(&refusing).await] {
            assert_eq!(verdict, invalid("contract_wallet_not_accepted"));
        }
        chain.remove_code(payer);
    }
    chain.place_wallet(payer, payer);
    assert_eq!(prepare(&refusing).await, invalid("contract_wallet_not_accepted"));
    pay(&settler, authorization.clone()).await.unwrap();
    assert_eq!(fixture.paid(), atomic(1));
}
