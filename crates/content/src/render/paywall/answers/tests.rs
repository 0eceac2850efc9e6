//! Every answer of the service has its texts, in every language.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::*;
use crate::render::tests::catalog;
use crate::site::Language;

/// How the reasons of x402 begin.
const BEGINNINGS: [&str; 8] = [
    "permit2_",
    "upto_",
    "eip2612_",
    "invalid_permit2_",
    "invalid_upto_",
    "invalid_eip2612_",
    "contract_wallet_",
    "extension_echo_",
];

/// The code of the service that deals with x402, without its tests.
fn sources() -> Vec<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders = vec![crates.join("adapters/src"), crates.join("pay/src")];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let text = path.to_string_lossy();
            if path.is_dir() {
                folders.push(path);
            } else if is_about_x402(&text) {
                sources.push(fs::read_to_string(path).unwrap());
            }
        }
    }
    sources
}

fn is_about_x402(path: &str) -> bool {
    let part = ["x402", "/facilitator/", "permit2"].iter().any(|name| path.contains(name));
    part && path.ends_with(".rs") && !path.contains("test")
}

#[test]
fn every_reason_of_a_402_has_a_text() {
    let sources = sources();
    let is_reason = |text: &&str| {
        let plain = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
        text.chars().all(plain) && BEGINNINGS.iter().any(|start| text.starts_with(start))
    };
    let quoted = sources.iter().flat_map(|source| source.split('"'));
    let mut reasons: BTreeSet<&str> = quoted.filter(is_reason).collect();
    // Reasons that are given by a call of `invalid`.
    let invalid = sources.iter().flat_map(|source| source.split("invalid(\"").skip(1));
    reasons.extend(invalid.filter_map(|rest| rest.split(['"', ':']).next()));
    let constants =
        sources.iter().flat_map(|source| source.split("const NO_MATCH: &str = \"").skip(1));
    reasons.extend(constants.filter_map(|rest| rest.split('"').next()));
    assert!(reasons.len() > 20, "{reasons:?}");
    let known: BTreeSet<&str> = REASONS.iter().map(|(reason, _)| *reason).collect();
    assert_eq!(reasons.difference(&known).collect::<Vec<_>>(), Vec::<&&str>::new());
}

#[test]
fn every_error_code_of_x402_has_a_text() {
    let recorded = include_str!("../../../../../pay/src/every_refusal.txt");
    let answers = recorded.split("\n\n").filter(|answer| answer.starts_with("x402: "));
    let codes: BTreeSet<&str> = answers
        .filter_map(|answer| answer.split("\"code\":\"").nth(1)?.split('"').next())
        .filter(|code| *code != "internal_error")
        .collect();
    assert!(codes.len() > 20, "{codes:?}");
    let known: BTreeSet<&str> = REFUSALS.iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, known);
}

#[test]
fn every_text_says_what_to_do_in_every_language() {
    let catalog = catalog();
    for language in Language::ALL {
        let texts = catalog.send.texts(language);
        for (code, key) in REASONS.iter().chain(REFUSALS) {
            assert!(texts.contains_key(*key), "{code}: {key}");
            let open = key.starts_with("outcome_") || *key == "payment_lead_doubt";
            let remedy = texts.contains_key(&format!("{key}_remedy"));
            assert!(remedy || open, "{code}: {key} has no remedy");
        }
    }
}
