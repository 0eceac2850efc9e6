//! What a payer must allow before Permit2 may move its USDC: token, spender, call, and what replaces it.

use order::model::chain::Network;
use order::model::money::Usdc;
use serde_json::{Value, json};

use super::PERMIT2;
use super::extensions::SPONSORING;
use super::facilitator::Sponsoring;

/// Clients derive what to do from exactly this word.
pub(super) const REQUIRED: &str = "permit2_allowance_required";

const APPROVE: &str = "approve(address,uint256)";
/// The first four bytes of the Keccak-256 of `APPROVE`.
const SELECTOR: &str = "095ea7b3";
/// A word of the EVM, in hexadecimal digits.
const WORD_DIGITS: usize = 64;

/// The missing call on each network that is offered, and the permit that replaces it where
/// one is carried. At least `amount` has to be allowed.
pub(super) fn missing(networks: &[Network], amount: Usdc, sponsoring: Sponsoring) -> Value {
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
        Sponsoring::Offered => missing["or_permit"] = SPONSORING.into(),
        Sponsoring::NotOffered => {}
    }
    missing
}

/// The same without the input of the call, for which a header has no room.
pub(super) fn within_a_header(mut missing: Value) -> Value {
    if let Some(call) = missing["call"].as_object_mut() {
        call.remove("data");
    }
    missing
}

/// The input of a transaction to the token that allows Permit2 this much.
fn data(amount: Usdc) -> String {
    let spender = PERMIT2.to_string();
    let spender = spender.trim_start_matches("0x").to_ascii_lowercase();
    format!("0x{SELECTOR}{spender:0>WORD_DIGITS$}{:0>WORD_DIGITS$x}", amount.atomic())
}

#[cfg(test)]
mod tests {
    use order::model::money::CEILING;
    use sha3::{Digest, Keccak256};

    use super::*;

    #[test]
    fn the_call_is_an_approval_of_permit2_for_the_ceiling() {
        let selector = &Keccak256::digest(APPROVE)[..4];
        let selector: String = selector.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(selector, SELECTOR);
        assert_eq!(
            data(CEILING),
            "0x095ea7b3\
             000000000000000000000000000000000022d473030f116ddee9f6b43ac78ba3\
             00000000000000000000000000000000000000000000000000000000003567e0"
        );
    }
}
