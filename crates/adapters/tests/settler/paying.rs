//! Payments on a good day, and promises that are worth nothing.

use adapters::settler::{NotAKey, Settler};
use order::chain::{EvmAddress, Network};
use order::ids::Timestamp;
use order::money::Usdc;
use order::payment::Finality;
use order::tender::Rejection;
use pay::movement::Movement;
use pay::x402::facilitator::{Carrier, Facilitator, Service, Signer, Sponsoring};
use sandbox::chain::{PERMIT2, Settled};
use sandbox::payee::payee;

use crate::house::{BASE, House, NOON, Payment, atomic, pay};
use crate::signing::{CHARGE, MOST, Terms, permit};

fn invalid(reason: &str) -> Result<(), Rejection> {
    Err(Rejection::Invalid(reason.to_owned()))
}

#[tokio::test]
async fn the_exact_charge_moves_on_every_network() {
    let house = House::open().await;
    let settler = house.settler();
    for network in Network::ALL {
        let (chain, key) = (house.chains.chain(network), house.chains.faucet().payer());
        let before = chain.usdc_of(key.address());
        let promise = Terms { network, ..house.terms(key.address()) }.signed_by(&key);
        let moved = pay(&settler, promise).await.unwrap();
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
async fn a_payment_that_is_settled_twice_moves_once() {
    let house = House::open().await;
    let settler = house.settler();
    let payment = Payment::prepare(&settler, house.promise()).await.unwrap();
    let first = payment.settle(&settler).await.unwrap();
    assert_eq!(payment.settle(&settler).await.unwrap(), first);
    // Another process with nothing but what was kept says the same.
    assert_eq!(payment.settle(&house.settler()).await.unwrap(), first);
    assert_eq!(payment.trace(&house.settler()).await.unwrap(), Movement::Moved(first));
    assert_eq!(house.paid(), atomic(1));
    assert_eq!(house.chain().nonce_of(house.carrier()), 1);
}

#[tokio::test]
async fn preparing_moves_nothing_and_is_the_same_again_while_it_holds() {
    let house = House::open().await;
    let settler = house.settler();
    let payment = Payment::prepare(&settler, house.promise()).await.unwrap();
    let again = settler.prepare(&payment.promise, CHARGE, Some(&payment.preparation)).await;
    assert!(again.unwrap() == payment.preparation);
    assert_eq!((house.paid(), house.chain().waiting()), (0, 0));
    assert!(!house.chain().counts().contains_key("eth_sendRawTransaction"));
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Open));
}

#[tokio::test]
async fn offers_name_our_account_on_the_networks_that_we_have_a_node_of() {
    let house = House::open().await;
    let settler = house.settler_within(adapters::settler::Limits::of(BASE));
    let served = Service { carrier: house.carrier(), sponsoring: Sponsoring::Offered };
    assert_eq!(settler.address(), house.carrier());
    assert_eq!(settler.service(BASE), Some(served));
    assert_eq!(settler.service(Network::Polygon), None);
    assert_eq!(settler.carrier(BASE, house.carrier()), Carrier::Ours);
    assert_eq!(settler.carrier(BASE, payee()), Carrier::Unknown);
    let elsewhere = Terms { network: Network::Polygon, ..house.terms(payee()) };
    let promise = elsewhere.signed_by(&house.chains.faucet().payer());
    assert_eq!(settler.verify(&promise, Signer::Key).await, Err(Rejection::Unavailable));
}

#[tokio::test]
async fn zero_is_no_key() {
    let house = House::open().await;
    let mut settings = house.settings(&house.chains.faucet().settler());
    settings.key = [0; 32].into();
    assert_eq!(Settler::new(settings).err(), Some(NotAKey));
}

#[tokio::test]
async fn what_only_the_chain_can_tell_is_asked_before_anything_is_signed() {
    let house = House::open().await;
    let (settler, chain) = (house.settler(), house.chain());
    let promise = house.promise_of("poor");
    let verdict = async || settler.verify(&promise, Signer::Key).await;
    assert_eq!(verdict().await, Ok(()));
    chain.set_usdc(promise.payer, u128::from(MOST.atomic()) - 1);
    assert_eq!(verdict().await, invalid("permit2_insufficient_balance"));
    chain.set_usdc(promise.payer, u128::from(MOST.atomic()));
    chain.set_allowance(promise.payer, PERMIT2, u128::from(MOST.atomic()) - 1);
    assert_eq!(verdict().await, Err(Rejection::AllowanceMissing));
    // Nothing was consumed: once Permit2 may take, the same promise pays.
    chain.set_allowance(promise.payer, PERMIT2, u128::from(MOST.atomic()));
    assert_eq!(verdict().await, Ok(()));
    pay(&settler, promise.clone()).await.unwrap();
    chain.set_usdc(promise.payer, u128::from(MOST.atomic()));
    chain.set_allowance(promise.payer, PERMIT2, u128::MAX);
    assert_eq!(verdict().await, invalid("permit2_invalid_nonce"));
    assert_eq!(house.paid(), atomic(1));
}

#[tokio::test]
async fn a_simulation_that_fails_says_why_and_signs_nothing() {
    let house = House::open().await;
    let (settler, chain) = (house.settler(), house.chain());
    let promise = house.promise_of("poor");
    let prepared = async |charge| settler.prepare(&promise, charge, None).await.map(drop);
    assert_eq!(
        prepared(Usdc::from_atomic(MOST.atomic() + 1)).await,
        invalid("upto_amount_exceeds_permitted")
    );
    chain.set_allowance(promise.payer, PERMIT2, 1);
    assert_eq!(prepared(CHARGE).await, Err(Rejection::AllowanceMissing));
    chain.set_allowance(promise.payer, PERMIT2, u128::MAX);
    chain.set_usdc(promise.payer, 1);
    assert_eq!(prepared(CHARGE).await, invalid("permit2_insufficient_balance"));
    chain.set_usdc(promise.payer, atomic(1));
    chain.pause();
    assert_eq!(prepared(CHARGE).await, invalid("permit2_simulation_failed"));
    chain.resume();
    // An account that is a contract by now has no key any more.
    chain.place_code(promise.payer);
    assert_eq!(prepared(CHARGE).await, invalid("invalid_permit2_signature"));
    chain.remove_code(promise.payer);
    house.chains.advance(601);
    chain.mine(1);
    assert_eq!(prepared(CHARGE).await, invalid("permit2_deadline_expired"));
    assert_eq!((house.paid(), chain.waiting()), (0, 0));
}

#[tokio::test]
async fn a_newcomer_without_allowance_and_gas_pays_by_permit() {
    let house = House::open().await;
    let (settler, key) = (house.settler(), house.chains.faucet().newcomer());
    let mut promise = house.terms(key.address()).signed_by(&key);
    let verdict = settler.verify(&promise, Signer::Key).await;
    assert_eq!(verdict, Err(Rejection::AllowanceMissing));
    promise.permit = Some(permit(&promise, &key, CHARGE));
    let verdict = settler.verify(&promise, Signer::Key).await;
    assert_eq!(verdict, invalid("permit2_2612_amount_mismatch"));
    let mut forged = permit(&promise, &key, MOST);
    forged.deadline += 1;
    promise.permit = Some(forged);
    let verdict = settler.verify(&promise, Signer::Key).await;
    assert_eq!(verdict, invalid("permit2_simulation_failed"));
    promise.permit = Some(permit(&promise, &key, MOST));
    pay(&settler, promise).await.unwrap();
    assert_eq!(house.paid(), atomic(1));
    assert_eq!(house.chain().native_of(key.address()), 0);
    // What is left of the allowance is enough for a smaller charge; a permit that
    // was used already does no harm.
    let mut second = house.terms(key.address()).signed_by(&key);
    second.permit = Some(permit(&second, &key, MOST));
    house.chain().set_allowance(key.address(), PERMIT2, u128::MAX);
    pay(&settler, second).await.unwrap();
    assert_eq!(house.paid(), atomic(2));
}

#[tokio::test]
async fn a_wallet_that_is_a_contract_pays_if_it_says_yes() {
    let house = House::open().await;
    let (settler, chain) = (house.settler(), house.chain());
    let (owner, wallet) = (house.chains.key("owner"), EvmAddress::from_bytes([0x77; 20]));
    house.chains.faucet().fill(&house.chains, BASE.into(), wallet);
    chain.set_allowance(wallet, PERMIT2, u128::MAX);
    let promise = house.terms(wallet).signed_by(&owner);
    let verdict = async || settler.verify(&promise, Signer::Undecided).await;
    assert_eq!(verdict().await, invalid("invalid_permit2_signature"), "no code");
    chain.place_code(wallet);
    assert_eq!(verdict().await, invalid("invalid_permit2_signature"), "says nothing");
    chain.place_wallet(wallet, payee());
    assert_eq!(verdict().await, invalid("invalid_permit2_signature"), "says no");
    chain.place_wallet(wallet, owner.address());
    assert_eq!(verdict().await, Ok(()));
    let payment = Payment::prepare(&settler, promise.clone()).await.unwrap();
    payment.settle(&settler).await.unwrap();
    assert_eq!(house.paid(), atomic(1));
}

#[tokio::test]
async fn a_promise_to_a_retired_account_is_looked_after_and_no_new_one_is_taken() {
    let house = House::open().await;
    let old = house.settler();
    let payment = Payment::prepare(&old, house.promise()).await.unwrap();
    let heir = house.chains.key("heir");
    house.chain().set_native(heir.address(), 10_u128.pow(18));
    let mut settings = house.settings(&heir);
    settings.retired = vec![house.carrier()];
    let new = Settler::new(settings).unwrap();
    assert_eq!(new.carrier(BASE, house.carrier()), Carrier::Ours);
    let late = house.promise();
    let mismatch = "upto_facilitator_mismatch";
    assert_eq!(new.verify(&late, Signer::Key).await, invalid(mismatch));
    assert_eq!(new.prepare(&late, CHARGE, None).await.map(drop), invalid(mismatch));
    let kept = new.prepare(&payment.promise, CHARGE, Some(&payment.preparation)).await;
    assert!(kept.unwrap() == payment.preparation);
    payment.settle(&new).await.unwrap();
    assert_eq!(house.paid(), atomic(1));
    // Its number was the old account's; the new one begins with its own.
    let own = Terms { facilitator: heir.address(), ..house.terms(late.payer) };
    pay(&new, own.signed_by(&house.chains.faucet().payer())).await.unwrap();
    assert_eq!(house.chain().nonce_of(heir.address()), 1);
}

#[tokio::test]
async fn a_node_of_another_chain_or_none_at_all_is_asked_for_nothing_that_counts() {
    let house = House::open().await;
    let settler = house.settler();
    let promise = house.promise();
    let fault = sandbox::chain::Fault::ChainId(1);
    house.chain().add_fault(sandbox::chain::Rule::always(fault));
    assert_eq!(settler.verify(&promise, Signer::Key).await, Err(Rejection::Unavailable));
    let prepared = settler.prepare(&promise, CHARGE, None).await.map(drop);
    assert_eq!(prepared, Err(Rejection::Unavailable));
    house.chain().clear_faults();
    let payment = Payment::prepare(&settler, promise).await.unwrap();
    let chain = house.chain();
    house.chains.close().await;
    let verdict = settler.verify(&payment.promise, Signer::Key).await;
    assert_eq!(verdict, Err(Rejection::Unavailable));
    // Nothing left this machine, so nothing can have moved.
    let refused = payment.settle(&settler).await;
    assert!(matches!(refused, Err(order::ports::Failure::Refused(_))), "{refused:?}");
    let hash = alloy_primitives::keccak256(payment.raw()).0;
    assert_eq!(chain.settled(hash), None::<Settled>);
}
