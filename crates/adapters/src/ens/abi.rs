//! The functions and errors of ENS that we speak, as contracts spell them.

use alloy_sol_types::sol;

sol! {
    /// The Universal Resolver (ENSIP-23).
    interface UniversalResolver {
        function findResolver(bytes name) external view returns (address resolver, bytes32 node, uint256 offset);
        function resolve(bytes name, bytes data) external view returns (bytes result, address resolver);

        error ResolverNotFound(bytes name);
        error ResolverNotContract(bytes name, address resolver);
        error UnsupportedResolverProfile(bytes4 selector);
        error ResolverError(bytes errorData);
        error HttpError(uint16 status, string message);
        /// Look elsewhere and come back with what was said there (EIP-3668).
        error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);
    }

    /// What a resolver is asked (ENSIP-9).
    interface Resolver {
        function addr(bytes32 node, uint256 coinType) external view returns (bytes account);
    }

    /// Several lookups in one (ENSIP-21).
    interface BatchGateway {
        struct Request {
            address sender;
            string[] urls;
            bytes data;
        }
        function query(Request[] requests) external view returns (bool[] failures, bytes[] responses);
    }
}

/// What the callback takes, behind its selector.
pub(super) type CallbackArguments =
    (alloy_sol_types::sol_data::Bytes, alloy_sol_types::sol_data::Bytes);

#[cfg(test)]
mod tests {
    use alloy_sol_types::{SolCall, SolError};

    use super::*;

    #[test]
    fn the_selectors_are_those_that_ens_publishes() {
        let errors = [
            UniversalResolver::ResolverNotFound::SELECTOR,
            UniversalResolver::ResolverNotContract::SELECTOR,
            UniversalResolver::UnsupportedResolverProfile::SELECTOR,
            UniversalResolver::ResolverError::SELECTOR,
            UniversalResolver::HttpError::SELECTOR,
            UniversalResolver::OffchainLookup::SELECTOR,
        ];
        let published: [u32; 6] =
            [0x7720_9fe8, 0x1e95_35f2, 0x7b1c_461b, 0x95c0_c752, 0x0180_0152, 0x556f_1830];
        assert_eq!(errors, published.map(u32::to_be_bytes));
        assert_eq!(UniversalResolver::resolveCall::SELECTOR, 0x9061_b923_u32.to_be_bytes());
        assert_eq!(Resolver::addrCall::SELECTOR, 0xf1cb_7e06_u32.to_be_bytes());
        assert_eq!(BatchGateway::queryCall::SELECTOR, 0xa780_bab6_u32.to_be_bytes());
    }
}
