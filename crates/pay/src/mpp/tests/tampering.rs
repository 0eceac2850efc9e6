//! A credential with any changed field is rejected without a call to the settler.

use super::*;

/// JSON pointers to all scalar values of a credential.
fn leaves(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| leaves(value, &format!("{at}/{name}"), found))
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(place, item)| leaves(item, &format!("{at}/{place}"), found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            found.push(at.to_owned());
        }
    }
}

fn all_leaves(credential: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    leaves(credential, "", &mut paths);
    paths
}

/// Other strings, and values that are not strings.
fn others(value: &Value) -> (Vec<Value>, Vec<Value>) {
    let Value::String(text) = value else {
        let number = value.as_u64().unwrap();
        return (vec![json!(number + 1), json!(number - 1)], vec![json!(number.to_string())]);
    };
    let start = if text.starts_with("0x") { 2 } else { 0 };
    let turned = |place: usize| {
        let letter = if text.as_bytes()[place] == b'1' { "2" } else { "1" };
        format!("{}{letter}{}", &text[..place], &text[place + 1..])
    };
    let texts = vec![
        json!(turned(start)),
        json!(turned(text.len() / 2)),
        json!(turned(text.len() - 1)),
        json!(format!("{text}1")),
        json!(format!("1{text}")),
        json!(text[..text.len() - 1]),
    ];
    (texts, vec![json!({ "was": text }), json!(7), json!(true), json!([text])])
}

/// The problem of a credential with another valid string at this pointer.
fn expected(place: &str) -> &'static [CredentialProblem] {
    match place {
        place if place.starts_with("/challenge/") => &[CredentialProblem::InvalidChallenge],
        "/payload/type" => &[CredentialProblem::Malformed],
        "/source" => &[CredentialProblem::VerificationFailed],
        // Another string may not be parsed.
        _ => &[CredentialProblem::VerificationFailed, CredentialProblem::Malformed],
    }
}

#[test]
fn a_credential_with_any_changed_field_is_rejected_without_a_call_to_the_settler() {
    let mut tried = 0;
    for nonce in [Nonce::Packed, Nonce::Framed] {
        let credential = correct(nonce);
        let paths = all_leaves(&credential);
        assert_eq!(paths.len(), 18, "{paths:?}");
        for place in &paths {
            let (texts, things) = others(credential.pointer(place).unwrap());
            for other in texts.iter().chain(&things) {
                let mut tampered = credential.clone();
                *tampered.pointer_mut(place).unwrap() = other.clone();
                let problem = refused(&tampered, &terms());
                if texts.contains(other) {
                    assert!(expected(place).contains(&problem), "{place}: {other} {problem:?}");
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 300, "{tried}");
}

#[test]
fn a_credential_without_a_required_field_is_rejected() {
    let credential = correct(Nonce::Packed);
    for place in all_leaves(&credential) {
        let mut tampered = credential.clone();
        let (parent, name) = place.rsplit_once('/').unwrap();
        tampered.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name);
        // Not checked.
        if ["/challenge/description", "/source"].contains(&place.as_str()) {
            accepted(&tampered);
        } else {
            refused(&tampered, &terms());
        }
    }
    for part in ["challenge", "payload"] {
        let mut tampered = credential.clone();
        tampered.as_object_mut().unwrap().remove(part);
        assert_eq!(refused(&tampered, &terms()), CredentialProblem::Malformed);
    }
}

#[test]
fn an_x402_exact_payload_with_any_changed_field_is_rejected() {
    let payload = by_x402();
    let mut tried = 0;
    for place in all_leaves(&payload) {
        let (texts, things) = others(payload.pointer(&place).unwrap());
        // Except the version, without which the fixture does not send it as an x402 payload.
        for other in texts.iter().chain(&things) {
            let mut tampered = payload.clone();
            *tampered.pointer_mut(&place).unwrap() = other.clone();
            refused(&tampered, &terms());
            tried += 1;
        }
    }
    assert!(tried > 150, "{tried}");
}

/// Every member changed and the transfer signed again.
#[test]
fn a_correctly_signed_transfer_with_other_terms_is_rejected() {
    let thief = EvmAddress::from_bytes([0xee; 20]).to_string();
    let nonce = format!("0x{}", "11".repeat(32));
    for (member, value) in [
        ("to", json!(thief)),
        ("value", json!("3500001")),
        ("value", json!("3499999")),
        ("value", json!("0")),
        ("nonce", json!(nonce)),
        ("from", json!(thief)),
        ("validBefore", json!(NOW.0.to_string())),
        ("validAfter", json!((NOW.0 + 5).to_string())),
    ] {
        let mut credential = correct(Nonce::Packed);
        credential["payload"][member] = value.clone();
        Payer::new().sign_transfer(&mut credential);
        assert_eq!(
            refused(&credential, &terms()),
            CredentialProblem::VerificationFailed,
            "{member}: {value}"
        );

        let mut payload = by_x402();
        payload["payload"]["authorization"][member] = value.clone();
        Payer::new().sign_exact(&mut payload);
        if member == "nonce" {
            accepted(&payload);
        } else {
            assert_eq!(
                refused(&payload, &terms()),
                CredentialProblem::VerificationFailed,
                "{member}: {value}"
            );
        }
    }
}

#[test]
fn a_nonce_of_another_challenge_is_rejected() {
    let (one, two) = (correct(Nonce::Packed), correct(Nonce::Framed));
    let mut crossed = one.clone();
    crossed["challenge"] = two["challenge"].clone();
    assert_eq!(refused(&crossed, &terms()), CredentialProblem::VerificationFailed);
}

#[test]
fn a_source_must_be_the_account_that_signed() {
    let other = EvmAddress::from_bytes([0x99; 20]);
    let own = Payer::new().address();
    for source in [
        format!("did:pkh:eip155:8453:{other}"),
        format!("did:pkh:eip155:137:{own}"),
        format!("did:key:eip155:8453:{own}"),
        format!("eip155:8453:{own}"),
        format!("did:pkh:eip155:8453{own}"),
        own.to_string(),
        String::new(),
    ] {
        let mut credential = correct(Nonce::Packed);
        credential["source"] = source.clone().into();
        assert_eq!(
            refused(&credential, &terms()),
            CredentialProblem::VerificationFailed,
            "{source}"
        );
    }
}

#[test]
fn a_signature_of_a_smart_wallet_is_rejected_with_where_it_can_pay() {
    for length in [65, 66, 130, 500] {
        let mut credential = correct(Nonce::Packed);
        credential["payload"]["signature"] = format!("0x{}", "1b".repeat(length)).into();
        let (result, settler) = verify(FakeSettler::good(), sent(&credential), &terms());
        assert_eq!(settler.calls(), Vec::<&str>::new());
        let Err(Rejection::Invalid(told)) = result else { panic!("{result:?}") };
        let (problem, reason) = CredentialProblem::split(&told);
        assert_eq!(problem, CredentialProblem::VerificationFailed);
        assert!(reason.contains("x402 at /api/x402/postcards"), "{reason}");
    }
}

#[test]
fn a_malformed_signature_is_not_taken_for_one_of_a_smart_wallet() {
    let long = format!("0x{}", "1b".repeat(66));
    let short = format!("0x{}", "1b".repeat(64));
    for (signature, value) in [(short.as_str(), "3500000"), ("", "3500000"), (&long, "3.5")] {
        let mut credential = correct(Nonce::Packed);
        credential["payload"]["signature"] = signature.into();
        credential["payload"]["value"] = value.into();
        assert_eq!(refused(&credential, &terms()), CredentialProblem::Malformed, "{signature}");
    }
}

#[test]
fn a_nonce_has_its_prefix_and_all_its_digits() {
    for nonce in ["0x01".to_owned(), "11".repeat(33), format!("0x{}", "11".repeat(33))] {
        let mut credential = correct(Nonce::Packed);
        credential["payload"]["nonce"] = nonce.as_str().into();
        assert_eq!(refused(&credential, &terms()), CredentialProblem::Malformed, "{nonce}");
    }
}

#[test]
fn other_credential_types_are_rejected() {
    for kind in ["transaction", "hash", "permit2", "Authorization", ""] {
        let mut credential = correct(Nonce::Packed);
        credential["payload"]["type"] = kind.into();
        assert_eq!(refused(&credential, &terms()), CredentialProblem::Malformed, "{kind}");
    }
}
