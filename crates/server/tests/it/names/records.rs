//! Address records on chain: by network, absent, and changed.

use order::model::chain::Network;
use order::model::evidence::{Age, BlockTag, Found, Source};
use order::ports::NameService;
use sandbox::chain::{
    ChainId, DEFAULT_EVM_COIN, ETHEREUM_COIN, NameRecord, UNIVERSAL_RESOLVER, coin_type,
};

use super::fixture::{NamesFixture, addresses, full_name, on_all_networks, paid_on_all_networks};

#[tokio::test]
async fn a_name_on_chain_is_read_with_its_evidence() {
    let fixture = NamesFixture::new().await;
    fixture.name("alice", NameRecord::OnChain(on_all_networks(1)));
    let found = fixture.resolve("alice").await.unwrap().unwrap();
    let evidence = &found.evidence;
    let head = fixture.chains.chain(ChainId::Ethereum).head();
    assert_eq!(fixture.payees("alice").await, paid_on_all_networks(1));
    assert_eq!(evidence.ens_name, full_name("alice"));
    assert_eq!((evidence.chain_id, evidence.sources_agreeing), (1, 1));
    assert_eq!((evidence.block.number, evidence.block.hash.0), (head.number, head.hash));
    assert_eq!((evidence.block.timestamp.0, evidence.block.tag), (head.timestamp, BlockTag::Safe));
    assert_eq!(evidence.universal_resolver, UNIVERSAL_RESOLVER);
    assert_eq!((evidence.found, &evidence.gateway), (Found::Exactly, &None));
    assert_eq!(evidence.valid_until, evidence.resolved_at.plus(60));
}

#[tokio::test]
async fn each_network_has_its_own_address_and_the_mainnet_one_is_not_used() {
    let fixture = NamesFixture::new().await;
    let (base, polygon) = (coin_type(Network::Base), coin_type(Network::Polygon));
    fixture
        .name("two", NameRecord::OnChain(addresses([(base, 1), (polygon, 2), (ETHEREUM_COIN, 9)])));
    let paid = fixture.payees("two").await;
    assert!(paid.contains(&(Network::Base, 1, Source::Chain)));
    assert!(paid.contains(&(Network::Polygon, 2, Source::Chain)));
    assert_eq!(paid.len(), 2, "Arbitrum is not offered: {paid:?}");

    fixture.name("rest", NameRecord::OnChain(addresses([(base, 1), (DEFAULT_EVM_COIN, 3)])));
    let paid = fixture.payees("rest").await;
    assert!(paid.contains(&(Network::Base, 1, Source::Chain)));
    assert!(paid.contains(&(Network::Polygon, 3, Source::Default)));
    assert!(paid.contains(&(Network::Arbitrum, 3, Source::Default)));

    fixture.name("mainnet", NameRecord::OnChain(addresses([(ETHEREUM_COIN, 9)])));
    assert_eq!(fixture.resolve("mainnet").await, Ok(None));
}

#[tokio::test]
async fn a_name_without_an_address_is_absent_and_not_a_failure() {
    let fixture = NamesFixture::new().await;
    fixture.name("empty", NameRecord::OnChain(addresses([])));
    fixture.name("hollow", NameRecord::NotContract);
    fixture.name("failing", NameRecord::Failing("not today".to_owned()));
    fixture.name("zero", NameRecord::OnChain(on_all_networks(0)));
    for seller in ["unknown", "empty", "hollow", "failing", "zero"] {
        assert_eq!(fixture.resolve(seller).await, Ok(None), "{seller}");
    }
}

#[tokio::test]
async fn a_change_is_seen_after_a_minute() {
    let fixture = NamesFixture::new().await;
    fixture.name("alice", NameRecord::OnChain(on_all_networks(1)));
    assert_eq!(fixture.payees("alice").await, paid_on_all_networks(1));
    fixture.name("alice", NameRecord::OnChain(on_all_networks(2)));
    fixture.clock.advance(59);
    assert_eq!(fixture.payees("alice").await, paid_on_all_networks(1));
    assert_eq!(fixture.resolve("alice").await.unwrap().unwrap().evidence.age, Age::Cached);
    fixture.clock.advance(2);
    let fresh = fixture.resolve("alice").await.unwrap().unwrap();
    assert_eq!(fresh.evidence.age, Age::Fresh);
    assert_eq!(fixture.payees("alice").await, paid_on_all_networks(2));
    fixture.chains.remove_name(&full_name("alice"));
    fixture.clock.advance(61);
    assert_eq!(fixture.resolve("alice").await, Ok(None));
}

/// The wildcard would resolve any of them, so they must be rejected before.
#[tokio::test]
async fn lookalike_letters_are_rejected_and_others_are_not() {
    let fixture = NamesFixture::new().await;
    fixture.use_gateway();
    for text in
        ["\u{430}lice", "al\u{456}ce", "\u{ff41}lice", "ali\u{200d}ce", "alice\u{200b}", "a.lice"]
    {
        assert!(fixture.ens.read(text).is_err(), "{text:?}");
    }
    for text in ["müller", "@müller", &full_name("müller")] {
        let seller = fixture.ens.read(text).unwrap();
        fixture.name(seller.as_str(), NameRecord::Offchain(on_all_networks(6)));
        assert_eq!(fixture.payees(seller.as_str()).await, paid_on_all_networks(6), "{text}");
    }
}
