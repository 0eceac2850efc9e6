//! Names as ENS normalises them (ENSIP-15).

use std::sync::LazyLock;

use ens_normalize_rs::EnsNameNormalizer;
use order::model::seller::{NotAUsername, Username};

/// Built once, because that takes long. The crate's function `normalize` builds the tables for every
/// name, so `clippy.toml` forbids it: a stranger could keep this service busy with a few names.
static NORMALIZER: LazyLock<EnsNameNormalizer> = LazyLock::new(EnsNameNormalizer::default);

/// Reads a seller's name in any of its spellings, below this parent.
pub fn read(text: &str, parent: &str) -> Result<Username, NotAUsername> {
    Username::parse(text, parent, normalise)
}

/// ASCII letters and digits are normalised already. Other names need the tables.
fn normalise(label: &str) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if label.bytes().all(plain) {
        return Some(label.to_owned());
    }
    NORMALIZER.normalize(label).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "cards.example.eth";

    #[test]
    fn all_spellings_of_a_name_are_the_same_username() {
        for text in
            ["alice", "@alice", "ALICE", "alice.cards.example.eth", "@Alice.cards.example.eth"]
        {
            assert_eq!(read(text, PARENT).unwrap().as_str(), "alice", "{text}");
        }
        assert_eq!(read("🚀", PARENT).unwrap().as_str(), "🚀");
        assert_eq!(read("müller", PARENT).unwrap().as_str(), "müller");
    }

    #[test]
    fn names_that_skip_the_tables_are_normalised_already() {
        for label in ["alice", "0", "007", "abcdefghijklmnopqrstuvwxyz0123456789"] {
            assert_eq!(normalise(label), NORMALIZER.normalize(label).ok(), "{label}");
        }
    }

    #[test]
    fn a_name_that_ens_changes_or_rejects_is_not_a_username() {
        for text in [
            "al\u{200d}ice", // invisible joiner
            "аlice",         // Cyrillic а among Latin letters
            "ａlice",        // full-width a
            "mu\u{308}ller", // an umlaut in two pieces
            "al ice",
            "ali_ce",   // an underscore inside
            "xn--ls8h", // punycode is for the other name system
            "alice.bob",
            "alice.other.eth",
            "",
        ] {
            assert_eq!(read(text, PARENT), Err(NotAUsername), "{text}");
        }
    }
}
