//! The interfaces of the contracts, as they are published, for the crates that read and write
//! whole calls, events and errors.

use alloy_sol_types::sol;

sol! {
    interface Usdc {
        event Transfer(address indexed from, address indexed to, uint256 value);
        event Approval(address indexed owner, address indexed spender, uint256 value);
        event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
        event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

        function name() external view returns (string memory);
        function symbol() external view returns (string memory);
        function version() external view returns (string memory);
        function currency() external view returns (string memory);
        function decimals() external view returns (uint8);
        function totalSupply() external view returns (uint256);
        function paused() external view returns (bool);
        function isBlacklisted(address account) external view returns (bool);
        function balanceOf(address account) external view returns (uint256);
        function allowance(address owner, address spender) external view returns (uint256);
        function nonces(address owner) external view returns (uint256);
        /// True for a used nonce and for a cancelled one.
        function authorizationState(address authorizer, bytes32 nonce) external view returns (bool);
        function DOMAIN_SEPARATOR() external view returns (bytes32);
        function PERMIT_TYPEHASH() external view returns (bytes32);
        function TRANSFER_WITH_AUTHORIZATION_TYPEHASH() external view returns (bytes32);
        function RECEIVE_WITH_AUTHORIZATION_TYPEHASH() external view returns (bytes32);
        function CANCEL_AUTHORIZATION_TYPEHASH() external view returns (bytes32);

        function approve(address spender, uint256 value) external returns (bool);
        function transfer(address to, uint256 value) external returns (bool);
        function transferFrom(address from, address to, uint256 value) external returns (bool);

        function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external;
        function permit(address owner, address spender, uint256 value, uint256 deadline, bytes memory signature) external;
        function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external;
        function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes memory signature) external;
        function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external;
        function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes memory signature) external;
        function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external;
        function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) external;
    }

    struct TokenPermissions { address token; uint256 amount; }
    struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }
    struct SignatureTransferDetails { address to; uint256 requestedAmount; }

    interface Permit2 {
        event UnorderedNonceInvalidation(address indexed owner, uint256 word, uint256 mask);

        error SignatureExpired(uint256 signatureDeadline);
        error InvalidAmount(uint256 maxAmount);
        error InvalidNonce();
        error InvalidSignatureLength();
        error InvalidSignature();
        error InvalidSigner();
        error InvalidContractSignature();

        function DOMAIN_SEPARATOR() external view returns (bytes32);
        function nonceBitmap(address owner, uint256 wordPosition) external view returns (uint256);
        function invalidateUnorderedNonces(uint256 wordPosition, uint256 mask) external;
        function permitWitnessTransferFrom(PermitTransferFrom memory permit, SignatureTransferDetails transferDetails, address owner, bytes32 witness, string witnessTypeString, bytes signature) external;
    }

    /// A wallet that is a contract (ERC-1271).
    interface Wallet {
        function isValidSignature(bytes32 hash, bytes signature) external view returns (bytes4);
    }

    /// What a payer adds to a Permit2 transfer under the scheme `upto`.
    struct Witness { address to; address facilitator; uint256 validAfter; }

    struct EIP2612Permit { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }

    interface UptoProxy {
        event Settled();
        event SettledWithPermit();

        error AmountExceedsPermitted();
        error UnauthorizedFacilitator();
        error InvalidAmount();
        error InvalidOwner();
        error InvalidDestination();
        error PaymentTooEarly();
        error Permit2612AmountMismatch();

        function PERMIT2() external view returns (address);
        function WITNESS_TYPE_STRING() external view returns (string memory);
        function WITNESS_TYPEHASH() external view returns (bytes32);
        function settle(PermitTransferFrom permit, uint256 amount, address owner, Witness witness, bytes signature) external;
        function settleWithPermit(EIP2612Permit permit2612, PermitTransferFrom permit, uint256 amount, address owner, Witness witness, bytes signature) external;
    }

    /// The Universal Resolver of ENS (ENSIP-23).
    interface UniversalResolver {
        error DNSDecodingFailed(bytes dns);
        error ResolverNotFound(bytes name);
        error ResolverNotContract(bytes name, address resolver);
        error UnsupportedResolverProfile(bytes4 selector);
        error ResolverError(bytes errorData);
        error HttpError(uint16 status, string message);
        /// The answer is at one of these URLs and goes to the callback (EIP-3668).
        error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);

        function resolve(bytes name, bytes data) external view returns (bytes memory result, address resolver);
        function findResolver(bytes name) external view returns (address resolver, bytes32 node, uint256 offset);
        function resolveWithGateways(bytes name, bytes data, string[] gateways) external view returns (bytes memory result, address resolver);
        function resolveCallback(bytes response, bytes extraData) external view returns (bytes memory result, address resolver);
    }

    /// A resolver of one name (ENSIP-9).
    interface Resolver {
        function addr(bytes32 node) external view returns (address);
        function addr(bytes32 node, uint256 coinType) external view returns (bytes memory);
        function resolve(bytes name, bytes data) external view returns (bytes memory);
    }

    /// Several lookups in one (ENSIP-21).
    interface BatchGateway {
        struct Request { address sender; string[] urls; bytes data; }
        function query(Request[] memory requests) external view returns (bool[] memory failures, bytes[] memory responses);
    }

    interface Multicall3 {
        struct Call3 { address target; bool allowFailure; bytes callData; }
        struct Result { bool success; bytes returnData; }
        function aggregate3(Call3[] calls) external payable returns (Result[] memory returnData);
    }
}

#[cfg(test)]
mod tests {
    use alloy_sol_types::{SolCall, SolError, SolEvent};

    use super::*;

    /// From the published interfaces, and from calls that the official client made.
    #[test]
    fn selectors_of_calls_are_those_of_the_deployed_contracts() {
        let calls = [
            UptoProxy::settleCall::SELECTOR,
            Wallet::isValidSignatureCall::SELECTOR,
            Usdc::transferWithAuthorization_0Call::SELECTOR,
            Usdc::authorizationStateCall::SELECTOR,
            Permit2::nonceBitmapCall::SELECTOR,
            UniversalResolver::resolveCall::SELECTOR,
            Resolver::addr_1Call::SELECTOR,
            BatchGateway::queryCall::SELECTOR,
        ];
        let published: [u32; 8] = [
            0xff11_e7b4,
            0x1626_ba7e,
            0xe3ee_160e,
            0xe94a_0102,
            0x4fe0_2b44,
            0x9061_b923,
            0xf1cb_7e06,
            0xa780_bab6,
        ];
        assert_eq!(calls, published.map(u32::to_be_bytes));
    }

    #[test]
    fn topics_of_events_are_those_of_usdc() {
        let topics = [
            Usdc::Transfer::SIGNATURE_HASH,
            Usdc::AuthorizationUsed::SIGNATURE_HASH,
            Usdc::AuthorizationCanceled::SIGNATURE_HASH,
        ];
        assert_eq!(
            topics.map(|topic| topic.to_string()),
            [
                "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
                "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5",
                "0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81",
            ]
        );
    }

    #[test]
    fn selectors_of_errors_are_those_that_ens_publishes() {
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
    }
}
