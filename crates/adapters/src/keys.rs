//! The key file: one key on each line, from which a key for each purpose is derived.
//!
//! The first key is the identity key. It must never change: a repeated request
//! would be taken for a new one. The last line without `next` encrypts what is written from now
//! on, and every line decrypts. To rotate, append a line.
//!
//! Several processes on one database are not restarted at the same moment. There the new key is
//! appended as `next KEY` first, which decrypts and does not encrypt; once every process has it, the
//! word `next` is removed.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use order::model::identity::Identity;
use sha2::Sha256;
use zeroize::{Zeroize, Zeroizing};

mod error;
mod file;

pub use error::KeyError;

pub(crate) const KEY_BYTES: usize = 32;
/// More keys than rotations produce. A longer file is not a key file.
const KEYS_MAX: usize = 64;
/// Before a key that only decrypts.
const NEXT: &str = "next ";

/// A key for one purpose, gone from memory when it is dropped.
pub(crate) type Subkey = Zeroizing<[u8; KEY_BYTES]>;

/// The master keys, first to last. Never empty.
#[derive(Clone)]
pub struct Keyring {
    first: Subkey,
    later: Vec<Subkey>,
    /// Keys that only open: the other processes may use them already.
    next: Vec<Subkey>,
    /// No key: a database keeps it beside the name of the identity key.
    payments: Option<PaymentChains>,
}

/// The chains that payments are made on. One database has payments on one kind: traced on the
/// other kind, every payment would seem never to have been made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentChains {
    /// Those of the sandbox, where money is play money.
    Emulated,
    /// Those of the operator's nodes.
    Real,
}

/// What a key is for. Each purpose has its own key, so that no use of one says
/// anything about another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyPurpose {
    Identity,
    Seal,
    /// What agents are given when they register.
    Token,
    /// What makes a challenge to pay ours.
    Challenge,
    /// A short name that tells keys apart and gives nothing away.
    Name,
}

impl Keyring {
    /// Reads keys as 64 hexadecimal digits a line, after `next` if a key only opens. Empty lines
    /// and lines that begin with `#` are passed over.
    pub fn from_text(text: &str) -> Result<Self, KeyError> {
        let (mut keys, mut next): (Vec<Subkey>, Vec<Subkey>) = (Vec::new(), Vec::new());
        let lines = text.lines().map(str::trim).zip(1..);
        for (line, number) in lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#')) {
            let (digits, list) = match line.strip_prefix(NEXT) {
                Some(digits) => (digits.trim_start(), &mut next),
                None => (line, &mut keys),
            };
            list.push(read_hex(digits).ok_or(KeyError::Line { number })?);
            let newest = list.last().cloned();
            if keys.iter().chain(&next).filter(|key| Some(*key) == newest.as_ref()).count() > 1 {
                return Err(KeyError::Repeated { number });
            }
            // Without the word it would become the identity key.
            // mutant: next-key-first
            if keys.is_empty() {
                return Err(KeyError::NextBeforeFirst { number });
            }
        }
        if keys.len() + next.len() > KEYS_MAX {
            return Err(KeyError::TooMany);
        }
        let mut keys = keys.into_iter();
        let first = keys.next().ok_or(KeyError::Empty)?;
        Ok(Self { first, later: keys.collect(), next, payments: None })
    }

    /// For a process that takes payments on these chains, or none.
    #[must_use]
    pub fn with_payments(self, payments: Option<PaymentChains>) -> Self {
        Self { payments, ..self }
    }

    /// The secret behind every name that is derived from a request.
    pub fn identity(&self) -> Identity {
        Identity::new(*derive(&self.first, KeyPurpose::Identity))
    }

    /// What signs the tokens of agents: the newest first, older ones still hold.
    pub fn tokens(&self) -> Vec<[u8; 32]> {
        self.newest_first(KeyPurpose::Token).map(|key| *key).collect()
    }

    /// What binds challenges to pay: the newest, and the earlier ones, which still answer
    /// for what they bound.
    pub fn challenges(&self) -> ([u8; 32], Vec<[u8; 32]>) {
        let newest = derive(self.later.last().unwrap_or(&self.first), KeyPurpose::Challenge);
        let earlier = self.newest_first(KeyPurpose::Challenge).skip(1);
        (*newest, earlier.map(|key| *key).collect())
    }

    pub(crate) const fn payments(&self) -> Option<PaymentChains> {
        self.payments
    }

    /// Tells whether a database was written with these keys.
    pub(crate) fn identity_name(&self) -> String {
        let name = derive(&self.first, KeyPurpose::Name);
        name.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    /// The keys for one purpose: the one that seals, the older ones, and those that only open.
    pub(crate) fn newest_first(&self, purpose: KeyPurpose) -> impl Iterator<Item = Subkey> + '_ {
        let masters = self.later.iter().rev().chain([&self.first]).chain(&self.next);
        masters.map(move |master| derive(master, purpose))
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring").finish_non_exhaustive()
    }
}

fn derive(master: &Subkey, purpose: KeyPurpose) -> Subkey {
    let label: &[u8] = match purpose {
        KeyPurpose::Identity => b"identity",
        KeyPurpose::Seal => b"seal",
        KeyPurpose::Token => b"token",
        KeyPurpose::Challenge => b"challenge",
        KeyPurpose::Name => b"name",
    };
    let mut mac = Hmac::<Sha256>::new_from_slice(master.as_slice()).expect("HMAC takes any key");
    mac.update(label);
    Zeroizing::new(mac.finalize().into_bytes().into())
}

fn read_hex(line: &str) -> Option<Subkey> {
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    if line.len() != 2 * KEY_BYTES || !line.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    for (place, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(line.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    Some(key)
}

/// One new random key, as a line of text.
fn random_line() -> Result<Zeroizing<String>, KeyError> {
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key).map_err(|_| KeyError::NoRandomness)?;
    let mut line = Zeroizing::new(String::with_capacity(2 * KEY_BYTES + 1));
    for byte in key {
        for digit in [byte >> 4, byte & 0xf] {
            line.push(char::from_digit(digit.into(), 16).expect("four bits are one digit"));
        }
    }
    line.push('\n');
    key.zeroize();
    Ok(line)
}

#[cfg(test)]
mod tests;
