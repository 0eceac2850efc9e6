//! `/client/pennyblack.mjs`: the command-line client as it is handed out, and its hash.

use sha2::{Digest, Sha256};

use crate::discovery::places;
use crate::premises::Premises;

/// A program that knows where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    pub text: String,
    /// Of the text as it is here: over anything else, every honest copy would
    /// look forged.
    pub sha256: String,
    /// What `sha256sum -c` reads.
    pub hash_file: String,
}

pub fn document(premises: &Premises) -> Client {
    let text = premises.catalog.client.of_site(&premises.base_url);
    let digest = Sha256::digest(text.as_bytes());
    let sha256: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let hash_file = format!("{sha256}  {}\n", file_name());
    Client { text, sha256, hash_file }
}

/// The name under which it is saved.
pub fn file_name() -> &'static str {
    let path = places::CLIENT.path;
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::samples;

    #[test]
    fn another_address_makes_another_file_with_another_hash() {
        let here = samples::premises();
        let mut there = here.clone();
        there.base_url = "https://elsewhere.example".to_owned();
        let (here, there) = (document(&here), document(&there));
        assert!(there.text.contains("const HOME = \"https://elsewhere.example\";"));
        assert!(!there.text.contains("{{"), "a mark is left");
        assert_ne!(here.sha256, there.sha256);
        assert_eq!(there.hash_file, format!("{}  pennyblack.mjs\n", there.sha256));
    }
}
