//! Tokens that carry their own proof, so that nobody has to remember them.
//!
//! A token is base64url of a version byte, the name of the key that signed it,
//! the registration and a tag over all three.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// All that a token is good for. It is part of what is signed, so a token of
/// another scope can never be taken for one of these.
pub const SCOPE: &str = "public:read";

const VERSION: u8 = 1;
const NAME_BYTES: usize = 4;
const REGISTRATION_BYTES: usize = 16;
const SIGNED_BYTES: usize = 1 + NAME_BYTES + REGISTRATION_BYTES;
/// Half of the hash, the least that RFC 2104 advises: 128 bits cannot be
/// guessed, and a token opens only what is open anyway.
const TAG_BYTES: usize = 16;
const TOKEN_BYTES: usize = SIGNED_BYTES + TAG_BYTES;
/// Three bytes are four characters; the last of 37 bytes takes two.
const TOKEN_CHARACTERS: usize = (TOKEN_BYTES * 4).div_ceil(3);

/// Different words for different uses, so that no name is ever part of a tag.
const NAME_LABEL: &[u8] = b"agent token key name";
const TAG_LABEL: &[u8] = b"agent token";

/// The keys that sign tokens, newest first. Never empty.
#[derive(Clone)]
pub struct TokenKeys {
    newest: Key,
    older: Vec<Key>,
}

#[derive(Clone)]
struct Key {
    secret: [u8; 32],
    name: [u8; NAME_BYTES],
}

/// One anonymous registration. It is a name that nobody bears, but whoever
/// collects it can follow an agent around, so it does not print itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Registration([u8; REGISTRATION_BYTES]);

/// Why a token is not one of ours. For tests and for us: a caller is told only
/// that it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenFault {
    /// Not as long as a token, or not in its characters.
    Shape,
    Version,
    /// Signed by no key of this ring, or by one that has left it.
    Key,
    Tag,
}

impl TokenKeys {
    /// The first key signs and all of them verify.
    ///
    /// # Panics
    ///
    /// Without a key. The ring of the house refuses to be empty, so this is a
    /// mistake in our wiring, found when the house opens.
    pub fn new(keys: Vec<[u8; 32]>) -> Self {
        let mut keys = keys.into_iter().map(Key::new);
        let newest = keys.next().expect("a ring has at least one key");
        Self { newest, older: keys.collect() }
    }

    pub fn issue(&self, registration: [u8; REGISTRATION_BYTES]) -> String {
        let mut token = Vec::with_capacity(TOKEN_BYTES);
        token.push(VERSION);
        token.extend(self.newest.name);
        token.extend(registration);
        let tag = self.newest.tag(&token);
        token.extend(tag);
        URL_SAFE_NO_PAD.encode(token)
    }

    pub fn verify(&self, token: &str) -> Result<Registration, TokenFault> {
        if token.len() != TOKEN_CHARACTERS {
            return Err(TokenFault::Shape);
        }
        let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| TokenFault::Shape)?;
        let (signed, tag) = bytes.split_first_chunk::<SIGNED_BYTES>().ok_or(TokenFault::Shape)?;
        let [VERSION, named @ ..] = signed else {
            return Err(TokenFault::Version);
        };
        let (name, registration) =
            named.split_first_chunk::<NAME_BYTES>().ok_or(TokenFault::Shape)?;
        let registration = registration.try_into().map_err(|_| TokenFault::Shape)?;

        // Two keys may share a name by chance, so each that bears it is asked.
        let mut fault = TokenFault::Key;
        for key in self.newest_first().filter(|key| key.name == *name) {
            if key.tag(signed).as_slice().ct_eq(tag).into() {
                return Ok(Registration(registration));
            }
            fault = TokenFault::Tag;
        }
        Err(fault)
    }

    fn newest_first(&self) -> impl Iterator<Item = &Key> {
        [&self.newest].into_iter().chain(&self.older)
    }
}

impl fmt::Debug for TokenKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenKeys").finish_non_exhaustive()
    }
}

impl Key {
    fn new(secret: [u8; 32]) -> Self {
        Self { secret, name: start_of(mac(&secret, &[NAME_LABEL])) }
    }

    fn tag(&self, signed: &[u8]) -> [u8; TAG_BYTES] {
        start_of(mac(&self.secret, &[TAG_LABEL, SCOPE.as_bytes(), signed]))
    }
}

impl Registration {
    pub const fn new(bytes: [u8; REGISTRATION_BYTES]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reg_{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").finish_non_exhaustive()
    }
}

/// Each part is preceded by its length, so parts cannot run together.
fn mac(secret: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes any key");
    for part in parts {
        let length = u64::try_from(part.len()).expect("a length fits 64 bits");
        mac.update(&length.to_be_bytes());
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

fn start_of<const LENGTH: usize>(hash: [u8; 32]) -> [u8; LENGTH] {
    const { assert!(LENGTH <= 32) };
    *hash.first_chunk().expect("no longer than the hash")
}

#[cfg(test)]
mod tests;
