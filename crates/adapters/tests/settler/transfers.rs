//! MPP's signed transfers: paid by us, paid by somebody else, taken back, run out.

use adapters::settler::Settler;
use alloy_primitives::keccak256;
use order::chain::{EvmAddress, Network};
use order::payment::{Finality, Preparation};
use order::ports::{Clock, Failure};
use order::tender::Rejection;
use pay::movement::{Moved, Movement};
use pay::mpp::credential::Authorization;
use pay::mpp::facilitator::{Due, Facilitator, Found, Service};
use sandbox::keys::Key;
use sandbox::payee::payee;

use crate::house::{BASE, House, NOON};
use crate::signing::{PRICE, Terms, cancelling, carrying, sign, transaction, transfer};

mod doubt;
mod faults;

/// A payment as the desk holds it.
struct Payment {
    authorization: Authorization,
    preparation: Preparation,
}

impl Payment {
    async fn prepare(settler: &Settler, authorization: Authorization) -> Result<Self, Rejection> {
        let preparation = settler.prepare(&authorization, None).await?.preparation;
        Ok(Self { authorization, preparation })
    }

    fn due(&self) -> Due<'_> {
        Due { authorization: &self.authorization, preparation: &self.preparation }
    }

    async fn settle(&self, settler: &Settler) -> Result<Moved, Failure> {
        settler.settle(self.due()).await
    }

    async fn trace(&self, settler: &Settler) -> Result<Movement, Failure> {
        settler.trace(self.due(), None).await
    }

    /// One look of the reconciler: find out, and ask again while it can still move.
    async fn look(&mut self, settler: &Settler) -> Result<Movement, Failure> {
        match self.trace(settler).await? {
            Movement::Open => {}
            end @ (Movement::Moved(_) | Movement::Void) => return Ok(end),
        }
        let again = settler.prepare(&self.authorization, Some(&self.preparation)).await;
        let Ok(again) = again else { return Ok(Movement::Open) };
        self.preparation = again.preparation;
        self.settle(settler).await.map(Movement::Moved)
    }

    /// Looks as the reconciler does until there is nothing more to find out.
    async fn chase(&mut self, house: &House, settler: &Settler) -> Movement {
        for _ in 0..20 {
            match self.look(settler).await {
                Ok(end @ (Movement::Moved(_) | Movement::Void)) => return end,
                Ok(Movement::Open) | Err(_) => house.watch.wait(5).await,
            }
        }
        panic!("nobody found out what became of it");
    }

    fn kept(&self) -> Vec<serde_json::Value> {
        let kept: serde_json::Value = serde_json::from_slice(&self.preparation.0).unwrap();
        kept["transactions"].as_array().unwrap().clone()
    }
}

/// Verifies, prepares and settles, as the desk does for a paying caller.
async fn pay(settler: &Settler, authorization: Authorization) -> Result<Moved, Failure> {
    assert_eq!(settler.verify(&authorization).await, Ok(Found::Unused));
    Payment::prepare(settler, authorization).await.unwrap().settle(settler).await
}

/// Somebody sends a call to the token with gas of their own, and it is in a block.
fn send(house: &House, label: &str, call: Vec<u8>) -> String {
    send_to(house, label, BASE.usdc(), call)
}

fn send_to(house: &House, label: &str, to: EvmAddress, call: Vec<u8>) -> String {
    let (chain, key) = (house.chain(), house.chains.key(label));
    chain.set_native(key.address(), 10_u128.pow(18));
    let raw = transaction(BASE, chain.next_nonce_of(key.address()), to, call).sign(&key);
    chain.send(&raw).unwrap();
    keccak256(raw).to_string()
}

fn price(count: u64) -> u128 {
    u128::from(count * PRICE.atomic())
}

fn payer(house: &House) -> Key {
    house.chains.faucet().payer()
}

fn finality(movement: &Result<Movement, Failure>) -> Option<Finality> {
    match movement {
        Ok(Movement::Moved(Moved { finality, .. })) => Some(*finality),
        Ok(Movement::Open | Movement::Void) | Err(_) => None,
    }
}

/// Why a payer is sent away.
fn words<T: std::fmt::Debug>(verdict: Result<T, Rejection>) -> String {
    match verdict {
        Err(Rejection::Invalid(words)) => words,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_exact_price_moves_on_every_network_and_is_found_again() {
    let house = House::open().await;
    let settler = house.settler();
    for network in Network::ALL {
        assert_eq!(settler.service(network), Service::Offered);
        let (chain, key) = (house.chains.chain(network), payer(&house));
        let before = chain.usdc_of(key.address());
        let terms = Terms { network, ..house.terms(key.address()) };
        let payment = Payment::prepare(&settler, transfer(&terms, &key)).await.unwrap();
        assert_eq!((chain.usdc_of(payee()), payment.kept().len()), (0, 1));
        let moved = payment.settle(&settler).await.unwrap();
        assert_eq!(chain.usdc_of(payee()), price(1));
        assert_eq!(chain.usdc_of(key.address()), before - price(1));
        assert_eq!((moved.at.0, moved.finality), (NOON, Finality::Final));
        assert_eq!(moved.transaction, payment.kept()[0]["hash"].as_str().unwrap());
        // Asked twice, and by a process that has nothing but what was kept.
        assert_eq!(payment.settle(&settler).await.unwrap(), moved);
        assert_eq!(payment.settle(&house.settler()).await.unwrap(), moved);
        assert_eq!(payment.trace(&house.settler()).await.unwrap(), Movement::Moved(moved));
        assert_eq!(chain.transfers_to(payee()).len(), 1);
    }
    let elsewhere = house.settler_within(adapters::settler::Limits::of(BASE));
    assert_eq!(elsewhere.service(Network::Polygon), Service::NotOffered);
}

#[tokio::test]
async fn preparing_moves_nothing_and_is_the_same_again_while_it_holds() {
    let house = House::open().await;
    let settler = house.settler();
    let payment = Payment::prepare(&settler, house.transfer()).await.unwrap();
    let again = settler.prepare(&payment.authorization, Some(&payment.preparation)).await.unwrap();
    assert_eq!(again.found, Found::Unused);
    assert!(again.preparation == payment.preparation);
    assert_eq!((house.paid(), house.chain().waiting()), (0, 0));
    assert!(!house.chain().counts().contains_key("eth_sendRawTransaction"));
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Open));
}

#[tokio::test]
async fn what_the_token_would_refuse_is_refused_in_words_before_anything_is_signed() {
    let house = House::open().await;
    let (settler, chain, key) = (house.settler(), house.chain(), payer(&house));
    let one = house.transfer();
    let verdict = async |one: &Authorization| {
        let verified = words(settler.verify(one).await);
        assert_eq!(words(settler.prepare(one, None).await.map(drop)), verified);
        verified
    };
    chain.set_usdc(one.from, price(1) - 1);
    assert!(verdict(&one).await.contains("enough USDC"));
    chain.set_usdc(one.from, price(1));
    chain.blacklist(one.from);
    assert!(verdict(&one).await.contains("blocked"));
    chain.unblacklist(one.from);
    chain.pause();
    assert!(verdict(&one).await.contains("paused"));
    chain.resume();
    // Its own signature is worth nothing to an account that has code.
    chain.place_code(one.from);
    assert!(verdict(&one).await.contains("plain account"));
    chain.remove_code(one.from);
    let changed = |change: fn(&mut Authorization)| {
        let mut other = one.clone();
        change(&mut other);
        other
    };
    assert!(verdict(&changed(|one| one.nonce[0] ^= 1)).await.contains("signature"));
    assert!(verdict(&changed(|one| one.signature[40] ^= 1)).await.contains("signature"));
    assert!(verdict(&changed(|one| one.token = payee())).await.contains("not for USDC"));
    let mut early = changed(|one| one.valid_after = NOON);
    sign(&mut early, &key);
    assert!(verdict(&early).await.contains("not valid yet"));
    let mut late = changed(|one| one.valid_before = NOON);
    sign(&mut late, &key);
    assert!(verdict(&late).await.contains("run out"));
    assert_eq!((house.paid(), chain.waiting(), chain.nonce_of(house.carrier())), (0, 0, 0));
    pay(&settler, one).await.unwrap();
    assert_eq!(house.paid(), price(1));
}

#[tokio::test]
async fn a_node_in_trouble_is_never_the_payers_fault() {
    let house = House::open().await;
    let (settler, one) = (house.settler(), house.transfer());
    settler.verify(&one).await.unwrap();
    for fault in [
        sandbox::chain::Fault::Reset,
        sandbox::chain::Fault::Unavailable,
        sandbox::chain::Fault::Garbage,
    ] {
        house.chain().add_fault(sandbox::chain::Rule::always(fault));
        assert_eq!(settler.verify(&one).await, Err(Rejection::Unavailable));
        let prepared = settler.prepare(&one, None).await.map(drop);
        assert_eq!(prepared, Err(Rejection::Unavailable));
        house.chain().clear_faults();
    }
    pay(&settler, one).await.unwrap();
}

#[tokio::test]
async fn both_ways_of_paying_share_one_account_and_its_numbers() {
    let house = House::open().await;
    let settler = house.settler();
    let signed = Payment::prepare(&settler, house.transfer()).await.unwrap();
    let promised = crate::house::Payment::prepare(&settler, house.promise()).await.unwrap();
    let second = Payment::prepare(&settler, house.transfer()).await.unwrap();
    let numbers = [signed.kept(), second.kept()].map(|kept| kept[0]["nonce"].as_u64());
    assert_eq!(numbers, [Some(0), Some(2)]);
    signed.settle(&settler).await.unwrap();
    promised.settle(&settler).await.unwrap();
    second.settle(&settler).await.unwrap();
    assert_eq!(house.paid(), price(2) + crate::house::atomic(1));
    assert_eq!(house.chain().nonce_of(house.carrier()), 3);
}

#[tokio::test]
async fn what_a_retired_key_signed_is_sent_as_it_is_and_takes_no_number_of_the_new_one() {
    let house = House::open().await;
    let payment = Payment::prepare(&house.settler(), house.transfer()).await.unwrap();
    let heir = house.chains.key("heir");
    house.chain().set_native(heir.address(), 10_u128.pow(18));
    let new = Settler::new(house.settings(&heir)).unwrap();
    let kept = new.prepare(&payment.authorization, Some(&payment.preparation)).await;
    assert!(kept.unwrap().preparation == payment.preparation);
    payment.settle(&new).await.unwrap();
    pay(&new, house.transfer()).await.unwrap();
    assert_eq!(house.paid(), price(2));
    assert_eq!(house.chain().nonce_of(house.carrier()), 1);
    assert_eq!(house.chain().nonce_of(heir.address()), 1);
}

#[tokio::test]
async fn a_preparation_that_is_none_of_ours_is_not_settled_and_its_transfer_is_found() {
    let house = House::open().await;
    let (settler, authorization) = (house.settler(), house.transfer());
    for bytes in [Vec::new(), b"{}".to_vec(), vec![0xff; 9]] {
        let preparation = Preparation(bytes);
        let payment = Payment { authorization: authorization.clone(), preparation };
        assert!(matches!(payment.settle(&settler).await, Err(Failure::Lost(_))));
        assert_eq!(payment.trace(&settler).await, Ok(Movement::Open));
        let again = settler.prepare(&authorization, Some(&payment.preparation)).await;
        assert_eq!(again.map(drop), Err(Rejection::Unavailable));
    }
    let moved = pay(&settler, authorization.clone()).await.unwrap();
    let payment = Payment { authorization, preparation: Preparation(b"{}".to_vec()) };
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Moved(moved)));
}
