//! Valid and invalid payment headers.

use base64::engine::general_purpose::{STANDARD as PADDED, STANDARD_NO_PAD, URL_SAFE};
use order::tender::Tender;
use order::testing::fakes::fault_schedule::SeededRng;
use order::testing::fakes::manual_time::poll_once;
use serde_json::json;

use super::super::fixture::{
    FACILITATOR, FakeSettler, NOW, Payer, SELLER, credential, decoded, offer, terms, x402,
};
use super::*;
use crate::refusal_table::HttpError;

const VECTORS: &str = include_str!("../../../../evm/vectors/x402_upto.json");

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(*name, value.parse().unwrap());
    }
    headers
}

fn found(pairs: &[(&'static str, &str)]) -> Option<Credential> {
    from_headers(&headers(pairs)).unwrap()
}

fn payload() -> Value {
    let (x402, _) = x402(FakeSettler::good());
    let challenge = x402.challenge(&offer(), "Payment required").unwrap();
    Payer::new().pay(&decoded(challenge.header), Network::Base, NOW)
}

fn reason(payload: &Value) -> String {
    match Permit2Authorization::read(&credential(payload)) {
        Err(Rejection::Invalid(reason)) => reason,
        Err(other) => panic!("{other:?}"),
        Ok(_) => String::new(),
    }
}

#[test]
fn a_credential_has_the_same_digest_with_and_without_padding() {
    let file: Value = serde_json::from_str(VECTORS).unwrap();
    for vector in file["vectors"].as_array().unwrap() {
        let header = vector["paymentSignatureHeader"].as_str().unwrap();
        let first = found(&[("payment-signature", header)]).unwrap();
        let inside: Value = serde_json::from_slice(&first.0).unwrap();
        assert_eq!(inside, vector["paymentPayload"]);
        for other in [
            found(&[("payment-signature", header.trim_end_matches('='))]),
            found(&[("x-payment", header)]),
            found(&[("X-Payment", header), ("PAYMENT-SIGNATURE", header)]),
            found(&[("x-payment", header.trim_end_matches('=')), ("payment-signature", header)]),
            found(&[("payment-signature", ""), ("x-payment", header)]),
        ] {
            assert!(other.unwrap().digest() == first.digest());
        }
    }
}

#[test]
fn a_request_without_a_payment_header_has_no_credential() {
    assert!(found(&[]).is_none());
    assert!(found(&[("payment-signature", ""), ("x-payment", "  ")]).is_none());
}

#[test]
fn two_different_credentials_are_a_bad_request() {
    for pairs in [
        [("payment-signature", "e30="), ("x-payment", "e31=")],
        [("payment-signature", "e30="), ("payment-signature", "W10=")],
        [("x-payment", "e30="), ("payment-signature", "!!")],
    ] {
        let refused = HttpError::from(&from_headers(&headers(&pairs)).unwrap_err());
        assert_eq!(refused.code, "payment_ambiguous");
        assert!(refused.message.contains("Send one"), "{}", refused.message);
    }
}

#[test]
fn a_header_that_cannot_be_decoded_is_an_empty_credential() {
    let json = payload().to_string();
    let large = PADDED.encode(vec![b' '; HEADER_BYTES_MAX]);
    let url_safe = URL_SAFE.encode("{\"a\":\"???>>>\"}");
    for header in [json.as_str(), "!", "e", "=", "e30=e30=", "e30, e30", &large, &url_safe] {
        let credential = found(&[("payment-signature", header)]).unwrap();
        assert!(credential.0.is_empty(), "{header}");
        assert!(
            matches!(Permit2Authorization::read(&credential), Err(Rejection::Invalid(_))),
            "{header}"
        );
    }
    let fits = STANDARD_NO_PAD.encode(vec![b' '; 12 * 1024]);
    assert_eq!(fits.len(), HEADER_BYTES_MAX);
    assert_eq!(found(&[("payment-signature", &fits)]).unwrap().0.len(), 12 * 1024);
}

#[test]
fn a_correct_payload_is_parsed_completely() {
    let sent = payload();
    let authorization =
        Permit2Authorization::read(&credential(&sent)).unwrap_or_else(|why| panic!("{why:?}"));
    assert_eq!(authorization.network, Network::Base);
    assert_eq!(authorization.payer, Payer::new().address());
    assert_eq!((authorization.pay_to, authorization.facilitator), (SELLER, FACILITATOR));
    assert_eq!(authorization.most.atomic(), 3_500_000);
    assert_eq!((authorization.valid_after, authorization.deadline), (0, NOW.0 + 600));
    assert_eq!(authorization.signature.len(), 65);
    assert!(authorization.permit.is_none(), "an echo is no permit");
    assert_eq!(*authorization.payload, sent);
}

#[test]
fn numbers_are_parsed_in_both_bases() {
    let mut other = payload();
    let authorization = &mut other["payload"]["permit2Authorization"];
    authorization["permitted"]["amount"] = "0x3567e0".into();
    authorization["deadline"] = format!("{:#x}", NOW.0 + 600).into();
    let read = |payload| {
        Permit2Authorization::read(&credential(payload)).map_err(|why| format!("{why:?}"))
    };
    let (one, other) = (read(&payload()).unwrap(), read(&other).unwrap());
    assert!(Permit2Authorization { payload: one.payload.clone(), ..other } == one);
}

#[test]
fn every_member_that_cannot_be_parsed_is_listed() {
    let mut faulty = payload();
    faulty["payload"]["signature"] = json!("0x123");
    faulty["payload"]["permit2Authorization"]["nonce"] = json!(-1);
    faulty["payload"]["permit2Authorization"]["witness"]["to"] = json!("0x00");
    assert_eq!(
        reason(&faulty),
        "invalid_payload: missing or malformed: /payload/signature, \
         /payload/permit2Authorization/nonce, /payload/permit2Authorization/witness/to"
    );
}

#[test]
fn other_versions_schemes_and_networks_have_their_own_reasons() {
    let with = |place: &str, value: Value| {
        let mut payload = payload();
        *payload.pointer_mut(place).unwrap() = value;
        reason(&payload)
    };
    assert_eq!(with("/x402Version", json!(1)), "invalid_x402_version");
    assert_eq!(with("/x402Version", json!("2")), "invalid_x402_version");
    assert_eq!(with("/accepted/network", json!("eip155:1")), "invalid_network");
    assert_eq!(with("/payload/permit2Authorization", json!(null)), "unsupported_payload_type");
    assert_eq!(with("/payload", json!("0x")), "unsupported_payload_type");
    assert_eq!(reason(&json!([])), "invalid_payload: not the base64 of a JSON object");
}

#[test]
fn an_incomplete_permit_is_rejected() {
    let payer = Payer::new();
    let mut sponsored = payload();
    payer.permit(&mut sponsored, Network::Base, NOW.0 + 600);
    let authorization =
        Permit2Authorization::read(&credential(&sponsored)).unwrap_or_else(|why| panic!("{why:?}"));
    let permit = authorization.permit.unwrap();
    assert_eq!((permit.amount.atomic(), permit.deadline), (3_500_000, NOW.0 + 600));
    for member in ["from", "asset", "spender", "amount", "nonce", "deadline", "signature"] {
        let mut partly = sponsored.clone();
        let info = &mut partly["extensions"]["eip2612GasSponsoring"]["info"];
        info.as_object_mut().unwrap().remove(member);
        assert_eq!(reason(&partly), "invalid_eip2612_extension_format", "{member}");
    }
}

#[test]
fn a_payer_may_give_the_payment_an_identifier() {
    let named = |id: Value| {
        let mut payload = payload();
        payload["extensions"]["payment-identifier"]["info"]["id"] = id;
        identifier(&credential(&payload))
    };
    let id = named(json!("pay_0123456789abcdef")).unwrap().unwrap();
    assert_eq!(id.as_str(), "pay_0123456789abcdef");
    assert!(named(json!(null)).unwrap().is_none());
    assert!(identifier(&Credential(b"no json".to_vec())).unwrap().is_none());
    for bad in [json!("short"), json!(7), json!("x".repeat(129)), json!("a space a space a s")] {
        assert_eq!(named(bad), Err(BadRequest::PaymentIdentifierInvalid));
    }
}

/// Random bytes, and valid headers with random changes.
#[test]
fn no_header_causes_a_panic() {
    let (x402, _) = x402(FakeSettler::good());
    let mut dice = SeededRng::new(6);
    let good = payload().to_string().into_bytes();
    for round in 0..2_000 {
        let mut inside = if round % 2 == 0 {
            (0..dice.below(200)).map(|_| u8::try_from(dice.below(256)).unwrap()).collect()
        } else {
            good.clone()
        };
        for _ in 0..dice.below(4) {
            if inside.is_empty() {
                break;
            }
            let places = u64::try_from(inside.len()).unwrap();
            let place = usize::try_from(dice.below(places)).unwrap();
            match dice.below(3) {
                0 => inside[place] = u8::try_from(dice.below(256)).unwrap(),
                1 => inside.truncate(place),
                _ => drop(inside.remove(place)),
            }
        }
        let header = if dice.happens(800) { PADDED.encode(&inside).into_bytes() } else { inside };
        let Ok(value) = http::HeaderValue::from_bytes(&header) else { continue };
        let headers = HeaderMap::from_iter([(http::HeaderName::from_static("x-payment"), value)]);
        let Ok(Some(credential)) = from_headers(&headers) else { continue };
        let _ = identifier(&credential);
        let _ = Permit2Authorization::read(&credential);
        if let Ok(checked) = x402.read(credential).check(&terms()) {
            assert!(poll_once(checked.session.verify()).is_some());
        }
    }
    let deep = [vec![b'['; 6_000], vec![b']'; 6_000]].concat();
    assert!(Permit2Authorization::read(&Credential(deep)).is_err());
}
