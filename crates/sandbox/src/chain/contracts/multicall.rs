//! Multicall3, as far as wallet libraries use it.

use alloy_sol_types::{SolCall, SolInterface};
use evm::interfaces::Multicall3;

use crate::chain::contracts::env::{CallEnv, ContractResult, Revert};
use crate::chain::network::MULTICALL3;
use crate::chain::node::state::StateView;

pub(crate) fn call(view: &mut StateView<'_>, env: &CallEnv<'_>, data: &[u8]) -> ContractResult {
    let Multicall3::Multicall3Calls::aggregate3(asked) =
        Multicall3::Multicall3Calls::abi_decode_validate(data).map_err(|_| Revert::silent())?;
    let mut results = Vec::new();
    for call in asked.calls {
        // Nested multicalls are refused: they could recurse without end.
        if call.target == MULTICALL3 {
            return Err(Revert::reason("Multicall3: call failed"));
        }
        let answer = env.call(view, MULTICALL3, call.target, &call.callData);
        results.push(match answer {
            Ok(returned) => Multicall3::Result { success: true, returnData: returned },
            Err(revert) if call.allowFailure => {
                Multicall3::Result { success: false, returnData: revert.0 }
            }
            Err(_) => return Err(Revert::reason("Multicall3: call failed")),
        });
    }
    Ok(Multicall3::aggregate3Call::abi_encode_returns(&results).into())
}
