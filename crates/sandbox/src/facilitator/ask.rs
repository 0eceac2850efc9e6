//! What a caller of `/verify` and `/settle` sends, read as the official facilitator reads it.

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::SolCall;
use order::model::chain::Network;
use serde_json::Value;

use crate::chain::abi::{EIP2612Permit, PermitTransferFrom, TokenPermissions, UptoProxy, Witness};

/// A promise, and what is wanted of it.
pub(super) struct Ask {
    pub(super) accepted_scheme: String,
    pub(super) accepted_network: String,
    pub(super) scheme: String,
    pub(super) network: String,
    pub(super) asset: Address,
    pub(super) pay_to: Address,
    /// The ceiling or the charge, as the door has it.
    pub(super) amount: U256,
    pub(super) spender: Address,
    pub(super) owner: Address,
    pub(super) permit: PermitTransferFrom,
    pub(super) witness: Witness,
    pub(super) signature: Bytes,
    pub(super) sponsored: Option<EIP2612Permit>,
}

impl Ask {
    /// None if something is missing that has to be there.
    pub(super) fn read(body: &Value) -> Option<Self> {
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

    pub(super) fn network(&self) -> Option<Network> {
        Network::from_caip2(&self.network)
    }

    /// The call that settles this much of the promise.
    pub(super) fn calldata(&self, amount: U256) -> Vec<u8> {
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

/// The payer's EIP-2612 permit, if the extension was filled in.
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
