//! Payments that go through, and questions before them.

use order::model::chain::Network;
use order::model::payment::{Finality, Preparation};
use order::ports::{Clock, Failure};
use order::tender::{Rejection, Unsettled};
use pay::movement::Movement;
use pay::x402::facilitator::{Carrier, Facilitator, Service, Signer, Sponsoring};
use sandbox::chain::PERMIT2;
use sandbox::facilitator;
use sandbox::facilitator::fault::{Kind, Operation, Rule};
use sandbox::payee::payee;

use crate::town::{CHARGE, Sight, Town, open, promise};

#[tokio::test]
async fn on_every_network_the_seller_gets_the_charge_and_the_payer_loses_it_to_the_unit() {
    let town = Town::seeing().await;
    for network in Network::ALL {
        let before = town.chain(network).usdc_of(town.payer().address());
        let carrier = town.emulated.accounts()[0];
        let service = Service { carrier, sponsoring: Sponsoring::Offered };
        assert_eq!(town.remote.service(network), Some(service));
        let begun = town.ready(network).await;
        assert_eq!(town.remote.verify(&begun.promise, Signer::Key).await, Ok(()));
        assert_eq!(town.paid(network), 0);

        let moved = town.settle(&begun).await.unwrap();
        assert_eq!(moved.finality, Finality::Final, "as our own node shows it");
        assert_eq!(moved.at, town.watch.now());
        assert_eq!(town.paid(network), 2_117_500);
        let after = town.chain(network).usdc_of(town.payer().address());
        assert_eq!(before - after, 2_117_500);
        let transfers = town.chain(network).transfers_to(payee());
        let sent = transfers[0].transaction.map(|byte| format!("{byte:02x}")).concat();
        assert_eq!((transfers.len(), moved.transaction.clone()), (1, format!("0x{sent}")));

        let Ok(Movement::Moved(traced)) = town.trace(&begun).await else { panic!("moved") };
        assert_eq!((traced.transaction, traced.finality), (moved.transaction, Finality::Final));
    }
    assert_eq!(town.settlements(), 3);
}

#[tokio::test]
async fn settling_the_same_promise_again_moves_nothing_and_is_never_called_a_refusal() {
    let town = Town::seeing().await;
    let begun = town.ready(Network::Base).await;
    town.settle(&begun).await.unwrap();
    assert!(matches!(town.settle(&begun).await, Err(Unsettled::Lost(_))));
    // Not even when the money is gone, which is what the facilitator then sees.
    town.chain(Network::Base).set_usdc(town.payer().address(), 0);
    assert!(matches!(town.settle(&begun).await, Err(Unsettled::Lost(_))));
    assert_eq!(town.paid(Network::Base), 2_117_500);
    assert!(matches!(town.trace(&begun).await, Ok(Movement::Moved(_))));
}

#[tokio::test]
async fn a_missing_allowance_is_told_apart_and_the_same_promise_pays_after_it() {
    let town = Town::seeing().await;
    let newcomer = town.chains.faucet().newcomer();
    let promise = town.promise(Network::Polygon, &newcomer);
    let missing = Err(Rejection::AllowanceMissing);
    assert_eq!(town.remote.verify(&promise, Signer::Key).await, missing);
    town.chain(Network::Polygon).set_allowance(newcomer.address(), PERMIT2, u128::MAX);
    assert_eq!(town.remote.verify(&promise, Signer::Key).await, Ok(()));
    let begun = town.begin(promise).await;
    town.settle(&begun).await.unwrap();
    assert_eq!(town.paid(Network::Polygon), 2_117_500);
}

#[tokio::test]
async fn a_payer_with_no_allowance_and_no_gas_pays_with_a_permit_that_comes_along() {
    let town = Town::seeing().await;
    let (newcomer, terms) = (town.chains.faucet().newcomer(), town.terms(Network::Arbitrum));
    let promise = promise(terms, &newcomer, terms.sponsored(&newcomer));
    assert_eq!(town.remote.verify(&promise, Signer::Key).await, Ok(()));
    let begun = town.begin(promise).await;
    let moved = town.settle(&begun).await.unwrap();
    assert_eq!(town.paid(Network::Arbitrum), 2_117_500);
    let Ok(Movement::Moved(traced)) = town.trace(&begun).await else { panic!("moved") };
    assert_eq!(traced.transaction, moved.transaction);
}

#[tokio::test]
async fn what_the_chain_refuses_is_invalid_in_the_facilitators_words() {
    let town = Town::seeing().await;
    let promise = town.promise(Network::Base, &town.payer());
    let check = || town.remote.verify(&promise, Signer::Undecided);
    let invalid = |reason: &str| Err(Rejection::Invalid(reason.to_owned()));
    town.chain(Network::Base).pause();
    assert_eq!(check().await, invalid("permit2_simulation_failed"));
    town.chain(Network::Base).resume();
    town.chain(Network::Base).set_usdc(town.payer().address(), 3_499_999);
    assert_eq!(check().await, invalid("permit2_insufficient_balance"));
    town.pass(Network::Base, 295);
    assert_eq!(check().await, invalid("permit2_deadline_expired"));
}

#[tokio::test]
async fn a_facilitator_in_trouble_is_never_the_payers_fault() {
    let town = Town::seeing().await;
    let promise = town.promise(Network::Base, &town.payer());
    for kind in [
        Kind::CutBefore,
        Kind::CutAfter,
        Kind::RateLimited,
        Kind::StatusBefore,
        Kind::StatusAfter,
        Kind::Garbage,
        Kind::Empty,
    ] {
        town.emulated.add_fault(Rule::new(kind).on(Operation::Verify).once());
        let said = town.remote.verify(&promise, Signer::Key).await;
        assert_eq!(said, Err(Rejection::Unavailable), "{kind:?}");
    }
    let no = Rule::new(Kind::Refused).on(Operation::Verify).reason("permit2_not_yet_valid").once();
    town.emulated.add_fault(no);
    let invalid = Rejection::Invalid("permit2_not_yet_valid".to_owned());
    assert_eq!(town.remote.verify(&promise, Signer::Key).await, Err(invalid));
    assert_eq!(town.remote.verify(&promise, Signer::Key).await, Ok(()));
    assert_eq!(town.paid(Network::Base), 0);
}

#[tokio::test]
async fn an_offer_of_yesterday_names_a_carrier_that_is_still_known_and_pays() {
    let settings = facilitator::Settings { accounts: 3, ..facilitator::Settings::default() };
    let town = open(Sight::Seeing, settings).await;
    let begun = town.ready(Network::Base).await;
    let first = begun.promise.facilitator;
    town.remote.refresh().await;
    assert_ne!(town.remote.service(Network::Base).unwrap().carrier, first);
    for account in town.emulated.accounts() {
        assert_eq!(town.remote.carrier(Network::Base, account), Carrier::Ours);
    }
    assert_eq!(town.remote.carrier(Network::Base, payee()), Carrier::Unknown);
    town.settle(&begun).await.unwrap();
    assert_eq!(town.paid(Network::Base), 2_117_500);
}

#[tokio::test]
async fn without_a_node_the_facilitators_word_is_all_there_will_be() {
    let town = open(Sight::Blind, facilitator::Settings::default()).await;
    let begun = town.ready(Network::Base).await;
    assert!(begun.preparation == Preparation::default());
    assert_eq!(town.settle(&begun).await.unwrap().finality, Finality::Final);
    assert_eq!(town.trace(&begun).await, Ok(Movement::Open));
    town.watch.forward(301);
    let Err(Failure::Lost(words)) = town.trace(&begun).await else { panic!("a person decides") };
    assert!(words.contains("look at the chain"), "{words}");
}

#[tokio::test]
async fn what_is_prepared_stays_what_it_was() {
    let town = Town::seeing().await;
    let begun = town.ready(Network::Base).await;
    town.chain(Network::Base).mine(10);
    let again = town.remote.prepare(&begun.promise, CHARGE, Some(&begun.preparation)).await;
    assert!(again.unwrap() == begun.preparation);
    let empty = Preparation::default();
    let again = town.remote.prepare(&begun.promise, CHARGE, Some(&empty)).await;
    assert!(again.unwrap() == empty, "the block of today is no answer for yesterday");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_of_payments_is_carried_once_each() {
    let town = Town::seeing().await;
    let mut all = Vec::new();
    for _ in 0..64 {
        all.push(town.ready(Network::Base).await);
    }
    let settling = all.iter().map(|begun| town.settle(begun));
    let mut hashes = Vec::new();
    for outcome in join(settling).await {
        hashes.push(outcome.unwrap().transaction);
    }
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), 64);
    assert_eq!(town.paid(Network::Base), 64 * 2_117_500);
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
