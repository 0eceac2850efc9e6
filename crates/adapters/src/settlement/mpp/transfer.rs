//! The call that makes a payer's transfer (EIP-3009), and the events that prove it.

use alloy_primitives::{B256, U256};
use alloy_sol_types::{SolCall, SolEvent};
use evm::interfaces::Usdc;
use order::model::payment::{Instrument, PaymentKey};
use pay::mpp::credential::TransferAuthorization;

use crate::rpc::{EventLog, TransactionReceipt, to_alloy};
use crate::settlement::network_settler::PaymentCall;
use crate::settlement::proof::ContractNonce;

/// All transactions for this authorization have this key.
pub(super) fn key(authorization: &TransferAuthorization) -> PaymentKey {
    let TransferAuthorization { network, from, nonce, .. } = *authorization;
    PaymentKey::of_nonce(Instrument::TransferAuthorization, network, from, nonce)
}

/// The call that makes the payer's transfer.
///
/// The token marks the nonce as used in the same call, so at most one transaction can succeed.
pub(super) fn call(authorization: &TransferAuthorization) -> PaymentCall {
    let signature = &authorization.signature;
    let call = Usdc::transferWithAuthorization_0Call {
        from: to_alloy(authorization.from),
        to: to_alloy(authorization.to),
        value: U256::from(authorization.value.atomic()),
        validAfter: U256::from(authorization.valid_after),
        validBefore: U256::from(authorization.valid_before),
        nonce: authorization.nonce.into(),
        v: signature[64],
        r: B256::from_slice(&signature[..32]),
        s: B256::from_slice(&signature[32..64]),
    };
    PaymentCall {
        key: key(authorization),
        payer: authorization.from,
        to: authorization.network.usdc(),
        data: call.abi_encode(),
        // `validBefore` is exclusive.
        deadline: authorization.valid_before.saturating_sub(1),
    }
}

/// The nonce of the authorization.
pub(super) fn nonce(authorization: &TransferAuthorization) -> ContractNonce {
    let asked = Usdc::authorizationStateCall {
        authorizer: to_alloy(authorization.from),
        nonce: authorization.nonce.into(),
    };
    let contract = authorization.network.usdc();
    ContractNonce { contract, call_data: asked.abi_encode(), bit: U256::MAX }
}

/// `AuthorizationUsed` for this nonce, directly followed by the transfer, proves the payment. A
/// transaction may use many authorizations, and only this order shows which transfer belongs to
/// which.
pub(super) fn shows(receipt: &TransactionReceipt, authorization: &TransferAuthorization) -> bool {
    let uses = |log: &EventLog| is_use(log, authorization);
    receipt.logs.windows(2).any(|pair| uses(&pair[0]) && is_payment(&pair[1], authorization))
}

pub(super) fn is_use(log: &EventLog, authorization: &TransferAuthorization) -> bool {
    let topics = log.topics.iter().copied();
    let used = Usdc::AuthorizationUsed::decode_raw_log_validate(topics, &log.data);
    log.address == to_alloy(authorization.network.usdc())
        && used.is_ok_and(|used| {
            used.authorizer == to_alloy(authorization.from) && used.nonce.0 == authorization.nonce
        })
}

fn is_payment(log: &EventLog, authorization: &TransferAuthorization) -> bool {
    let topics = log.topics.iter().copied();
    let moved = Usdc::Transfer::decode_raw_log_validate(topics, &log.data);
    log.address == to_alloy(authorization.network.usdc())
        && moved.is_ok_and(|moved| {
            moved.from == to_alloy(authorization.from)
                && moved.to == to_alloy(authorization.to)
                && moved.value == U256::from(authorization.value.atomic())
        })
}
