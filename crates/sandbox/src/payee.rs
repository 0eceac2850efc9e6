//! The payee of the sandbox: a burn address (no known key).

use order::model::chain::EvmAddress;
use sha2::{Digest, Sha256};

/// The last 20 bytes of a hash of these words. No key with this address is known, so money
/// sent here by mistake is lost but not stolen, and anyone can verify it.
const WORDS: &[u8] = b"Pennyblack sandbox: nobody holds the key of this address.";

pub fn payee() -> EvmAddress {
    let hash: [u8; 32] = Sha256::digest(WORDS).into();
    let (_, last) = hash.split_last_chunk().expect("20 of 32 bytes");
    EvmAddress::from_bytes(*last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payee_address_is_stable() {
        assert_eq!(payee().to_string(), "0x06c05fB3449193F815E3dd1Fb1a3fB148F8AD6c4");
    }
}
