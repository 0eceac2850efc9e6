//! Issued tokens verify, and nothing else does.

use super::*;

const ID: [u8; 16] = [0xab; 16];

fn ring(keys: &[u8]) -> TokenKeys {
    TokenKeys::new(keys.iter().map(|key| [*key; 32]).collect())
}

fn bytes_of(token: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(token).unwrap()
}

/// A well-formed token with one flipped bit.
fn flipped(token: &str, place: usize, bit: u8) -> String {
    let mut bytes = bytes_of(token);
    bytes[place] ^= 1 << bit;
    URL_SAFE_NO_PAD.encode(bytes)
}

#[test]
fn verification_returns_the_registration() {
    let registration = ring(&[1]).verify(&ring(&[1]).issue(ID)).unwrap();
    assert_eq!(registration, Registration::new(ID));
    assert_eq!(registration.to_string(), format!("reg_{}", "ab".repeat(16)));
}

#[test]
fn a_registration_is_shown_with_all_its_zeros() {
    assert_eq!(Registration::new([0; 16]).to_string(), format!("reg_{}", "0".repeat(32)));
}

#[test]
fn a_token_is_a_valid_header_value() {
    for registration in 0..=255 {
        let token = ring(&[1]).issue([registration; 16]);
        assert_eq!(token.len(), TOKEN_CHARACTERS);
        assert!(
            token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)),
            "{token}"
        );
    }
}

#[test]
fn different_registrations_and_different_keys_give_different_tokens() {
    assert_ne!(ring(&[1]).issue([1; 16]), ring(&[1]).issue([2; 16]));
    assert_ne!(ring(&[1]).issue(ID), ring(&[2]).issue(ID));
}

/// Tokens never expire, so their format must not change by accident.
#[test]
fn the_token_format_is_stable() {
    assert_eq!(ring(&[1]).issue(ID), "AQuzViarq6urq6urq6urq6urq6ur10uAShDNCCXUCxt2q9DOxA");
}

#[test]
fn the_newest_key_signs_and_older_ones_still_verify() {
    let old = ring(&[1]).issue(ID);
    let rotated = ring(&[2, 1]);
    assert_eq!(rotated.verify(&old), Ok(Registration::new(ID)));

    let new = rotated.issue(ID);
    assert_eq!(ring(&[2]).verify(&new), Ok(Registration::new(ID)));
    assert_eq!(ring(&[1]).verify(&new), Err(TokenFault::Key));
}

#[test]
fn tokens_of_a_removed_key_are_invalid() {
    assert_eq!(ring(&[3, 2]).verify(&ring(&[1]).issue(ID)), Err(TokenFault::Key));
}

#[test]
fn keys_with_the_same_id_are_distinguished_by_their_tags() {
    let mut keys = ring(&[2, 1]);
    let old = keys.older[0].clone();
    keys.newest.name = old.name;
    assert_eq!(keys.verify(&ring(&[1]).issue(ID)), Ok(Registration::new(ID)));
    assert_eq!(keys.verify(&keys.issue(ID)), Ok(Registration::new(ID)));
}

#[test]
fn every_flipped_bit_is_detected() {
    let keys = ring(&[1, 2]);
    let token = keys.issue(ID);
    for place in 0..TOKEN_BYTES {
        let fault = match place {
            0 => TokenFault::Version,
            1..=NAME_BYTES => TokenFault::Key,
            _ => TokenFault::EndpointTag,
        };
        for bit in 0..8 {
            assert_eq!(keys.verify(&flipped(&token, place, bit)), Err(fault), "{place} {bit}");
        }
    }
}

#[test]
fn other_characters_are_rejected_at_every_position() {
    let keys = ring(&[1]);
    let token = keys.issue(ID);
    for place in 0..token.len() {
        for other in (0..=127_u8).map(char::from) {
            let mut changed = token.clone();
            changed.replace_range(place..=place, other.encode_utf8(&mut [0; 4]));
            assert_eq!(keys.verify(&changed).is_ok(), changed == token, "{place} {other:?}");
        }
    }
}

#[test]
fn a_token_of_another_length_is_invalid() {
    let keys = ring(&[1]);
    let token = keys.issue(ID);
    for length in 0..token.len() {
        assert_eq!(keys.verify(&token[..length]), Err(TokenFault::Shape), "{length}");
    }
    for longer in [format!("{token}A"), format!("{token}=="), format!(" {token}")] {
        assert_eq!(keys.verify(&longer), Err(TokenFault::Shape), "{longer}");
    }
    let wide = "é".repeat(TOKEN_CHARACTERS / 2);
    assert_eq!(keys.verify(&wide), Err(TokenFault::Shape));
}

#[test]
#[should_panic = "at least one key"]
fn a_ring_without_keys_panics() {
    TokenKeys::new(Vec::new());
}

#[test]
fn debug_shows_neither_keys_nor_registrations() {
    assert_eq!(format!("{:?}", ring(&[1, 2])), "TokenKeys { .. }");
    assert_eq!(format!("{:?}", Registration::new(ID)), "Registration { .. }");
}
