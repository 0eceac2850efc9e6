//! Headers of every kind, good and bad.

use base64::engine::general_purpose::{
    STANDARD, STANDARD_NO_PAD, URL_SAFE as PADDED, URL_SAFE_NO_PAD,
};
use order::testing::fakes::fates::Dice;

use super::super::credential::Proof;
use super::super::samples::{BODY, authorization, payment_signature};
use super::*;

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(*name, value.parse().unwrap());
    }
    headers
}

fn taken(pairs: &[(&'static str, &str)]) -> Option<Credential> {
    take(&headers(pairs), BODY).unwrap()
}

/// Something with the shape of a credential.
fn shaped() -> Value {
    json!({ "challenge": { "id": "1" }, "payload": { "type": "authorization" } })
}

fn exact() -> Value {
    json!({ "x402Version": 2, "payload": {} })
}

#[test]
fn one_credential_stays_the_same_wherever_it_stands_and_however_it_is_spelt() {
    let value = authorization(&shaped());
    let token = value.strip_prefix("Payment ").unwrap();
    let first = taken(&[("authorization", &value)]).unwrap();
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
        let other = taken(pairs).unwrap();
        assert!(other.digest() == first.digest(), "{pairs:?}");
    }
}

#[test]
fn a_payload_of_x402_is_told_from_a_credential_of_ours() {
    let plain = taken(&[("payment-signature", &payment_signature(&exact()))]).unwrap();
    assert!(matches!(Proof::open(&plain), Ok(Proof::Exact(_))));
    let unpadded = STANDARD_NO_PAD.encode(exact().to_string());
    assert!(taken(&[("payment-signature", &unpadded)]).unwrap() == plain);
    let ours = taken(&[("payment-signature", &authorization(&shaped()))]).unwrap();
    assert!(matches!(Proof::open(&ours), Ok(Proof::Payment(_))));
}

#[test]
fn other_schemes_bring_no_payment() {
    for value in ["Bearer abc", "Basic YTpi", "", " ", "PaymentX abc", "Bearer Payment", "Paymen"] {
        assert!(taken(&[("authorization", value)]).is_none(), "{value}");
    }
    assert!(taken(&[]).is_none());
    assert!(taken(&[("payment-authorization", ""), ("payment-signature", "")]).is_none());
}

#[test]
fn two_credentials_are_a_muddle_even_if_they_are_the_same() {
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
        let muddle = take(&headers(pairs), BODY).unwrap_err();
        assert_eq!((muddle.status.as_u16(), muddle.code), (400, "payment_ambiguous"), "{pairs:?}");
        assert!(muddle.message.contains("Send one"), "{}", muddle.message);
    }
}

#[test]
fn what_does_not_decode_was_brought_all_the_same_and_holds_nothing() {
    let list = URL_SAFE_NO_PAD.encode("[1]");
    let large = URL_SAFE_NO_PAD.encode(vec![b' '; 2 * TOKEN_BYTES_MAX]);
    let foreign = STANDARD.encode(r#"{"a":"???>>>"}"#);
    let json = shaped().to_string();
    for token in ["", "!", "e", "=", "e30=e30", "id=\"1\"", &list, &large, &foreign, &json] {
        for (name, value) in [
            ("authorization", format!("Payment {token}")),
            ("payment-authorization", format!("Payment {token}")),
            ("payment-signature", format!("Payment {token}")),
        ] {
            let credential = taken(&[(name, &value)]).unwrap();
            assert!(Proof::open(&credential).is_err(), "{name}: {token}");
        }
    }
    for (name, value) in [("payment-authorization", "e30"), ("payment-signature", "e")] {
        let credential = taken(&[(name, value)]).unwrap();
        assert!(credential.0.is_empty(), "{name}: {value}");
    }
}

#[test]
fn a_credential_remembers_the_body_that_it_came_with() {
    let headers = headers(&[("authorization", &authorization(&shaped()))]);
    let (one, two) = (take(&headers, b"one").unwrap(), take(&headers, b"two").unwrap());
    assert!(one != two);
    let Ok(Proof::Payment(payment)) = Proof::open(&one.unwrap()) else { panic!("it opens") };
    assert_eq!(payment.content, digest(b"one"));
}

#[test]
fn no_header_makes_it_stumble() {
    let mut dice = Dice::new(7);
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
        if let Ok(Some(credential)) = take(&headers, BODY) {
            assert!(Proof::open(&credential).and_then(|proof| proof.authorization()).is_err());
        }
    }
    let deep = [vec![b'['; 6_000], vec![b']'; 6_000]].concat();
    let deep = format!("Payment {}", URL_SAFE_NO_PAD.encode(deep));
    assert!(Proof::open(&taken(&[("authorization", &deep)]).unwrap()).is_err());
}
