//! Contracts that payments touch: their addresses, and the USDC signing domain.

use crate::eip712;
use crate::hex::address;
use crate::word::Word;

/// Uniswap's Permit2, the same on every chain.
pub const PERMIT2: [u8; 20] = address("0x000000000022D473030F116dDEE9F6B43aC78BA3");
/// The x402 proxy of the scheme `upto`, the same on every chain.
pub const UPTO_PROXY: [u8; 20] = address("0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002");
/// The ENS Universal Resolver on Ethereum (ENSIP-23).
pub const UNIVERSAL_RESOLVER: [u8; 20] = address("0xeEeEEEeE14D718C2B47D9923Deab1335E144EeEe");
pub const MULTICALL3: [u8; 20] = address("0xcA11bde05977b3631167028862bE2a173976CA11");

/// Circle's USDC, never a bridged one.
pub const USDC_ETHEREUM: [u8; 20] = address("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48");
pub const USDC_BASE: [u8; 20] = address("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913");
pub const USDC_POLYGON: [u8; 20] = address("0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359");
pub const USDC_ARBITRUM: [u8; 20] = address("0xaf88d065e77c8cC2239327C5EDb3A432268e5831");

/// What USDC calls itself in its signing domain, the same on all these chains.
pub const USDC_NAME: &str = "USD Coin";
pub const USDC_VERSION: &str = "2";

/// The EIP-712 domain that USDC itself checks signatures against.
pub fn usdc_domain(chain_id: u64, usdc: [u8; 20]) -> Word {
    eip712::versioned_domain(USDC_NAME, USDC_VERSION, chain_id, usdc)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{checksum, hex};

    #[test]
    fn the_usdc_contracts_are_those_that_circle_publishes() {
        assert_eq!(
            [USDC_BASE, USDC_POLYGON, USDC_ARBITRUM].map(checksum::encode),
            [
                "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
                "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359",
                "0xaf88d065e77c8cC2239327C5EDb3A432268e5831",
            ]
        );
    }

    #[test]
    fn the_domain_of_usdc_is_the_one_that_base_has() {
        let separator = "0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f";
        assert_eq!(hex::encode(&usdc_domain(8453, USDC_BASE)), separator);
    }
}
