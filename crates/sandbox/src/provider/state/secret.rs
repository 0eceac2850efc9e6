//! Unguessable tokens.

use std::fmt::Write;
use std::io;

use sha2::{Digest, Sha256};

/// New at every start.
pub(crate) struct TokenSecret([u8; 32]);

impl TokenSecret {
    pub(crate) fn new() -> io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(bytes))
    }

    /// The same token for the same input, within this process.
    pub(crate) fn token(&self, what: &str, number: u64) -> String {
        let hash = Sha256::new()
            .chain_update(self.0)
            .chain_update(what)
            .chain_update(number.to_be_bytes())
            .finalize();
        hex(&hash[..16])
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a String cannot fail");
        text
    })
}
