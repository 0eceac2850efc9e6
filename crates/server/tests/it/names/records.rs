//! What stands on chain: plain, by network, not at all, and changed meanwhile.

use order::model::chain::Network;
use order::model::evidence::{Age, BlockTag, Found, Source};
use order::ports::NameService;
use sandbox::chain::{
    ChainId, DEFAULT_EVM_COIN, ETHEREUM_COIN, Name, UNIVERSAL_RESOLVER, coin_type,
};

use super::town::{Town, entries, everywhere, full, on_every_chain};

#[tokio::test]
async fn a_name_on_chain_is_read_with_its_evidence() {
    let town = Town::new().await;
    town.name("alice", Name::OnChain(everywhere(1)));
    let found = town.ask("alice").await.unwrap().unwrap();
    let evidence = &found.evidence;
    let head = town.chains.chain(ChainId::Ethereum).head();
    assert_eq!(town.paid("alice").await, on_every_chain(1));
    assert_eq!(evidence.ens_name, full("alice"));
    assert_eq!((evidence.chain_id, evidence.sources_agreeing), (1, 1));
    assert_eq!((evidence.block.number, evidence.block.hash.0), (head.number, head.hash));
    assert_eq!((evidence.block.timestamp.0, evidence.block.tag), (head.timestamp, BlockTag::Safe));
    assert_eq!(evidence.universal_resolver, UNIVERSAL_RESOLVER);
    assert_eq!((evidence.found, &evidence.gateway), (Found::Exactly, &None));
    assert_eq!(evidence.valid_until, evidence.resolved_at.plus(60));
}

#[tokio::test]
async fn each_network_has_its_own_address_and_mainnet_speaks_for_none() {
    let town = Town::new().await;
    let (base, polygon) = (coin_type(Network::Base), coin_type(Network::Polygon));
    town.name("two", Name::OnChain(entries([(base, 1), (polygon, 2), (ETHEREUM_COIN, 9)])));
    let paid = town.paid("two").await;
    assert!(paid.contains(&(Network::Base, 1, Source::Chain)));
    assert!(paid.contains(&(Network::Polygon, 2, Source::Chain)));
    assert_eq!(paid.len(), 2, "Arbitrum is not offered: {paid:?}");

    town.name("rest", Name::OnChain(entries([(base, 1), (DEFAULT_EVM_COIN, 3)])));
    let paid = town.paid("rest").await;
    assert!(paid.contains(&(Network::Base, 1, Source::Chain)));
    assert!(paid.contains(&(Network::Polygon, 3, Source::Default)));
    assert!(paid.contains(&(Network::Arbitrum, 3, Source::Default)));

    town.name("mainnet", Name::OnChain(entries([(ETHEREUM_COIN, 9)])));
    assert_eq!(town.ask("mainnet").await, Ok(None));
}

#[tokio::test]
async fn a_name_that_leads_nowhere_is_nobody_and_no_failure() {
    let town = Town::new().await;
    town.name("empty", Name::OnChain(entries([])));
    town.name("hollow", Name::NotContract);
    town.name("failing", Name::Failing("not today".to_owned()));
    town.name("zero", Name::OnChain(everywhere(0)));
    for seller in ["nobody", "empty", "hollow", "failing", "zero"] {
        assert_eq!(town.ask(seller).await, Ok(None), "{seller}");
    }
}

#[tokio::test]
async fn a_change_is_seen_once_the_minute_is_over() {
    let town = Town::new().await;
    town.name("alice", Name::OnChain(everywhere(1)));
    assert_eq!(town.paid("alice").await, on_every_chain(1));
    town.name("alice", Name::OnChain(everywhere(2)));
    town.watch.forward(59);
    assert_eq!(town.paid("alice").await, on_every_chain(1));
    assert_eq!(town.ask("alice").await.unwrap().unwrap().evidence.age, Age::Cached);
    town.watch.forward(2);
    let fresh = town.ask("alice").await.unwrap().unwrap();
    assert_eq!(fresh.evidence.age, Age::Fresh);
    assert_eq!(town.paid("alice").await, on_every_chain(2));
    town.chains.remove_name(&full("alice"));
    town.watch.forward(61);
    assert_eq!(town.ask("alice").await, Ok(None));
}

/// The wildcard would answer for any of them, so they must not get that far.
#[tokio::test]
async fn letters_that_only_look_alike_make_no_name_and_others_do() {
    let town = Town::new().await;
    town.answer_by_gateway();
    for text in
        ["\u{430}lice", "al\u{456}ce", "\u{ff41}lice", "ali\u{200d}ce", "alice\u{200b}", "a.lice"]
    {
        assert!(town.ens.read(text).is_err(), "{text:?}");
    }
    for text in ["müller", "@müller", &full("müller")] {
        let seller = town.ens.read(text).unwrap();
        town.name(seller.as_str(), Name::Offchain(everywhere(6)));
        assert_eq!(town.paid(seller.as_str()).await, on_every_chain(6), "{text}");
    }
}
