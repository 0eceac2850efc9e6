//! Fee history.

use alloy_primitives::{U64, U256};
use serde::Deserialize;

/// The fees of recent blocks.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "OnTheWire")]
pub struct FeeHistory {
    /// Its newest block.
    pub head: u64,
    /// The base fee of the next block, in wei.
    pub next_base_fee: u128,
    /// The median priority fee of each block, in wei.
    pub tips: Vec<u128>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OnTheWire {
    oldest_block: U64,
    base_fee_per_gas: Vec<U256>,
    #[serde(default)]
    reward: Option<Vec<Vec<U256>>>,
}

impl TryFrom<OnTheWire> for FeeHistory {
    type Error = &'static str;

    fn try_from(wire: OnTheWire) -> Result<Self, Self::Error> {
        const INVALID: &str = "not a fee history";
        let wei = |fee: &U256| u128::try_from(*fee).map_err(|_| INVALID);
        let next_base_fee = wire.base_fee_per_gas.last().ok_or(INVALID).and_then(wei)?;
        // There is one base fee more than blocks: that of the next block.
        let blocks = u64::try_from(wire.base_fee_per_gas.len()).map_err(|_| INVALID)?;
        let after = wire.oldest_block.to::<u64>().checked_add(blocks).ok_or(INVALID)?;
        let head = after.checked_sub(2).ok_or(INVALID)?;
        let rewards = wire.reward.unwrap_or_default();
        let tips = rewards.iter().filter_map(|block| block.first()).map(wei);
        Ok(Self { head, next_base_fee, tips: tips.collect::<Result<_, _>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_base_fee_is_that_of_the_next_block() {
        let json = r#"{"oldestBlock":"0x64","baseFeePerGas":["0x1","0x2","0x3"],
            "gasUsedRatio":[0.5,0.5],"reward":[["0x7"],["0x8"]]}"#;
        let history: FeeHistory = serde_json::from_str(json).unwrap();
        assert_eq!(history, FeeHistory { head: 101, next_base_fee: 3, tips: vec![7, 8] });
    }

    #[test]
    fn a_history_without_fees_is_rejected() {
        for json in [
            r#"{"oldestBlock":"0x64","baseFeePerGas":[]}"#,
            r#"{"oldestBlock":"0x0","baseFeePerGas":["0x1"]}"#,
        ] {
            assert!(serde_json::from_str::<FeeHistory>(json).is_err(), "{json}");
        }
    }
}
