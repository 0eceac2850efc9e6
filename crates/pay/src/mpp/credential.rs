//! What the caller sends back: a signed transfer, read and not yet believed.

use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;
use order::model::payment::Credential;
use order::tender::Rejection;
use serde_json::Value;

use super::NETWORK;
use super::binding::Parts;
use super::problem::Flaw;
use crate::digits::{address, bytes, number, word};

/// A payer's signed transfer, as the token's `transferWithAuthorization` will read it
/// (EIP-3009).
#[derive(Clone, PartialEq, Eq)]
pub struct Authorization {
    pub network: Network,
    /// The contract that the payer signed for: USDC of that network.
    pub token: EvmAddress,
    pub from: EvmAddress,
    pub to: EvmAddress,
    /// What moves: all of it, or nothing.
    pub value: Usdc,
    /// In seconds of the chain's own time. It can be carried after the first and
    /// before the second moment, at neither of them.
    pub valid_after: u64,
    pub valid_before: u64,
    /// Any 256 bits, each usable once by each payer with each token.
    pub nonce: [u8; 32],
    /// `r`, a low `s`, and `v` of 27 or 28.
    pub signature: [u8; 65],
}

/// A credential, opened.
pub(super) enum Proof {
    /// It answers one of our challenges.
    Payment(Box<Payment>),
    /// A payload of x402's scheme `exact`, with a nonce of the payer's own.
    Exact(Value),
}

pub(super) struct Payment {
    /// The digest of the body that it came with.
    pub(super) content: String,
    pub(super) challenge: Echo,
    /// All of it, as it was sent.
    pub(super) whole: Value,
}

/// The challenge, as a client repeats it. What it leaves out is empty.
pub(super) struct Echo {
    pub(super) id: String,
    pub(super) realm: String,
    pub(super) method: String,
    pub(super) intent: String,
    pub(super) request: String,
    pub(super) expires: String,
    pub(super) digest: String,
    pub(super) opaque: String,
    pub(super) description: String,
}

impl Echo {
    pub(super) fn parts(&self) -> Parts<'_> {
        Parts {
            realm: &self.realm,
            method: &self.method,
            intent: &self.intent,
            request: &self.request,
            expires: &self.expires,
            digest: &self.digest,
            opaque: &self.opaque,
        }
    }

    fn read(challenge: &Value) -> Result<Self, Rejection> {
        let mut faults = Vec::new();
        let mut text = |name: &'static str| match &challenge[name] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                faults.push(name);
                String::new()
            }
        };
        let echo = Self {
            id: text("id"),
            realm: text("realm"),
            method: text("method"),
            intent: text("intent"),
            request: text("request"),
            expires: text("expires"),
            digest: text("digest"),
            opaque: text("opaque"),
            description: text("description"),
        };
        if faults.is_empty() {
            return Ok(echo);
        }
        Err(Flaw::Malformed.because(&format!(
            "These members of the challenge are no text: {}.",
            faults.join(", ")
        )))
    }
}

impl Proof {
    /// Opens what [`take`](super::headers::take) sealed.
    pub(super) fn open(credential: &Credential) -> Result<Self, Rejection> {
        let sealed = serde_json::from_slice::<Value>(&credential.0).unwrap_or_default();
        if sealed["exact"].is_object() {
            return Ok(Self::Exact(sealed["exact"].clone()));
        }
        let (whole, content) = (&sealed["payment"], sealed["content"].as_str());
        let shaped = whole["challenge"].is_object() && whole["payload"].is_object();
        let (Some(content), true) = (content, shaped) else {
            return Err(Flaw::Malformed.because(
                "A credential is the base64url of a JSON object with a challenge and a payload.",
            ));
        };
        Ok(Self::Payment(Box::new(Payment {
            content: content.to_owned(),
            challenge: Echo::read(&whole["challenge"])?,
            whole: whole.clone(),
        })))
    }

    /// The challenge that it answers, if it answers one.
    pub(super) fn challenge(&self) -> Option<&str> {
        match self {
            Self::Payment(payment) => Some(&payment.challenge.id),
            Self::Exact(_) => None,
        }
    }

    /// Whether it came with the body that its challenge was made for, where it has one.
    pub(super) fn is_for_its_body(&self) -> bool {
        match self {
            Self::Payment(payment) => payment.challenge.digest == payment.content,
            Self::Exact(_) => true,
        }
    }

    /// The transfer that it holds. Only its shape matters here: if the rules grow
    /// stricter, money that is in doubt must still be found.
    pub(super) fn authorization(&self) -> Result<Authorization, Rejection> {
        match self {
            Self::Payment(payment) => transfer(&payment.whole, &IN_PAYMENTS),
            Self::Exact(payload) => transfer(payload, &IN_EXACT),
        }
    }
}

/// Where the members of a transfer are.
struct Places {
    from: &'static str,
    to: &'static str,
    value: &'static str,
    valid_after: &'static str,
    valid_before: &'static str,
    nonce: &'static str,
    signature: &'static str,
}

const IN_PAYMENTS: Places = Places {
    from: "/payload/from",
    to: "/payload/to",
    value: "/payload/value",
    valid_after: "/payload/validAfter",
    valid_before: "/payload/validBefore",
    nonce: "/payload/nonce",
    signature: "/payload/signature",
};

const IN_EXACT: Places = Places {
    from: "/payload/authorization/from",
    to: "/payload/authorization/to",
    value: "/payload/authorization/value",
    valid_after: "/payload/authorization/validAfter",
    valid_before: "/payload/authorization/validBefore",
    nonce: "/payload/authorization/nonce",
    signature: "/payload/signature",
};

/// Reads a transfer and names every member that does not read.
fn transfer(whole: &Value, places: &Places) -> Result<Authorization, Rejection> {
    let mut reader = Reader { whole, faults: Vec::new() };
    let from = reader.read(places.from, address);
    let to = reader.read(places.to, address);
    let value = reader.read(places.value, decimal);
    let valid_after = reader.read(places.valid_after, decimal);
    let valid_before = reader.read(places.valid_before, decimal);
    let nonce = reader.read(places.nonce, full_word);
    let signature = reader.read(places.signature, signature);
    let faults = reader.faults.join(", ");
    let read = || {
        Some(Authorization {
            network: NETWORK,
            token: NETWORK.usdc(),
            from: from?,
            to: to?,
            value: Usdc::from_atomic(value?),
            valid_after: valid_after?,
            valid_before: valid_before?,
            nonce: nonce?,
            signature: signature?,
        })
    };
    read().ok_or_else(|| Flaw::Malformed.because(&format!("Missing or misspelt: {faults}.")))
}

/// Reads members by their places and remembers those that did not read.
struct Reader<'a> {
    whole: &'a Value,
    faults: Vec<&'static str>,
}

impl Reader<'_> {
    fn read<T>(&mut self, place: &'static str, parse: fn(&str) -> Option<T>) -> Option<T> {
        let found = self.whole.pointer(place).and_then(Value::as_str).and_then(parse);
        if found.is_none() {
            self.faults.push(place);
        }
        found
    }
}

/// A number that fits 64 bits: no amount or moment that we take is larger.
fn decimal(text: &str) -> Option<u64> {
    if text.bytes().all(|digit| digit.is_ascii_digit()) { number(text) } else { None }
}

fn full_word(text: &str) -> Option<[u8; 32]> {
    let full = text.len() == 66 && text.starts_with("0x");
    if full { word(text) } else { None }
}

/// Some signers write the parity as 0 or 1; the token wants 27 or 28.
fn signature(text: &str) -> Option<[u8; 65]> {
    let mut signature: [u8; 65] = bytes(text)?.try_into().ok()?;
    if signature[64] < 2 {
        signature[64] += 27;
    }
    Some(signature)
}
