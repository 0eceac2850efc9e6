//! A credential beside the one of the official client.

use super::super::challenge::{ChallengeExpectations, MppOffers};
use super::*;
use crate::payer_key::file;
use crate::values::amount::UsdcAmount;
use crate::values::header_json::decode_mpp;

const KEY: &str = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a";
const VECTOR: &str = include_str!("mppx.json");

/// To the last byte of the signature, and with everything echoed.
#[test]
fn a_challenge_is_answered_as_the_official_client_answers_it() {
    let vector: Value = serde_json::from_str(VECTOR).unwrap();
    let text = |name: &str| vector[name].as_str().unwrap();
    let header = std::iter::once(text("www_authenticate"));
    let challenge = MppOffers::read(header, &Value::Null).unwrap();
    let expected = ChallengeExpectations {
        most: UsdcAmount::from_atomic(3_500_000),
        network: None,
        body: text("body").as_bytes(),
        now: vector["now"].as_u64().unwrap(),
    };
    let terms = challenge.choose(&expected).unwrap();
    let header = sign(&terms, &file::parse(KEY).unwrap());
    let token = header.strip_prefix("Payment ").unwrap();
    assert_eq!(decode_mpp(token).unwrap(), vector["credential"]);
}

#[test]
fn a_nonce_is_that_of_the_draft() {
    let packed = "0x5a0fc55509f7d12adb07939181237dfb784515af39195c1ddf0359418fd554d5";
    assert_eq!(hex::encode(&nonce("challenge", "example.com")), packed);
}
