//! The functions, events and errors of the contracts that move money, as they are published.

use alloy_sol_types::sol;

sol! {
    interface Usdc {
        event Transfer(address indexed from, address indexed to, uint256 value);
        event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
        event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

        function balanceOf(address account) external view returns (uint256);
        function allowance(address owner, address spender) external view returns (uint256);

        /// True for a used nonce and for a cancelled one.
        function authorizationState(address authorizer, bytes32 nonce) external view returns (bool);
        function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external;
    }

    /// A wallet that is a contract (ERC-1271).
    interface Wallet {
        function isValidSignature(bytes32 hash, bytes signature) external view returns (bytes4);
    }

    struct TokenPermissions { address token; uint256 amount; }
    struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }

    interface Permit2 {
        error SignatureExpired(uint256 signatureDeadline);
        error InvalidNonce();
        error InvalidSignatureLength();
        error InvalidSignature();
        error InvalidSigner();
        error InvalidContractSignature();
    }

    /// What a payer adds to the Permit2 promise under the scheme `upto`.
    struct Witness { address to; address facilitator; uint256 validAfter; }

    /// What the payer signs.
    struct PermitWitnessTransferFrom {
        TokenPermissions permitted;
        address spender;
        uint256 nonce;
        uint256 deadline;
        Witness witness;
    }

    struct EIP2612Permit { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }

    interface UptoProxy {
        error AmountExceedsPermitted();
        error UnauthorizedFacilitator();
        error PaymentTooEarly();
        error Permit2612AmountMismatch();

        function settle(PermitTransferFrom permit, uint256 amount, address owner, Witness witness, bytes signature) external;
        function settleWithPermit(EIP2612Permit permit2612, PermitTransferFrom permit, uint256 amount, address owner, Witness witness, bytes signature) external;
    }
}

#[cfg(test)]
mod tests {
    use alloy_sol_types::{SolCall, SolEvent, SolStruct};

    use super::*;

    /// From the published interfaces, and from calls that the official client made.
    #[test]
    fn selectors_and_types_are_those_of_the_deployed_contracts() {
        assert_eq!(UptoProxy::settleCall::SELECTOR, 0xff11_e7b4_u32.to_be_bytes());
        assert_eq!(Wallet::isValidSignatureCall::SELECTOR, 0x1626_ba7e_u32.to_be_bytes());
        let transfer = Usdc::transferWithAuthorizationCall::SELECTOR;
        assert_eq!(transfer, 0xe3ee_160e_u32.to_be_bytes());
        assert_eq!(Usdc::authorizationStateCall::SELECTOR, 0xe94a_0102_u32.to_be_bytes());
        assert_eq!(
            Usdc::AuthorizationUsed::SIGNATURE_HASH.to_string(),
            "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5"
        );
        assert_eq!(
            Usdc::AuthorizationCanceled::SIGNATURE_HASH.to_string(),
            "0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81"
        );
        assert_eq!(
            Usdc::Transfer::SIGNATURE_HASH.to_string(),
            "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
        );
        assert_eq!(
            alloy_primitives::keccak256(PermitWitnessTransferFrom::eip712_encode_type().as_bytes())
                .to_string(),
            "0x51dff6974ad4388c499e7fcfe838d2bd767162553a144098ce20ea661d70c2ee"
        );
    }
}
