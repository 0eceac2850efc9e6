//! Whom a sandbox pays: an address that nobody holds the key of.

use order::model::chain::EvmAddress;
use sha2::{Digest, Sha256};

/// The last 20 bytes of a hash of these words. To spend from it, somebody would
/// have to find a key whose address is that hash, which nobody can; so real
/// money sent here by mistake is not stolen, and an observer can check it.
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
    fn the_address_never_changes_so_that_anybody_can_recognise_it() {
        assert_eq!(payee().to_string(), "0x06c05fB3449193F815E3dd1Fb1a3fB148F8AD6c4");
    }
}
