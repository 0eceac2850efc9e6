//! The call object of `eth_call` and `eth_estimateGas`, with what nodes check about fees.

use alloy_primitives::{Address, Bytes, U256};
use serde_json::Value;

use crate::chain::contracts::env::CallEnv;
use crate::chain::node::state::{Slot, StateView};
use crate::chain::node::{BLOCK_GAS, intrinsic, send_value};
use crate::chain::rpc::failure::RpcError;
use crate::chain::rpc::params::{RpcParams, address, bytes, number};

pub(crate) struct CallRequest {
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
    pub(crate) fn read(params: &RpcParams<'_>) -> Result<Self, RpcError> {
        let call = params.get(0).and_then(Value::as_object);
        let call =
            call.ok_or_else(|| RpcError::invalid("missing value for required argument 0"))?;
        let text = |name: &str| call.get(name).and_then(Value::as_str);
        let amount =
            |name: &str| call.get(name).filter(|value| !value.is_null()).map(number).transpose();
        let Some(to) = text("to") else {
            return Err(RpcError::server("the sandbox deploys no contracts"));
        };
        let (price, max) = (amount("gasPrice")?, amount("maxFeePerGas")?);
        let priority = amount("maxPriorityFeePerGas")?;
        if price.is_some() && (max.is_some() || priority.is_some()) {
            let words = "both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified";
            return Err(RpcError::server(words));
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
    pub(crate) fn gas_price(&self, base_fee: U256) -> Result<U256, RpcError> {
        let Self { from, max_fee, priority_fee, .. } = self;
        if max_fee.is_zero() && priority_fee.is_zero() {
            return Ok(U256::ZERO);
        }
        if priority_fee > max_fee {
            return Err(RpcError::server(format!(
                "max priority fee per gas higher than max fee per gas: address {from}, \
                 maxPriorityFeePerGas: {priority_fee}, maxFeePerGas: {max_fee}"
            )));
        }
        if *max_fee < base_fee {
            return Err(RpcError::server(format!(
                "max fee per gas less than block base fee: address {from}, \
                 maxFeePerGas: {max_fee}, baseFee: {base_fee}"
            )));
        }
        Ok(base_fee.saturating_add(*priority_fee).min(*max_fee))
    }

    /// The gas of a call: what is named, or what fits into a block.
    pub(crate) fn gas(&self) -> u64 {
        self.gas.unwrap_or(BLOCK_GAS)
    }

    /// How much gas an estimate may come to: what is named or fits into a block, and can be
    /// paid.
    pub(crate) fn most_gas(&self, view: &StateView<'_>) -> u64 {
        let left = view.peek(Slot::Native(self.from)).saturating_sub(self.value);
        let payable = left.checked_div(self.max_fee).unwrap_or(U256::MAX);
        u64::try_from(payable).unwrap_or(u64::MAX).min(self.gas())
    }

    /// What has been spent in this view, and what a transaction costs anyway.
    pub(crate) fn gas_used(&self, view: &StateView<'_>) -> u64 {
        intrinsic(&self.data).saturating_add(view.gas())
    }

    /// Runs the call, if its sender can pay for it.
    pub(crate) fn run(
        &self,
        view: &mut StateView<'_>,
        env: &CallEnv<'_>,
        gas: u64,
    ) -> Result<Bytes, RpcError> {
        let have = view.peek(Slot::Native(self.from));
        if have < self.value {
            return Err(RpcError::server("insufficient funds for transfer"));
        }
        let want = U256::from(gas).saturating_mul(self.max_fee).saturating_add(self.value);
        if have < want {
            return Err(RpcError::server(format!(
                "insufficient funds for gas * price + value: address {} have {have} want {want}",
                self.from
            )));
        }
        send_value(view, env, self.from, self.to, self.value)
            .and_then(|()| env.call(view, self.from, self.to, &self.data))
            .map_err(|revert| RpcError::reverted(&revert))
    }
}
