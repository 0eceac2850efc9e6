//! A credential with any one of its fields changed pays nothing, and nobody outside hears of
//! it.

use super::*;

/// Every place in a credential that holds a single value, as a JSON pointer.
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
    let mut places = Vec::new();
    leaves(credential, "", &mut places);
    places
}

/// Other texts, and other things than texts.
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

/// What is wrong with a credential if the text at a place is another one that reads.
fn expected(place: &str) -> &'static [Flaw] {
    match place {
        place if place.starts_with("/challenge/") => &[Flaw::Challenge],
        "/payload/type" => &[Flaw::Malformed],
        "/source" => &[Flaw::Unverified],
        // Another text may be none of its kind any more.
        _ => &[Flaw::Unverified, Flaw::Malformed],
    }
}

#[test]
fn whatever_single_field_is_changed_nothing_is_paid_and_nobody_is_asked() {
    let mut tried = 0;
    for nonce in [Nonce::Packed, Nonce::Framed] {
        let credential = honest(nonce);
        let places = all_leaves(&credential);
        assert_eq!(places.len(), 18, "{places:?}");
        for place in &places {
            let (texts, things) = others(credential.pointer(place).unwrap());
            for other in texts.iter().chain(&things) {
                let mut tampered = credential.clone();
                *tampered.pointer_mut(place).unwrap() = other.clone();
                let flaw = refused(&tampered, &terms());
                if texts.contains(other) {
                    assert!(expected(place).contains(&flaw), "{place}: {other} {flaw:?}");
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 300, "{tried}");
}

#[test]
fn no_field_that_carries_the_payment_can_be_left_out() {
    let credential = honest(Nonce::Packed);
    for place in all_leaves(&credential) {
        let mut tampered = credential.clone();
        let (parent, name) = place.rsplit_once('/').unwrap();
        tampered.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name);
        // For people, and for nobody.
        if ["/challenge/description", "/source"].contains(&place.as_str()) {
            accepted(&tampered);
        } else {
            refused(&tampered, &terms());
        }
    }
    for part in ["challenge", "payload"] {
        let mut tampered = credential.clone();
        tampered.as_object_mut().unwrap().remove(part);
        assert_eq!(refused(&tampered, &terms()), Flaw::Malformed);
    }
}

#[test]
fn a_payload_of_x402_with_any_field_changed_pays_nothing() {
    let payload = by_x402();
    let mut tried = 0;
    for place in all_leaves(&payload) {
        let (texts, things) = others(payload.pointer(&place).unwrap());
        // The version aside, without which it is not sent as one of x402's at all.
        for other in texts.iter().chain(&things) {
            let mut tampered = payload.clone();
            *tampered.pointer_mut(&place).unwrap() = other.clone();
            refused(&tampered, &terms());
            tried += 1;
        }
    }
    assert!(tried > 150, "{tried}");
}

/// Each member as somebody would change it who can sign what comes out.
#[test]
fn a_good_signature_makes_no_other_transfer_good() {
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
        let mut credential = honest(Nonce::Packed);
        credential["payload"][member] = value.clone();
        Payer::new().sign_transfer(&mut credential);
        assert_eq!(refused(&credential, &terms()), Flaw::Unverified, "{member}: {value}");

        let mut payload = by_x402();
        payload["payload"]["authorization"][member] = value.clone();
        Payer::new().sign_exact(&mut payload);
        if member == "nonce" {
            accepted(&payload);
        } else {
            assert_eq!(refused(&payload, &terms()), Flaw::Unverified, "{member}: {value}");
        }
    }
}

#[test]
fn a_nonce_answers_its_own_challenge_and_no_other() {
    let (one, two) = (honest(Nonce::Packed), honest(Nonce::Framed));
    let mut crossed = one.clone();
    crossed["challenge"] = two["challenge"].clone();
    assert_eq!(refused(&crossed, &terms()), Flaw::Unverified);
}

#[test]
fn a_payer_who_is_named_is_the_one_who_signed() {
    let somebody = EvmAddress::from_bytes([0x99; 20]);
    let own = Payer::new().address();
    for source in [
        format!("did:pkh:eip155:8453:{somebody}"),
        format!("did:pkh:eip155:137:{own}"),
        format!("did:key:eip155:8453:{own}"),
        format!("eip155:8453:{own}"),
        format!("did:pkh:eip155:8453{own}"),
        own.to_string(),
        String::new(),
    ] {
        let mut credential = honest(Nonce::Packed);
        credential["source"] = source.clone().into();
        assert_eq!(refused(&credential, &terms()), Flaw::Unverified, "{source}");
    }
}

#[test]
fn other_types_of_credential_are_not_offered() {
    for kind in ["transaction", "hash", "permit2", "Authorization", ""] {
        let mut credential = honest(Nonce::Packed);
        credential["payload"]["type"] = kind.into();
        assert_eq!(refused(&credential, &terms()), Flaw::Malformed, "{kind}");
    }
}
