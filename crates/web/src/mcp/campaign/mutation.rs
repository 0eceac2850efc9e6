//! The ways in which a message is bent.

use super::corpus::Sample;
use super::random::Random;

/// Pieces that parsers have stumbled over.
const PIECES: [&str; 20] = [
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
/// The largest number of levels that is put around something.
const LEVELS: usize = 300;
const BENDS_MAX: usize = 4;

pub(super) fn mutated(random: &mut Random, message: &[u8], corpus: &[Sample]) -> Vec<u8> {
    let mut bytes = message.to_vec();
    // Every fifth stays whole, so that answers of all kinds are among them.
    for _ in 0..random.below(5).min(BENDS_MAX) {
        bend(random, &mut bytes, corpus);
    }
    bytes
}

fn bend(random: &mut Random, bytes: &mut Vec<u8>, corpus: &[Sample]) {
    let place = random.below(bytes.len() + 1);
    match random.below(8) {
        0 => {
            if let Some(byte) = bytes.get_mut(place) {
                *byte ^= 1 << random.below(8);
            }
        }
        1 => bytes.truncate(place),
        2 => bytes.insert(place, random.byte()),
        3 => insert(bytes, place, random.pick(&PIECES).as_bytes()),
        4 => {
            let end = (place + random.below(12)).min(bytes.len());
            bytes.drain(place..end);
        }
        5 => {
            let end = (place + random.below(60)).min(bytes.len());
            let again = bytes[place..end].to_vec();
            insert(bytes, place, &again);
        }
        6 => {
            let other = corpus[random.below(corpus.len())].message.as_bytes();
            let start = random.below(other.len());
            let end = (start + random.below(80)).min(other.len());
            insert(bytes, place, &other[start..end]);
        }
        _ => {
            let levels = random.below(LEVELS);
            let (open, close) = random.pick(&[("[", "]"), ("{\"a\":", "}")]);
            insert(bytes, place, close.repeat(levels).as_bytes());
            insert(bytes, place, open.repeat(levels).as_bytes());
        }
    }
}

fn insert(bytes: &mut Vec<u8>, place: usize, piece: &[u8]) {
    bytes.splice(place..place, piece.iter().copied());
}

/// The headers of a sample, of which now and then one is another, missing or there twice.
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
