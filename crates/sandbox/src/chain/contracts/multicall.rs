//! Multicall3, as far as wallet libraries lean on it to ask many things at once.

use alloy_sol_types::{SolCall, SolInterface};

use super::super::abi::Multicall3;
use super::super::network::MULTICALL3;
use super::super::state::View;
use super::{Answer, Env, Revert};

pub(super) fn call(view: &mut View<'_>, env: &Env<'_>, data: &[u8]) -> Answer {
    let Multicall3::Multicall3Calls::aggregate3(asked) =
        Multicall3::Multicall3Calls::abi_decode_validate(data).map_err(|_| Revert::silent())?;
    let mut results = Vec::new();
    for call in asked.calls {
        // One inside another is never asked for, and could be nested without end.
        if call.target == MULTICALL3 {
            return Err(Revert::reason("Multicall3: call failed"));
        }
        let answer = super::call(view, env, MULTICALL3, call.target, &call.callData);
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
