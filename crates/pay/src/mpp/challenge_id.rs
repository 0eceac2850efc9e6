//! The id of a challenge: an HMAC of its parameters, which proves that the challenge is ours.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac::{Context, HMAC_SHA256, Key};
use subtle::ConstantTimeEq;

const SECRET_BYTES: usize = 32;
/// 32 bytes in base64.
pub(super) const ID_CHARACTERS: usize = 43;

/// Separates the parameters. No parameter may contain it, or two challenges could have the same
/// id.
const SEPARATOR: &str = "|";

const REALM_BYTES_MAX: usize = 200;

/// The `realm` parameter of every challenge. It is part of what payers sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Realm(String);

impl Realm {
    /// Comes from the configuration, because a client can set the `Host` of a request.
    pub fn parse(text: &str) -> Result<Self, String> {
        let plain = |letter: char| {
            (letter == ' ' || letter.is_ascii_graphic()) && !matches!(letter, '"' | '\\' | '|')
        };
        let trimmed = !text.is_empty() && text.trim() == text;
        if trimmed && text.len() <= REALM_BYTES_MAX && text.chars().all(plain) {
            return Ok(Self(text.to_owned()));
        }
        Err(format!(
            "The realm of MPP challenges must have 1 to {REALM_BYTES_MAX} printable ASCII \
             characters, without quotation marks, backslashes and bars, for example the host name \
             of the site."
        ))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The keys of challenge ids. New challenges use the newest; the earlier ones are still
/// accepted.
#[derive(Clone)]
pub struct ChallengeSecrets {
    newest: Key,
    earlier: Vec<Key>,
}

impl ChallengeSecrets {
    /// An earlier secret may be removed when the last challenge that it signed has expired.
    pub fn new(newest: [u8; SECRET_BYTES], earlier: &[[u8; SECRET_BYTES]]) -> Self {
        let earlier = earlier.iter().map(|secret| keyed(secret)).collect();
        Self { newest: keyed(&newest), earlier }
    }

    /// Hashes the parameters that all challenges for the same terms have in common.
    pub(super) fn partial_id(&self, parameters: &ChallengeParameters<'_>) -> PartialId {
        PartialId(hash_shared(&self.newest, parameters))
    }

    /// Whether one of the secrets made this id. Takes the same time for a wrong id as for a
    /// right one.
    pub(super) fn origin(&self, id: &str, parameters: &ChallengeParameters<'_>) -> ChallengeOrigin {
        let Ok(claimed) = URL_SAFE_NO_PAD.decode(id) else { return ChallengeOrigin::Foreign };
        let secrets = [&self.newest].into_iter().chain(&self.earlier);
        let matches = |secret: &Key| {
            let id = hash_own(hash_shared(secret, parameters), parameters).sign();
            bool::from(id.as_ref().ct_eq(&claimed))
        };
        if secrets.filter(|secret| matches(secret)).count() > 0 {
            ChallengeOrigin::Ours
        } else {
            ChallengeOrigin::Foreign
        }
    }
}

/// The hash of the parameters that challenges for the same terms have in common: half of the
/// work, done once.
pub(super) struct PartialId(Context);

impl PartialId {
    pub(super) fn complete(&self, parameters: &ChallengeParameters<'_>) -> String {
        URL_SAFE_NO_PAD.encode(hash_own(self.0.clone(), parameters).sign())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChallengeOrigin {
    Ours,
    Foreign,
}

/// The parameters that the id depends on, in this order. An absent one is empty.
#[derive(Clone, Copy)]
pub(super) struct ChallengeParameters<'a> {
    pub(super) realm: &'a str,
    pub(super) method: &'a str,
    pub(super) intent: &'a str,
    pub(super) request: &'a str,
    pub(super) expires: &'a str,
    pub(super) digest: &'a str,
    pub(super) opaque: &'a str,
}

impl ChallengeParameters<'_> {
    /// The same in all challenges for the same terms.
    fn shared(&self) -> [&str; 4] {
        [self.realm, self.method, self.intent, self.request]
    }

    fn own(&self) -> [&str; 3] {
        [self.expires, self.digest, self.opaque]
    }
}

fn keyed(secret: &[u8]) -> Key {
    Key::new(HMAC_SHA256, secret)
}

fn hash_shared(secret: &Key, parameters: &ChallengeParameters<'_>) -> Context {
    let mut mac = Context::with_key(secret);
    mac.update(parameters.shared().join(SEPARATOR).as_bytes());
    mac
}

fn hash_own(mut mac: Context, parameters: &ChallengeParameters<'_>) -> Context {
    for parameter in parameters.own() {
        mac.update(SEPARATOR.as_bytes());
        mac.update(parameter.as_bytes());
    }
    mac
}

#[cfg(test)]
mod tests;
