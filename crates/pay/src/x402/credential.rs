//! The credential of x402: a Permit2 authorization, parsed and not yet checked.

use std::sync::Arc;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use evm::signature::erc6492;
use http::HeaderMap;
use order::model::chain::{EvmAddress, Network};
use order::model::ids::OperationId;
use order::model::money::Usdc;
use order::model::payment::Credential;
use order::tender::Rejection;
use serde_json::Value;

use super::{IDENTIFIER, SPONSORING, VERSION, invalid};
use crate::parse::{address, bytes, number, word};
use crate::refusal_table::BadRequest;

/// The header of version 2, and the older one. A request with both must have the same in both.
const HEADERS: [&str; 2] = ["payment-signature", "x-payment"];

/// More than twice what the official client sends with all our extensions.
const HEADER_BYTES_MAX: usize = 16 * 1024;

/// The official encoder writes padding, some others do not.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A payer's signed authorization to charge up to `most`, with the fields that Permit2 and the
/// `upto` proxy read.
#[derive(Clone, PartialEq, Eq)]
pub struct Permit2Authorization {
    pub network: Network,
    pub payer: EvmAddress,
    pub pay_to: EvmAddress,
    /// The only account that may broadcast it.
    pub facilitator: EvmAddress,
    pub most: Usdc,
    /// Any 256 bits, each usable once by each payer on each chain.
    pub nonce: [u8; 32],
    /// In seconds of the chain's time.
    pub valid_after: u64,
    pub deadline: u64,
    /// As it was sent: 64 or 65 bytes from a key, any number from a smart wallet.
    pub signature: Vec<u8>,
    /// Gives Permit2 the allowance, if the payer has not approved it on chain.
    pub permit: Option<Eip2612Permit>,
    /// The payload as it was sent, for a remote facilitator.
    pub payload: Arc<Value>,
}

/// An EIP-2612 permit that lets Permit2 move the token.
#[derive(Clone, PartialEq, Eq)]
pub struct Eip2612Permit {
    pub amount: Usdc,
    pub deadline: u64,
    pub signature: [u8; 65],
}

impl Permit2Authorization {
    /// Parses a stored credential without checking it: a payment in doubt must still be found
    /// after the checks became stricter.
    pub fn read(credential: &Credential) -> Result<Self, Rejection> {
        Payload::parse(credential)?.fields.map(|fields| fields.authorization)
    }

    /// The signature as the payer's account checks it: some smart wallets add how they are
    /// deployed (ERC-6492), which neither Permit2 nor the wallet reads.
    pub fn account_signature(&self) -> &[u8] {
        erc6492::inner(&self.signature).unwrap_or(&self.signature)
    }

    /// Whether the signature says how the payer's account is deployed.
    pub fn has_deployment(&self) -> bool {
        erc6492::is_wrapped(&self.signature)
    }
}

/// A credential, parsed. Whether all fields are there is known apart from that, because other
/// reasons for a rejection come first.
pub(super) struct Payload {
    pub(super) json: Arc<Value>,
    pub(super) fields: Result<CredentialFields, Rejection>,
}

impl Payload {
    pub(super) fn parse(credential: &Credential) -> Result<Self, Rejection> {
        let json = Arc::new(payload(credential)?);
        let network = json["accepted"]["network"].as_str().and_then(Network::from_caip2);
        let network = network.ok_or_else(|| invalid("invalid_network"));
        let fields = network.and_then(|network| CredentialFields::read(&json, network));
        Ok(Self { json, fields })
    }
}

/// An authorization with the other signed fields, which are compared with the challenge and then
/// dropped.
pub(super) struct CredentialFields {
    pub(super) authorization: Permit2Authorization,
    pub(super) spender: EvmAddress,
    pub(super) token: EvmAddress,
    pub(super) permit: Option<PermitFields>,
}

/// The fields of a permit that are compared and then dropped.
pub(super) struct PermitFields {
    pub(super) owner: EvmAddress,
    pub(super) asset: EvmAddress,
    pub(super) spender: EvmAddress,
    pub(super) nonce: [u8; 32],
}

impl CredentialFields {
    /// Parses the fields for this network. An error lists all members that are missing or
    /// malformed.
    fn read(payload: &Arc<Value>, network: Network) -> Result<Self, Rejection> {
        if !payload["payload"]["permit2Authorization"].is_object() {
            return Err(invalid("unsupported_payload_type"));
        }
        let (permit, permit_claim) = permit(payload)?.unzip();
        let mut reader = FieldReader { payload, faults: Vec::new() };
        let signature = reader.read("/payload/signature", bytes);
        let payer = reader.read("/payload/permit2Authorization/from", address);
        let token = reader.read("/payload/permit2Authorization/permitted/token", address);
        let most = reader.read("/payload/permit2Authorization/permitted/amount", number);
        let spender = reader.read("/payload/permit2Authorization/spender", address);
        let nonce = reader.read("/payload/permit2Authorization/nonce", word);
        let deadline = reader.read("/payload/permit2Authorization/deadline", number);
        let to = reader.read("/payload/permit2Authorization/witness/to", address);
        let named = reader.read("/payload/permit2Authorization/witness/facilitator", address);
        let after = reader.read("/payload/permit2Authorization/witness/validAfter", number);
        let faults = reader.faults.join(", ");
        let whole = move || {
            let authorization = Permit2Authorization {
                network,
                payer: payer?,
                pay_to: to?,
                facilitator: named?,
                most: Usdc::from_atomic(most?),
                nonce: nonce?,
                valid_after: after?,
                deadline: deadline?,
                signature: signature?,
                permit,
                payload: payload.clone(),
            };
            Some(Self { authorization, spender: spender?, token: token?, permit: permit_claim })
        };
        whole().ok_or_else(|| invalid(&format!("invalid_payload: missing or malformed: {faults}")))
    }
}

/// Parses members by their paths and collects the paths that fail.
struct FieldReader<'a> {
    payload: &'a Value,
    faults: Vec<&'static str>,
}

impl FieldReader<'_> {
    fn read<T>(&mut self, place: &'static str, parse: fn(&str) -> Option<T>) -> Option<T> {
        let found = self.payload.pointer(place).and_then(Value::as_str).and_then(parse);
        if found.is_none() {
            self.faults.push(place);
        }
        found
    }
}

/// The permit of the payer, if there is one. An echo of our extension is not a permit.
fn permit(payload: &Value) -> Result<Option<(Eip2612Permit, PermitFields)>, Rejection> {
    let info = &payload["extensions"][SPONSORING]["info"];
    let own = ["from", "asset", "spender", "amount", "nonce", "deadline", "signature"];
    if own.iter().all(|member| info[member].is_null()) {
        return Ok(None);
    }
    let text = |member: &str| info[member].as_str();
    let read = || {
        let permit = Eip2612Permit {
            amount: Usdc::from_atomic(number(text("amount")?)?),
            deadline: number(text("deadline")?)?,
            signature: bytes(text("signature")?)?.try_into().ok()?,
        };
        let claim = PermitFields {
            owner: address(text("from")?)?,
            asset: address(text("asset")?)?,
            spender: address(text("spender")?)?,
            nonce: word(text("nonce")?)?,
        };
        Some((permit, claim))
    };
    read().map(Some).ok_or_else(|| invalid("invalid_eip2612_extension_format"))
}

/// The JSON of a credential. Of duplicate members the last one counts, as in JavaScript; a remote
/// facilitator gets only that one.
fn payload(credential: &Credential) -> Result<Value, Rejection> {
    let payload = serde_json::from_slice::<Value>(&credential.0).ok().filter(Value::is_object);
    let payload =
        payload.ok_or_else(|| invalid("invalid_payload: not the base64 of a JSON object"))?;
    if payload["x402Version"] != VERSION {
        return Err(invalid("invalid_x402_version"));
    }
    Ok(payload)
}

/// Takes the credential from the headers, without parsing it.
///
/// The credential is the decoded bytes, so that padding does not matter. The JSON is not
/// rewritten, so that exactly what was sent is stored. The same JSON with its members in another
/// order is another credential; that is harmless, because a nonce can be spent only once.
///
/// A credential that cannot be decoded becomes an empty one, which the tender rejects, so that
/// it is answered like any other invalid credential.
pub(super) fn from_headers(headers: &HeaderMap) -> Result<Option<Credential>, BadRequest> {
    let values = HEADERS.into_iter().flat_map(|name| headers.get_all(name));
    let values = values.map(|value| value.as_bytes().trim_ascii());
    let mut present = values.filter(|value| !value.is_empty());
    let Some(first) = present.next() else { return Ok(None) };
    if present.any(|other| unpadded(other) != unpadded(first)) {
        return Err(BadRequest::DifferentCredentials);
    }
    Ok(Some(Credential(decoded(first).unwrap_or_default())))
}

/// The decoded bytes of a header, if it is base64 and not too long.
pub(crate) fn decoded(value: &[u8]) -> Option<Vec<u8>> {
    if value.len() <= HEADER_BYTES_MAX { LENIENT.decode(value).ok() } else { None }
}

fn unpadded(value: &[u8]) -> &[u8] {
    let padding = value.iter().rev().take_while(|byte| **byte == b'=').count();
    &value[..value.len() - padding]
}

/// The payer's identifier of the payment, if the credential has one.
pub(super) fn identifier(credential: &Credential) -> Result<Option<OperationId>, BadRequest> {
    let Ok(payload) = serde_json::from_slice::<Value>(&credential.0) else { return Ok(None) };
    let id = &payload["extensions"][IDENTIFIER]["info"]["id"];
    if id.is_null() {
        return Ok(None);
    }
    let id = id.as_str().and_then(|id| id.parse().ok());
    id.map(Some).ok_or(BadRequest::PaymentIdentifierInvalid)
}

#[cfg(test)]
mod tests;
