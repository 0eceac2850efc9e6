//! What the caller sends back: a Permit2 promise, read and not yet believed.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use http::HeaderMap;
use order::model::chain::{EvmAddress, Network};
use order::model::ids::OperationId;
use order::model::money::Usdc;
use order::model::payment::Credential;
use order::tender::Rejection;
use serde_json::Value;

use super::extensions::{IDENTIFIER, SPONSORING};
use super::{VERSION, flaw};
use crate::digits::{address, bytes, number, word};
use crate::envelope::Muddle;

/// The header of version 2, and the older one that is read when it is absent.
const HEADERS: [&str; 2] = ["payment-signature", "x-payment"];

/// More than twice what the official client sends with all our extensions.
const HEADER_BYTES_MAX: usize = 16 * 1024;

/// The official encoder pads, some others do not. Both mean the same bytes.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A payer's signed promise to pay up to `most`, as Permit2 and the `upto`
/// proxy will read it.
#[derive(Clone, PartialEq, Eq)]
pub struct Promise {
    pub network: Network,
    pub payer: EvmAddress,
    pub pay_to: EvmAddress,
    /// Who alone may carry it to the chain.
    pub facilitator: EvmAddress,
    pub most: Usdc,
    /// Any 256 bits, each usable once by each payer on each chain.
    pub nonce: [u8; 32],
    /// In seconds of the chain's own time.
    pub valid_after: u64,
    pub deadline: u64,
    /// 65 bytes from a key; whatever it likes from a contract.
    pub signature: Vec<u8>,
    /// The allowance that Permit2 still lacks, signed along with the promise.
    pub permit: Option<Permit>,
    /// The credential as it was sent, for those who want it unchanged.
    pub payload: Value,
}

/// An EIP-2612 permit that lets Permit2 move the token.
#[derive(Clone, PartialEq, Eq)]
pub struct Permit {
    pub amount: Usdc,
    pub deadline: u64,
    pub signature: [u8; 65],
}

impl Promise {
    /// Reads a credential that was verified before. Only its shape matters here:
    /// if the rules grow stricter, money that is in doubt must still be found.
    pub fn read(credential: &Credential) -> Result<Self, Rejection> {
        let payload = payload(credential)?;
        let network = payload["accepted"]["network"].as_str().and_then(Network::from_caip2);
        let network = network.ok_or_else(|| flaw("invalid_network"))?;
        Claim::read(payload, network).map(|claim| claim.promise)
    }
}

/// A promise with everything that a credential says about it. What stands
/// beside the promise is compared with what we asked for and then forgotten.
pub(super) struct Claim {
    pub(super) promise: Promise,
    pub(super) spender: EvmAddress,
    pub(super) token: EvmAddress,
    pub(super) permit: Option<PermitClaim>,
}

/// What a payer says beside a permit.
pub(super) struct PermitClaim {
    pub(super) owner: EvmAddress,
    pub(super) asset: EvmAddress,
    pub(super) spender: EvmAddress,
    pub(super) nonce: [u8; 32],
}

impl Claim {
    /// Reads what was sent for this network, and names every member that does
    /// not read.
    pub(super) fn read(payload: Value, network: Network) -> Result<Self, Rejection> {
        if !payload["payload"]["permit2Authorization"].is_object() {
            return Err(flaw("unsupported_payload_type"));
        }
        let (permit, permit_claim) = permit(&payload)?.unzip();
        let mut reader = Reader { payload: &payload, faults: Vec::new() };
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
            let promise = Promise {
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
                payload,
            };
            Some(Self { promise, spender: spender?, token: token?, permit: permit_claim })
        };
        whole().ok_or_else(|| flaw(&format!("invalid_payload: missing or misspelt: {faults}")))
    }
}

/// Reads members by their places and remembers those that did not read.
struct Reader<'a> {
    payload: &'a Value,
    faults: Vec<&'static str>,
}

impl Reader<'_> {
    fn read<T>(&mut self, place: &'static str, parse: fn(&str) -> Option<T>) -> Option<T> {
        let found = self.payload.pointer(place).and_then(Value::as_str).and_then(parse);
        if found.is_none() {
            self.faults.push(place);
        }
        found
    }
}

/// The permit that came along, if any: an echo of what we offered is none.
fn permit(payload: &Value) -> Result<Option<(Permit, PermitClaim)>, Rejection> {
    let info = &payload["extensions"][SPONSORING]["info"];
    let own = ["from", "asset", "spender", "amount", "nonce", "deadline", "signature"];
    if own.iter().all(|member| info[member].is_null()) {
        return Ok(None);
    }
    let text = |member: &str| info[member].as_str();
    let read = || {
        let permit = Permit {
            amount: Usdc::from_atomic(number(text("amount")?)?),
            deadline: number(text("deadline")?)?,
            signature: bytes(text("signature")?)?.try_into().ok()?,
        };
        let claim = PermitClaim {
            owner: address(text("from")?)?,
            asset: address(text("asset")?)?,
            spender: address(text("spender")?)?,
            nonce: word(text("nonce")?)?,
        };
        Some((permit, claim))
    };
    read().map(Some).ok_or_else(|| flaw("invalid_eip2612_extension_format"))
}

/// A credential as JSON of our version. Of members that come twice the last
/// counts, for us as for JavaScript; whoever we hand it to gets it once.
pub(super) fn payload(credential: &Credential) -> Result<Value, Rejection> {
    let payload = serde_json::from_slice::<Value>(&credential.0).ok().filter(Value::is_object);
    let payload =
        payload.ok_or_else(|| flaw("invalid_payload: not the base64 of a JSON object"))?;
    if payload["x402Version"] != VERSION {
        return Err(flaw("invalid_x402_version"));
    }
    Ok(payload)
}

/// Takes the credential out of a request's headers, still sealed.
///
/// It is kept as the bytes inside the base64, not as the header: padded or not,
/// it stays the same credential and has the same digest. It is not written anew
/// either, since what is kept should be what was sent; the same JSON with its
/// members in another sequence is another credential, which costs nothing, as
/// the nonce decides what is paid once.
///
/// What does not decode was brought all the same: it becomes a credential that
/// holds nothing, and the desk hears from the tender that it does not hold.
pub(super) fn take(headers: &HeaderMap) -> Result<Option<Credential>, Muddle> {
    let values = HEADERS.into_iter().flat_map(|name| headers.get_all(name));
    let values = values.map(|value| value.as_bytes().trim_ascii());
    let mut brought = values.filter(|value| !value.is_empty());
    let Some(first) = brought.next() else { return Ok(None) };
    if brought.any(|other| unpadded(other) != unpadded(first)) {
        return Err(Muddle::of_headers(
            "payment_ambiguous",
            "PAYMENT-SIGNATURE and X-Payment carry different payments. Send one of them.",
        ));
    }
    Ok(Some(Credential(decoded(first).unwrap_or_default())))
}

/// The bytes inside the base64 of a header, if it is one and not too long.
pub(crate) fn decoded(value: &[u8]) -> Option<Vec<u8>> {
    if value.len() <= HEADER_BYTES_MAX { LENIENT.decode(value).ok() } else { None }
}

fn unpadded(value: &[u8]) -> &[u8] {
    let padding = value.iter().rev().take_while(|byte| **byte == b'=').count();
    &value[..value.len() - padding]
}

/// The payer's own identifier of the payment, if the credential has one.
pub(super) fn identifier(credential: &Credential) -> Result<Option<OperationId>, Muddle> {
    let Ok(payload) = serde_json::from_slice::<Value>(&credential.0) else { return Ok(None) };
    let id = &payload["extensions"][IDENTIFIER]["info"]["id"];
    if id.is_null() {
        return Ok(None);
    }
    let id = id.as_str().and_then(|id| id.parse().ok());
    id.map(Some).ok_or(Muddle::of_headers(
        "invalid_payment_identifier",
        "The id of the payment-identifier extension has 16 to 128 letters, digits, _ or -. Correct \
         it, or leave it out.",
    ))
}

#[cfg(test)]
mod tests;
