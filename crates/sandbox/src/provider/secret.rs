//! Names that nobody can guess.

use std::fmt::Write;
use std::io;

use sha2::{Digest, Sha256};

/// New at every start.
pub(crate) struct Secret([u8; 32]);

impl Secret {
    pub(crate) fn new() -> io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(bytes))
    }

    /// The same name for the same thing, for as long as this process lives.
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
        write!(text, "{byte:02x}").expect("a String takes every text");
        text
    })
}
