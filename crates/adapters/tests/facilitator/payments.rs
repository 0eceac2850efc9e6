//! Payments without faults, and their verification.

use order::model::chain::{EvmAddress, Network};
use order::model::payment::{Finality, Preparation};
use order::ports::{Clock, Failure};
use order::tender::{Rejection, Unsettled};
use pay::transfer::TransferStatus;
use pay::x402::settler::{
    FacilitatorAddress, GasSponsoring, KnownAccount, Permit2Settler, Permit2Support, SignatureKind,
};
use sandbox::chain::PERMIT2;
use sandbox::facilitator;
use sandbox::facilitator::fault::{FacilitatorFault, FacilitatorFaultRule, FacilitatorOperation};
use sandbox::facilitator::state::FacilitatorCall;
use sandbox::payee::payee;
use serde_json::Value;

use crate::fixture::{CHARGE, ChainAccess, FacilitatorFixture, authorization, open};

#[tokio::test]
async fn on_every_network_the_seller_gets_the_charge_and_the_payer_loses_it_to_the_unit() {
    let fixture = FacilitatorFixture::seeing().await;
    for network in Network::ALL {
        let before = fixture.chain(network).usdc_of(fixture.payer().address());
        let facilitator = fixture.emulated.accounts()[0];
        let service = Permit2Support { facilitator, sponsoring: GasSponsoring::Offered };
        assert_eq!(fixture.remote.support(network), Some(service));
        let begun = fixture.ready(network).await;
        assert_eq!(fixture.remote.verify(&begun.authorization, SignatureKind::Key).await, Ok(()));
        assert_eq!(fixture.paid(network), 0);

        let moved = fixture.settle(&begun).await.unwrap();
        assert_eq!(moved.finality, Finality::Final, "as our own node shows it");
        assert_eq!(moved.at, fixture.clock.now());
        assert_eq!(fixture.paid(network), 2_117_500);
        let after = fixture.chain(network).usdc_of(fixture.payer().address());
        assert_eq!(before - after, 2_117_500);
        let transfers = fixture.chain(network).transfers_to(payee());
        let sent = transfers[0].transaction.map(|byte| format!("{byte:02x}")).concat();
        assert_eq!((transfers.len(), moved.transaction.clone()), (1, format!("0x{sent}")));

        let Ok(TransferStatus::Moved(traced)) = fixture.trace(&begun).await else {
            panic!("moved")
        };
        assert_eq!((traced.transaction, traced.finality), (moved.transaction, Finality::Final));
    }
    assert_eq!(fixture.settlements(), 3);
}

#[tokio::test]
async fn settling_the_same_authorization_again_moves_nothing_and_is_never_called_a_refusal() {
    let fixture = FacilitatorFixture::seeing().await;
    let begun = fixture.ready(Network::Base).await;
    fixture.settle(&begun).await.unwrap();
    assert!(matches!(fixture.settle(&begun).await, Err(Unsettled::Lost(_))));
    // Not even when the money is gone, which is what the facilitator then sees.
    fixture.chain(Network::Base).set_usdc(fixture.payer().address(), 0);
    assert!(matches!(fixture.settle(&begun).await, Err(Unsettled::Lost(_))));
    assert_eq!(fixture.paid(Network::Base), 2_117_500);
    assert!(matches!(fixture.trace(&begun).await, Ok(TransferStatus::Moved(_))));
}

#[tokio::test]
async fn a_missing_allowance_is_reported_and_the_same_authorization_pays_after_it() {
    let fixture = FacilitatorFixture::seeing().await;
    let newcomer = fixture.chains.faucet().newcomer();
    let authorization = fixture.authorization(Network::Polygon, &newcomer);
    let missing = Err(Rejection::AllowanceMissing);
    assert_eq!(fixture.remote.verify(&authorization, SignatureKind::Key).await, missing);
    fixture.chain(Network::Polygon).set_allowance(newcomer.address(), PERMIT2, u128::MAX);
    assert_eq!(fixture.remote.verify(&authorization, SignatureKind::Key).await, Ok(()));
    let begun = fixture.begin(authorization).await;
    fixture.settle(&begun).await.unwrap();
    assert_eq!(fixture.paid(Network::Polygon), 2_117_500);
}

#[tokio::test]
async fn a_payer_with_no_allowance_and_no_gas_pays_with_a_permit_that_comes_along() {
    let fixture = FacilitatorFixture::seeing().await;
    let (newcomer, terms) = (fixture.chains.faucet().newcomer(), fixture.terms(Network::Arbitrum));
    let authorization = authorization(terms, &newcomer, terms.sponsored(&newcomer));
    assert_eq!(fixture.remote.verify(&authorization, SignatureKind::Key).await, Ok(()));
    let begun = fixture.begin(authorization).await;
    let moved = fixture.settle(&begun).await.unwrap();
    assert_eq!(fixture.paid(Network::Arbitrum), 2_117_500);
    let Ok(TransferStatus::Moved(traced)) = fixture.trace(&begun).await else { panic!("moved") };
    assert_eq!(traced.transaction, moved.transaction);
}

#[tokio::test]
async fn what_the_chain_refuses_is_invalid_with_the_facilitators_reason() {
    let fixture = FacilitatorFixture::seeing().await;
    let authorization = fixture.authorization(Network::Base, &fixture.payer());
    let check = || fixture.remote.verify(&authorization, SignatureKind::Key);
    let invalid = |reason: &str| Err(Rejection::Invalid(reason.to_owned()));
    fixture.chain(Network::Base).pause();
    assert_eq!(check().await, invalid("permit2_simulation_failed"));
    fixture.chain(Network::Base).resume();
    fixture.chain(Network::Base).set_usdc(fixture.payer().address(), 3_499_999);
    assert_eq!(check().await, invalid("permit2_insufficient_balance"));
    fixture.pass(Network::Base, 295);
    assert_eq!(check().await, invalid("permit2_deadline_expired"));
}

#[tokio::test]
async fn a_smart_wallet_is_asked_by_our_own_node_before_the_facilitator_is() {
    let fixture = FacilitatorFixture::seeing().await;
    let (chain, owner) = (fixture.chain(Network::Base), fixture.payer());
    let wallet = EvmAddress::from_bytes([0x77; 20]);
    fixture.chains.fill_account(Network::Base.into(), wallet);
    chain.set_allowance(wallet, PERMIT2, u128::MAX);
    let mut authorization = fixture.authorization(Network::Base, &owner);
    authorization.payer = wallet;
    let mut payload = Value::clone(&authorization.payload);
    payload["payload"]["permit2Authorization"]["from"] = wallet.to_string().into();
    authorization.payload = payload.into();
    let check = || fixture.remote.verify(&authorization, SignatureKind::Contract);
    let invalid = |reason: &str| Err(Rejection::Invalid(reason.to_owned()));
    assert_eq!(check().await, invalid("invalid_permit2_signature"));
    let known = |account| fixture.remote.known_account(Network::Base, account);
    assert_eq!(known(wallet), KnownAccount::WithoutCode);
    assert_eq!(known(owner.address()), KnownAccount::Unknown);
    chain.place_code(wallet);
    assert_eq!(check().await, invalid("contract_wallet_rejected_signature"));
    let asked = |line: &FacilitatorCall| line.operation == FacilitatorOperation::Verify;
    assert!(!fixture.emulated.journal().iter().any(asked));
    chain.place_wallet(wallet, owner.address());
    assert_eq!(check().await, Ok(()));
    assert!(fixture.emulated.journal().iter().any(asked));
    assert_eq!(known(wallet), KnownAccount::Unknown);
    let begun = fixture.begin(authorization.clone()).await;
    fixture.settle(&begun).await.unwrap();
    assert_eq!(fixture.paid(Network::Base), 2_117_500);
    // Since it has paid, forged signatures of others do not delay it.
    let mut forged = authorization.clone();
    for number in 0..100 {
        forged.payer = EvmAddress::from_bytes([number; 20]);
        let _ = fixture.remote.verify(&forged, SignatureKind::Contract).await;
    }
    let forged = fixture.remote.verify(&forged, SignatureKind::Contract).await;
    assert_eq!(forged, Err(Rejection::Unavailable));
    assert_ne!(check().await, Err(Rejection::Unavailable));
}

#[tokio::test]
async fn a_facilitator_in_trouble_is_never_the_payers_fault() {
    let fixture = FacilitatorFixture::seeing().await;
    let authorization = fixture.authorization(Network::Base, &fixture.payer());
    for kind in [
        FacilitatorFault::CutBefore,
        FacilitatorFault::CutAfter,
        FacilitatorFault::RateLimited,
        FacilitatorFault::StatusBefore,
        FacilitatorFault::StatusAfter,
        FacilitatorFault::Garbage,
        FacilitatorFault::Empty,
    ] {
        fixture
            .emulated
            .add_fault(FacilitatorFaultRule::new(kind).on(FacilitatorOperation::Verify).once());
        let said = fixture.remote.verify(&authorization, SignatureKind::Key).await;
        assert_eq!(said, Err(Rejection::Unavailable), "{kind:?}");
    }
    let no = FacilitatorFaultRule::new(FacilitatorFault::Refused)
        .on(FacilitatorOperation::Verify)
        .reason("permit2_not_yet_valid")
        .once();
    fixture.emulated.add_fault(no);
    let invalid = Rejection::Invalid("permit2_not_yet_valid".to_owned());
    assert_eq!(fixture.remote.verify(&authorization, SignatureKind::Key).await, Err(invalid));
    assert_eq!(fixture.remote.verify(&authorization, SignatureKind::Key).await, Ok(()));
    assert_eq!(fixture.paid(Network::Base), 0);
}

#[tokio::test]
async fn an_older_offer_names_an_account_that_is_still_known_and_pays() {
    let settings = facilitator::FacilitatorEmulatorSettings {
        accounts: 3,
        ..facilitator::FacilitatorEmulatorSettings::default()
    };
    let fixture = open(ChainAccess::WithNode, settings).await;
    let begun = fixture.ready(Network::Base).await;
    let first = begun.authorization.facilitator;
    fixture.remote.refresh().await;
    assert_ne!(fixture.remote.support(Network::Base).unwrap().facilitator, first);
    for account in fixture.emulated.accounts() {
        assert_eq!(
            fixture.remote.classify_facilitator(Network::Base, account),
            FacilitatorAddress::Ours
        );
    }
    assert_eq!(
        fixture.remote.classify_facilitator(Network::Base, payee()),
        FacilitatorAddress::Unknown
    );
    fixture.settle(&begun).await.unwrap();
    assert_eq!(fixture.paid(Network::Base), 2_117_500);
}

#[tokio::test]
async fn without_a_node_the_facilitators_report_is_the_only_evidence() {
    let fixture =
        open(ChainAccess::WithoutNode, facilitator::FacilitatorEmulatorSettings::default()).await;
    let begun = fixture.ready(Network::Base).await;
    assert!(begun.preparation == Preparation::default());
    assert_eq!(fixture.settle(&begun).await.unwrap().finality, Finality::Final);
    assert_eq!(fixture.trace(&begun).await, Ok(TransferStatus::Open));
    fixture.clock.advance(301);
    let Err(Failure::Lost(words)) = fixture.trace(&begun).await else { panic!("a person decides") };
    assert!(words.contains("check the chain"), "{words}");
}

#[tokio::test]
async fn what_is_prepared_stays_what_it_was() {
    let fixture = FacilitatorFixture::seeing().await;
    let begun = fixture.ready(Network::Base).await;
    fixture.chain(Network::Base).mine(10);
    let again =
        fixture.remote.prepare(&begun.authorization, CHARGE, Some(&begun.preparation)).await;
    assert!(again.unwrap() == begun.preparation);
    let empty = Preparation::default();
    let again = fixture.remote.prepare(&begun.authorization, CHARGE, Some(&empty)).await;
    assert!(again.unwrap() == empty, "the block of today is no answer for yesterday");
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_payments_are_settled_once_each() {
    let fixture = FacilitatorFixture::seeing().await;
    let mut all = Vec::new();
    for _ in 0..64 {
        all.push(fixture.ready(Network::Base).await);
    }
    let settling = all.iter().map(|begun| fixture.settle(begun));
    let mut hashes = Vec::new();
    for outcome in join(settling).await {
        hashes.push(outcome.unwrap().transaction);
    }
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), 64);
    assert_eq!(fixture.paid(Network::Base), 64 * 2_117_500);
}

/// All at once, in one task.
async fn join<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        let mut all = std::task::Poll::Ready(());
        for (future, done) in &mut waiting {
            if done.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(output) => *done = Some(output),
                    std::task::Poll::Pending => all = std::task::Poll::Pending,
                }
            }
        }
        all
    })
    .await;
    waiting.into_iter().filter_map(|(_, done)| done).collect()
}
