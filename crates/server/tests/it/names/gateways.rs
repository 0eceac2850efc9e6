//! Names that are resolved by a CCIP-Read gateway, and its faults.

use order::model::chain::Network;
use order::model::evidence::{Found, Trust};
use order::model::seller::Username;
use order::ports::{Failure, NameService, Purpose};
use sandbox::chain::{DEFAULT_EVM_COIN, GatewayFault, GatewayLookup, NameRecord, coin_type};

use super::fixture::{NamesFixture, addresses, on_all_networks, paid_on_all_networks, resolve};

const LOOKUPS_BY_GATEWAY: [GatewayLookup; 3] =
    [GatewayLookup::Get, GatewayLookup::Post, GatewayLookup::Batched];

async fn fixture(lookup: GatewayLookup) -> NamesFixture {
    let fixture = NamesFixture::new().await;
    fixture.use_gateway();
    fixture.chains.set_lookup(lookup);
    fixture.name("alice", NameRecord::Offchain(on_all_networks(4)));
    fixture
}

#[tokio::test]
async fn a_wildcard_is_resolved_through_the_gateway_by_every_kind_of_lookup() {
    for lookup in LOOKUPS_BY_GATEWAY {
        let fixture = fixture(lookup).await;
        let found = fixture.resolve("alice").await.unwrap().unwrap();
        assert_eq!(fixture.payees("alice").await, paid_on_all_networks(4), "{lookup:?}");
        assert_eq!(found.evidence.found, Found::ByWildcard, "{lookup:?}");
        let gateway = found.evidence.gateway.as_ref().unwrap();
        assert_eq!((gateway.host.as_str(), gateway.trust), ("127.0.0.1", Trust::Signature));
        assert_eq!(fixture.resolve("unknown").await, Ok(None), "{lookup:?}");

        fixture.name("alice", NameRecord::Offchain(on_all_networks(5)));
        fixture.clock.advance(61);
        assert_eq!(fixture.payees("alice").await, paid_on_all_networks(5), "{lookup:?}");
    }
}

#[tokio::test]
async fn an_invalid_gateway_response_is_a_failure_and_never_an_absence() {
    let faults = [
        (GatewayFault::Forged, "the contract rejected the gateway's answer"),
        (GatewayFault::Expired, "the contract rejected the gateway's answer"),
        (GatewayFault::NotFound, "the gateway refused"),
        (GatewayFault::Down, "gateway: "),
        (GatewayFault::Garbage, "gateway: "),
    ];
    for lookup in LOOKUPS_BY_GATEWAY {
        let fixture = fixture(lookup).await;
        for (fault, words) in faults {
            fixture.chains.set_gateway_fault(fault);
            let lookup_error = fixture.lookup_error("alice").await;
            assert!(lookup_error.starts_with(words), "{lookup:?} {fault:?}: {lookup_error}");
        }
        // No failure was cached.
        fixture.chains.set_gateway_fault(GatewayFault::None);
        assert_eq!(fixture.payees("alice").await, paid_on_all_networks(4), "{lookup:?}");
    }
}

#[tokio::test]
async fn a_gateway_that_does_not_respond_is_timed_out() {
    let fixture = fixture(GatewayLookup::Get).await;
    fixture.chains.set_gateway_fault(GatewayFault::Hang);
    let lookup_error = fixture.lookup_error("alice").await;
    assert!(lookup_error.starts_with("gateway: "), "{lookup_error}");
}

/// A seller with an address for Base must not be paid at the default address because the
/// response about Base was forged.
#[tokio::test]
async fn a_forged_response_does_not_lead_to_the_default_address() {
    let fixture = fixture(GatewayLookup::Batched).await;
    let accounts = addresses([(coin_type(Network::Base), 1), (DEFAULT_EVM_COIN, 2)]);
    fixture.name("alice", NameRecord::Offchain(accounts));
    fixture.chains.set_gateway_fault(GatewayFault::Forged);
    assert!(fixture.resolve("alice").await.is_err());
}

#[tokio::test]
async fn a_gateway_that_is_not_listed_is_not_called() {
    let fixture = fixture(GatewayLookup::Get).await;
    // Public gateways only: this one is on this machine.
    for list in [vec![], vec!["gateway.example".to_owned()]] {
        let reader = fixture.reader(&list);
        let asked = resolve(&reader, "alice").await;
        assert_eq!(asked, Err(Failure::Lost("the gateway is not allowed".to_owned())), "{list:?}");
    }
}

#[tokio::test]
async fn a_cached_name_serves_offers_but_not_payments_while_the_gateway_fails() {
    let fixture = fixture(GatewayLookup::Batched).await;
    let alice = Username::kept("alice".to_owned());
    let resolve = |purpose| fixture.ens.resolve(&alice, purpose);
    assert!(resolve(Purpose::Payment).await.unwrap().is_some());
    fixture.chains.set_gateway_fault(GatewayFault::Expired);
    fixture.clock.advance(61);
    assert!(resolve(Purpose::Payment).await.is_err());
    assert!(resolve(Purpose::Offer).await.unwrap().is_some());
    fixture.clock.advance(540);
    assert!(resolve(Purpose::Offer).await.is_err());
}
