//! Against what others hash, sign and derive.

use order::model::chain::Network;
use order::model::money::Usdc;

use super::super::fixture::{Payer, SELLER, hex};
use super::*;
use crate::parse::word;

fn transfer(payer: &Payer) -> TransferAuthorization {
    let network = Network::Base;
    let mut authorization = TransferAuthorization {
        network,
        token: network.usdc(),
        from: payer.address(),
        to: SELLER,
        value: Usdc::from_atomic(3_500_000),
        valid_after: 0,
        valid_before: 1_794_708_682,
        nonce: [7; 32],
        signature: [0; 65],
    };
    authorization.signature = payer.signature(digest(&authorization));
    authorization
}

/// The vectors that the official packages are tested with.
#[test]
fn both_nonces_are_those_of_the_released_clients() {
    let [packed, framed] = nonces("challenge", "example.com");
    assert_eq!(hex(&packed), "0x5a0fc55509f7d12adb07939181237dfb784515af39195c1ddf0359418fd554d5");
    assert_eq!(hex(&framed), "0xaf46a6d4bdf4f9796c81e5d99101e1393b95168c0273f9387b3e45526b09614c");
}

#[test]
fn the_domain_is_that_of_usdc_on_base() {
    let expected = "0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f";
    assert_eq!(hex(&token_domain(Network::Base)), expected);
}

#[test]
fn every_word_of_a_transfer_is_signed() {
    let payer = Payer::new();
    let correct = transfer(&payer);
    assert_eq!(signed_by(&correct), Signed::ByPayer);
    for other in [
        TransferAuthorization { from: SELLER, ..correct.clone() },
        TransferAuthorization { to: payer.address(), ..correct.clone() },
        TransferAuthorization { value: Usdc::from_atomic(3_500_001), ..correct.clone() },
        TransferAuthorization { valid_after: 1, ..correct.clone() },
        TransferAuthorization { valid_before: correct.valid_before + 1, ..correct.clone() },
        TransferAuthorization { nonce: [8; 32], ..correct.clone() },
        TransferAuthorization { network: Network::Polygon, ..correct.clone() },
    ] {
        assert_eq!(signed_by(&other), Signed::Otherwise);
    }
}

#[test]
fn the_twin_of_a_signature_leads_to_the_same_key_and_is_not_taken() {
    let correct = transfer(&Payer::new());
    let mut twin = correct.clone();
    twin.signature[32..64].copy_from_slice(&negated(&correct.signature[32..64]));
    twin.signature[64] = 55 - correct.signature[64];
    assert_eq!(recover(digest(&twin), &twin.signature), Some(twin.from));
    assert_eq!(signed_by(&twin), Signed::Otherwise);
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
fn what_leads_to_no_key_is_signed_by_nobody() {
    let correct = transfer(&Payer::new());
    let with = |change: fn(&mut [u8; 65])| {
        let mut other = correct.clone();
        change(&mut other.signature);
        assert_eq!(signed_by(&other), Signed::Otherwise);
    };
    with(|signature| *signature = [0; 65]);
    with(|signature| *signature = [255; 65]);
    with(|signature| signature[64] = 29);
    with(|signature| signature[64] = 55 - signature[64]);
    with(|signature| signature[..32].fill(0));
    with(|signature| signature[32..64].fill(0));
    with(|signature| signature[..32].fill(255));
}
