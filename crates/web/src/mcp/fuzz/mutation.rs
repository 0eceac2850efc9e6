//! Mutations of a message.

use super::corpus::Sample;
use super::random::Random;

/// Texts that have broken parsers.
const FRAGMENTS: [&str; 20] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u",
    "\\ud800",
    "\\udc00\\ud800",
    "null",
    "-0",
    "1e999",
    "18446744073709551616",
    "123456789012345678901234567890.5",
    "\u{0}",
    "\u{feff}",
    "\"id\":3,",
    "\"_meta\":{},",
];
/// The maximum number of added levels.
const LEVELS: usize = 300;
const MUTATIONS_MAX: usize = 4;

pub(super) fn mutated(random: &mut Random, message: &[u8], corpus: &[Sample]) -> Vec<u8> {
    let mut bytes = message.to_vec();
    // Every fifth message is unchanged, so that all kinds of responses occur.
    for _ in 0..random.below(5).min(MUTATIONS_MAX) {
        mutate(random, &mut bytes, corpus);
    }
    bytes
}

fn mutate(random: &mut Random, bytes: &mut Vec<u8>, corpus: &[Sample]) {
    let position = random.below(bytes.len() + 1);
    match random.below(8) {
        0 => {
            if let Some(byte) = bytes.get_mut(position) {
                *byte ^= 1 << random.below(8);
            }
        }
        1 => bytes.truncate(position),
        2 => bytes.insert(position, random.byte()),
        3 => insert(bytes, position, random.pick(&FRAGMENTS).as_bytes()),
        4 => {
            let end = (position + random.below(12)).min(bytes.len());
            bytes.drain(position..end);
        }
        5 => {
            let end = (position + random.below(60)).min(bytes.len());
            let again = bytes[position..end].to_vec();
            insert(bytes, position, &again);
        }
        6 => {
            let other = corpus[random.below(corpus.len())].message.as_bytes();
            let start = random.below(other.len());
            let end = (start + random.below(80)).min(other.len());
            insert(bytes, position, &other[start..end]);
        }
        _ => {
            let levels = random.below(LEVELS);
            let (open, close) = random.pick(&[("[", "]"), ("{\"a\":", "}")]);
            insert(bytes, position, close.repeat(levels).as_bytes());
            insert(bytes, position, open.repeat(levels).as_bytes());
        }
    }
}

fn insert(bytes: &mut Vec<u8>, position: usize, fragment: &[u8]) {
    bytes.splice(position..position, fragment.iter().copied());
}

/// The headers of a sample; sometimes one is changed, missing or duplicated.
pub(super) fn headers(random: &mut Random, sample: &Sample) -> Vec<(&'static str, String)> {
    let mut headers = sample.headers.clone();
    let versions = ["2026-07-28", "2025-06-18", "1999-01-01", "=?base64?////?=", "", "=?base64??="];
    match random.below(12) {
        0 => headers.push(("mcp-protocol-version", random.pick(&versions).to_owned())),
        1 => headers = Vec::new(),
        2 => {
            headers.pop();
        }
        3 => headers.push(("mcp-name", "=?base64?Z2V0X3Byb2R1Y3Q=?=".to_owned())),
        _ => {}
    }
    headers
}
