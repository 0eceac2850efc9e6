//! Payers' signatures, implemented a second time so that the settler is not tested with its own code.

use alloy_primitives::{Address, B256, U256};
use alloy_sol_types::{Eip712Domain, SolCall, SolStruct, eip712_domain, sol};
use evm::transaction::UnsignedTransaction;
use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;
use pay::mpp::credential::TransferAuthorization;
use pay::x402::credential::{Eip2612Permit, Permit2Authorization};
use sandbox::chain::{PERMIT2, UPTO_PROXY};
use sandbox::keys::Key;
use serde_json::Value;

sol! {
    struct TokenPermissions { address token; uint256 amount; }
    struct Witness { address to; address facilitator; uint256 validAfter; }
    struct PermitWitnessTransferFrom {
        TokenPermissions permitted;
        address spender;
        uint256 nonce;
        uint256 deadline;
        Witness witness;
    }

    struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }

    function invalidateUnorderedNonces(uint256 wordPosition, uint256 mask) external;
    function settle(PermitTransferFrom permit, uint256 amount, address owner, Witness witness, bytes signature) external;
}

/// The token's own types: their names are part of what is signed.
mod token {
    alloy_sol_types::sol! {
        struct Permit {
            address owner;
            address spender;
            uint256 value;
            uint256 nonce;
            uint256 deadline;
        }

        struct TransferWithAuthorization {
            address from;
            address to;
            uint256 value;
            uint256 validAfter;
            uint256 validBefore;
            bytes32 nonce;
        }

        struct CancelAuthorization { address authorizer; bytes32 nonce; }

        function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature) external;
        function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature) external;
    }
}

pub(crate) const MOST: Usdc = Usdc::from_atomic(3_500_000);
/// MPP's one price.
pub(crate) const PRICE: Usdc = Usdc::from_atomic(3_500_000);
pub(crate) const CHARGE: Usdc = Usdc::from_atomic(2_117_500);

fn place(noun: EvmAddress) -> Address {
    noun.bytes().into()
}

/// What a payer authorizes before it is signed.
#[derive(Clone)]
pub(crate) struct Terms {
    pub network: Network,
    pub payer: EvmAddress,
    pub pay_to: EvmAddress,
    pub facilitator: EvmAddress,
    pub nonce: [u8; 32],
    pub deadline: u64,
}

impl Terms {
    pub(crate) fn signed_by(&self, key: &Key) -> Permit2Authorization {
        let message = PermitWitnessTransferFrom {
            permitted: TokenPermissions {
                token: place(self.network.usdc()),
                amount: U256::from(MOST.atomic()),
            },
            spender: place(UPTO_PROXY),
            nonce: U256::from_be_bytes(self.nonce),
            deadline: U256::from(self.deadline),
            witness: Witness {
                to: place(self.pay_to),
                facilitator: place(self.facilitator),
                validAfter: U256::ZERO,
            },
        };
        let domain = eip712_domain! {
            name: "Permit2",
            chain_id: self.network.chain_id(),
            verifying_contract: place(PERMIT2),
        };
        Permit2Authorization {
            network: self.network,
            payer: self.payer,
            pay_to: self.pay_to,
            facilitator: self.facilitator,
            most: MOST,
            nonce: self.nonce,
            valid_after: 0,
            deadline: self.deadline,
            signature: key.sign(message.eip712_signing_hash(&domain).0).to_vec(),
            permit: None,
            payload: Value::Null.into(),
        }
    }
}

/// The allowance that a newcomer signs along, with the token's first nonce.
pub(crate) fn permit(
    authorization: &Permit2Authorization,
    key: &Key,
    amount: Usdc,
) -> Eip2612Permit {
    let message = token::Permit {
        owner: place(authorization.payer),
        spender: place(PERMIT2),
        value: U256::from(amount.atomic()),
        nonce: U256::ZERO,
        deadline: U256::from(authorization.deadline),
    };
    let digest = message.eip712_signing_hash(&usdc_domain(authorization.network));
    Eip2612Permit { amount, deadline: authorization.deadline, signature: key.sign(digest.0) }
}

/// A payer's own transaction that takes the authorization back.
pub(crate) fn cancellation(authorization: &Permit2Authorization, key: &Key, nonce: u64) -> Vec<u8> {
    let word = U256::from_be_bytes(authorization.nonce);
    let call = invalidateUnorderedNoncesCall {
        wordPosition: word >> 8,
        mask: U256::ONE << usize::from(authorization.nonce[31]),
    };
    transaction(authorization.network, nonce, PERMIT2, call.abi_encode()).sign(key.signing_key())
}

/// A transaction of the account that the authorization names, sent past the sender.
pub(crate) fn settlement(authorization: &Permit2Authorization, key: &Key, nonce: u64) -> Vec<u8> {
    let permitted = TokenPermissions {
        token: place(authorization.network.usdc()),
        amount: U256::from(authorization.most.atomic()),
    };
    let call = settleCall {
        permit: PermitTransferFrom {
            permitted,
            nonce: U256::from_be_bytes(authorization.nonce),
            deadline: U256::from(authorization.deadline),
        },
        amount: U256::from(CHARGE.atomic()),
        owner: place(authorization.payer),
        witness: Witness {
            to: place(authorization.pay_to),
            facilitator: place(authorization.facilitator),
            validAfter: U256::ZERO,
        },
        signature: authorization.signature.clone().into(),
    };
    transaction(authorization.network, nonce, UPTO_PROXY, call.abi_encode()).sign(key.signing_key())
}

fn usdc_domain(network: Network) -> Eip712Domain {
    eip712_domain! {
        name: "USD Coin",
        version: "2",
        chain_id: network.chain_id(),
        verifying_contract: place(network.usdc()),
    }
}

/// What an MPP client signs. It can be carried until the second before the deadline.
pub(crate) fn transfer(terms: &Terms, key: &Key) -> TransferAuthorization {
    let mut authorization = TransferAuthorization {
        network: terms.network,
        token: terms.network.usdc(),
        from: terms.payer,
        to: terms.pay_to,
        value: PRICE,
        valid_after: 0,
        valid_before: terms.deadline,
        nonce: terms.nonce,
        signature: [0; 65],
    };
    sign(&mut authorization, key);
    authorization
}

pub(crate) fn sign(authorization: &mut TransferAuthorization, key: &Key) {
    let message = token::TransferWithAuthorization {
        from: place(authorization.from),
        to: place(authorization.to),
        value: U256::from(authorization.value.atomic()),
        validAfter: U256::from(authorization.valid_after),
        validBefore: U256::from(authorization.valid_before),
        nonce: authorization.nonce.into(),
    };
    let domain = usdc_domain(authorization.network);
    authorization.signature = key.sign(message.eip712_signing_hash(&domain).0);
}

/// The same transfer, sent by any account through the token's other overload.
pub(crate) fn carrying(authorization: &TransferAuthorization) -> Vec<u8> {
    token::transferWithAuthorizationCall {
        from: place(authorization.from),
        to: place(authorization.to),
        value: U256::from(authorization.value.atomic()),
        validAfter: U256::from(authorization.valid_after),
        validBefore: U256::from(authorization.valid_before),
        nonce: authorization.nonce.into(),
        signature: authorization.signature.to_vec().into(),
    }
    .abi_encode()
}

/// The payer takes the signed transfer back.
pub(crate) fn cancelling(authorization: &TransferAuthorization, key: &Key) -> Vec<u8> {
    let (authorizer, nonce) = (place(authorization.from), B256::from(authorization.nonce));
    let message = token::CancelAuthorization { authorizer, nonce };
    let digest = message.eip712_signing_hash(&usdc_domain(authorization.network));
    let signature = key.sign(digest.0).to_vec().into();
    token::cancelAuthorizationCall { authorizer, nonce, signature }.abi_encode()
}

pub(crate) fn transaction(
    network: Network,
    nonce: u64,
    to: EvmAddress,
    data: Vec<u8>,
) -> UnsignedTransaction {
    let (priority_fee, max_fee, gas) = (1_000_000, 100_000_000, 300_000);
    UnsignedTransaction {
        chain_id: network.chain_id(),
        nonce,
        priority_fee,
        max_fee,
        gas,
        to: to.bytes(),
        value: 0,
        data,
    }
}

pub(crate) fn key_bytes(key: &Key) -> [u8; 32] {
    key.reveal().parse::<B256>().unwrap().0
}
