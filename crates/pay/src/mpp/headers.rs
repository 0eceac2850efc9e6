//! Finds the one credential in the headers of a request.

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName};
use order::model::payment::Credential;
use serde_json::{Value, json};

use super::SCHEME;
use super::challenge::digest;
use crate::refusal_table::BadRequest;
use crate::x402;

/// For clients that use `Authorization` for something else.
const PAYMENT_AUTHORIZATION: HeaderName = HeaderName::from_static("payment-authorization");
/// The header of x402, which clients of both protocols may use here.
const PAYMENT_SIGNATURE: HeaderName = HeaderName::from_static("payment-signature");

/// Ten times what the official clients send.
const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// Clients write no padding; it is accepted.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Takes the one credential from the headers, together with the digest of the body that it was
/// sent with.
///
/// It is stored as JSON in a canonical form, so that the spelling and the order of members do
/// not matter. A credential that cannot be decoded becomes an empty one, which the tender
/// rejects, so that it is answered like any other invalid credential.
pub(super) fn credential(
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Option<Credential>, BadRequest> {
    let values = |name| headers.get_all(name).iter().map(|value| value.as_bytes().trim_ascii());
    let mut found = Vec::new();
    // `Authorization` may carry other schemes; the other two headers carry nothing else.
    for value in values(AUTHORIZATION) {
        found.extend(payments(value).map(HeaderCredential::Payment));
    }
    for value in values(PAYMENT_AUTHORIZATION).filter(|value| !value.is_empty()) {
        found.extend(payments_or(value, HeaderCredential::Undecodable));
    }
    for value in values(PAYMENT_SIGNATURE).filter(|value| !value.is_empty()) {
        found.extend(payments_or(value, HeaderCredential::Exact(value)));
    }
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one.credential(body))),
        [_, _, ..] => Err(BadRequest::SeveralCredentials),
    }
}

enum HeaderCredential<'a> {
    /// The token of the scheme `Payment`.
    Payment(&'a [u8]),
    /// A payload of the x402 scheme `exact`.
    Exact(&'a [u8]),
    Undecodable,
}

impl HeaderCredential<'_> {
    fn credential(&self, body: &[u8]) -> Credential {
        let object = |bytes: Option<Vec<u8>>| {
            serde_json::from_slice::<Value>(&bytes?).ok().filter(Value::is_object)
        };
        let json = match self {
            Self::Payment(token) if token.len() > TOKEN_BYTES_MAX => None,
            Self::Payment(token) => object(LENIENT.decode(token).ok())
                .map(|payment| json!({ "content": digest(body), "payment": payment })),
            Self::Exact(value) => {
                object(x402::credential::decoded(value)).map(|exact| json!({ "exact": exact }))
            }
            Self::Undecodable => None,
        };
        Credential(json.map_or_else(Vec::new, |json| json.to_string().into_bytes()))
    }
}

fn payments_or<'a>(list: &'a [u8], otherwise: HeaderCredential<'a>) -> Vec<HeaderCredential<'a>> {
    let found: Vec<_> = payments(list).map(HeaderCredential::Payment).collect();
    if found.is_empty() { vec![otherwise] } else { found }
}

/// The tokens of the scheme `Payment` in a list of credentials. A comma inside quotation marks
/// does not separate.
fn payments(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut quoted = false;
    let parts = list.split(move |byte| {
        if *byte == b'"' {
            quoted = !quoted;
        }
        *byte == b',' && !quoted
    });
    parts.filter_map(|part| {
        let (scheme, rest) = part.trim_ascii().split_at_checked(SCHEME.len())?;
        let ended = rest.first().is_none_or(u8::is_ascii_whitespace);
        let ours = scheme.eq_ignore_ascii_case(SCHEME.as_bytes()) && ended;
        ours.then(|| rest.trim_ascii())
    })
}

#[cfg(test)]
mod tests;
