//! The credential of MPP: a signed transfer, parsed and not yet checked.

use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;
use order::model::payment::Credential;
use order::tender::Rejection;
use serde_json::Value;

use super::NETWORK;
use super::challenge_id::ChallengeParameters;
use super::problem::CredentialProblem;
use crate::parse::{address, bytes, number, word};

const KEY_SIGNATURE_BYTES: usize = 65;

/// The draft requires a signature that recovers to the payer's address, so no smart wallet can
/// make one.
pub(super) const NOT_A_KEYS_SIGNATURE: &str = "The signature was not made with the payer's key, or \
    its s is too high. MPP takes no signatures of smart wallets; they can pay by x402 at \
    /api/x402/postcards.";

/// A payer's signed transfer, with the arguments of the token's `transferWithAuthorization`
/// (EIP-3009).
#[derive(Clone, PartialEq, Eq)]
pub struct TransferAuthorization {
    pub network: Network,
    /// The contract that the payer signed for: USDC of that network.
    pub token: EvmAddress,
    pub from: EvmAddress,
    pub to: EvmAddress,
    /// Transferred as a whole or not at all.
    pub value: Usdc,
    /// In seconds of the chain's time. Both bounds are exclusive.
    pub valid_after: u64,
    pub valid_before: u64,
    /// Any 256 bits, each usable once by each payer with each token.
    pub nonce: [u8; 32],
    /// `r`, a low `s`, and `v` of 27 or 28.
    pub signature: [u8; KEY_SIGNATURE_BYTES],
}

/// A parsed credential.
pub(super) enum PaymentProof {
    /// It answers one of our challenges.
    Payment(Box<Payment>),
    /// A payload of the x402 scheme `exact`, with a nonce that the payer chose.
    Exact(Value),
}

pub(super) struct Payment {
    /// The digest of the body that it was sent with.
    pub(super) content: String,
    pub(super) challenge: EchoedChallenge,
    /// The whole credential as it was sent.
    pub(super) whole: Value,
}

/// The challenge as a client echoes it. A parameter that is left out is empty.
pub(super) struct EchoedChallenge {
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

impl EchoedChallenge {
    pub(super) fn parameters(&self) -> ChallengeParameters<'_> {
        ChallengeParameters {
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
        Err(CredentialProblem::Malformed.rejection(&format!(
            "These members of the challenge are not strings: {}.",
            faults.join(", ")
        )))
    }
}

impl PaymentProof {
    /// Parses what [`credential`](super::headers::credential) made.
    fn open(credential: &Credential) -> Result<Self, Rejection> {
        let stored = serde_json::from_slice::<Value>(&credential.0).unwrap_or_default();
        if stored["exact"].is_object() {
            return Ok(Self::Exact(stored["exact"].clone()));
        }
        let (whole, content) = (&stored["payment"], stored["content"].as_str());
        let shaped = whole["challenge"].is_object() && whole["payload"].is_object();
        let (Some(content), true) = (content, shaped) else {
            return Err(CredentialProblem::Malformed.rejection(
                "A credential is the base64url of a JSON object with a challenge and a payload.",
            ));
        };
        Ok(Self::Payment(Box::new(Payment {
            content: content.to_owned(),
            challenge: EchoedChallenge::read(&whole["challenge"])?,
            whole: whole.clone(),
        })))
    }

    /// The id of the challenge that it answers.
    pub(super) fn challenge(&self) -> Option<&str> {
        match self {
            Self::Payment(payment) => Some(&payment.challenge.id),
            Self::Exact(_) => None,
        }
    }

    /// Whether it was sent with the body of its challenge, if it has one.
    pub(super) fn is_for_its_body(&self) -> bool {
        match self {
            Self::Payment(payment) => payment.challenge.digest == payment.content,
            Self::Exact(_) => true,
        }
    }

    /// Parses the transfer without checking it: a payment in doubt must still be found after
    /// the checks became stricter.
    fn authorization(&self) -> Result<TransferAuthorization, Rejection> {
        match self {
            Self::Payment(payment) => transfer(&payment.whole, &PAYMENT_PATHS),
            Self::Exact(payload) => transfer(payload, &EXACT_PATHS),
        }
    }
}

/// A parsed credential. Missing fields of the transfer are a separate result, because other
/// reasons for a rejection come first.
pub(super) struct ParsedCredential {
    pub(super) proof: PaymentProof,
    pub(super) authorization: Result<TransferAuthorization, Rejection>,
}

impl ParsedCredential {
    pub(super) fn of(credential: &Credential) -> Result<Self, Rejection> {
        let proof = PaymentProof::open(credential)?;
        let authorization = proof.authorization();
        Ok(Self { proof, authorization })
    }
}

/// The paths of the members of a transfer.
struct FieldPaths {
    from: &'static str,
    to: &'static str,
    value: &'static str,
    valid_after: &'static str,
    valid_before: &'static str,
    nonce: &'static str,
    signature: &'static str,
}

const PAYMENT_PATHS: FieldPaths = FieldPaths {
    from: "/payload/from",
    to: "/payload/to",
    value: "/payload/value",
    valid_after: "/payload/validAfter",
    valid_before: "/payload/validBefore",
    nonce: "/payload/nonce",
    signature: "/payload/signature",
};

const EXACT_PATHS: FieldPaths = FieldPaths {
    from: "/payload/authorization/from",
    to: "/payload/authorization/to",
    value: "/payload/authorization/value",
    valid_after: "/payload/authorization/validAfter",
    valid_before: "/payload/authorization/validBefore",
    nonce: "/payload/authorization/nonce",
    signature: "/payload/signature",
};

/// Parses a transfer. An error lists all members that are missing or malformed.
fn transfer(whole: &Value, paths: &FieldPaths) -> Result<TransferAuthorization, Rejection> {
    let mut reader = FieldReader { whole, faults: Vec::new() };
    let from = reader.read(paths.from, address);
    let to = reader.read(paths.to, address);
    let value = reader.read(paths.value, decimal);
    let valid_after = reader.read(paths.valid_after, decimal);
    let valid_before = reader.read(paths.valid_before, decimal);
    let nonce = reader.read(paths.nonce, full_word);
    let signature = reader.read(paths.signature, signature);
    let faults = reader.faults.join(", ");
    if faults == paths.signature && is_longer_than_a_keys(whole, paths.signature) {
        return Err(CredentialProblem::VerificationFailed.rejection(NOT_A_KEYS_SIGNATURE));
    }
    let read = || {
        Some(TransferAuthorization {
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
    read().ok_or_else(|| {
        CredentialProblem::Malformed.rejection(&format!("Missing or malformed: {faults}."))
    })
}

/// Parses members by their paths and collects the paths that fail.
struct FieldReader<'a> {
    whole: &'a Value,
    faults: Vec<&'static str>,
}

impl FieldReader<'_> {
    fn read<T>(&mut self, place: &'static str, parse: fn(&str) -> Option<T>) -> Option<T> {
        let found = self.whole.pointer(place).and_then(Value::as_str).and_then(parse);
        if found.is_none() {
            self.faults.push(place);
        }
        found
    }
}

/// A decimal number of at most 64 bits.
fn decimal(text: &str) -> Option<u64> {
    if text.bytes().all(|digit| digit.is_ascii_digit()) { number(text) } else { None }
}

fn full_word(text: &str) -> Option<[u8; 32]> {
    let full = text.len() == 66 && text.starts_with("0x");
    if full { word(text) } else { None }
}

/// Whether a smart wallet may have made the signature.
fn is_longer_than_a_keys(whole: &Value, path: &str) -> bool {
    let signature = whole.pointer(path).and_then(Value::as_str).and_then(bytes);
    signature.is_some_and(|signature| signature.len() > KEY_SIGNATURE_BYTES)
}

/// Some signers write the parity as 0 or 1; the token requires 27 or 28.
fn signature(text: &str) -> Option<[u8; KEY_SIGNATURE_BYTES]> {
    let mut signature: [u8; KEY_SIGNATURE_BYTES] = bytes(text)?.try_into().ok()?;
    if signature[64] < 2 {
        signature[64] += 27;
    }
    Some(signature)
}
