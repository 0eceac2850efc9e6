//! Valid and invalid payment headers.

use base64::engine::general_purpose::{
    STANDARD, STANDARD_NO_PAD, URL_SAFE as PADDED, URL_SAFE_NO_PAD,
};
use order::tender::Rejection;
use order::testing::fakes::fault_schedule::SeededRng;

use super::super::credential::{ParsedCredential, PaymentProof};
use super::super::fixture::{BODY, authorization, payment_signature};
use super::*;
use crate::refusal_table::HttpError;

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(*name, value.parse().unwrap());
    }
    headers
}

fn found(pairs: &[(&'static str, &str)]) -> Option<Credential> {
    credential(&headers(pairs), BODY).unwrap()
}

/// JSON with the members of a credential.
fn shaped() -> Value {
    json!({ "challenge": { "id": "1" }, "payload": { "type": "authorization" } })
}

fn exact() -> Value {
    json!({ "x402Version": 2, "payload": {} })
}

#[test]
fn a_credential_is_the_same_in_every_header_and_spelling() {
    let value = authorization(&shaped());
    let token = value.strip_prefix("Payment ").unwrap();
    let first = found(&[("authorization", &value)]).unwrap();
    let other_sequence = r#"{ "payload": {"type":"authorization"}, "challenge": {"id":"1"} }"#;
    for pairs in [
        &[("payment-authorization", value.as_str())][..],
        &[("payment-signature", &value)],
        &[("Authorization", &format!("pAYMENT   {token}"))],
        &[("authorization", &format!("payment\t{token}"))],
        &[("authorization", &format!("Payment {}", PADDED.encode(shaped().to_string())))],
        &[("authorization", &format!("Bearer abc, Payment {token}"))],
        &[("authorization", &format!("Payment {token}, Bearer abc"))],
        &[("authorization", &format!("Digest username=\"a, Payment b\", Payment {token}"))],
        &[("authorization", "Bearer abc"), ("payment-authorization", &value)],
        &[("authorization", "Bearer abc"), ("authorization", &value)],
        &[("authorization", &value), ("payment-authorization", ""), ("payment-signature", " ")],
        &[("authorization", &format!("Payment {}", URL_SAFE_NO_PAD.encode(other_sequence)))],
    ] {
        let other = found(pairs).unwrap();
        assert!(other.digest() == first.digest(), "{pairs:?}");
    }
}

#[test]
fn an_x402_payload_is_distinguished_from_an_mpp_credential() {
    let plain = found(&[("payment-signature", &payment_signature(&exact()))]).unwrap();
    assert!(matches!(proof_of(&plain), Ok(PaymentProof::Exact(_))));
    let unpadded = STANDARD_NO_PAD.encode(exact().to_string());
    assert!(found(&[("payment-signature", &unpadded)]).unwrap() == plain);
    let ours = found(&[("payment-signature", &authorization(&shaped()))]).unwrap();
    assert!(matches!(proof_of(&ours), Ok(PaymentProof::Payment(_))));
}

#[test]
fn other_authentication_schemes_are_ignored() {
    for value in ["Bearer abc", "Basic YTpi", "", " ", "PaymentX abc", "Bearer Payment", "Paymen"] {
        assert!(found(&[("authorization", value)]).is_none(), "{value}");
    }
    assert!(found(&[]).is_none());
    assert!(found(&[("payment-authorization", ""), ("payment-signature", "")]).is_none());
}

#[test]
fn two_credentials_are_a_bad_request_even_if_they_are_equal() {
    let (value, plain) = (authorization(&shaped()), payment_signature(&exact()));
    for pairs in [
        &[("authorization", value.as_str()), ("payment-authorization", value.as_str())][..],
        &[("authorization", &value), ("authorization", &value)],
        &[("authorization", &format!("{value}, {value}"))],
        &[("authorization", "Payment , Payment")],
        &[("authorization", &value), ("payment-signature", &plain)],
        &[("payment-authorization", &value), ("payment-signature", "!")],
        &[("payment-authorization", "Bearer abc"), ("authorization", &value)],
    ] {
        let refused = HttpError::from(&credential(&headers(pairs), BODY).unwrap_err());
        assert_eq!(
            (refused.status.as_u16(), refused.code),
            (400, "payment_ambiguous"),
            "{pairs:?}"
        );
        assert!(refused.message.contains("Send one"), "{}", refused.message);
    }
}

#[test]
fn a_header_that_cannot_be_decoded_is_an_empty_credential() {
    let list = URL_SAFE_NO_PAD.encode("[1]");
    // Only its length is wrong.
    let padded =
        |spaces: usize| URL_SAFE_NO_PAD.encode(format!("{}{}", shaped(), " ".repeat(spaces)));
    let spaces = TOKEN_BYTES_MAX / 4 * 3 - shaped().to_string().len();
    let (largest, large) = (padded(spaces), padded(spaces + 1));
    assert_eq!(largest.len(), TOKEN_BYTES_MAX);
    let credential = found(&[("authorization", &format!("Payment {largest}"))]).unwrap();
    assert!(proof_of(&credential).is_ok());
    let foreign = STANDARD.encode(r#"{"a":"???>>>"}"#);
    let json = shaped().to_string();
    for token in ["", "!", "e", "=", "e30=e30", "id=\"1\"", &list, &large, &foreign, &json] {
        for (name, value) in [
            ("authorization", format!("Payment {token}")),
            ("payment-authorization", format!("Payment {token}")),
            ("payment-signature", format!("Payment {token}")),
        ] {
            let credential = found(&[(name, &value)]).unwrap();
            assert!(proof_of(&credential).is_err(), "{name}: {token}");
        }
    }
    for (name, value) in [("payment-authorization", "e30"), ("payment-signature", "e")] {
        let credential = found(&[(name, value)]).unwrap();
        assert!(credential.0.is_empty(), "{name}: {value}");
    }
}

#[test]
fn a_credential_includes_the_digest_of_its_body() {
    let headers = headers(&[("authorization", &authorization(&shaped()))]);
    let (one, two) = (credential(&headers, b"one").unwrap(), credential(&headers, b"two").unwrap());
    assert!(one != two);
    let Ok(PaymentProof::Payment(payment)) = proof_of(&one.unwrap()) else { panic!("it opens") };
    assert_eq!(payment.content, digest(b"one"));
}

#[test]
fn no_header_causes_a_panic() {
    let mut dice = SeededRng::new(7);
    let letters = b"Payment ,\"=\\eyJ9{}\t-_1Bearer";
    for _ in 0..20_000 {
        let value: Vec<u8> = (0..dice.below(40)).map(|_| dice.pick(letters)).collect();
        let Ok(value) = http::HeaderValue::from_bytes(&value) else { continue };
        let mut headers = HeaderMap::new();
        for name in [AUTHORIZATION, PAYMENT_AUTHORIZATION, PAYMENT_SIGNATURE] {
            if dice.below(2) == 0 {
                headers.insert(name, value.clone());
            }
        }
        if let Ok(Some(credential)) = credential(&headers, BODY) {
            assert!(
                ParsedCredential::of(&credential).and_then(|parsed| parsed.authorization).is_err()
            );
        }
    }
    let deep = [vec![b'['; 6_000], vec![b']'; 6_000]].concat();
    let deep = format!("Payment {}", URL_SAFE_NO_PAD.encode(deep));
    assert!(proof_of(&found(&[("authorization", &deep)]).unwrap()).is_err());
}

fn proof_of(credential: &Credential) -> Result<PaymentProof, Rejection> {
    ParsedCredential::of(credential).map(|parsed| parsed.proof)
}
