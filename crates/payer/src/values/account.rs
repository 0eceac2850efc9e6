//! Accounts and contracts, written with their EIP-55 checksum.

use std::fmt;

use evm::checksum;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EvmAccount(pub(crate) [u8; 20]);

impl EvmAccount {
    /// None for text that is not an address, and for a wrong checksum.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        checksum::decode(text).map(Self)
    }
}

impl fmt::Display for EvmAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&checksum::encode(self.0))
    }
}
