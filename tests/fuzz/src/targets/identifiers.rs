//! Identifiers in paths, headers and bodies: what is read is written the same, and only one spelling
//! is read where the contract has one.

use std::fmt::Display;
use std::str::FromStr;

use adapters::ens::username;
use order::model::chain::{EvmAddress, Network};
use order::model::identity::quote::QuoteId;
use order::model::ids::{OperationId, OrderId, Timestamp};

const PARENT: &str = "cards.example.eth";

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let is_hex = |digits: usize| {
        text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    assert_eq!(one_spelling::<OrderId>(text), is_hex(32), "{text:?} as the id of an order");
    assert_eq!(one_spelling::<QuoteId>(text), is_hex(64), "{text:?} as the id of a quote");
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let is_operation = (16..=128).contains(&text.len()) && text.bytes().all(is_plain);
    let operation: Option<OperationId> = text.parse().ok();
    assert_eq!(operation.as_ref().map(OperationId::as_str), is_operation.then_some(text));
    read_again::<EvmAddress>(text);
    if let Ok(at) = text.parse::<Timestamp>() {
        assert_eq!(at.to_string().parse(), Ok(at), "{text:?}");
    }
    assert!(Network::from_caip2(text).is_none_or(|network| network.caip2() == text));
    check_username(text);
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    super::texts(&[
        "0123456789abcdef0123456789abcdef",
        "00000000003567e0000000006ab1a0000123456789abcdef0123456789abcdef",
        "0123456789ABCDEF0123456789ABCDEF",
        "birthday-of-ada_1",
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "2026-11-18T12:00:00Z",
        "eip155:8453",
        "@alice",
        "Alice.cards.example.eth",
        "m\u{fc}ller",
        "\u{1f468}\u{200d}\u{1f4bb}",
    ])
}

/// Whether it is read; then it is written exactly as it was.
fn one_spelling<T: FromStr + Display>(text: &str) -> bool {
    let read = text.parse::<T>().ok();
    if let Some(read) = &read {
        assert_eq!(read.to_string(), text);
    }
    read.is_some()
}

fn read_again<T: FromStr + Display + PartialEq>(text: &str) {
    if let Ok(read) = text.parse::<T>() {
        assert!(read.to_string().parse().is_ok_and(|again: T| again == read), "{text:?}");
    }
}

/// A username is one label, is read the same again, and all of its spellings are one name.
fn check_username(text: &str) {
    let Ok(name) = username::read(text, PARENT) else { return };
    let spelled = name.to_string();
    assert!(
        !spelled.is_empty() && !spelled.contains(['.', '@', '/', ' ', '\0']),
        "{text:?}: {spelled:?}"
    );
    for again in [spelled.clone(), format!("@{spelled}"), format!("{spelled}.{PARENT}")] {
        assert_eq!(username::read(&again, PARENT).as_ref(), Ok(&name), "{text:?} as {again:?}");
    }
}
