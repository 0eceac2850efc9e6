//! Signed tokens that need no storage.
//!
//! A token is the base64url of a version byte, the id of the signing key, the registration and a
//! tag over all three.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac::{self, HMAC_SHA256};
use subtle::ConstantTimeEq;

/// The scope of all tokens. It is signed too, so a token of another scope is never valid.
pub const SCOPE: &str = "public:read";

const VERSION: u8 = 1;
const NAME_BYTES: usize = 4;
const REGISTRATION_BYTES: usize = 16;
const SIGNED_BYTES: usize = 1 + NAME_BYTES + REGISTRATION_BYTES;
/// Half of the hash, the minimum of RFC 2104: 128 bits cannot be guessed, and a token gives access
/// to public data only.
const TAG_BYTES: usize = 16;
const TOKEN_BYTES: usize = SIGNED_BYTES + TAG_BYTES;
/// Three bytes are four characters; the last of 37 bytes takes two.
const TOKEN_CHARACTERS: usize = (TOKEN_BYTES * 4).div_ceil(3);

/// Different labels for different uses, so that a key id is never part of a tag.
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

/// One anonymous registration. It identifies an agent across requests, so `Debug` does not show it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Registration([u8; REGISTRATION_BYTES]);

/// Why a token is invalid. Callers learn only that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenFault {
    /// Wrong length or wrong characters.
    Shape,
    Version,
    /// Signed by no key of this ring.
    Key,
    EndpointTag,
}

impl TokenKeys {
    /// The first key signs and all of them verify.
    ///
    /// # Panics
    ///
    /// Without a key. The configuration has at least one, so this is a mistake in the wiring.
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

        // Two keys may have the same id by chance, so all of them are tried.
        let mut fault = TokenFault::Key;
        for key in self.newest_first().filter(|key| key.name == *name) {
            if key.tag(signed).as_slice().ct_eq(tag).into() {
                return Ok(Registration(registration));
            }
            fault = TokenFault::EndpointTag;
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

/// Each part is preceded by its length, so that parts cannot run together.
fn mac(secret: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = hmac::Context::with_key(&hmac::Key::new(HMAC_SHA256, secret));
    for part in parts {
        let length = u64::try_from(part.len()).expect("a length fits 64 bits");
        mac.update(&length.to_be_bytes());
        mac.update(part);
    }
    mac.sign().as_ref().try_into().expect("HMAC-SHA-256 has 32 bytes")
}

fn start_of<const LENGTH: usize>(hash: [u8; 32]) -> [u8; LENGTH] {
    const { assert!(LENGTH <= 32) };
    *hash.first_chunk().expect("no longer than the hash")
}

#[cfg(test)]
mod tests;
