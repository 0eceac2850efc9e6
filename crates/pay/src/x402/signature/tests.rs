//! Against what the official client signed, on all three networks.

use serde_json::Value;

use super::super::samples::{Payer, credential, hex};
use super::*;
use crate::digits::{bytes, word};
use crate::eip712::recover;

const VECTORS: &str = include_str!("../vectors.json");

fn vectors() -> Vec<Value> {
    let file: Value = serde_json::from_str(VECTORS).unwrap();
    let vectors = file["vectors"].as_array().unwrap().clone();
    assert_eq!(vectors.len(), 3);
    vectors
}

fn promise(vector: &Value) -> Promise {
    Promise::read(&credential(&vector["paymentPayload"])).unwrap_or_else(|why| panic!("{why:?}"))
}

#[test]
fn digests_and_payers_are_those_of_the_official_client() {
    for vector in vectors() {
        let promise = promise(&vector);
        let digest = promise_digest(&promise);
        assert_eq!(hex(&permit2_domain(promise.network)), vector["domainSeparator"]);
        assert_eq!(hex(&digest), vector["digest"]);
        assert_eq!(hex(&promise.signature), vector["signature"]);
        assert_eq!(recover(digest, &promise.signature).unwrap().to_string(), vector["payer"]);
        let kinds = &vector["typeHashes"];
        let hash = |kind: &str| hex(&keccak(&[kind.as_bytes()]));
        assert_eq!(hash(PROMISE), kinds["permitWitnessTransferFrom"]);
        assert_eq!(hash(PERMITTED), kinds["tokenPermissions"]);
        assert_eq!(hash(WITNESS), kinds["witness"]);
    }
}

#[test]
fn the_short_form_and_the_twin_lead_to_the_same_payer() {
    for vector in vectors() {
        let promise = promise(&vector);
        let digest = promise_digest(&promise);
        let payer = Some(promise.payer);

        let mut short = promise.signature[..64].to_vec();
        short[32] |= (promise.signature[64] - 27) << 7;
        assert_eq!(recover(digest, &short), payer);
        short[32] ^= 0x80;
        assert_ne!(recover(digest, &short), payer);

        let mut twin = promise.signature.clone();
        twin[32..64].copy_from_slice(&negated(&promise.signature[32..64]));
        twin[64] = 55 - twin[64];
        assert_eq!(recover(digest, &twin), payer);
    }
}

/// The curve's order minus `s`.
fn negated(s: &[u8]) -> Vec<u8> {
    let order = word("0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141").unwrap();
    let mut borrow = 0;
    let mut out = vec![0; 32];
    for place in (0..32).rev() {
        let gap = i16::from(order[place]) - i16::from(s[place]) - borrow;
        borrow = i16::from(gap < 0);
        out[place] = u8::try_from(gap.rem_euclid(256)).unwrap();
    }
    out
}

#[test]
fn what_the_chain_does_not_read_as_a_signature_is_none() {
    let payer = Payer::new();
    let digest = [9; 32];
    let good = payer.signature(digest);
    assert_eq!(recover(digest, &good), Some(payer.address()));
    assert_ne!(recover([8; 32], &good), Some(payer.address()));
    for v in (0..=255).filter(|v| *v != good[64]) {
        let mut other = good;
        other[64] = v;
        assert_ne!(recover(digest, &other), Some(payer.address()), "{v}");
    }
    for length in (0..64).chain(66..80) {
        let other: Vec<u8> = good.iter().copied().cycle().take(length).collect();
        assert_eq!(recover(digest, &other), None, "{length}");
    }
    assert_eq!(recover(digest, &[0; 65]), None);
    assert_eq!(recover(digest, &[255; 64]), None);
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
    let owner = promise(&vectors()[0]).payer;
    let (nonce, deadline) = (word("7").unwrap(), 4_102_444_800);
    for (network, signature) in PERMITS {
        let digest = permit_digest(network, owner, Usdc::from_atomic(3_500_000), nonce, deadline);
        assert_eq!(recover(digest, &bytes(signature).unwrap()), Some(owner), "{network}");
    }
}
