//! Against what the official client signed, on all three networks.

use serde_json::Value;

use super::*;
use crate::signature::{SigningKey, expand, recover};
use crate::{checksum, hex};

const VECTORS: &str = include_str!("../../vectors/x402_upto.json");

fn vectors() -> Vec<Value> {
    let file: Value = serde_json::from_str(VECTORS).unwrap();
    let vectors = file["vectors"].as_array().unwrap().clone();
    assert_eq!(vectors.len(), 3);
    vectors
}

/// The words of the call that settles the signed transfer, without its selector.
fn settle_words(vector: &Value) -> Vec<Word> {
    let call = hex::decode(vector["settleCalldata"].as_str().unwrap()).unwrap();
    call[4..].chunks_exact(32).map(|word| word.try_into().unwrap()).collect()
}

fn address(word: Word) -> [u8; 20] {
    word[12..].try_into().unwrap()
}

fn chain_id(vector: &Value) -> u64 {
    vector["network"].as_str().unwrap().strip_prefix("eip155:").unwrap().parse().unwrap()
}

fn transfer(words: &[Word]) -> UptoTransfer {
    UptoTransfer {
        token: address(words[0]),
        amount: words[1],
        nonce: words[2],
        deadline: words[3],
        witness: UptoWitness {
            to: address(words[6]),
            facilitator: address(words[7]),
            valid_after: words[8],
        },
    }
}

#[test]
fn digests_are_those_of_the_official_client() {
    for vector in vectors() {
        let transfer = transfer(&settle_words(&vector));
        let digest = transfer.digest(chain_id(&vector));
        assert_eq!(hex::encode(&domain(chain_id(&vector))), vector["domainSeparator"]);
        assert_eq!(hex::encode(&transfer.witness.hash()), vector["structHashes"]["witness"]);
        assert_eq!(hex::encode(&digest), vector["digest"]);
        let signature = expand(&hex::decode(vector["signature"].as_str().unwrap()).unwrap());
        let signer = recover(digest, &signature.unwrap()).unwrap();
        assert_eq!(checksum::encode(signer), vector["payer"]);
    }
}

/// The third account of the mnemonic of development chains, with which the official
/// client signed the vectors.
#[test]
fn signatures_are_those_of_the_official_client() {
    let key = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a";
    let key = SigningKey::from_bytes(&hex::decode(key).unwrap().try_into().unwrap()).unwrap();
    for vector in vectors() {
        let digest = transfer(&settle_words(&vector)).digest(chain_id(&vector));
        assert_eq!(hex::encode(&key.sign(digest)), vector["signature"]);
    }
}

#[test]
fn type_hashes_are_those_of_the_official_client() {
    for vector in vectors() {
        let hashes = &vector["typeHashes"];
        let hash = |kind: &str| hex::encode(&eip712::type_hash(kind));
        let whole = [TYPE_STUB, WITNESS_TYPE_STRING].concat();
        assert_eq!(hash(&whole), hashes["permitWitnessTransferFrom"]);
        assert_eq!(hash(PERMISSIONS_TYPE), hashes["tokenPermissions"]);
        assert_eq!(hash(WITNESS_TYPE), hashes["witness"]);
    }
}

#[test]
fn the_bit_of_a_nonce_is_where_permit2_looks_for_it() {
    let mut nonce = [0; 32];
    (nonce[30], nonce[31]) = (3, 200);
    assert_eq!(bitmap_position(nonce), (word::from_u64(3), 200));
    for vector in vectors() {
        let (_, bit) = bitmap_position(settle_words(&vector)[2]);
        assert_eq!(bit, vector["nonceBitmap"]["bit"]);
    }
}
