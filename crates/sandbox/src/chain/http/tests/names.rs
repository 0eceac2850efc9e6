//! Names over HTTP, with the way through the gateway that a client walks.

use alloy_primitives::{Bytes, U256};
use alloy_sol_types::{SolCall, SolError, SolValue};
use evm::interfaces::{Resolver, UniversalResolver};
use order::model::chain::Network;

use super::*;
use crate::chain::ens::names;
use crate::chain::{
    GatewayFault, GatewayLookup, NameAddresses, NameRecord, UNIVERSAL_RESOLVER, coin_type,
};

const ETHEREUM: ChainId = ChainId::Ethereum;
const NAME: &str = "alice.shop.eth";

fn question() -> Vec<u8> {
    let coin = U256::from(coin_type(Network::Base));
    let data = Resolver::addr_1Call { node: names::node(NAME), coinType: coin }.abi_encode();
    let name = Bytes::from_static(b"\x05alice\x04shop\x03eth\0");
    UniversalResolver::resolveCall { name, data: data.into() }.abi_encode()
}

async fn call(client: &Client, data: &[u8]) -> Result<Bytes, Bytes> {
    let data = alloy_primitives::hex::encode_prefixed(data);
    let asked = json!([{ "to": UNIVERSAL_RESOLVER.to_string(), "data": data }, "latest"]);
    let answer = client.call(ETHEREUM, "eth_call", asked).await;
    match answer["result"].as_str() {
        Some(result) => Ok(result.parse().unwrap()),
        None => Err(answer["error"]["data"].as_str().unwrap().parse().unwrap()),
    }
}

fn address(returned: &Bytes) -> Option<EvmAddress> {
    let answer = UniversalResolver::resolveCall::abi_decode_returns_validate(returned).unwrap();
    let bytes = Bytes::abi_decode(&answer.result).unwrap();
    <[u8; 20]>::try_from(bytes.as_ref()).ok().map(EvmAddress::from_bytes)
}

/// Asks, is sent to the gateway, goes there, and comes back.
async fn resolve(client: &Client) -> Result<Option<EvmAddress>, u16> {
    let revert = call(client, &question()).await.unwrap_err();
    let lookup = UniversalResolver::OffchainLookup::abi_decode_validate(&revert).unwrap();
    let url = lookup.urls.last().unwrap().strip_prefix("http://").unwrap();
    let path = &url[url.find('/').unwrap()..];
    let (sender, data) = (lookup.sender.to_string(), lookup.callData.to_string());
    let reply = if path.contains("{data}") {
        let path = path.replace("{sender}", &sender.to_lowercase()).replace("{data}", &data);
        client.ask("GET", &path, "").await
    } else {
        client.post(path, &json!({ "sender": sender, "data": data }).to_string()).await
    };
    if reply.status() != 200 {
        return Err(reply.status());
    }
    let response = reply.json()["data"].as_str().unwrap().parse().unwrap();
    let extra = lookup.extraData;
    let back = UniversalResolver::resolveCallbackCall { response, extraData: extra }.abi_encode();
    Ok(address(&call(client, &back).await.unwrap()))
}

fn at_base(byte: u8) -> NameRecord {
    let address = EvmAddress::from_bytes([byte; 20]);
    NameRecord::Offchain(NameAddresses::from([(coin_type(Network::Base), address)]))
}

#[tokio::test]
async fn a_name_can_change_between_two_reads_with_every_lookup() {
    let chains = open().await;
    let client = client(&chains);
    chains.set_name("shop.eth", NameRecord::Wildcard);
    for way in [GatewayLookup::Get, GatewayLookup::Post, GatewayLookup::Batched] {
        chains.set_lookup(way);
        chains.set_name(NAME, at_base(1));
        assert_eq!(resolve(&client).await, Ok(Some(EvmAddress::from_bytes([1; 20]))));
        chains.set_name(NAME, at_base(2));
        assert_eq!(resolve(&client).await, Ok(Some(EvmAddress::from_bytes([2; 20]))));
        chains.remove_name(NAME);
        assert_eq!(resolve(&client).await, Ok(None));
    }
}

#[tokio::test]
async fn gateway_faults_are_http_errors() {
    let chains = open().await;
    let client = client(&chains);
    chains.set_name("shop.eth", NameRecord::Wildcard);
    chains.set_gateway_fault(GatewayFault::Down);
    assert_eq!(resolve(&client).await, Err(500));
    chains.set_gateway_fault(GatewayFault::NotFound);
    assert_eq!(resolve(&client).await, Err(404));
    chains.set_gateway_fault(GatewayFault::None);
    let nonsense = client.ask("GET", "/gateway/0x12/0x34.json", "").await;
    assert_eq!(nonsense.status(), 400);
}

#[tokio::test]
async fn names_are_set_and_read_over_http_and_live_on_one_chain_only() {
    let chains = open().await;
    let client = client(&chains);
    let body =
        json!({ "addresses": { "2147492101": EvmAddress::from_bytes([3; 20]).to_string() } });
    let path = format!("/__sandbox/names/{NAME}");
    assert_eq!(client.ask("PUT", &path, &body.to_string()).await.status(), 204);
    let json_response = client.ask("GET", &path, "").await.json();
    assert_eq!(
        (&json_response["kind"], &json_response["addresses"]),
        (&json!("on_chain"), &body["addresses"])
    );
    let found = address(&call(&client, &question()).await.unwrap());
    assert_eq!(found, Some(EvmAddress::from_bytes([3; 20])));
    let elsewhere = json!([UNIVERSAL_RESOLVER.to_string(), "latest"]);
    assert_eq!(client.result(ChainId::Base, "eth_getCode", elsewhere).await, "0x");
    assert_eq!(client.ask("DELETE", &path, "").await.status(), 204);
    assert_eq!(client.ask("GET", &path, "").await.status(), 404);
}
