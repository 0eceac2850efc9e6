//! The payer's key: it signs, and cannot print itself.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use order::model::chain::EvmAddress;
use secp256k1::ecdsa::RecoveryId;
use secp256k1::{Message, PublicKey, Secp256k1, SecretKey};
use zeroize::Zeroizing;

use super::end::End;
use super::hex::{self, Word};
use super::typed::keccak;

/// A key is 66 characters long; who names another file by mistake is told so soon.
const FILE_BYTES_MAX: u64 = 256;

pub(super) struct Wallet(SecretKey);

impl Wallet {
    /// From `0x` and 64 digits, or the digits alone.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let bytes = Zeroizing::new(hex::word(text.trim())?);
        SecretKey::from_byte_array(*bytes).ok().map(Self)
    }

    pub(super) fn read(path: &Path) -> Result<Self, End> {
        let shown = path.display();
        let unreadable =
            |error| End::Unusable(format!("The key file {shown} cannot be read: {error}.\n"));
        let file = File::open(path).map_err(unreadable)?;
        let mode = file.metadata().map_err(unreadable)?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(End::Unusable(format!(
                "The key file {shown} can be read by others on this machine (mode {mode:03o}).\n\
                 Close it first: chmod 600 {shown}\n"
            )));
        }
        let mut text = Zeroizing::new(String::new());
        file.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(unreadable)?;
        Self::parse(&text).ok_or_else(|| {
            End::Unusable(format!(
                "The key file {shown} holds no private key. It holds one line: 0x and 64 \
                 hexadecimal digits.\n"
            ))
        })
    }

    pub(super) fn address(&self) -> EvmAddress {
        let public = PublicKey::from_secret_key(&Secp256k1::signing_only(), &self.0);
        let hash = keccak(&public.serialize_uncompressed()[1..]);
        let mut address = [0; 20];
        address.copy_from_slice(&hash[12..]);
        EvmAddress::from_bytes(address)
    }

    /// `r`, `s` and `v` (27 or 28) over a digest; contracts want the low `s` that
    /// the library gives.
    pub(super) fn sign(&self, digest: Word) -> [u8; 65] {
        let message = Message::from_digest(digest);
        let signature = Secp256k1::signing_only().sign_ecdsa_recoverable(message, &self.0);
        let (parity, compact) = signature.serialize_compact();
        let mut bytes = [0; 65];
        bytes[..64].copy_from_slice(&compact);
        bytes[64] = if parity == RecoveryId::Zero { 27 } else { 28 };
        bytes
    }
}

impl fmt::Debug for Wallet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Wallet({})", self.address())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

    #[test]
    fn a_key_has_the_address_that_the_rest_of_the_world_gives_it_and_prints_nothing_else() {
        let wallet = Wallet::parse(KEY).unwrap();
        let address = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
        assert_eq!(wallet.address().to_string(), address);
        assert_eq!(format!("{wallet:?}"), format!("Wallet({address})"));
        for wrong in ["", "0x12", &"0".repeat(64), &KEY.replace("ac", "zz")] {
            assert!(Wallet::parse(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_key_file_that_others_can_read_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        fs::write(&path, format!("{KEY}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let words = Wallet::read(&path).unwrap_err();
        assert!(words.words().contains("chmod 600"), "{words:?}");
        assert!(!words.words().contains(&KEY[2..]), "{words:?}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(Wallet::read(&path).is_ok());
    }
}
