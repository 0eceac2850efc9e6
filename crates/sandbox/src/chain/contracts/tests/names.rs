//! Names on chain, names behind the gateway, and gateways that lie.

use alloy_sol_types::{SolCall, SolError, SolValue};
use evm::interfaces::{BatchGateway, Resolver, UniversalResolver};
use order::model::chain::{EvmAddress, Network};

use super::*;
use crate::chain::ens::gateway;
use crate::chain::ens::names::{
    ETHEREUM_COIN, GatewayFault, GatewayLookup, NameAddresses, NameRecord, NameRegistry, coin_type,
    node,
};
use crate::chain::testing::names;

fn alice() -> EvmAddress {
    EvmAddress::from_bytes([0xa1; 20])
}

fn records() -> NameAddresses {
    NameAddresses::from([(ETHEREUM_COIN, alice()), (coin_type(Network::Base), alice())])
}

fn registry() -> NameRegistry {
    let mut names = names([
        ("seller.eth", NameRecord::OnChain(records())),
        ("shop.eth", NameRecord::Wildcard),
        ("alice.shop.eth", NameRecord::Offchain(records())),
        ("eoa.eth", NameRecord::NotContract),
        ("bad.eth", NameRecord::Failing("out of order".to_owned())),
    ]);
    names.origin = "http://127.0.0.1:1".to_owned();
    names
}

fn dns(name: &str) -> Bytes {
    let label = |label: &str| [&[u8::try_from(label.len()).unwrap()], label.as_bytes()].concat();
    let mut written: Vec<u8> = name.split('.').flat_map(label).collect();
    written.push(0);
    written.into()
}

fn ask(names: &NameRegistry, data: impl Into<Bytes>) -> ContractResult {
    let env = CallEnv {
        chain: ChainId::Ethereum,
        now: NOW,
        names,
        gas_price: U256::ZERO,
        execution: CallExecution::Simulation,
        dispatch: call,
    };
    let state = State::default();
    let to = names.universal_resolver();
    call(&mut StateView::latest(&state), &env, PAYER, to, &data.into())
}

fn multicoin(name: &str, network: Network) -> Bytes {
    let coin = U256::from(coin_type(network));
    Resolver::addr_1Call { node: node(name), coinType: coin }.abi_encode().into()
}

fn resolve(names: &NameRegistry, name: &str, data: Bytes) -> ContractResult {
    ask(names, UniversalResolver::resolveCall { name: dns(name), data }.abi_encode())
}

fn result(answer: ContractResult) -> Bytes {
    let answer = answer.unwrap();
    UniversalResolver::resolveCall::abi_decode_returns_validate(&answer).unwrap().result
}

/// The address in a multicoin answer; none if it is empty.
fn found(answer: ContractResult) -> Option<EvmAddress> {
    let bytes = Bytes::abi_decode(&result(answer)).unwrap();
    <[u8; 20]>::try_from(bytes.as_ref()).ok().map(EvmAddress::from_bytes)
}

#[test]
fn a_name_on_chain_has_one_address_for_each_coin() {
    let names = registry();
    let of = |network| found(resolve(&names, "seller.eth", multicoin("seller.eth", network)));
    assert_eq!(of(Network::Base), Some(alice()));
    assert_eq!(of(Network::Polygon), None);
    let old = Resolver::addr_0Call { node: node("seller.eth") }.abi_encode();
    let answer = result(resolve(&names, "seller.eth", old.into()));
    assert_eq!(Address::abi_decode(&answer).unwrap(), Address::from(alice().bytes()));
}

#[test]
fn failures_have_the_selectors_of_the_standard() {
    let names = registry();
    let base = |name: &str| multicoin(name, Network::Base);
    let nobody = resolve(&names, "nobody.eth", base("nobody.eth")).unwrap_err().0;
    assert_eq!(nobody[..4], [0x77, 0x20, 0x9f, 0xe8]);
    // The resolver of a name on chain does not answer for names below it.
    let below = resolve(&names, "x.seller.eth", base("x.seller.eth")).unwrap_err().0;
    assert_eq!(below[..4], [0x77, 0x20, 0x9f, 0xe8]);
    let eoa = resolve(&names, "eoa.eth", base("eoa.eth")).unwrap_err().0;
    assert_eq!(eoa[..4], [0x1e, 0x95, 0x35, 0xf2]);
    let bad = resolve(&names, "bad.eth", base("bad.eth")).unwrap_err().0;
    assert_eq!(bad[..4], [0x95, 0xc0, 0xc7, 0x52]);
    let text = resolve(&names, "seller.eth", bytes("0x59d1d43c")).unwrap_err().0;
    assert_eq!(text[..4], [0x7b, 0x1c, 0x46, 0x1b]);
    assert_eq!(UniversalResolver::HttpError::SELECTOR, [0x01, 0x80, 0x01, 0x52]);
    assert_eq!(UniversalResolver::OffchainLookup::SELECTOR, [0x55, 0x6f, 0x18, 0x30]);
}

fn lookup(names: &NameRegistry, name: &str) -> UniversalResolver::OffchainLookup {
    let revert = resolve(names, name, multicoin(name, Network::Base)).unwrap_err().0;
    UniversalResolver::OffchainLookup::abi_decode_validate(&revert).unwrap()
}

/// What a careful client does with an `OffchainLookup`, without the HTTP.
fn fetch(names: &NameRegistry, name: &str) -> ContractResult {
    let lookup = lookup(names, name);
    assert_eq!(lookup.sender, names.universal_resolver());
    let response = gateway::answer(names, NOW, lookup.sender, &lookup.callData).unwrap();
    come_back(names, &lookup, response)
}

fn come_back(
    names: &NameRegistry,
    lookup: &UniversalResolver::OffchainLookup,
    response: Bytes,
) -> ContractResult {
    let back =
        UniversalResolver::resolveCallbackCall { response, extraData: lookup.extraData.clone() };
    assert_eq!(lookup.callbackFunction, UniversalResolver::resolveCallbackCall::SELECTOR);
    ask(names, back.abi_encode())
}

#[test]
fn a_name_below_a_wildcard_is_resolved_by_the_gateway_with_every_lookup() {
    let mut names = registry();
    for way in [GatewayLookup::Get, GatewayLookup::Post, GatewayLookup::Batched] {
        names.lookup = way;
        assert_eq!(found(fetch(&names, "alice.shop.eth")), Some(alice()));
        assert_eq!(found(fetch(&names, "nobody.shop.eth")), None);
    }
}

#[test]
fn a_forged_expired_or_foreign_answer_is_refused() {
    let mut names = registry();
    for way in [GatewayLookup::Get, GatewayLookup::Batched] {
        names.lookup = way;
        for fault in [GatewayFault::Forged, GatewayFault::Expired] {
            names.fault = fault;
            let refused = fetch(&names, "alice.shop.eth").unwrap_err().0;
            assert_eq!(refused[..4], UniversalResolver::ResolverError::SELECTOR);
        }
        names.fault = GatewayFault::None;
        let (one, other) = (lookup(&names, "alice.shop.eth"), lookup(&names, "nobody.shop.eth"));
        let answer = gateway::answer(&names, NOW, one.sender, &one.callData).unwrap();
        let swapped = come_back(&names, &other, answer).unwrap_err().0;
        assert_eq!(swapped[..4], UniversalResolver::ResolverError::SELECTOR);
    }
}

#[test]
fn the_caller_may_name_the_gateways_for_a_batch() {
    let names = registry();
    let question = UniversalResolver::resolveWithGatewaysCall {
        name: dns("alice.shop.eth"),
        data: multicoin("alice.shop.eth", Network::Base),
        gateways: vec!["https://gateway.example".to_owned()],
    };
    let revert = ask(&names, question.abi_encode()).unwrap_err().0;
    let lookup = UniversalResolver::OffchainLookup::abi_decode_validate(&revert).unwrap();
    assert_eq!(lookup.urls, ["https://gateway.example"]);
    let response = gateway::answer(&names, NOW, lookup.sender, &lookup.callData).unwrap();
    assert_eq!(found(come_back(&names, &lookup, response)), Some(alice()));
}

#[test]
fn a_gateway_error_in_a_batch_becomes_a_revert() {
    let mut names = registry();
    names.lookup = GatewayLookup::Batched;
    let lookup = lookup(&names, "alice.shop.eth");
    assert_eq!(lookup.urls[0], "x-batch-gateway:true");
    let inner = BatchGateway::queryCall::abi_decode_validate(&lookup.callData).unwrap();
    assert!(inner.requests[0].urls[0].ends_with("/gateway/{sender}/{data}.json"));
    names.fault = GatewayFault::Down;
    let refused = fetch(&names, "alice.shop.eth").unwrap_err().0;
    let error = UniversalResolver::HttpError::abi_decode_validate(&refused).unwrap();
    assert_eq!(error.status, 500);
    // Asked one at a time, the trouble is plain HTTP.
    names.lookup = GatewayLookup::Get;
    let asked = self::lookup(&names, "alice.shop.eth");
    let answer = gateway::answer(&names, NOW, asked.sender, &asked.callData);
    assert_eq!(answer.unwrap_err().status, 500);
}
