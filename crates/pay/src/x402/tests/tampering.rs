//! A payload with any changed field is rejected without a call to the settler.

use super::*;

/// JSON pointers to all scalar values of a payload.
fn leaves(value: &Value, at: &str, found: &mut Vec<String>) {
    let mut inside = |name: &str, value: &Value| {
        let name = name.replace('~', "~0").replace('/', "~1");
        leaves(value, &format!("{at}/{name}"), found);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| inside(name, value)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(place, item)| inside(&place.to_string(), item));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            found.push(at.to_owned());
        }
    }
}

/// Other values of the same type and of other types.
fn others(value: &Value) -> Vec<Value> {
    match value {
        Value::Bool(value) => vec![json!(!value), json!("true"), json!(1)],
        Value::Number(value) => {
            let number = value.as_u64().unwrap();
            vec![json!(number + 1), json!(number - 1), json!(number.to_string()), json!(-1)]
        }
        Value::String(text) => {
            let start = if text.starts_with("0x") { 2 } else { 0 };
            let turned = |place: usize| {
                let letter = if text.as_bytes()[place] == b'1' { "2" } else { "1" };
                format!("{}{letter}{}", &text[..place], &text[place + 1..])
            };
            vec![
                json!(turned(start)),
                json!(turned(text.len() / 2)),
                json!(turned(text.len() - 1)),
                json!(format!("{text}1")),
                json!(text[..text.len() - 1]),
                json!({ "was": text }),
                json!(7),
                json!(true),
            ]
        }
        Value::Null | Value::Array(_) | Value::Object(_) => panic!("{value} is no leaf"),
    }
}

#[test]
fn a_credential_with_any_changed_field_is_rejected_without_a_call_to_the_settler() {
    let mut payload = sponsored(Network::Base);
    payload["extensions"]["payment-identifier"]["info"]["id"] = "pay_0123456789abcdef".into();
    accepted(&payload);
    // Chosen by the payer; any value is accepted.
    let free = "/extensions/payment-identifier/info/id";
    let mut places = Vec::new();
    leaves(&payload, "", &mut places);
    assert!(places.len() > 100, "{}", places.len());
    let mut tried = 0;
    for place in places.iter().filter(|place| *place != free) {
        let correct = payload.pointer(place).unwrap();
        for other in others(correct) {
            let mut tampered = payload.clone();
            *tampered.pointer_mut(place).unwrap() = other;
            refused(&tampered, &terms());
            tried += 1;
        }
    }
    assert!(tried > 500, "{tried}");
}

#[test]
fn a_credential_without_a_required_field_is_rejected() {
    let payload = sponsored(Network::Base);
    let mut places = Vec::new();
    leaves(&payload, "", &mut places);
    let carries = |place: &&String| {
        place.starts_with("/payload") || place.starts_with("/accepted") || place.contains("/info/")
    };
    for place in places.iter().filter(carries) {
        let mut tampered = payload.clone();
        let (parent, name) = place.rsplit_once('/').unwrap();
        tampered.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name);
        refused(&tampered, &terms());
    }
}

#[test]
fn the_reason_of_a_rejection_names_the_field() {
    let authorization = "/payload/permit2Authorization";
    let permit = "/extensions/eip2612GasSponsoring/info";
    let other = EvmAddress::from_bytes([0xee; 20]).to_string();
    let cases = [
        ("", "/x402Version", json!(1), "invalid_x402_version"),
        ("", "/accepted/scheme", json!("exact"), "No matching payment requirements"),
        ("", "/accepted/network", json!("eip155:137"), "No matching payment requirements"),
        ("", "/accepted/amount", json!("3500001"), "No matching payment requirements"),
        ("", "/accepted/asset", json!(other), "No matching payment requirements"),
        ("", "/accepted/payTo", json!(other), "invalid_permit2_recipient_mismatch"),
        ("", "/accepted/maxTimeoutSeconds", json!(601), "No matching payment requirements"),
        ("", "/accepted/extra/name", json!("USDC"), "No matching payment requirements"),
        ("", "/accepted/extra/facilitatorAddress", json!(other), "upto_facilitator_mismatch"),
        (authorization, "/from", json!(other), "invalid_permit2_signature"),
        (authorization, "/permitted/token", json!(other), "permit2_token_mismatch"),
        (authorization, "/permitted/amount", json!("3500001"), "permit2_amount_mismatch"),
        (authorization, "/permitted/amount", json!("1"), "permit2_amount_mismatch"),
        (authorization, "/spender", json!(other), "invalid_permit2_spender"),
        (authorization, "/nonce", json!("1"), "invalid_permit2_signature"),
        (authorization, "/deadline", json!("1790000601"), "invalid_permit2_signature"),
        (authorization, "/deadline", json!("1790000001"), "permit2_deadline_expired"),
        (authorization, "/witness/to", json!(other), "invalid_permit2_recipient_mismatch"),
        (authorization, "/witness/facilitator", json!(other), "upto_facilitator_mismatch"),
        (authorization, "/witness/validAfter", json!("1790000001"), "permit2_not_yet_valid"),
        (permit, "/from", json!(other), "eip2612_from_mismatch"),
        (permit, "/asset", json!(other), "eip2612_asset_mismatch"),
        (permit, "/spender", json!(other), "eip2612_spender_not_permit2"),
        (permit, "/amount", json!("3500001"), "permit2_2612_amount_mismatch"),
        (permit, "/nonce", json!("1"), "invalid_eip2612_signature"),
        (permit, "/deadline", json!("1790000601"), "invalid_eip2612_signature"),
        (permit, "/deadline", json!("1790000059"), "eip2612_deadline_expired"),
        (permit, "/version", json!("2"), "extension_echo_mismatch"),
    ];
    for (base, place, value, reason) in cases {
        let mut tampered = sponsored(Network::Base);
        *tampered.pointer_mut(&format!("{base}{place}")).unwrap() = value;
        assert_eq!(refused(&tampered, &terms()), reason, "{base}{place}");
    }
}

#[test]
fn a_facilitator_that_is_not_ours_is_rejected_even_if_both_sides_name_it() {
    let mut payload = correct(Network::Base);
    let thief = EvmAddress::from_bytes([0xee; 20]).to_string();
    payload["accepted"]["extra"]["facilitatorAddress"] = thief.clone().into();
    payload["payload"]["permit2Authorization"]["witness"]["facilitator"] = thief.into();
    Payer::new().sign(&mut payload);
    assert_eq!(refused(&payload, &terms()), "upto_facilitator_mismatch");
}

#[test]
fn an_authorization_for_one_network_is_rejected_on_every_other() {
    let signed = correct(Network::Base)["payload"]["signature"].clone();
    for network in [Network::Polygon, Network::Arbitrum] {
        let mut payload = correct(network);
        assert_ne!(payload["payload"]["signature"], signed);
        payload["payload"]["signature"] = signed.clone();
        assert_eq!(refused(&payload, &terms()), "invalid_permit2_signature");
    }
}

#[test]
fn a_payment_for_another_resource_is_rejected() {
    let mut payload = correct(Network::Base);
    let victim = EvmAddress::from_bytes([0x99; 20]).to_string();
    payload["payload"]["permit2Authorization"]["from"] = victim.into();
    Payer::new().sign(&mut payload);
    assert_eq!(refused(&payload, &terms()), "invalid_permit2_signature");
}
