//! The x402 proxy of the scheme `upto`: a payer's ceiling, and whoever may settle below it.

use alloy_primitives::{Address, Bytes, U256, keccak256};
use alloy_sol_types::{SolCall, SolInterface, SolStruct, SolValue};

use super::super::abi::{
    Permit2, PermitTransferFrom, SignatureTransferDetails, UptoProxy, Usdc, Witness,
};
use super::super::network::{PERMIT2, UPTO_PROXY, address};
use super::super::state::View;
use super::{Answer, Env, Revert, at, emit};
use UptoProxy::UptoProxyCalls as Calls;

pub(in super::super) const WITNESS_TYPE_STRING: &str = "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,address facilitator,uint256 validAfter)";

pub(super) fn call(view: &mut View<'_>, env: &Env<'_>, sender: Address, data: &[u8]) -> Answer {
    match Calls::abi_decode_validate(data).map_err(|_| Revert::silent())? {
        Calls::PERMIT2(_) => Ok(address(PERMIT2).abi_encode().into()),
        Calls::WITNESS_TYPE_STRING(_) => Ok(WITNESS_TYPE_STRING.abi_encode().into()),
        Calls::WITNESS_TYPEHASH(_) => {
            Ok(keccak256(Witness::eip712_encode_type().as_bytes()).abi_encode().into())
        }
        Calls::settle(call) => {
            guard(sender, &call.permit, call.amount, &call.witness)?;
            pull(view, env, &call)?;
            emit(view, address(UPTO_PROXY), &UptoProxy::Settled {});
            Ok(Bytes::new())
        }
        Calls::settleWithPermit(call) => settle_with_permit(view, env, sender, call),
    }
}

fn settle_with_permit(
    view: &mut View<'_>,
    env: &Env<'_>,
    sender: Address,
    call: UptoProxy::settleWithPermitCall,
) -> Answer {
    guard(sender, &call.permit, call.amount, &call.witness)?;
    let promise = call.permit2612;
    let token = call.permit.permitted.token;
    if promise.value != call.permit.permitted.amount {
        return Err(Revert::error(&UptoProxy::Permit2612AmountMismatch {}));
    }
    if at(view, env, token).is_none() {
        return Err(Revert::silent());
    }
    let permit = Usdc::permit_0Call {
        owner: call.owner,
        spender: address(PERMIT2),
        value: promise.value,
        deadline: promise.deadline,
        v: promise.v,
        r: promise.r,
        s: promise.s,
    };
    // A permit that fails is fatal only if the allowance is missing below: anybody
    // can have used it before us, and then it has done its work.
    let _ = super::call(view, env, address(UPTO_PROXY), token, &permit.abi_encode());
    let settle = UptoProxy::settleCall {
        permit: call.permit,
        amount: call.amount,
        owner: call.owner,
        witness: call.witness,
        signature: call.signature,
    };
    pull(view, env, &settle)?;
    emit(view, address(UPTO_PROXY), &UptoProxy::SettledWithPermit {});
    Ok(Bytes::new())
}

fn guard(
    sender: Address,
    permit: &PermitTransferFrom,
    amount: U256,
    witness: &Witness,
) -> Result<(), Revert> {
    if amount > permit.permitted.amount {
        return Err(Revert::error(&UptoProxy::AmountExceedsPermitted {}));
    }
    if sender != witness.facilitator {
        return Err(Revert::error(&UptoProxy::UnauthorizedFacilitator {}));
    }
    Ok(())
}

fn pull(view: &mut View<'_>, env: &Env<'_>, call: &UptoProxy::settleCall) -> Result<(), Revert> {
    if call.amount.is_zero() {
        return Err(Revert::error(&UptoProxy::InvalidAmount {}));
    }
    if call.owner.is_zero() {
        return Err(Revert::error(&UptoProxy::InvalidOwner {}));
    }
    if call.witness.to.is_zero() {
        return Err(Revert::error(&UptoProxy::InvalidDestination {}));
    }
    if U256::from(env.now) < call.witness.validAfter {
        return Err(Revert::error(&UptoProxy::PaymentTooEarly {}));
    }
    let transfer = permit2_call(call);
    super::call(view, env, address(UPTO_PROXY), address(PERMIT2), &transfer.abi_encode())?;
    Ok(())
}

/// The call that the proxy makes to Permit2 for this settlement.
pub(in super::super) fn permit2_call(
    call: &UptoProxy::settleCall,
) -> Permit2::permitWitnessTransferFromCall {
    Permit2::permitWitnessTransferFromCall {
        permit: call.permit.clone(),
        transferDetails: SignatureTransferDetails {
            to: call.witness.to,
            requestedAmount: call.amount,
        },
        owner: call.owner,
        witness: call.witness.eip712_hash_struct(),
        witnessTypeString: WITNESS_TYPE_STRING.to_owned(),
        signature: call.signature.clone(),
    }
}
