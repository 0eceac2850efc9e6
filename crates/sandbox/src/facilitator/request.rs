//! The request of `/verify` and `/settle`, parsed as by the official facilitator.

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::SolCall;
use order::model::chain::Network;
use serde_json::Value;

use evm::interfaces::{EIP2612Permit, PermitTransferFrom, TokenPermissions, UptoProxy, Witness};

/// An authorization and the payment requirements.
pub(crate) struct PaymentRequest {
    pub(crate) accepted_scheme: String,
    pub(crate) accepted_network: String,
    pub(crate) scheme: String,
    pub(crate) network: String,
    pub(crate) asset: Address,
    pub(crate) pay_to: Address,
    /// The ceiling (`/verify`) or the charge (`/settle`).
    pub(crate) amount: U256,
    pub(crate) spender: Address,
    pub(crate) owner: Address,
    pub(crate) permit: PermitTransferFrom,
    pub(crate) witness: Witness,
    pub(crate) signature: Bytes,
    pub(crate) sponsored: Option<EIP2612Permit>,
}

impl PaymentRequest {
    /// None if a required field is missing.
    pub(crate) fn read(body: &Value) -> Option<Self> {
        let payload = body.get("paymentPayload")?;
        let wanted = body.get("paymentRequirements")?;
        let promise = payload.pointer("/payload/permit2Authorization")?;
        Some(Self {
            accepted_scheme: text(payload, "/accepted/scheme")?,
            accepted_network: text(payload, "/accepted/network")?,
            scheme: text(wanted, "/scheme")?,
            network: text(wanted, "/network")?,
            asset: address(wanted, "/asset")?,
            pay_to: address(wanted, "/payTo")?,
            amount: number(wanted, "/amount")?,
            spender: address(promise, "/spender")?,
            owner: address(promise, "/from")?,
            permit: PermitTransferFrom {
                permitted: TokenPermissions {
                    token: address(promise, "/permitted/token")?,
                    amount: number(promise, "/permitted/amount")?,
                },
                nonce: number(promise, "/nonce")?,
                deadline: number(promise, "/deadline")?,
            },
            witness: Witness {
                to: address(promise, "/witness/to")?,
                facilitator: address(promise, "/witness/facilitator")?,
                validAfter: number(promise, "/witness/validAfter")?,
            },
            signature: text(payload, "/payload/signature")?.parse().ok()?,
            sponsored: sponsored(payload),
        })
    }

    pub(crate) fn network(&self) -> Option<Network> {
        Network::from_caip2(&self.network)
    }

    /// The call data that settles this amount.
    pub(crate) fn calldata(&self, amount: U256) -> Vec<u8> {
        let (permit, owner) = (self.permit.clone(), self.owner);
        let (witness, signature) = (self.witness.clone(), self.signature.clone());
        match self.sponsored.clone() {
            None => {
                UptoProxy::settleCall { permit, amount, owner, witness, signature }.abi_encode()
            }
            Some(permit2612) => UptoProxy::settleWithPermitCall {
                permit2612,
                permit,
                amount,
                owner,
                witness,
                signature,
            }
            .abi_encode(),
        }
    }
}

/// The payer's EIP-2612 permit, if the extension is present.
fn sponsored(payload: &Value) -> Option<EIP2612Permit> {
    let info = payload.pointer("/extensions/eip2612GasSponsoring/info")?;
    let signature: Bytes = text(info, "/signature")?.parse().ok()?;
    let signature: [u8; 65] = signature[..].try_into().ok()?;
    Some(EIP2612Permit {
        value: number(info, "/amount")?,
        deadline: number(info, "/deadline")?,
        r: B256::from_slice(&signature[..32]),
        s: B256::from_slice(&signature[32..64]),
        v: signature[64],
    })
}

fn text(value: &Value, place: &str) -> Option<String> {
    value.pointer(place)?.as_str().map(str::to_owned)
}

fn address(value: &Value, place: &str) -> Option<Address> {
    text(value, place)?.parse().ok()
}

/// Decimal or hexadecimal, as JavaScript's `BigInt` takes both.
fn number(value: &Value, place: &str) -> Option<U256> {
    text(value, place)?.parse().ok()
}
