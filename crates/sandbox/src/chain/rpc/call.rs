//! The call object of `eth_call` and `eth_estimateGas`, with what nodes check about fees.

use alloy_primitives::{Address, Bytes, U256};
use serde_json::Value;

use super::super::contracts::{self, Env};
use super::super::node::{BLOCK_GAS, intrinsic, send_value};
use super::super::state::{Slot, View};
use super::Failure;
use super::params::{Params, address, bytes, number};

pub(super) struct CallRequest {
    from: Address,
    to: Address,
    value: U256,
    data: Bytes,
    gas: Option<u64>,
    /// The most that a unit of gas may cost. Zero without fees, and then gas is free.
    max_fee: U256,
    priority_fee: U256,
}

impl CallRequest {
    pub(super) fn read(params: &Params<'_>) -> Result<Self, Failure> {
        let call = params.get(0).and_then(Value::as_object);
        let call = call.ok_or_else(|| Failure::invalid("missing value for required argument 0"))?;
        let text = |name: &str| call.get(name).and_then(Value::as_str);
        let amount =
            |name: &str| call.get(name).filter(|value| !value.is_null()).map(number).transpose();
        let Some(to) = text("to") else {
            return Err(Failure::server("the sandbox deploys no contracts"));
        };
        let (price, max) = (amount("gasPrice")?, amount("maxFeePerGas")?);
        let priority = amount("maxPriorityFeePerGas")?;
        if price.is_some() && (max.is_some() || priority.is_some()) {
            let words = "both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified";
            return Err(Failure::server(words));
        }
        // Nodes read the nonce and do not compare it with the account's.
        amount("nonce")?;
        Ok(Self {
            from: text("from").map(address).transpose()?.unwrap_or_default(),
            to: address(to)?,
            value: amount("value")?.unwrap_or_default(),
            data: text("input").or(text("data")).map(bytes).transpose()?.unwrap_or_default(),
            gas: amount("gas")?.map(|gas| u64::try_from(gas).unwrap_or(u64::MAX)),
            max_fee: max.or(price).unwrap_or_default(),
            priority_fee: priority.or(price).unwrap_or_default(),
        })
    }

    /// What a unit of gas costs at this base fee.
    pub(super) fn gas_price(&self, base_fee: U256) -> Result<U256, Failure> {
        let Self { from, max_fee, priority_fee, .. } = self;
        if max_fee.is_zero() && priority_fee.is_zero() {
            return Ok(U256::ZERO);
        }
        if priority_fee > max_fee {
            return Err(Failure::server(format!(
                "max priority fee per gas higher than max fee per gas: address {from}, \
                 maxPriorityFeePerGas: {priority_fee}, maxFeePerGas: {max_fee}"
            )));
        }
        if *max_fee < base_fee {
            return Err(Failure::server(format!(
                "max fee per gas less than block base fee: address {from}, \
                 maxFeePerGas: {max_fee}, baseFee: {base_fee}"
            )));
        }
        Ok(base_fee.saturating_add(*priority_fee).min(*max_fee))
    }

    /// The gas of a call: what is named, or what fits into a block.
    pub(super) fn gas(&self) -> u64 {
        self.gas.unwrap_or(BLOCK_GAS)
    }

    /// How much gas an estimate may come to: what is named, or what fits into a block
    /// and can be paid.
    pub(super) fn most_gas(&self, view: &View<'_>) -> u64 {
        let left = view.peek(Slot::Native(self.from)).saturating_sub(self.value);
        let payable = left.checked_div(self.max_fee).unwrap_or(U256::MAX);
        self.gas.unwrap_or_else(|| u64::try_from(payable).unwrap_or(u64::MAX).min(BLOCK_GAS))
    }

    /// What has been spent in this view, and what a transaction costs anyway.
    pub(super) fn gas_used(&self, view: &View<'_>) -> u64 {
        intrinsic(&self.data).saturating_add(view.gas())
    }

    /// Runs the call, if its sender can pay for it.
    pub(super) fn run(
        &self,
        view: &mut View<'_>,
        env: &Env<'_>,
        gas: u64,
    ) -> Result<Bytes, Failure> {
        let have = view.peek(Slot::Native(self.from));
        if have < self.value {
            return Err(Failure::server("insufficient funds for transfer"));
        }
        let want = U256::from(gas).saturating_mul(self.max_fee).saturating_add(self.value);
        if have < want {
            return Err(Failure::server(format!(
                "insufficient funds for gas * price + value: address {} have {have} want {want}",
                self.from
            )));
        }
        send_value(view, env, self.from, self.to, self.value)
            .and_then(|()| contracts::call(view, env, self.from, self.to, &self.data))
            .map_err(|revert| Failure::reverted(&revert))
    }
}
