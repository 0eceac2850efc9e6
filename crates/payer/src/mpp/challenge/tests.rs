//! Challenges that a payer answers, and those that it does not.

use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use super::*;

const CEILING: UsdcAmount = UsdcAmount::from_atomic(3_500_000);
const PAYEE: &str = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";
const CARD: &[u8] = br#"{"message":"Hello"}"#;
/// Ten minutes before the challenge runs out.
const NOW: u64 = 1_794_709_007;

const EXPECTED: ChallengeExpectations<'_> =
    ChallengeExpectations { most: CEILING, network: None, body: CARD, now: NOW };

fn request() -> Value {
    json!({
        "amount": "3500000",
        "currency": NETWORK.usdc().to_string(),
        "methodDetails": {
            "chainId": 8453, "credentialTypes": ["permit2", "authorization"], "decimals": 6,
        },
        "recipient": PAYEE,
    })
}

fn parameters(request: &Value) -> Parameters {
    let request = URL_SAFE_NO_PAD.encode(request.to_string());
    let pairs = [
        ("id", "qB6pM7gkXf1s"),
        ("realm", "cards.example"),
        ("method", "evm"),
        ("intent", "charge"),
        ("request", &request),
        ("description", "One 4x6 postcard"),
        ("expires", "2026-11-15T02:26:47Z"),
        ("digest", "sha-256=:vQ1idAbORUOasXueJu1W3mZlF+AHBdTqhXVO9iS+KOQ=:"),
    ];
    pairs.map(|(name, text)| (name.to_owned(), text.to_owned())).into()
}

fn header(parameters: &Parameters) -> String {
    let pairs: Vec<_> =
        parameters.iter().map(|(name, text)| format!("{name}=\"{text}\"")).collect();
    format!("{SCHEME} {}", pairs.join(", "))
}

fn read(headers: &[String]) -> Option<MppOffers> {
    let body = json!({ "public_order_id": "9f2c1e7ab04d4d6c8a53f0e1d2b7c694" });
    MppOffers::read(headers.iter().map(String::as_str), &body)
}

pub(crate) fn challenge() -> MppOffers {
    read(&[header(&parameters(&request()))]).unwrap()
}

#[track_caller]
fn objections(parameters: &Parameters, expected: &ChallengeExpectations<'_>) -> Vec<String> {
    read(&[header(parameters)]).unwrap().choose(expected).unwrap_err()
}

#[test]
fn a_good_challenge_is_taken_whatever_stands_beside_it() {
    let challenge = challenge();
    let terms = challenge.choose(&EXPECTED).unwrap();
    assert_eq!((terms.id, terms.realm), ("qB6pM7gkXf1s", "cards.example"));
    assert_eq!((terms.amount, terms.expires), (CEILING, NOW + 600));
    assert_eq!(terms.recipient.to_string(), PAYEE);
    assert_eq!(challenge.order.as_deref(), Some("9f2c1e7ab04d4d6c8a53f0e1d2b7c694"));
    let other = r#"Bearer realm="x", Payment id="1", realm="r", method="tempo", intent="charge""#;
    let several = [other.to_owned(), header(&parameters(&request()))];
    let several = read(&several).unwrap();
    assert_eq!(several.choose(&EXPECTED).unwrap().id, "qB6pM7gkXf1s");
    let base = ChallengeExpectations { network: Some(PaymentNetwork::Base), ..EXPECTED };
    assert!(challenge.choose(&base).is_ok());
}

#[test]
fn nothing_above_the_limit_or_on_another_network_is_signed() {
    let good = parameters(&request());
    let limited = ChallengeExpectations { most: UsdcAmount::from_atomic(3_499_999), ..EXPECTED };
    let words = objections(&good, &limited);
    assert_eq!(words.len(), 1);
    assert!(words[0].contains("3.50 USDC and allow 3.499999"), "{words:?}");
    let polygon = ChallengeExpectations { network: Some(PaymentNetwork::Polygon), ..EXPECTED };
    assert!(objections(&good, &polygon)[0].contains("not the network that you named"));
}

/// Each parameter bent alone, and the word by which the objection names it.
#[test]
fn a_challenge_that_is_bent_anywhere_is_not_signed() {
    let bent = [
        ("method", "tempo", "method"),
        ("intent", "session", "intent"),
        ("id", "", "id"),
        ("realm", "", "realm"),
        ("header", "Payment-Authorization", "header"),
        ("expires", "", "expires"),
        ("expires", "soon", "expires"),
        ("expires", "2026-11-15T02:16:47Z", "expires"),
        ("expires", "2026-11-15T03:16:48Z", "expires"),
        ("digest", "", "digest"),
        ("digest", "sha-256=:AAAA:", "digest"),
    ];
    for (name, text, word) in bent {
        let mut parameters = parameters(&request());
        parameters.insert(name.to_owned(), text.to_owned());
        let words = objections(&parameters, &EXPECTED);
        assert_eq!(words.len(), 1, "{name} {text}: {words:?}");
        assert!(words[0].contains(word), "{name} {text}: {words:?}");
    }
    let other_card = ChallengeExpectations { body: b"{}", ..EXPECTED };
    assert!(objections(&parameters(&request()), &other_card)[0].contains("digest"));
}

/// The same for what is asked for.
#[test]
fn a_request_that_is_bent_anywhere_is_not_signed() {
    let bent = [
        ("/amount", json!("-1"), "amount"),
        ("/amount", json!("0x10"), "amount"),
        ("/amount", json!(3_500_000), "amount"),
        ("/currency", json!(PaymentNetwork::Polygon.usdc().to_string()), "currency"),
        ("/currency", json!(null), "currency"),
        ("/recipient", json!("0x0000000000000000000000000000000000000000"), "recipient"),
        ("/recipient", json!("alice.eth"), "recipient"),
        ("/methodDetails/chainId", json!(137), "chain"),
        ("/methodDetails/chainId", json!("8453"), "chain"),
        ("/methodDetails/credentialTypes", json!(["hash"]), "credentialTypes"),
        ("/methodDetails/credentialTypes", json!(null), "credentialTypes"),
        ("/methodDetails/decimals", json!(18), "decimals"),
    ];
    for (place, value, word) in bent {
        let mut request = request();
        *request.pointer_mut(place).unwrap() = value.clone();
        let words = objections(&parameters(&request), &EXPECTED);
        assert_eq!(words.len(), 1, "{place} {value}: {words:?}");
        assert!(words[0].contains(word), "{place} {value}: {words:?}");
    }
    let mut split = request();
    split["methodDetails"]["splits"] = json!([{ "recipient": PAYEE, "amount": "1" }]);
    assert!(objections(&parameters(&split), &EXPECTED)[0].contains("more than one account"));
}

#[test]
fn all_objections_are_reported_together() {
    let mut request = request();
    request["amount"] = json!("3500001");
    request["currency"] = json!(PAYEE);
    let mut parameters = parameters(&request);
    parameters.insert("method".to_owned(), "tempo".to_owned());
    parameters.remove("digest");
    assert_eq!(objections(&parameters, &EXPECTED).len(), 4);
    parameters.insert("request".to_owned(), "no base64!".to_owned());
    assert!(objections(&parameters, &EXPECTED).len() > 4);
}

#[test]
fn the_official_clients_way_of_writing_a_digest_fits_too() {
    let mut parameters = parameters(&request());
    let bare = "sha-256=vQ1idAbORUOasXueJu1W3mZlF+AHBdTqhXVO9iS+KOQ=";
    parameters.insert("digest".to_owned(), bare.to_owned());
    assert!(read(&[header(&parameters)]).unwrap().choose(&EXPECTED).is_ok());
}

#[test]
fn a_header_that_is_no_challenge_is_none() {
    for header in ["", "Bearer realm=\"x\"", "Payment id=\"cut"] {
        assert_eq!(read(&[header.to_owned()]), None, "{header}");
    }
}
