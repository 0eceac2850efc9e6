//! x402 payments without faults, and authorizations that are rejected.

use adapters::settlement::outbox::Outbox;
use adapters::settlement::{NotAKey, Settler};
use order::model::chain::{EvmAddress, Network};
use order::model::ids::Timestamp;
use order::model::money::Usdc;
use order::model::payment::Finality;
use order::tender::{Rejection, Unsettled};
use pay::transfer::TransferStatus;
use pay::x402::settler::{
    FacilitatorAddress, GasSponsoring, Permit2Settler, Permit2Support, SignatureKind,
};
use sandbox::chain::{PERMIT2, TagDepths};
use sandbox::payee::payee;

use crate::fixture::{BASE, Fixture, NOON, Payment, atomic, pay};
use crate::signing::{CHARGE, MOST, Terms, permit};

fn invalid(reason: &str) -> Result<(), Rejection> {
    Err(Rejection::Invalid(reason.to_owned()))
}

#[tokio::test]
async fn the_exact_charge_moves_on_every_network() {
    let fixture = Fixture::open().await;
    let settler = fixture.settler();
    for network in Network::ALL {
        let (chain, key) = (fixture.chains.chain(network), fixture.chains.faucet().payer());
        let before = chain.usdc_of(key.address());
        let authorization = Terms { network, ..fixture.terms(key.address()) }.signed_by(&key);
        let moved = pay(&settler, authorization).await.unwrap();
        assert_eq!(chain.usdc_of(payee()), atomic(1));
        assert_eq!(chain.usdc_of(key.address()), before - atomic(1));
        let transfers = chain.transfers_to(payee());
        assert_eq!(transfers.len(), 1);
        let hash = alloy_primitives::B256::from(transfers[0].transaction);
        assert_eq!(moved.transaction, hash.to_string());
        assert_eq!((moved.at, moved.finality), (Timestamp(NOON), Finality::Final));
    }
}

#[tokio::test]
async fn a_payment_that_is_settled_twice_moves_once_under_one_nonce() {
    let fixture = Fixture::open().await;
    fixture.chain().set_depths(TagDepths { safe: 2, finalized: 4 });
    let settler = fixture.settler();
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    let first = payment.settle(&settler).await.unwrap();
    assert_eq!(payment.settle(&settler).await.unwrap(), first);
    // Another process on the same outbox finds the same.
    assert_eq!(payment.settle(&fixture.settler()).await.unwrap(), first);
    assert_eq!(payment.trace(&fixture.settler()).await.unwrap(), TransferStatus::Moved(first));
    assert_eq!(fixture.paid(), atomic(1));
    assert_eq!(fixture.chain().nonce_of(fixture.account()), 1);
}

#[tokio::test]
async fn preparing_signs_and_sends_nothing_and_returns_the_same_again() {
    let fixture = Fixture::open().await;
    let settler = fixture.settler();
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    let again = settler.prepare(&payment.authorization, CHARGE, Some(&payment.preparation)).await;
    assert!(again.unwrap() == payment.preparation);
    assert_eq!((fixture.paid(), fixture.signed(payment.key()).await), (0, 0));
    assert!(!fixture.chain().counts().contains_key("eth_sendRawTransaction"));
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open));
}

#[tokio::test]
async fn only_networks_with_a_node_are_served() {
    let fixture = Fixture::open().await;
    let settler = fixture.settler_within(adapters::settlement::SettlerLimits::of(BASE));
    let served =
        Permit2Support { facilitator: fixture.account(), sponsoring: GasSponsoring::Offered };
    assert_eq!(settler.address(), fixture.account());
    assert_eq!(settler.support(BASE), Some(served));
    assert_eq!(settler.support(Network::Polygon), None);
    assert_eq!(settler.classify_facilitator(BASE, fixture.account()), FacilitatorAddress::Ours);
    assert_eq!(settler.classify_facilitator(BASE, payee()), FacilitatorAddress::Unknown);
    let elsewhere = Terms { network: Network::Polygon, ..fixture.terms(payee()) };
    let authorization = elsewhere.signed_by(&fixture.chains.faucet().payer());
    assert_eq!(
        settler.verify(&authorization, SignatureKind::Key).await,
        Err(Rejection::Unavailable)
    );
}

#[tokio::test]
async fn a_key_of_zeros_is_refused() {
    let fixture = Fixture::open().await;
    let mut settings = fixture.settings(&fixture.chains.faucet().settler());
    settings.key = [0; 32].into();
    assert_eq!(Settler::start(settings).err(), Some(NotAKey));
}

#[tokio::test]
async fn balance_allowance_and_nonce_are_verified_on_chain() {
    let fixture = Fixture::open().await;
    let (settler, chain) = (fixture.settler(), fixture.chain());
    let authorization = fixture.authorization_of("poor");
    let verdict = async || settler.verify(&authorization, SignatureKind::Key).await;
    assert_eq!(verdict().await, Ok(()));
    chain.set_usdc(authorization.payer, u128::from(MOST.atomic()) - 1);
    assert_eq!(verdict().await, invalid("permit2_insufficient_balance"));
    chain.set_usdc(authorization.payer, u128::from(MOST.atomic()));
    chain.set_allowance(authorization.payer, PERMIT2, u128::from(MOST.atomic()) - 1);
    assert_eq!(verdict().await, Err(Rejection::AllowanceMissing));
    // Nothing was consumed: once Permit2 may take, the same authorization pays.
    chain.set_allowance(authorization.payer, PERMIT2, u128::from(MOST.atomic()));
    assert_eq!(verdict().await, Ok(()));
    pay(&settler, authorization.clone()).await.unwrap();
    chain.set_usdc(authorization.payer, u128::from(MOST.atomic()));
    chain.set_allowance(authorization.payer, PERMIT2, u128::MAX);
    assert_eq!(verdict().await, invalid("permit2_invalid_nonce"));
    assert_eq!(fixture.paid(), atomic(1));
}

#[tokio::test]
async fn a_failed_simulation_is_rejected_with_its_reason() {
    let fixture = Fixture::open().await;
    let (settler, chain) = (fixture.settler(), fixture.chain());
    let authorization = fixture.authorization_of("poor");
    let prepared = async |charge| settler.prepare(&authorization, charge, None).await.map(drop);
    assert_eq!(
        prepared(Usdc::from_atomic(MOST.atomic() + 1)).await,
        invalid("upto_amount_exceeds_permitted")
    );
    chain.set_allowance(authorization.payer, PERMIT2, 1);
    assert_eq!(prepared(CHARGE).await, Err(Rejection::AllowanceMissing));
    chain.set_allowance(authorization.payer, PERMIT2, u128::MAX);
    chain.set_usdc(authorization.payer, 1);
    assert_eq!(prepared(CHARGE).await, invalid("permit2_insufficient_balance"));
    chain.set_usdc(authorization.payer, atomic(1));
    chain.pause();
    assert_eq!(prepared(CHARGE).await, invalid("permit2_simulation_failed"));
    chain.resume();
    // An account with code that confirms no signature rejects its own key's too (EIP-7702).
    chain.place_code(authorization.payer);
    assert_eq!(prepared(CHARGE).await, invalid("contract_wallet_rejected_signature"));
    chain.remove_code(authorization.payer);
    fixture.chains.advance(601);
    chain.mine(1);
    assert_eq!(prepared(CHARGE).await, invalid("permit2_deadline_expired"));
    assert_eq!((fixture.paid(), chain.waiting()), (0, 0));
}

#[tokio::test]
async fn a_newcomer_without_allowance_and_gas_pays_by_permit() {
    let fixture = Fixture::open().await;
    let (settler, key) = (fixture.settler(), fixture.chains.faucet().newcomer());
    let mut authorization = fixture.terms(key.address()).signed_by(&key);
    let verdict = settler.verify(&authorization, SignatureKind::Key).await;
    assert_eq!(verdict, Err(Rejection::AllowanceMissing));
    authorization.permit = Some(permit(&authorization, &key, CHARGE));
    let verdict = settler.verify(&authorization, SignatureKind::Key).await;
    assert_eq!(verdict, invalid("permit2_2612_amount_mismatch"));
    let mut forged = permit(&authorization, &key, MOST);
    forged.deadline += 1;
    authorization.permit = Some(forged);
    let verdict = settler.verify(&authorization, SignatureKind::Key).await;
    assert_eq!(verdict, invalid("permit2_simulation_failed"));
    authorization.permit = Some(permit(&authorization, &key, MOST));
    pay(&settler, authorization).await.unwrap();
    assert_eq!(fixture.paid(), atomic(1));
    assert_eq!(fixture.chain().native_of(key.address()), 0);
    // What is left of the allowance is enough for a smaller charge; a permit that
    // was used already does no harm.
    let mut second = fixture.terms(key.address()).signed_by(&key);
    second.permit = Some(permit(&second, &key, MOST));
    fixture.chain().set_allowance(key.address(), PERMIT2, u128::MAX);
    pay(&settler, second).await.unwrap();
    assert_eq!(fixture.paid(), atomic(2));
}

#[tokio::test]
async fn a_contract_wallet_pays_if_it_confirms_the_signature() {
    let fixture = Fixture::open().await;
    let (settler, chain) = (fixture.settler(), fixture.chain());
    let (owner, wallet) = (fixture.chains.key("owner"), EvmAddress::from_bytes([0x77; 20]));
    fixture.chains.fill_account(BASE.into(), wallet);
    chain.set_allowance(wallet, PERMIT2, u128::MAX);
    let authorization = fixture.terms(wallet).signed_by(&owner);
    let verdict = async || settler.verify(&authorization, SignatureKind::Contract).await;
    assert_eq!(verdict().await, invalid("invalid_permit2_signature"), "no code");
    chain.place_code(wallet);
    assert_eq!(verdict().await, invalid("contract_wallet_rejected_signature"), "says nothing");
    chain.place_wallet(wallet, payee());
    assert_eq!(verdict().await, invalid("contract_wallet_rejected_signature"), "says no");
    chain.place_wallet(wallet, owner.address());
    assert_eq!(verdict().await, Ok(()));
    let payment = Payment::prepare(&settler, authorization.clone()).await.unwrap();
    payment.settle(&settler).await.unwrap();
    assert_eq!(fixture.paid(), atomic(1));
}

#[tokio::test]
async fn an_authorization_to_another_account_is_not_settled() {
    let fixture = Fixture::open().await;
    let settler = fixture.settler();
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    fixture.end(settler).await;
    let key = fixture.chains.key("another account");
    fixture.chain().set_native(key.address(), 10_u128.pow(18));
    let other = Settler::start(fixture.settings(&key)).unwrap();
    let mismatch = "upto_facilitator_mismatch";
    assert_eq!(other.verify(&payment.authorization, SignatureKind::Key).await, invalid(mismatch));
    let prepared = other.prepare(&payment.authorization, CHARGE, None).await.map(drop);
    assert_eq!(prepared, invalid(mismatch));
    let lost = payment.settle(&other).await;
    assert!(matches!(lost, Err(Unsettled::Lost(_))), "{lost:?}");
    assert_eq!(payment.trace(&other).await, Ok(TransferStatus::Open));
    assert_eq!((fixture.paid(), fixture.chain().nonce_of(key.address())), (0, 0));
}

#[tokio::test]
async fn a_payment_is_not_sent_to_a_node_of_another_chain_or_to_one_that_is_unreachable() {
    let fixture = Fixture::with_short_receipt_time().await;
    let settler = fixture.settler();
    let authorization = fixture.authorization();
    let fault = sandbox::chain::NodeFault::ChainId(1);
    fixture.chain().add_fault(sandbox::chain::NodeFaultRule::always(fault));
    assert_eq!(
        settler.verify(&authorization, SignatureKind::Key).await,
        Err(Rejection::Unavailable)
    );
    let prepared = settler.prepare(&authorization, CHARGE, None).await.map(drop);
    assert_eq!(prepared, Err(Rejection::Unavailable));
    fixture.chain().clear_faults();
    let payment = Payment::prepare(&settler, authorization).await.unwrap();
    let (chain, sent) = (fixture.chain(), fixture.outbox.another_process());
    fixture.chains.close().await;
    let verdict = settler.verify(&payment.authorization, SignatureKind::Key).await;
    assert_eq!(verdict, Err(Rejection::Unavailable));
    // It has no nonce, so nothing can have moved.
    let withdrawn = payment.settle(&settler).await;
    assert!(matches!(withdrawn, Err(Unsettled::Withdrawn(_))), "{withdrawn:?}");
    assert_eq!((sent.transactions(&[payment.key()]).await, chain.waiting()), (Ok(Vec::new()), 0));
}
