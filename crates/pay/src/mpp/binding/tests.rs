//! Ids, against those that the official packages compute.

use super::super::samples::{EARLIER_SECRET, SECRET, secret};
use super::*;

const PARTS: Parts<'static> = Parts {
    realm: "cards.example",
    method: "evm",
    intent: "charge",
    request: "eyJhbW91bnQiOiIzNTAwMDAwIn0",
    expires: "2026-11-15T09:30:00Z",
    digest: "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:",
    opaque: "eyJub25jZSI6IjEifQ",
};

fn made(secrets: &Secrets, parts: &Parts<'_>) -> String {
    secrets.begin(parts).id(parts)
}

fn id(secret: &str, parts: &Parts<'_>) -> String {
    URL_SAFE_NO_PAD.encode(mixed(&keyed(secret.as_bytes()), parts).finalize().into_bytes())
}

/// The vector that the official packages share.
#[test]
fn the_shared_vector_gives_its_id() {
    let request = URL_SAFE_NO_PAD.encode(
        r#"{"amount":"1000000","currency":"0x20c0000000000000000000000000000000000000","recipient":"0x1234567890abcdef1234567890abcdef12345678"}"#,
    );
    let parts = Parts {
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

/// What the official merchant answered, bound with a known secret.
#[test]
fn a_challenge_of_the_official_merchant_gives_its_id() {
    let request = URL_SAFE_NO_PAD.encode(
        r#"{"amount":"3500000","currency":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","methodDetails":{"chainId":8453,"credentialTypes":["authorization"],"decimals":6},"recipient":"0x90F79bf6EB2c4f870365E785982E1f101E93b906"}"#,
    );
    let parts = Parts {
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
fn an_id_depends_on_every_part() {
    let secrets = Secrets::new(secret(SECRET), &[]);
    let id = made(&secrets, &PARTS);
    assert_eq!(secrets.bound(&id, &PARTS), Bound::ByUs);
    for other in [
        Parts { realm: "cards.example.", ..PARTS },
        Parts { method: "tempo", ..PARTS },
        Parts { intent: "session", ..PARTS },
        Parts { request: "eyJhbW91bnQiOiIzNTAwMDAxIn0", ..PARTS },
        Parts { expires: "2026-11-15T09:30:01Z", ..PARTS },
        Parts { expires: "", ..PARTS },
        Parts { digest: "", ..PARTS },
        Parts { opaque: "eyJub25jZSI6IjIifQ", ..PARTS },
        Parts { digest: PARTS.opaque, opaque: PARTS.digest, ..PARTS },
    ] {
        assert_ne!(made(&secrets, &other), id);
        assert_eq!(secrets.bound(&id, &other), Bound::NotByUs);
    }
}

#[test]
fn what_an_earlier_secret_bound_still_holds_and_the_newest_binds() {
    let yesterday = Secrets::new(secret(EARLIER_SECRET), &[]);
    let today = Secrets::new(secret(SECRET), &[secret(EARLIER_SECRET)]);
    let tomorrow = Secrets::new(secret(SECRET), &[]);
    let old = made(&yesterday, &PARTS);
    assert_eq!(today.bound(&old, &PARTS), Bound::ByUs);
    assert_eq!(tomorrow.bound(&old, &PARTS), Bound::NotByUs);
    let new = made(&today, &PARTS);
    assert_ne!(new, old);
    assert_eq!(tomorrow.bound(&new, &PARTS), Bound::ByUs);
    assert_eq!(yesterday.bound(&new, &PARTS), Bound::NotByUs);
}

#[test]
fn an_id_is_written_in_one_way_only() {
    let secrets = Secrets::new(secret(SECRET), &[]);
    let id = made(&secrets, &PARTS);
    assert_eq!(id.len(), 43);
    let other = |text: String| assert_eq!(secrets.bound(&text, &PARTS), Bound::NotByUs, "{text}");
    other(format!("{id}="));
    other(format!("{id} "));
    other(id[..42].to_owned());
    other(String::new());
    other(id.to_ascii_uppercase());
    // The last letter holds two bits that no byte has.
    for last in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".chars() {
        if !id.ends_with(last) {
            other(format!("{}{last}", &id[..42]));
        }
    }
}

#[test]
fn a_realm_is_plain_text_that_needs_no_escape() {
    for good in ["cards.example", "127.0.0.1", "Cards of the house", "a"] {
        assert_eq!(Realm::parse(good).unwrap().as_str(), good);
    }
    let long = "a".repeat(201);
    for bad in ["", " ", " a", "a ", "a\"b", "a\\b", "a|b", "a\nb", "caf\u{e9}", long.as_str()] {
        assert!(Realm::parse(bad).unwrap_err().contains("host name"), "{bad}");
    }
}
