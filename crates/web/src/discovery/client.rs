//! `/client/pennyblack.mjs`: the command-line client as it is served, and its hash.

use sha2::{Digest, Sha256};

use crate::discovery::links;
use crate::site_facts::SiteFacts;

/// The client with the URL of this site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientDownload {
    pub text: String,
    /// Of `text`, byte for byte.
    pub sha256: String,
    /// In the format of `sha256sum -c`.
    pub hash_file: String,
}

pub fn document(facts: &SiteFacts) -> ClientDownload {
    let text = facts.catalog.client.for_site(&facts.base_url);
    let digest = Sha256::digest(text.as_bytes());
    let sha256: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let hash_file = format!("{sha256}  {}\n", file_name());
    ClientDownload { text, sha256, hash_file }
}

/// The file name of the download.
pub fn file_name() -> &'static str {
    let path = links::CLIENT.path;
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::fixtures;

    #[test]
    fn another_base_url_gives_another_file_and_another_hash() {
        let here = fixtures::site_facts();
        let mut there = here.clone();
        there.base_url = "https://elsewhere.example".to_owned();
        let (here, there) = (document(&here), document(&there));
        assert!(there.text.contains("const HOME = \"https://elsewhere.example\";"));
        assert!(!there.text.contains("{{"), "a placeholder is left");
        assert_ne!(here.sha256, there.sha256);
        assert_eq!(there.hash_file, format!("{}  pennyblack.mjs\n", there.sha256));
    }
}
