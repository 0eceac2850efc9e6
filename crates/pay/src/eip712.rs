//! The signing domain of USDC and the recovery of signers, with the types of `order`.

use evm::contracts;
use evm::signature::{self, expand};
pub(crate) use evm::word::Word;
use order::model::chain::{EvmAddress, Network};

pub(crate) const TOKEN_NAME: &str = contracts::USDC_NAME;
pub(crate) const TOKEN_VERSION: &str = contracts::USDC_VERSION;

/// The account whose key signed this digest; none if no key can have signed it.
///
/// As Permit2 reads it: `r`, `s` and `v` of 27 or 28, or the 64 bytes of EIP-2098. A high
/// `s` is accepted, as the chain accepts it. That gives every signature a twin, which does
/// no harm: what may be spent once is named by network, payer and nonce, never by the
/// signature.
pub(crate) fn recover(digest: Word, signature: &[u8]) -> Option<EvmAddress> {
    #[cfg(test)]
    RECOVERIES.set(RECOVERIES.get() + 1);
    let signature = expand(signature)?;
    signature::recover(digest, &signature).map(EvmAddress::from_bytes)
}

#[cfg(test)]
thread_local! {
    /// How often this thread has recovered a signer, which takes most of the time of a check.
    pub(crate) static RECOVERIES: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// The token's own domain.
pub(crate) fn token_domain(network: Network) -> Word {
    contracts::usdc_domain(network.chain_id(), network.usdc().bytes())
}
