//! Encryption at rest: each value is bound to one order and one column.
//!
//! An encrypted value is the key name (4 bytes), a random nonce (24) and the XChaCha20-Poly1305
//! ciphertext with its tag (16). Order and column are authenticated, so a value that is moved
//! elsewhere does not decrypt.

use std::error::Error;
use std::fmt;

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use order::model::card::Postcard;
use order::model::ids::OrderId;
use zeroize::Zeroizing;

use crate::keys::{KeyPurpose, Keyring};

const NAME_BYTES: usize = 4;
const NONCE_BYTES: usize = 24;

/// Encrypts with the newest key, decrypts with any.
#[derive(Clone)]
pub struct ColumnCipher {
    /// Newest first, never empty.
    keys: Vec<CipherKey>,
}

#[derive(Clone)]
struct CipherKey {
    name: [u8; NAME_BYTES],
    cipher: XChaCha20Poly1305,
}

/// The column of an encrypted value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncryptedColumn {
    Card,
    Credential,
    Preparation,
    Outbox,
    /// In no column: a notice to other processes.
    Notice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CipherError {
    /// Encrypted with a key that is not in the key file.
    UnknownKey,
    /// Changed, truncated, or of another order or column.
    Broken,
    /// The operating system gives no random bytes.
    NoRandomness,
}

impl ColumnCipher {
    pub fn new(keyring: &Keyring) -> Self {
        let names = keyring.newest_first(KeyPurpose::Name);
        let keys = names.zip(keyring.newest_first(KeyPurpose::Seal));
        let keys = keys.map(|(name, key)| CipherKey {
            name: *name.first_chunk().expect("4 of 32 bytes"),
            cipher: XChaCha20Poly1305::new((&*key).into()),
        });
        Self { keys: keys.collect() }
    }

    pub fn seal_card(&self, card: &Postcard, order: OrderId) -> Result<Vec<u8>, CipherError> {
        self.seal(&Zeroizing::new(card.canonical()), order, EncryptedColumn::Card)
    }

    pub fn open_card(&self, sealed: &[u8], order: OrderId) -> Result<Postcard, CipherError> {
        let form = self.open(sealed, order, EncryptedColumn::Card)?;
        Postcard::from_canonical(&form).ok_or(CipherError::Broken)
    }

    pub fn seal(
        &self,
        plain: &[u8],
        order: OrderId,
        column: EncryptedColumn,
    ) -> Result<Vec<u8>, CipherError> {
        let key = self.keys.first().expect("a ring has a key");
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|_| CipherError::NoRandomness)?;
        let aad = authenticated(order, column);
        let payload = Payload { msg: plain, aad: &aad };
        let sealed = key.cipher.encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.expect("nothing we keep comes near the limit of 256 GiB");
        Ok([&key.name, &nonce[..], &sealed].concat())
    }

    /// Whether the key file has the key of a value; it may still not decrypt.
    pub fn has_key_of(&self, sealed: &[u8]) -> bool {
        let name = sealed.first_chunk::<NAME_BYTES>();
        name.is_none_or(|name| self.keys.iter().any(|key| key.name == *name))
    }

    pub fn open(
        &self,
        sealed: &[u8],
        order: OrderId,
        column: EncryptedColumn,
    ) -> Result<Zeroizing<Vec<u8>>, CipherError> {
        let (name, rest) = sealed.split_first_chunk::<NAME_BYTES>().ok_or(CipherError::Broken)?;
        let (nonce, rest) = rest.split_first_chunk::<NONCE_BYTES>().ok_or(CipherError::Broken)?;
        let key = self.keys.iter().find(|key| key.name == *name).ok_or(CipherError::UnknownKey)?;
        let aad = authenticated(order, column);
        let payload = Payload { msg: rest, aad: &aad };
        let plain = key.cipher.decrypt(&XNonce::from(*nonce), payload);
        plain.map(Zeroizing::new).map_err(|_| CipherError::Broken)
    }
}

fn authenticated(order: OrderId, column: EncryptedColumn) -> Vec<u8> {
    let column: &[u8] = match column {
        EncryptedColumn::Card => b"card",
        EncryptedColumn::Credential => b"credential",
        EncryptedColumn::Preparation => b"preparation",
        EncryptedColumn::Outbox => b"outbox",
        EncryptedColumn::Notice => b"notice",
    };
    [&order.bytes(), column].concat()
}

impl fmt::Debug for ColumnCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ColumnCipher").finish_non_exhaustive()
    }
}

impl fmt::Display for CipherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownKey => "encrypted with a key that is not in the key file: put it back",
            Self::Broken => "the encrypted value was changed, truncated, or is of another order",
            Self::NoRandomness => "the operating system gives no random bytes",
        })
    }
}

impl Error for CipherError {}

#[cfg(test)]
mod tests {
    use order::testing::fakes::cards::card;

    use super::*;

    const ORDER: OrderId = OrderId::from_bytes([1; 16]);
    const OTHER: OrderId = OrderId::from_bytes([2; 16]);

    fn cipher(keys: &[u8]) -> ColumnCipher {
        let line = |byte: &u8| format!("{}\n", format!("{byte:02x}").repeat(32));
        ColumnCipher::new(&Keyring::from_text(&keys.iter().map(line).collect::<String>()).unwrap())
    }

    #[test]
    fn an_encrypted_card_decrypts_and_does_not_contain_its_text() {
        let card = card("The sea says hello.");
        let sealed = cipher(&[1]).seal_card(&card, ORDER).unwrap();
        assert!(cipher(&[1]).open_card(&sealed, ORDER) == Ok(card));
        assert!(!sealed.windows(3).any(|letters| letters == b"sea" || letters == b"Ada"));
    }

    #[test]
    fn the_same_card_is_never_encrypted_to_the_same_bytes() {
        let cipher = cipher(&[1]);
        let seal = || cipher.seal_card(&card("hello"), ORDER).unwrap();
        assert_ne!(seal(), seal());
    }

    #[test]
    fn a_value_does_not_decrypt_for_another_order_column_or_key() {
        let sealed = cipher(&[1]).seal(b"signed", ORDER, EncryptedColumn::Credential).unwrap();
        let open = |keys: &[u8], order, column| cipher(keys).open(&sealed, order, column);
        assert_eq!(open(&[1], ORDER, EncryptedColumn::Credential).unwrap().as_slice(), b"signed");
        assert_eq!(open(&[1], OTHER, EncryptedColumn::Credential), Err(CipherError::Broken));
        assert_eq!(open(&[1], ORDER, EncryptedColumn::Preparation), Err(CipherError::Broken));
        assert_eq!(open(&[1], ORDER, EncryptedColumn::Card), Err(CipherError::Broken));
        assert_eq!(open(&[2], ORDER, EncryptedColumn::Credential), Err(CipherError::UnknownKey));
    }

    #[test]
    fn a_changed_or_truncated_value_does_not_decrypt() {
        let cipher = cipher(&[1]);
        let sealed = cipher.seal_card(&card("hello"), ORDER).unwrap();
        for column in 0..sealed.len() {
            assert!(cipher.open_card(&sealed[..column], ORDER).is_err(), "cut at {column}");
            for bit in 0..8 {
                let mut changed = sealed.clone();
                changed[column] ^= 1 << bit;
                assert!(cipher.open_card(&changed, ORDER).is_err(), "bit {bit} of {column}");
            }
        }
    }

    #[test]
    fn after_a_rotation_old_values_decrypt_and_new_ones_need_the_new_key() {
        let (old, rotated) = (cipher(&[1]), cipher(&[1, 2]));
        let earlier = old.seal_card(&card("hello"), ORDER).unwrap();
        let later = rotated.seal_card(&card("hello"), ORDER).unwrap();
        assert!(rotated.open_card(&earlier, ORDER).is_ok());
        assert!(rotated.open_card(&later, ORDER).is_ok());
        assert!(cipher(&[2]).open_card(&later, ORDER).is_ok());
        assert!(old.open_card(&later, ORDER) == Err(CipherError::UnknownKey));
        assert!(rotated.has_key_of(&later) && !old.has_key_of(&later) && old.has_key_of(&earlier));
    }
}
