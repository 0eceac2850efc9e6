//! The x402 proxy of the scheme `upto`: settles up to the payer's ceiling.

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::{SolCall, SolInterface, SolValue};
use evm::eip712::type_hash;
use evm::interfaces::{
    Permit2, PermitTransferFrom, SignatureTransferDetails, UptoProxy, Usdc, Witness,
};
use evm::permit2::{UptoWitness, WITNESS_TYPE, WITNESS_TYPE_STRING};

use crate::chain::contracts::env::{CallEnv, ContractResult, Revert, emit};
use crate::chain::contracts::registry::at;
use crate::chain::network::{PERMIT2, UPTO_PROXY, address};
use crate::chain::node::state::StateView;
use UptoProxy::UptoProxyCalls as Calls;

pub(crate) fn call(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    sender: Address,
    data: &[u8],
) -> ContractResult {
    match Calls::abi_decode_validate(data).map_err(|_| Revert::silent())? {
        Calls::PERMIT2(_) => Ok(address(PERMIT2).abi_encode().into()),
        Calls::WITNESS_TYPE_STRING(_) => Ok(WITNESS_TYPE_STRING.abi_encode().into()),
        Calls::WITNESS_TYPEHASH(_) => Ok(B256::from(type_hash(WITNESS_TYPE)).abi_encode().into()),
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
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    sender: Address,
    call: UptoProxy::settleWithPermitCall,
) -> ContractResult {
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
    // A failed permit matters only if the allowance is missing below: it may have been used
    // in another transaction already.
    let _ = env.call(view, address(UPTO_PROXY), token, &permit.abi_encode());
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

fn pull(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    call: &UptoProxy::settleCall,
) -> Result<(), Revert> {
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
    env.call(view, address(UPTO_PROXY), address(PERMIT2), &transfer.abi_encode())?;
    Ok(())
}

/// The call that the proxy makes to Permit2 for this settlement.
pub(crate) fn permit2_call(call: &UptoProxy::settleCall) -> Permit2::permitWitnessTransferFromCall {
    let witness = UptoWitness {
        to: call.witness.to.into(),
        facilitator: call.witness.facilitator.into(),
        valid_after: call.witness.validAfter.to_be_bytes(),
    };
    Permit2::permitWitnessTransferFromCall {
        permit: call.permit.clone(),
        transferDetails: SignatureTransferDetails {
            to: call.witness.to,
            requestedAmount: call.amount,
        },
        owner: call.owner,
        witness: witness.hash().into(),
        witnessTypeString: WITNESS_TYPE_STRING.to_owned(),
        signature: call.signature.clone(),
    }
}
