//! The credential of MPP in its three headers: nothing is settled but what the payer signed.

use std::sync::LazyLock;

use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use evm::hex;
use order::model::chain::EvmAddress;
use order::model::money::Usdc;
use pay::http_binding::ClientKind;
use pay::mpp::NETWORK;
use pay::mpp::credential::TransferAuthorization;
use pay::mpp::signature::{digest, nonces};
use serde_json::{Map, Value, json};

use super::payments::{self, NOW};
use super::x402_credential::header_lines;

const STATUSES: [u16; 7] = [200, 400, 402, 403, 404, 409, 503];
const PAYMENT_SIGNATURE: HeaderName = HeaderName::from_static("payment-signature");
/// The nonce of an x402 payment, which its payer chooses.
const OWN_NONCE: [u8; 32] = [0x33; 32];

/// The fields of a transfer that its payer signs.
type SignedFields = (EvmAddress, EvmAddress, u64, u64, u64, [u8; 32]);

static SIGNED: LazyLock<Vec<TransferAuthorization>> = LazyLock::new(|| {
    let challenge = challenge();
    let text = |name: &str| challenge[name].as_str().unwrap_or_default();
    let [packed, framed] = nonces(text("id"), text("realm"));
    let request = URL_SAFE_NO_PAD.decode(text("request")).expect("base64");
    let request: Value = serde_json::from_slice(&request).expect("JSON");
    [packed, framed, OWN_NONCE].map(|nonce| signed(&request, nonce)).into()
});

pub(crate) fn run(data: &[u8]) {
    let Some((choice, rest)) = super::choice(data) else { return };
    let Some(headers) = headers(choice, rest) else { return };
    let (mpp, settled) = payments::mpp();
    let answer = payments::answer(&mpp, &headers);
    payments::check(&answer, &STATUSES);
    let settled = settled.take();
    let status = answer.status.as_u16();
    assert_eq!(status == 200, settled.len() == 1, "{status} after {} settlements", settled.len());
    for transfer in &settled {
        let is_signed = SIGNED.iter().any(|signed| fields(signed) == fields(transfer));
        assert!(is_signed, "settled what the payer did not sign");
        assert_eq!((transfer.network, transfer.token), (NETWORK, NETWORK.usdc()));
    }
    assert_eq!(status == 402, answer.headers.contains_key(WWW_AUTHENTICATE), "{status}");
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let [packed, framed, own] = &SIGNED[..] else { return Vec::new() };
    let mut changed = packed.clone();
    changed.valid_before += 1;
    let [packed, framed, changed] =
        [packed, framed, &changed].map(|transfer| credential(transfer).to_string());
    let token = URL_SAFE_NO_PAD.encode(&packed);
    super::texts(&[
        &format!("0{packed}"),
        &format!("0{framed}"),
        &format!("0{changed}"),
        &format!("1{}", exact(own)),
        &format!("2authorization:Bearer x, Payment {token}"),
        &format!("2payment-authorization:payment {token}\nauthorization:Basic a=\"b, Payment c\""),
        "2authorization:Payment e30\npayment-signature:e30=",
        r#"0{"challenge":{"id":7,"expires":"2026-11-18T12:00:00Z"},"payload":{"type":"authorization"}}"#,
    ])
}

/// A credential for each scheme in the header that clients use, or lines of any headers.
fn headers(choice: u8, rest: &[u8]) -> Option<HeaderMap> {
    let one = |name: HeaderName, value: String| {
        HeaderValue::try_from(value).ok().map(|value| HeaderMap::from_iter([(name, value)]))
    };
    match choice % 3 {
        0 => one(AUTHORIZATION, format!("Payment {}", URL_SAFE_NO_PAD.encode(rest))),
        1 => one(PAYMENT_SIGNATURE, STANDARD.encode(rest)),
        _ => header_lines(rest),
    }
}

fn fields(transfer: &TransferAuthorization) -> SignedFields {
    let TransferAuthorization { from, to, value, valid_after, valid_before, nonce, .. } = *transfer;
    (from, to, value.atomic(), valid_after, valid_before, nonce)
}

/// The parameters of the challenge for the body of every run.
fn challenge() -> Value {
    let unpaid = payments::send(&payments::mpp().0, None, ClientKind::Program);
    let header = unpaid.headers[WWW_AUTHENTICATE].to_str().expect("text").to_owned();
    let list = header.strip_prefix("Payment ").expect("the scheme");
    let pairs = list.split(", ").filter_map(|pair| pair.split_once("=\""));
    let pair =
        |(name, value): (&str, &str)| (name.to_owned(), Value::from(value.trim_end_matches('"')));
    pairs.map(pair).collect::<Map<_, _>>().into()
}

fn signed(request: &Value, nonce: [u8; 32]) -> TransferAuthorization {
    let key = payments::payer();
    let text = |name: &str| request[name].as_str().unwrap_or_default();
    let mut transfer = TransferAuthorization {
        network: NETWORK,
        token: NETWORK.usdc(),
        from: EvmAddress::from_bytes(key.address()),
        to: text("recipient").parse().expect("an account"),
        value: Usdc::from_atomic(text("amount").parse().expect("a number")),
        valid_after: 0,
        valid_before: NOW.0 + 600,
        nonce,
        signature: [0; 65],
    };
    transfer.signature = key.sign(digest(&transfer));
    transfer
}

fn members(transfer: &TransferAuthorization) -> Value {
    json!({
        "from": transfer.from.to_string(),
        "to": transfer.to.to_string(),
        "value": transfer.value.atomic().to_string(),
        "validAfter": transfer.valid_after.to_string(),
        "validBefore": transfer.valid_before.to_string(),
        "nonce": hex::encode(&transfer.nonce),
    })
}

/// The answer to the challenge, as the official clients write it.
pub(crate) fn credential(transfer: &TransferAuthorization) -> Value {
    let mut payload = members(transfer);
    payload["type"] = "authorization".into();
    payload["signature"] = hex::encode(&transfer.signature).into();
    let source = format!("did:pkh:eip155:8453:{}", transfer.from);
    json!({ "challenge": challenge(), "payload": payload, "source": source })
}

/// The same money by the x402 scheme `exact`.
fn exact(transfer: &TransferAuthorization) -> Value {
    let unpaid = payments::send(&payments::mpp().0, None, ClientKind::Program);
    let required = STANDARD.decode(&unpaid.headers["payment-required"]).expect("base64");
    let required: Value = serde_json::from_slice(&required).expect("JSON");
    let signature = hex::encode(&transfer.signature);
    json!({
        "x402Version": 2,
        "payload": { "signature": signature, "authorization": members(transfer) },
        "resource": required["resource"],
        "accepted": required["accepts"][0],
    })
}
