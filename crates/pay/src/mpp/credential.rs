//! What the caller sends back: a signed transfer, read and not yet believed.

use order::chain::{EvmAddress, Network};
use order::money::Usdc;

/// A payer's signed transfer, as the token's `transferWithAuthorization` will read it
/// (EIP-3009).
#[derive(Clone, PartialEq, Eq)]
pub struct Authorization {
    pub network: Network,
    /// The contract that the payer signed for: USDC of that network.
    pub token: EvmAddress,
    pub from: EvmAddress,
    pub to: EvmAddress,
    /// What moves: all of it, or nothing.
    pub value: Usdc,
    /// In seconds of the chain's own time. It can be carried after the first and
    /// before the second moment, at neither of them.
    pub valid_after: u64,
    pub valid_before: u64,
    /// Any 256 bits, each usable once by each payer with each token.
    pub nonce: [u8; 32],
    /// `r`, a low `s`, and `v` of 27 or 28.
    pub signature: [u8; 65],
}
