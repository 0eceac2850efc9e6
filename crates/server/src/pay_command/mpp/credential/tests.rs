//! A credential beside the one of the official client.

use order::model::money::CEILING;

use super::super::challenge::{Challenge, Expected, decoded};
use super::*;

const KEY: &str = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a";
const VECTOR: &str = include_str!("mppx.json");

/// To the last byte of the signature, and with everything echoed.
#[test]
fn a_challenge_is_answered_as_the_official_client_answers_it() {
    let vector: Value = serde_json::from_str(VECTOR).unwrap();
    let text = |name: &str| vector[name].as_str().unwrap();
    let header = std::iter::once(text("www_authenticate"));
    let challenge = Challenge::read(header, &Value::Null).unwrap();
    let expected = Expected {
        most: CEILING,
        network: None,
        body: text("body").as_bytes(),
        now: vector["now"].as_u64().unwrap(),
    };
    let terms = challenge.choose(&expected).unwrap();
    let header = sign(&terms, &Wallet::parse(KEY).unwrap());
    let token = header.strip_prefix("Payment ").unwrap();
    assert_eq!(decoded(token).unwrap(), vector["credential"]);
}
