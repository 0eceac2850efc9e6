//! The allowance that Permit2 needs: token, spender, call, and the permit that replaces it.

use evm::abi::{APPROVE, encode_call};
use evm::{hex, word};
use order::model::chain::Network;
use order::model::money::Usdc;
use serde_json::{Value, json};

use super::settler::GasSponsoring;
use super::{PERMIT2, SPONSORING};

/// Clients act on exactly this code.
pub(super) const REQUIRED: &str = "permit2_allowance_required";

/// The missing call for each offered network, and the permit that replaces it if its gas is
/// sponsored. The allowance must be at least `amount`.
pub(super) fn missing_call(networks: &[Network], amount: Usdc, sponsoring: GasSponsoring) -> Value {
    let tokens = networks
        .iter()
        .map(|network| json!({ "network": network.caip2(), "token": network.usdc().to_string() }));
    let mut missing = json!({
        "spender": PERMIT2.to_string(),
        "tokens": tokens.collect::<Vec<_>>(),
        "minimum": amount.atomic().to_string(),
        "call": { "function": APPROVE, "to": "token", "data": data(amount) },
    });
    match sponsoring {
        GasSponsoring::Offered => missing["or_permit"] = SPONSORING.into(),
        GasSponsoring::NotOffered => {}
    }
    missing
}

/// The same without the input of the call, which is too long for a header.
pub(super) fn without_call_data(mut missing: Value) -> Value {
    if let Some(call) = missing["call"].as_object_mut() {
        call.remove("data");
    }
    missing
}

/// The input of the transaction that approves Permit2 for this amount.
fn data(amount: Usdc) -> String {
    let arguments = [word::from_address(PERMIT2.bytes()), word::from_u64(amount.atomic())];
    hex::encode(&encode_call(APPROVE, &arguments))
}

#[cfg(test)]
mod tests {
    use order::model::money::CEILING;

    use super::*;

    #[test]
    fn the_call_approves_permit2_for_the_ceiling() {
        assert_eq!(
            data(CEILING),
            "0x095ea7b3\
             000000000000000000000000000000000022d473030f116ddee9f6b43ac78ba3\
             00000000000000000000000000000000000000000000000000000000003567e0"
        );
    }
}
