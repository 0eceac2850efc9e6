//! Against what the official client signed, on all three networks.

use serde_json::Value;

use super::super::fixture::{credential, hex};
use super::*;
use crate::eip712::recover;
use crate::parse::{bytes, word};

const VECTORS: &str = include_str!("../../../../evm/vectors/x402_upto.json");

fn vectors() -> Vec<Value> {
    let file: Value = serde_json::from_str(VECTORS).unwrap();
    let vectors = file["vectors"].as_array().unwrap().clone();
    assert_eq!(vectors.len(), 3);
    vectors
}

fn authorization(vector: &Value) -> Permit2Authorization {
    Permit2Authorization::read(&credential(&vector["paymentPayload"]))
        .unwrap_or_else(|why| panic!("{why:?}"))
}

#[test]
fn digests_and_payers_are_those_of_the_official_client() {
    for vector in vectors() {
        let promise = authorization(&vector);
        let digest = authorization_digest(&promise);
        assert_eq!(hex(&digest), vector["digest"]);
        assert_eq!(hex(&promise.signature), vector["signature"]);
        assert_eq!(recover(digest, &promise.signature).unwrap().to_string(), vector["payer"]);
    }
}

/// Signed with viem 2 by the same fixed key as the vectors: owner, Permit2,
/// 3 500 000, nonce 7, deadline 2100-01-01.
const PERMITS: [(Network, &str); 3] = [
    (
        Network::Base,
        "0xabf28cb3a6aca9e01a5c0d9712a1cafc7548c99901e4d3bdd31d814b2e80c80e\
         57367361638d8453a28812ecfbc8a9f96eccb1bc86b1e89d5776439d827a84bd1b",
    ),
    (
        Network::Polygon,
        "0xbb14d8054a3a4989632cc58b83f87d479e39a4a8e3b50354462a341ef105e2d5\
         6d60ef50abe24251020ad4089054065c98cd3851b3a8b7ab2a52f9ea790971b21b",
    ),
    (
        Network::Arbitrum,
        "0x7c470dcb495fc9a3b53d3f6446426be2d5eda5717fdf8aab0ba835e9f639afcd\
         0ae1ce4913d3e2b1f1e207947bbc9c520d1c707d53840ced15baee1b9f7e9d441c",
    ),
];

#[test]
fn permits_hash_as_the_rest_of_the_world_hashes_them() {
    let owner = authorization(&vectors()[0]).payer;
    let (nonce, deadline) = (word("7").unwrap(), 4_102_444_800);
    for (network, signature) in PERMITS {
        let digest = permit_digest(network, owner, Usdc::from_atomic(3_500_000), nonce, deadline);
        assert_eq!(recover(digest, &bytes(signature).unwrap()), Some(owner), "{network}");
    }
}
