//! What the caller sends back: a Permit2 promise, read and not yet believed.

use order::chain::{EvmAddress, Network};
use order::money::Usdc;
use serde_json::Value;

/// A payer's signed promise to pay up to `most`, as Permit2 and the `upto`
/// proxy will read it.
#[derive(Clone, PartialEq, Eq)]
pub struct Promise {
    pub network: Network,
    pub payer: EvmAddress,
    pub pay_to: EvmAddress,
    /// Who alone may carry it to the chain.
    pub facilitator: EvmAddress,
    pub most: Usdc,
    /// Any 256 bits, each usable once by each payer on each chain.
    pub nonce: [u8; 32],
    /// In seconds of the chain's own time.
    pub valid_after: u64,
    pub deadline: u64,
    /// 65 bytes from a key; whatever it likes from a contract.
    pub signature: Vec<u8>,
    /// The allowance that Permit2 still lacks, signed along with the promise.
    pub permit: Option<Permit>,
    /// The credential as it was sent, for those who want it unchanged.
    pub payload: Value,
}

/// An EIP-2612 permit that lets Permit2 move the token.
#[derive(Clone, PartialEq, Eq)]
pub struct Permit {
    pub amount: Usdc,
    pub deadline: u64,
    pub signature: [u8; 65],
}
