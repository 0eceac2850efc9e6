//! How what nobody else may read is kept: sealed for one order and one column.
//!
//! A seal is the name of its key (4 bytes), a random nonce (24), and the
//! ciphertext of XChaCha20-Poly1305 with its tag (16). Order and column are
//! authenticated with it, so a seal moved to another place does not open.

use std::error::Error;
use std::fmt;

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use order::model::card::Postcard;
use order::model::ids::OrderId;
use zeroize::Zeroizing;

use crate::keys::{Keyring, Purpose};

const NAME_BYTES: usize = 4;
const NONCE_BYTES: usize = 24;

/// Seals with the newest key, opens with any.
#[derive(Clone)]
pub struct Seals {
    /// Newest first, never empty.
    keys: Vec<SealKey>,
}

#[derive(Clone)]
struct SealKey {
    name: [u8; NAME_BYTES],
    cipher: XChaCha20Poly1305,
}

/// Where a seal belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Card,
    Credential,
    Preparation,
    Outbox,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealError {
    /// It was sealed with a key that is not on this ring.
    UnknownKey,
    /// It was changed, cut, or sealed for another order or column.
    Broken,
    /// The operating system gives no random bytes.
    NoRandomness,
}

impl Seals {
    pub fn new(keyring: &Keyring) -> Self {
        let names = keyring.newest_first(Purpose::Name);
        let keys = names.zip(keyring.newest_first(Purpose::Seal));
        let keys = keys.map(|(name, key)| SealKey {
            name: *name.first_chunk().expect("4 of 32 bytes"),
            cipher: XChaCha20Poly1305::new((&*key).into()),
        });
        Self { keys: keys.collect() }
    }

    pub fn seal_card(&self, card: &Postcard, order: OrderId) -> Result<Vec<u8>, SealError> {
        self.seal(&Zeroizing::new(card.canonical()), order, Place::Card)
    }

    pub fn open_card(&self, sealed: &[u8], order: OrderId) -> Result<Postcard, SealError> {
        let form = self.open(sealed, order, Place::Card)?;
        Postcard::from_canonical(&form).ok_or(SealError::Broken)
    }

    pub fn seal(&self, plain: &[u8], order: OrderId, place: Place) -> Result<Vec<u8>, SealError> {
        let key = self.keys.first().expect("a ring has a key");
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|_| SealError::NoRandomness)?;
        let aad = authenticated(order, place);
        let payload = Payload { msg: plain, aad: &aad };
        let sealed = key.cipher.encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.expect("nothing we keep comes near the limit of 256 GiB");
        Ok([&key.name, &nonce[..], &sealed].concat())
    }

    /// Whether the key of a seal is on this ring, which says nothing of whether it opens.
    pub fn has_key_of(&self, sealed: &[u8]) -> bool {
        let name = sealed.first_chunk::<NAME_BYTES>();
        name.is_none_or(|name| self.keys.iter().any(|key| key.name == *name))
    }

    pub fn open(
        &self,
        sealed: &[u8],
        order: OrderId,
        place: Place,
    ) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let (name, rest) = sealed.split_first_chunk::<NAME_BYTES>().ok_or(SealError::Broken)?;
        let (nonce, rest) = rest.split_first_chunk::<NONCE_BYTES>().ok_or(SealError::Broken)?;
        let key = self.keys.iter().find(|key| key.name == *name).ok_or(SealError::UnknownKey)?;
        let aad = authenticated(order, place);
        let payload = Payload { msg: rest, aad: &aad };
        let plain = key.cipher.decrypt(&XNonce::from(*nonce), payload);
        plain.map(Zeroizing::new).map_err(|_| SealError::Broken)
    }
}

fn authenticated(order: OrderId, place: Place) -> Vec<u8> {
    let column: &[u8] = match place {
        Place::Card => b"card",
        Place::Credential => b"credential",
        Place::Preparation => b"preparation",
        Place::Outbox => b"outbox",
    };
    [&order.bytes(), column].concat()
}

impl fmt::Debug for Seals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seals").finish_non_exhaustive()
    }
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownKey => "sealed with a key that is not in the key file: put it back",
            Self::Broken => "the seal is broken: changed, cut, or of another order",
            Self::NoRandomness => "the operating system gives no random bytes",
        })
    }
}

impl Error for SealError {}

#[cfg(test)]
mod tests {
    use order::testing::fakes::cards::card;

    use super::*;

    const ORDER: OrderId = OrderId::from_bytes([1; 16]);
    const OTHER: OrderId = OrderId::from_bytes([2; 16]);

    fn seals(keys: &[u8]) -> Seals {
        let line = |byte: &u8| format!("{}\n", format!("{byte:02x}").repeat(32));
        Seals::new(&Keyring::from_text(&keys.iter().map(line).collect::<String>()).unwrap())
    }

    #[test]
    fn a_sealed_card_opens_and_shows_none_of_its_words() {
        let card = card("The sea says hello.");
        let sealed = seals(&[1]).seal_card(&card, ORDER).unwrap();
        assert!(seals(&[1]).open_card(&sealed, ORDER) == Ok(card));
        assert!(!sealed.windows(3).any(|letters| letters == b"sea" || letters == b"Ada"));
    }

    #[test]
    fn the_same_card_is_never_sealed_alike_twice() {
        let seals = seals(&[1]);
        let seal = || seals.seal_card(&card("hello"), ORDER).unwrap();
        assert_ne!(seal(), seal());
    }

    #[test]
    fn a_seal_opens_for_no_other_order_column_or_key() {
        let sealed = seals(&[1]).seal(b"signed", ORDER, Place::Credential).unwrap();
        let open = |keys: &[u8], order, place| seals(keys).open(&sealed, order, place);
        assert_eq!(open(&[1], ORDER, Place::Credential).unwrap().as_slice(), b"signed");
        assert_eq!(open(&[1], OTHER, Place::Credential), Err(SealError::Broken));
        assert_eq!(open(&[1], ORDER, Place::Preparation), Err(SealError::Broken));
        assert_eq!(open(&[1], ORDER, Place::Card), Err(SealError::Broken));
        assert_eq!(open(&[2], ORDER, Place::Credential), Err(SealError::UnknownKey));
    }

    #[test]
    fn no_flipped_bit_and_no_cut_opens() {
        let seals = seals(&[1]);
        let sealed = seals.seal_card(&card("hello"), ORDER).unwrap();
        for place in 0..sealed.len() {
            assert!(seals.open_card(&sealed[..place], ORDER).is_err(), "cut at {place}");
            for bit in 0..8 {
                let mut changed = sealed.clone();
                changed[place] ^= 1 << bit;
                assert!(seals.open_card(&changed, ORDER).is_err(), "bit {bit} of {place}");
            }
        }
    }

    #[test]
    fn after_a_rotation_old_seals_open_and_new_ones_need_the_new_key() {
        let (old, rotated) = (seals(&[1]), seals(&[1, 2]));
        let earlier = old.seal_card(&card("hello"), ORDER).unwrap();
        let later = rotated.seal_card(&card("hello"), ORDER).unwrap();
        assert!(rotated.open_card(&earlier, ORDER).is_ok());
        assert!(rotated.open_card(&later, ORDER).is_ok());
        assert!(seals(&[2]).open_card(&later, ORDER).is_ok());
        assert!(old.open_card(&later, ORDER) == Err(SealError::UnknownKey));
        assert!(rotated.has_key_of(&later) && !old.has_key_of(&later) && old.has_key_of(&earlier));
    }
}
