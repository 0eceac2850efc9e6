//! Names that a gateway answers for, and every way in which it may fail or lie.

use order::model::chain::Network;
use order::model::evidence::{Found, Trust};
use order::model::seller::Username;
use order::ports::{Failure, NameService, Purpose};
use sandbox::chain::{DEFAULT_EVM_COIN, GatewayFault, Lookup, Name, coin_type};

use super::town::{Town, ask, entries, everywhere, on_every_chain};

const WAYS: [Lookup; 3] = [Lookup::Get, Lookup::Post, Lookup::Batched];

async fn town(lookup: Lookup) -> Town {
    let town = Town::new().await;
    town.answer_by_gateway();
    town.chains.set_lookup(lookup);
    town.name("alice", Name::Offchain(everywhere(4)));
    town
}

#[tokio::test]
async fn a_wildcard_is_read_through_the_gateway_whichever_way_it_is_asked() {
    for way in WAYS {
        let town = town(way).await;
        let found = town.ask("alice").await.unwrap().unwrap();
        assert_eq!(town.paid("alice").await, on_every_chain(4), "{way:?}");
        assert_eq!(found.evidence.found, Found::ByWildcard, "{way:?}");
        let gateway = found.evidence.gateway.as_ref().unwrap();
        assert_eq!((gateway.host.as_str(), gateway.trust), ("127.0.0.1", Trust::Signature));
        assert_eq!(town.ask("nobody").await, Ok(None), "{way:?}");

        town.name("alice", Name::Offchain(everywhere(5)));
        town.watch.forward(61);
        assert_eq!(town.paid("alice").await, on_every_chain(5), "{way:?}");
    }
}

#[tokio::test]
async fn a_gateway_that_lies_or_is_broken_is_a_failure_and_never_an_absence() {
    let faults = [
        (GatewayFault::Forged, "the chain does not believe the gateway"),
        (GatewayFault::Expired, "the chain does not believe the gateway"),
        (GatewayFault::NotFound, "the gateway refused"),
        (GatewayFault::Down, "gateway: "),
        (GatewayFault::Garbage, "gateway: "),
    ];
    for way in WAYS {
        let town = town(way).await;
        for (fault, words) in faults {
            town.chains.set_gateway_fault(fault);
            let trouble = town.trouble("alice").await;
            assert!(trouble.starts_with(words), "{way:?} {fault:?}: {trouble}");
        }
        // Nothing of that was remembered.
        town.chains.set_gateway_fault(GatewayFault::None);
        assert_eq!(town.paid("alice").await, on_every_chain(4), "{way:?}");
    }
}

#[tokio::test]
async fn a_gateway_that_hangs_is_given_up() {
    let town = town(Lookup::Get).await;
    town.chains.set_gateway_fault(GatewayFault::Hang);
    let trouble = town.trouble("alice").await;
    assert!(trouble.starts_with("gateway: "), "{trouble}");
}

/// A seller with an account for Base must not be paid at another because
/// somebody spoiled the answer about Base.
#[tokio::test]
async fn a_spoiled_answer_does_not_lead_to_the_default_address() {
    let town = town(Lookup::Batched).await;
    let accounts = entries([(coin_type(Network::Base), 1), (DEFAULT_EVM_COIN, 2)]);
    town.name("alice", Name::Offchain(accounts));
    town.chains.set_gateway_fault(GatewayFault::Forged);
    assert!(town.ask("alice").await.is_err());
}

#[tokio::test]
async fn a_gateway_that_nobody_listed_is_not_asked() {
    let town = town(Lookup::Get).await;
    // Any public one, and a public one by name: this one is on our own machine.
    for list in [vec![], vec!["gateway.example".to_owned()]] {
        let reader = town.reader(&list);
        let asked = ask(&reader, "alice").await;
        assert_eq!(asked, Err(Failure::Lost("the gateway is not allowed".to_owned())), "{list:?}");
    }
}

#[tokio::test]
async fn an_offer_outlives_a_gateway_that_fails_and_a_payment_does_not() {
    let town = town(Lookup::Batched).await;
    let alice = Username::kept("alice".to_owned());
    let ask = |purpose| town.ens.resolve(&alice, purpose);
    assert!(ask(Purpose::Payment).await.unwrap().is_some());
    town.chains.set_gateway_fault(GatewayFault::Expired);
    town.watch.forward(61);
    assert!(ask(Purpose::Payment).await.is_err());
    assert!(ask(Purpose::Offer).await.unwrap().is_some());
    town.watch.forward(540);
    assert!(ask(Purpose::Offer).await.is_err());
}
