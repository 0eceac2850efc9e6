//! The interfaces of the contracts that the sandbox keeps, as they are published.

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

    /// What a holder signs for EIP-2612.
    struct Permit { address owner; address spender; uint256 value; uint256 nonce; uint256 deadline; }

    /// What a holder signs for EIP-3009.
    struct TransferWithAuthorization { address from; address to; uint256 value; uint256 validAfter; uint256 validBefore; bytes32 nonce; }
    struct ReceiveWithAuthorization { address from; address to; uint256 value; uint256 validAfter; uint256 validBefore; bytes32 nonce; }
    struct CancelAuthorization { address authorizer; bytes32 nonce; }

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

    /// What a payer adds to the Permit2 promise under the scheme `upto`.
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

    interface UniversalResolver {
        error DNSDecodingFailed(bytes dns);
        error ResolverNotFound(bytes name);
        error ResolverNotContract(bytes name, address resolver);
        error UnsupportedResolverProfile(bytes4 selector);
        error ResolverError(bytes errorData);
        error HttpError(uint16 status, string message);
        error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);

        function resolve(bytes name, bytes data) external view returns (bytes memory result, address resolver);
        function findResolver(bytes name) external view returns (address resolver, bytes32 node, uint256 offset);
        function resolveWithGateways(bytes name, bytes data, string[] gateways) external view returns (bytes memory result, address resolver);
        function resolveCallback(bytes response, bytes extraData) external view returns (bytes memory result, address resolver);
    }

    interface Resolver {
        function addr(bytes32 node) external view returns (address);
        function addr(bytes32 node, uint256 coinType) external view returns (bytes memory);
        function resolve(bytes name, bytes data) external view returns (bytes memory);
    }

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
