//! What makes a challenge ours: an id that nobody else can compute, in our own realm.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const SECRET_BYTES: usize = 32;
/// An id: 32 bytes in base64.
pub(super) const ID_LETTERS: usize = 43;
/// HMAC fills a key up with zeros to this length, so that one of this length fits.
const BLOCK_BYTES: usize = 64;

/// What is between a challenge's parts when they are bound together. No part may hold
/// it, or two challenges could have one id.
const SEPARATOR: &str = "|";

const REALM_BYTES_MAX: usize = 200;

/// The name of what is protected: told to every payer, and part of what they sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Realm(String);

impl Realm {
    /// Comes from configuration: behind a proxy, the `Host` of a request is anybody's
    /// word.
    pub fn parse(text: &str) -> Result<Self, String> {
        let plain = |letter: char| {
            (letter == ' ' || letter.is_ascii_graphic()) && !matches!(letter, '"' | '\\' | '|')
        };
        let trimmed = !text.is_empty() && text.trim() == text;
        if trimmed && text.len() <= REALM_BYTES_MAX && text.chars().all(plain) {
            return Ok(Self(text.to_owned()));
        }
        Err(format!(
            "The realm of MPP challenges has 1 to {REALM_BYTES_MAX} printable ASCII characters \
             without quotation marks, backslashes and bars. The site's host name is a good one."
        ))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The secrets that challenges are bound with. The newest binds; the earlier ones still
/// answer for what they bound.
#[derive(Clone)]
pub struct Secrets {
    newest: Hmac<Sha256>,
    earlier: Vec<Hmac<Sha256>>,
}

impl Secrets {
    /// The newest first. An earlier one may go when the last challenge that it bound
    /// has expired.
    pub fn new(newest: [u8; SECRET_BYTES], earlier: &[[u8; SECRET_BYTES]]) -> Self {
        let earlier = earlier.iter().map(|secret| keyed(secret)).collect();
        Self { newest: keyed(&newest), earlier }
    }

    /// Begins the ids of all challenges for the same terms, with the parts that they share.
    pub(super) fn begin(&self, parts: &Parts<'_>) -> Begun {
        Begun(begun(&self.newest, parts))
    }

    /// Whether we bound this challenge, with whichever secret. Takes as long for a wrong
    /// id as for a right one.
    pub(super) fn bound(&self, id: &str, parts: &Parts<'_>) -> Bound {
        let Ok(claimed) = URL_SAFE_NO_PAD.decode(id) else { return Bound::NotByUs };
        let all = [&self.newest].into_iter().chain(&self.earlier);
        let matches = |secret: &Hmac<Sha256>| mixed(secret, parts).verify_slice(&claimed).is_ok();
        if all.filter(|secret| matches(secret)).count() > 0 { Bound::ByUs } else { Bound::NotByUs }
    }
}

/// An id up to where challenges for the same terms differ, which is half of the work.
pub(super) struct Begun(Hmac<Sha256>);

impl Begun {
    /// The id of a challenge that is made now.
    pub(super) fn id(&self, parts: &Parts<'_>) -> String {
        URL_SAFE_NO_PAD.encode(ended(self.0.clone(), parts).finalize().into_bytes())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    ByUs,
    NotByUs,
}

/// The parts of a challenge that its id depends on. What is absent is empty.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) realm: &'a str,
    pub(super) method: &'a str,
    pub(super) intent: &'a str,
    pub(super) request: &'a str,
    pub(super) expires: &'a str,
    pub(super) digest: &'a str,
    pub(super) opaque: &'a str,
}

impl Parts<'_> {
    /// What is the same in all challenges for the same terms.
    fn shared(&self) -> [&str; 4] {
        [self.realm, self.method, self.intent, self.request]
    }

    fn own(&self) -> [&str; 3] {
        [self.expires, self.digest, self.opaque]
    }
}

/// No key is longer than a block here, and one that is as long cannot be refused.
fn keyed(secret: &[u8]) -> Hmac<Sha256> {
    let mut block = [0; BLOCK_BYTES];
    for (place, byte) in block.iter_mut().zip(secret) {
        *place = *byte;
    }
    Hmac::new(&block.into())
}

fn mixed(secret: &Hmac<Sha256>, parts: &Parts<'_>) -> Hmac<Sha256> {
    ended(begun(secret, parts), parts)
}

/// All parts in their sequence, with separators between them.
fn begun(secret: &Hmac<Sha256>, parts: &Parts<'_>) -> Hmac<Sha256> {
    let mut mac = secret.clone();
    mac.update(parts.shared().join(SEPARATOR).as_bytes());
    mac
}

fn ended(mut mac: Hmac<Sha256>, parts: &Parts<'_>) -> Hmac<Sha256> {
    for part in parts.own() {
        mac.update(SEPARATOR.as_bytes());
        mac.update(part.as_bytes());
    }
    mac
}

#[cfg(test)]
mod tests;
