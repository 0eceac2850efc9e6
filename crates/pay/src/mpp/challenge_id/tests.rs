//! Challenge ids, compared with those of the official packages.

use super::super::fixture::{EARLIER_SECRET, SECRET, secret};
use super::*;

const PARTS: ChallengeParameters<'static> = ChallengeParameters {
    realm: "cards.example",
    method: "evm",
    intent: "charge",
    request: "eyJhbW91bnQiOiIzNTAwMDAwIn0",
    expires: "2026-11-15T09:30:00Z",
    digest: "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:",
    opaque: "eyJub25jZSI6IjEifQ",
};

fn made(secrets: &ChallengeSecrets, parts: &ChallengeParameters<'_>) -> String {
    secrets.partial_id(parts).complete(parts)
}

fn id(secret: &str, parts: &ChallengeParameters<'_>) -> String {
    URL_SAFE_NO_PAD.encode(hash_own(hash_shared(&keyed(secret.as_bytes()), parts), parts).sign())
}

/// The vector that the official packages share.
#[test]
fn the_id_is_that_of_the_published_vector() {
    let request = URL_SAFE_NO_PAD.encode(
        r#"{"amount":"1000000","currency":"0x20c0000000000000000000000000000000000000","recipient":"0x1234567890abcdef1234567890abcdef12345678"}"#,
    );
    let parts = ChallengeParameters {
        realm: "api.example.com",
        method: "tempo",
        request: &request,
        expires: "",
        digest: "",
        opaque: "",
        ..PARTS
    };
    assert_eq!(id("test-secret-key-12345", &parts), "XmJ98SdsAdzwP9Oa-8In322Uh6yweMO6rywdomWk_V4");
}

/// An answer of the official merchant, with a known secret.
#[test]
fn the_id_is_that_of_the_official_merchant() {
    let request = URL_SAFE_NO_PAD.encode(
        r#"{"amount":"3500000","currency":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","methodDetails":{"chainId":8453,"credentialTypes":["authorization"],"decimals":6},"recipient":"0x90F79bf6EB2c4f870365E785982E1f101E93b906"}"#,
    );
    let parts = ChallengeParameters {
        realm: "127.0.0.1",
        request: &request,
        expires: "2026-11-15T02:26:47.031Z",
        digest: "",
        opaque: "",
        ..PARTS
    };
    let expected = "gRxhqqosdVelXpG_SxIBkx6qbqVehFFHaB6jgnGNFJo";
    assert_eq!(id("oracle-development-secret-key-32b", &parts), expected);
}

#[test]
fn an_id_depends_on_every_parameter() {
    let secrets = ChallengeSecrets::new(secret(SECRET), &[]);
    let id = made(&secrets, &PARTS);
    assert_eq!(secrets.origin(&id, &PARTS), ChallengeOrigin::Ours);
    for other in [
        ChallengeParameters { realm: "cards.example.", ..PARTS },
        ChallengeParameters { method: "tempo", ..PARTS },
        ChallengeParameters { intent: "session", ..PARTS },
        ChallengeParameters { request: "eyJhbW91bnQiOiIzNTAwMDAxIn0", ..PARTS },
        ChallengeParameters { expires: "2026-11-15T09:30:01Z", ..PARTS },
        ChallengeParameters { expires: "", ..PARTS },
        ChallengeParameters { digest: "", ..PARTS },
        ChallengeParameters { opaque: "eyJub25jZSI6IjIifQ", ..PARTS },
        ChallengeParameters { digest: PARTS.opaque, opaque: PARTS.digest, ..PARTS },
    ] {
        assert_ne!(made(&secrets, &other), id);
        assert_eq!(secrets.origin(&id, &other), ChallengeOrigin::Foreign);
    }
}

#[test]
fn earlier_secrets_verify_and_the_newest_signs() {
    let yesterday = ChallengeSecrets::new(secret(EARLIER_SECRET), &[]);
    let today = ChallengeSecrets::new(secret(SECRET), &[secret(EARLIER_SECRET)]);
    let tomorrow = ChallengeSecrets::new(secret(SECRET), &[]);
    let old = made(&yesterday, &PARTS);
    assert_eq!(today.origin(&old, &PARTS), ChallengeOrigin::Ours);
    assert_eq!(tomorrow.origin(&old, &PARTS), ChallengeOrigin::Foreign);
    let new = made(&today, &PARTS);
    assert_ne!(new, old);
    assert_eq!(tomorrow.origin(&new, &PARTS), ChallengeOrigin::Ours);
    assert_eq!(yesterday.origin(&new, &PARTS), ChallengeOrigin::Foreign);
}

#[test]
fn an_id_has_only_one_encoding() {
    let secrets = ChallengeSecrets::new(secret(SECRET), &[]);
    let id = made(&secrets, &PARTS);
    assert_eq!(id.len(), 43);
    let other = |text: String| {
        assert_eq!(secrets.origin(&text, &PARTS), ChallengeOrigin::Foreign, "{text}")
    };
    other(format!("{id}="));
    other(format!("{id} "));
    other(id[..42].to_owned());
    other(String::new());
    other(id.to_ascii_uppercase());
    // The last character has two bits that belong to no byte.
    for last in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".chars() {
        if !id.ends_with(last) {
            other(format!("{}{last}", &id[..42]));
        }
    }
}

#[test]
fn a_realm_is_ascii_that_needs_no_escaping() {
    for good in ["cards.example", "127.0.0.1", "Cards of the house", "a"] {
        assert_eq!(Realm::parse(good).unwrap().as_str(), good);
    }
    let long = "a".repeat(201);
    for bad in ["", " ", " a", "a ", "a\"b", "a\\b", "a|b", "a\nb", "caf\u{e9}", long.as_str()] {
        assert!(Realm::parse(bad).unwrap_err().contains("host name"), "{bad}");
    }
}
