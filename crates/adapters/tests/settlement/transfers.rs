//! MPP's signed transfers: made by us, made by another sender, cancelled, expired.

use adapters::settlement::Settler;
use alloy_primitives::keccak256;
use order::model::chain::{EvmAddress, Network};
use order::model::payment::{Finality, Instrument, PaymentKey, Preparation};
use order::ports::{Clock, Failure};
use order::tender::{Rejection, Unsettled};
use pay::mpp::credential::TransferAuthorization;
use pay::mpp::settler::{AuthorizationUse, TransferPayment, TransferSettler, TransferSupport};
use pay::transfer::{ConfirmedTransfer, TransferStatus};
use sandbox::keys::Key;
use sandbox::payee::payee;

use crate::fixture::{BASE, Fixture, NOON};
use crate::signing::{PRICE, Terms, cancelling, carrying, sign, transaction, transfer};

mod doubt;
mod faults;

/// A payment as the desk holds it.
struct Payment {
    authorization: TransferAuthorization,
    preparation: Preparation,
}

impl Payment {
    async fn prepare(
        settler: &Settler,
        authorization: TransferAuthorization,
    ) -> Result<Self, Rejection> {
        let preparation = settler.prepare(&authorization, None).await?.preparation;
        Ok(Self { authorization, preparation })
    }

    fn due(&self) -> TransferPayment<'_> {
        TransferPayment { authorization: &self.authorization, preparation: &self.preparation }
    }

    async fn settle(&self, settler: &Settler) -> Result<ConfirmedTransfer, Unsettled> {
        settler.settle(self.due()).await
    }

    async fn trace(&self, settler: &Settler) -> Result<TransferStatus, Failure> {
        settler.trace(self.due(), None).await
    }

    /// One look of the reconciler: find out, and settle again while it can still move.
    async fn look(&mut self, settler: &Settler) -> Result<TransferStatus, Unsettled> {
        match self.trace(settler).await? {
            TransferStatus::Open => {}
            end @ (TransferStatus::Moved(_) | TransferStatus::Void) => return Ok(end),
        }
        let again = settler.prepare(&self.authorization, Some(&self.preparation)).await;
        let Ok(again) = again else { return Ok(TransferStatus::Open) };
        self.preparation = again.preparation;
        self.settle(settler).await.map(TransferStatus::Moved)
    }

    /// Looks as the reconciler does until there is nothing more to find out.
    async fn chase(&mut self, fixture: &Fixture, settler: &Settler) -> TransferStatus {
        for _ in 0..20 {
            match self.look(settler).await {
                Ok(end @ (TransferStatus::Moved(_) | TransferStatus::Void)) => return end,
                Ok(TransferStatus::Open) | Err(_) => fixture.clock.wait(5).await,
            }
        }
        panic!("it is still open");
    }

    fn key(&self) -> PaymentKey {
        let TransferAuthorization { network, from, nonce, .. } = self.authorization;
        PaymentKey::of_nonce(Instrument::TransferAuthorization, network, from, nonce)
    }
}

/// Verifies, prepares and settles, as the desk does for a paying caller.
async fn pay(
    settler: &Settler,
    authorization: TransferAuthorization,
) -> Result<ConfirmedTransfer, Unsettled> {
    assert_eq!(settler.verify(&authorization).await, Ok(AuthorizationUse::Unused));
    Payment::prepare(settler, authorization).await.unwrap().settle(settler).await
}

/// Another account sends a call to the token, and it is mined.
fn send(fixture: &Fixture, label: &str, call: Vec<u8>) -> String {
    send_to(fixture, label, BASE.usdc(), call)
}

fn send_to(fixture: &Fixture, label: &str, to: EvmAddress, call: Vec<u8>) -> String {
    let (chain, key) = (fixture.chain(), fixture.chains.key(label));
    chain.set_native(key.address(), 10_u128.pow(18));
    let raw =
        transaction(BASE, chain.next_nonce_of(key.address()), to, call).sign(key.signing_key());
    chain.send(&raw).unwrap();
    keccak256(raw).to_string()
}

fn price(count: u64) -> u128 {
    u128::from(count * PRICE.atomic())
}

fn payer(fixture: &Fixture) -> Key {
    fixture.chains.faucet().payer()
}

fn finality(movement: &Result<TransferStatus, Failure>) -> Option<Finality> {
    match movement {
        Ok(TransferStatus::Moved(ConfirmedTransfer { finality, .. })) => Some(*finality),
        Ok(TransferStatus::Open | TransferStatus::Void) | Err(_) => None,
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
    let fixture = Fixture::open().await;
    let settler = fixture.settler();
    for network in Network::ALL {
        assert_eq!(settler.support(network), TransferSupport::Offered);
        let (chain, key) = (fixture.chains.chain(network), payer(&fixture));
        let before = chain.usdc_of(key.address());
        let terms = Terms { network, ..fixture.terms(key.address()) };
        let payment = Payment::prepare(&settler, transfer(&terms, &key)).await.unwrap();
        assert_eq!((chain.usdc_of(payee()), fixture.signed(payment.key()).await), (0, 0));
        let moved = payment.settle(&settler).await.unwrap();
        assert_eq!(chain.usdc_of(payee()), price(1));
        assert_eq!(chain.usdc_of(key.address()), before - price(1));
        assert_eq!((moved.at.0, moved.finality), (NOON, Finality::Final));
        let sent = fixture.sent(payment.key()).await;
        assert_eq!(moved.transaction, sent[0].hashes[0].to_string());
        // Settled twice, and by another process.
        assert_eq!(payment.settle(&settler).await.unwrap(), moved);
        assert_eq!(payment.settle(&fixture.settler()).await.unwrap(), moved);
        assert_eq!(payment.trace(&fixture.settler()).await.unwrap(), TransferStatus::Moved(moved));
        assert_eq!(chain.transfers_to(payee()).len(), 1);
    }
    let elsewhere = fixture.settler_within(adapters::settlement::SettlerLimits::of(BASE));
    assert_eq!(elsewhere.support(Network::Polygon), TransferSupport::NotOffered);
}

#[tokio::test]
async fn preparing_signs_and_sends_nothing_and_returns_the_same_again() {
    let fixture = Fixture::open().await;
    let settler = fixture.settler();
    let payment = Payment::prepare(&settler, fixture.transfer()).await.unwrap();
    let again = settler.prepare(&payment.authorization, Some(&payment.preparation)).await.unwrap();
    assert_eq!(again.usage, AuthorizationUse::Unused);
    assert!(again.preparation == payment.preparation);
    assert_eq!((fixture.paid(), fixture.chain().waiting()), (0, 0));
    assert!(!fixture.chain().counts().contains_key("eth_sendRawTransaction"));
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open));
}

#[tokio::test]
async fn a_transfer_that_usdc_would_refuse_is_rejected_with_the_reason() {
    let fixture = Fixture::open().await;
    let (settler, chain, key) = (fixture.settler(), fixture.chain(), payer(&fixture));
    let one = fixture.transfer();
    let verdict = async |one: &TransferAuthorization| {
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
    let changed = |change: fn(&mut TransferAuthorization)| {
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
    assert_eq!((fixture.paid(), chain.waiting(), chain.nonce_of(fixture.account())), (0, 0, 0));
    pay(&settler, one).await.unwrap();
    assert_eq!(fixture.paid(), price(1));
}

#[tokio::test]
async fn a_node_in_trouble_is_never_the_payers_fault() {
    let fixture = Fixture::open().await;
    let (settler, one) = (fixture.settler(), fixture.transfer());
    settler.verify(&one).await.unwrap();
    for fault in [
        sandbox::chain::NodeFault::Reset,
        sandbox::chain::NodeFault::Unavailable,
        sandbox::chain::NodeFault::Garbage,
    ] {
        fixture.chain().add_fault(sandbox::chain::NodeFaultRule::always(fault));
        assert_eq!(settler.verify(&one).await, Err(Rejection::Unavailable));
        let prepared = settler.prepare(&one, None).await.map(drop);
        assert_eq!(prepared, Err(Rejection::Unavailable));
        fixture.chain().clear_faults();
    }
    pay(&settler, one).await.unwrap();
}

#[tokio::test]
async fn both_protocols_share_one_account_and_its_nonces() {
    let fixture = Fixture::open().await;
    let settler = fixture.settler();
    let first = Payment::prepare(&settler, fixture.transfer()).await.unwrap();
    let second = crate::fixture::Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    let third = Payment::prepare(&settler, fixture.transfer()).await.unwrap();
    first.settle(&settler).await.unwrap();
    second.settle(&settler).await.unwrap();
    third.settle(&settler).await.unwrap();
    let mut nonces = Vec::new();
    for key in [first.key(), second.key(), third.key()] {
        nonces.extend(fixture.sent(key).await.iter().map(|sent| sent.nonce));
    }
    assert_eq!(nonces, [0, 1, 2]);
    assert_eq!(fixture.paid(), price(2) + crate::fixture::atomic(1));
}

#[tokio::test]
async fn another_account_takes_a_payment_over_that_was_never_sent() {
    let fixture = Fixture::open().await;
    let settler = fixture.settler();
    let payment = Payment::prepare(&settler, fixture.transfer()).await.unwrap();
    fixture.end(settler).await;
    let key = fixture.chains.key("another account");
    fixture.chain().set_native(key.address(), 10_u128.pow(18));
    let other = Settler::start(fixture.settings(&key)).unwrap();
    payment.settle(&other).await.unwrap();
    assert_eq!((fixture.paid(), fixture.chain().nonce_of(key.address())), (price(1), 1));
    assert_eq!(fixture.chain().nonce_of(fixture.account()), 0);
}

#[tokio::test]
async fn a_preparation_of_another_form_is_not_settled_and_its_transfer_is_traced() {
    let fixture = Fixture::open().await;
    let (settler, authorization) = (fixture.settler(), fixture.transfer());
    for bytes in [Vec::new(), b"{}".to_vec(), vec![0xff; 9]] {
        let preparation = Preparation(bytes);
        let payment = Payment { authorization: authorization.clone(), preparation };
        assert!(matches!(payment.settle(&settler).await, Err(Unsettled::Lost(_))));
        assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open));
        let again = settler.prepare(&authorization, Some(&payment.preparation)).await;
        assert_eq!(again.map(drop), Err(Rejection::Unavailable));
    }
    let moved = pay(&settler, authorization.clone()).await.unwrap();
    let payment = Payment { authorization, preparation: Preparation(b"{}".to_vec()) };
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Moved(moved)));
}
