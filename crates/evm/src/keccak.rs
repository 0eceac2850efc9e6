//! Keccak-256, the hash of every EVM chain.

use sha3::{Digest, Keccak256};

use crate::word::Word;

/// The hash of the parts, one after the other.
pub fn keccak256(parts: &[&[u8]]) -> Word {
    let mut hash = Keccak256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;

    #[test]
    fn the_hash_of_nothing_is_the_published_one() {
        let nothing = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
        assert_eq!(hex::encode(&keccak256(&[])), nothing);
        assert_eq!(keccak256(&[b"post", b"card"]), keccak256(&[b"postcard"]));
    }
}
