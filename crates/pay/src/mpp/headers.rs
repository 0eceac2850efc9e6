//! Where a credential may stand in a request, and that there is one of them.

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName};
use order::model::payment::Credential;
use serde_json::{Value, json};

use super::SCHEME;
use super::challenge::digest;
use crate::envelope::Muddle;
use crate::x402;

/// For callers whose `Authorization` is taken by something else.
const PAYMENT_AUTHORIZATION: HeaderName = HeaderName::from_static("payment-authorization");
/// x402's header, which the clients of both protocols may use here.
const PAYMENT_SIGNATURE: HeaderName = HeaderName::from_static("payment-signature");

/// Ten times what the official clients send.
const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// Clients write no padding. With it, it would mean the same bytes.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Takes the one credential out of a request's headers, still sealed, together with the
/// digest of the body that it came with.
///
/// It is kept as the JSON inside, written anew: however a client spells or sorts it, it
/// stays the same credential. What does not decode was brought all the same: it becomes
/// a credential that holds nothing, and the desk hears from the tender that it does not
/// hold.
pub(super) fn take(headers: &HeaderMap, body: &[u8]) -> Result<Option<Credential>, Muddle> {
    let values = |name| headers.get_all(name).iter().map(|value| value.as_bytes().trim_ascii());
    let mut brought = Vec::new();
    for value in values(AUTHORIZATION) {
        brought.extend(payments(value).map(Brought::Payment));
    }
    for value in values(PAYMENT_AUTHORIZATION).filter(|value| !value.is_empty()) {
        let before = brought.len();
        brought.extend(payments(value).map(Brought::Payment));
        if brought.len() == before {
            brought.push(Brought::Unreadable);
        }
    }
    for value in values(PAYMENT_SIGNATURE).filter(|value| !value.is_empty()) {
        let before = brought.len();
        brought.extend(payments(value).map(Brought::Payment));
        if brought.len() == before {
            brought.push(Brought::Exact(value));
        }
    }
    let mut brought = brought.into_iter();
    match (brought.next(), brought.next()) {
        (None, _) => Ok(None),
        (Some(one), None) => Ok(Some(one.sealed(body))),
        (Some(_), Some(_)) => Err(Muddle::of_headers(
            "payment_ambiguous",
            "This request brings more than one payment. Send one, in one of Authorization, \
             Payment-Authorization and Payment-Signature.",
        )),
    }
}

enum Brought<'a> {
    Payment(&'a [u8]),
    Exact(&'a [u8]),
    Unreadable,
}

impl Brought<'_> {
    fn sealed(&self, body: &[u8]) -> Credential {
        let object = |bytes: Option<Vec<u8>>| {
            serde_json::from_slice::<Value>(&bytes?).ok().filter(Value::is_object)
        };
        let sealed = match self {
            Self::Payment(token) if token.len() > TOKEN_BYTES_MAX => None,
            Self::Payment(token) => object(LENIENT.decode(token).ok())
                .map(|payment| json!({ "content": digest(body), "payment": payment })),
            Self::Exact(value) => {
                object(x402::credential::decoded(value)).map(|exact| json!({ "exact": exact }))
            }
            Self::Unreadable => None,
        };
        Credential(sealed.map_or_else(Vec::new, |sealed| sealed.to_string().into_bytes()))
    }
}

/// What stands behind our scheme's name in a list of credentials. A comma inside
/// quotation marks separates nothing.
fn payments(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut quoted = Quoted::No;
    let parts = list.split(move |byte| match (*byte, quoted) {
        (b'"', Quoted::No) => {
            quoted = Quoted::Yes;
            false
        }
        (b'"', Quoted::Yes) => {
            quoted = Quoted::No;
            false
        }
        (b',', Quoted::No) => true,
        (_, Quoted::No | Quoted::Yes) => false,
    });
    parts.filter_map(|part| {
        let (scheme, rest) = part.trim_ascii().split_at_checked(SCHEME.len())?;
        let ended = rest.first().is_none_or(u8::is_ascii_whitespace);
        let ours = scheme.eq_ignore_ascii_case(SCHEME.as_bytes()) && ended;
        ours.then(|| rest.trim_ascii())
    })
}

#[derive(Clone, Copy)]
enum Quoted {
    Yes,
    No,
}

#[cfg(test)]
mod tests;
