//! Transactions that a widely used wallet library signed, and our own.

use super::*;
use crate::{checksum, hex};

const SIGNER: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const DATA: &str = "0x70a08231000000000000000000000000f39fd6e51aad88f6f4ce6ab8827279cfffb92266";

const DYNAMIC: (&str, &str) = (
    "0x02f89082210507830f424084773594008301d4c094833589fcd6edb6e08f4c7c32d4f71b54bda0291305a470a08231\
     000000000000000000000000f39fd6e51aad88f6f4ce6ab8827279cfffb92266c001a0fb19f6c9894baea2fcc37f53\
     213d0c63a7d6411cf5a1ca123988f491c9ff8a27a051879a2ca8086e2a2c3c184cb662253e64ea03cbb7e85f3868a1\
     a31a5fc9de42",
    "0x275027a91fb6a7f7042fad2e6e24974065ce616b546418864505e9c86f4aec80",
);
const LEGACY: (&str, &str) = (
    "0xf88a07843b9aca008301d4c094833589fcd6edb6e08f4c7c32d4f71b54bda0291305a470a08231000000000000000\
     000000000f39fd6e51aad88f6f4ce6ab8827279cfffb9226682422da0a08b1e7b3303518d82ee56029eea82a7959a5\
     50f0666f31db1643440f90a3fb7a01b134ace23fdbcd782a835c8f27aa955214510c60573cf20c0a31eb79733a314",
    "0x71cfacca5de6710c26bd6c15fa1fd11c70ae64e02e6f4ce60d85b595bb04719f",
);
const WITH_ACCESS_LIST: (&str, &str) = (
    "0x02f8c28221058080018301d4c094833589fcd6edb6e08f4c7c32d4f71b54bda0291380a470a0823100000000000000\
     0000000000f39fd6e51aad88f6f4ce6ab8827279cfffb92266f838f794833589fcd6edb6e08f4c7c32d4f71b54bda0\
     2913e1a0111111111111111111111111111111111111111111111111111111111111111180a092dec3c6529f63f81e\
     9164568fd4a5be6be107b24a3023c620edaac67aab2873a0032590adbf75e6eb1ac816bef422567251b23a08798dcd\
     0d1af4466038b99285",
    "0xf7e38a4e7423d0ac5e37cee76f6140a119f10c0a81b34ec2be479a4525fa01ff",
);

fn bytes(text: &str) -> Vec<u8> {
    hex::decode(text).unwrap()
}

#[test]
fn signer_and_hash_are_those_that_the_wallet_reports() {
    for (raw, hash) in [DYNAMIC, LEGACY, WITH_ACCESS_LIST] {
        let transaction = decode(&bytes(raw)).unwrap();
        assert_eq!(checksum::encode(transaction.from), SIGNER);
        assert_eq!(hex::encode(&transaction.hash), hash);
        assert_eq!((transaction.chain_id, transaction.gas), (8453, 120_000));
    }
    let transaction = decode(&bytes(DYNAMIC.0)).unwrap();
    assert_eq!((transaction.nonce, transaction.value), (7, crate::word::from_u64(5)));
    assert_eq!(transaction.transaction_type, TransactionType::DynamicFee);
    let legacy = decode(&bytes(LEGACY.0)).unwrap();
    assert_eq!(legacy.transaction_type, TransactionType::Legacy);
    assert_eq!(legacy.priority_fee, legacy.max_fee);
}

#[test]
fn a_signed_transaction_is_byte_for_byte_the_wallets() {
    let key = SigningKey::from_bytes(&bytes(KEY).try_into().unwrap()).unwrap();
    let unsigned = UnsignedTransaction {
        chain_id: 8453,
        nonce: 7,
        priority_fee: 1_000_000,
        max_fee: 2_000_000_000,
        gas: 120_000,
        to: crate::contracts::USDC_BASE,
        value: 5,
        data: bytes(DATA),
    };
    assert_eq!(unsigned.sign(&key), bytes(DYNAMIC.0));
}

#[test]
fn a_signed_transaction_decodes_to_what_was_signed_at_every_length() {
    let key = SigningKey::from_bytes(&[7; 32]).unwrap();
    let cases = [(0, 0), (1, 1), (127, 55), (128, 56), (381, 300), (70_000, 1_275)];
    for (nonce, length) in cases {
        let unsigned = UnsignedTransaction {
            chain_id: 42161,
            nonce,
            priority_fee: u128::from(nonce),
            max_fee: 30_000_000_000,
            gas: 60_000,
            to: [0x11; 20],
            value: 0,
            data: vec![0xab; length],
        };
        let raw = unsigned.sign(&key);
        let decoded = decode(&raw).unwrap();
        assert_eq!((decoded.nonce, decoded.data), (nonce, unsigned.data), "{nonce} {length}");
        assert_eq!((decoded.from, decoded.to), (key.address(), Some([0x11; 20])));
        assert_eq!(decoded.hash, hash(&raw));
    }
}

#[test]
fn a_changed_byte_changes_the_sender_or_is_refused() {
    let raw = bytes(DYNAMIC.0);
    for place in 0..raw.len() {
        let mut changed = raw.clone();
        changed[place] ^= 1;
        if let Ok(transaction) = decode(&changed) {
            assert_ne!(checksum::encode(transaction.from), SIGNER, "byte {place}");
        }
    }
}

#[test]
fn other_bytes_are_refused_with_the_reason() {
    let mut unprotected = bytes(LEGACY.0);
    // A legacy `v` of 27 names no chain, so it could be replayed on every one.
    let place = unprotected.windows(3).position(|window| window == [0x82, 0x42, 0x2d]).unwrap();
    unprotected.splice(place..place + 3, [27]);
    unprotected[1] -= 2;
    for (raw, reason) in [
        (unprotected, InvalidTransaction::NotReplayProtected),
        (vec![], InvalidTransaction::UnsupportedType),
        (vec![0x01, 0xc0], InvalidTransaction::UnsupportedType),
        (vec![0x02, 0xc0], InvalidTransaction::Malformed),
        (vec![0x02], InvalidTransaction::Malformed),
    ] {
        assert_eq!(decode(&raw), Err(reason));
    }
}
