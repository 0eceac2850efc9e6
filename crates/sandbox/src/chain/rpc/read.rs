//! The JSON-RPC methods that only read.

use alloy_primitives::U256;
use serde_json::{Value, json};

use crate::chain::contracts;
use crate::chain::contracts::env::{CallEnv, CallExecution};
use crate::chain::contracts::registry::{EmulatedContract, at};
use crate::chain::ens::names::NameRegistry;
use crate::chain::node::EmulatedNode;
use crate::chain::node::block::EmulatedBlock;
use crate::chain::node::state::{Slot, StateView};
use crate::chain::rpc::call::CallRequest;
use crate::chain::rpc::failure::{RpcError, RpcResult};
use crate::chain::rpc::params::{RpcBlockTag, RpcParams, number};
use crate::chain::rpc::shape::{self, Detail, hex, quantity};

pub(crate) const PRIORITY_FEE: u64 = 1_000_000;
/// Maximum number of blocks in a fee history.
const FEE_BLOCKS: u64 = 1_024;

/// Reads a node, up to the last block that it has seen.
pub(crate) struct BlockReader<'a> {
    node: &'a EmulatedNode,
    names: &'a NameRegistry,
    head: u64,
}

impl<'a> BlockReader<'a> {
    pub(crate) fn new(node: &'a EmulatedNode, names: &'a NameRegistry, behind: u64) -> Self {
        let head = node.head().number.saturating_sub(behind).max(node.oldest());
        Self { node, names, head }
    }

    pub(crate) fn node(&self) -> &'a EmulatedNode {
        self.node
    }

    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    pub(crate) fn gas_price(&self) -> U256 {
        self.node.base_fee.saturating_add(U256::from(PRIORITY_FEE))
    }

    /// The block that a tag means, as far as the node has seen it.
    pub(crate) fn find(&self, tag: RpcBlockTag) -> Option<&'a EmulatedBlock> {
        let oldest = self.node.oldest();
        let number = match tag {
            RpcBlockTag::Latest | RpcBlockTag::Pending => self.head,
            RpcBlockTag::Safe => self.head.saturating_sub(self.node.depths.safe).max(oldest),
            RpcBlockTag::Finalized => {
                self.head.saturating_sub(self.node.depths.finalized).max(oldest)
            }
            RpcBlockTag::Earliest => oldest,
            RpcBlockTag::Number(number) => number,
            RpcBlockTag::Hash(hash) => {
                let block = self.node.block_by_hash(hash)?;
                return (block.number <= self.head).then_some(block);
            }
        };
        if number > self.head { None } else { self.node.block(number) }
    }

    fn known(&self, tag: RpcBlockTag) -> Result<&'a EmulatedBlock, RpcError> {
        self.find(tag).ok_or_else(|| RpcError::server("header not found"))
    }

    fn view(&self, tag: RpcBlockTag) -> Result<(StateView<'a>, CallEnv<'a>), RpcError> {
        let block = self.known(tag)?;
        let view = self.node.view(block.number);
        let view = view.ok_or_else(|| RpcError::server("historical state is not available"))?;
        let env = CallEnv {
            chain: self.node.chain,
            now: block.timestamp,
            names: self.names,
            gas_price: U256::ZERO,
            execution: CallExecution::Simulation,
            dispatch: contracts::call,
        };
        Ok((view, env))
    }

    pub(crate) fn block_by_number(&self, params: &RpcParams<'_>) -> RpcResult {
        let found = self.find(params.tag(0)?);
        Ok(found.map_or(Value::Null, |block| shape::block(block, detail(params))))
    }

    pub(crate) fn block_by_hash(&self, params: &RpcParams<'_>) -> RpcResult {
        let found = self.find(RpcBlockTag::Hash(params.hash(0)?));
        Ok(found.map_or(Value::Null, |block| shape::block(block, detail(params))))
    }

    pub(crate) fn balance(&self, params: &RpcParams<'_>) -> RpcResult {
        let account = params.address(0)?;
        let (view, _) = self.view(params.tag(1)?)?;
        Ok(quantity(view.peek(Slot::Native(account))))
    }

    /// A placeholder: callers only check whether there is code.
    pub(crate) fn code(&self, params: &RpcParams<'_>) -> RpcResult {
        let account = params.address(0)?;
        let (view, env) = self.view(params.tag(1)?)?;
        let name = match at(&view, &env, account) {
            None => return Ok(json!("0x")),
            Some(EmulatedContract::Usdc) => "usdc",
            Some(EmulatedContract::Permit2) => "permit2",
            Some(EmulatedContract::UptoProxy) => "upto",
            Some(EmulatedContract::UniversalResolver) => "resolver",
            Some(EmulatedContract::Multicall3) => "multicall3",
            Some(EmulatedContract::Wallet(_)) => "wallet",
            Some(EmulatedContract::Other) => "other",
        };
        // The first byte is the INVALID opcode.
        Ok(hex([b"\xfe", name.as_bytes()].concat()))
    }

    pub(crate) fn transaction_count(&self, params: &RpcParams<'_>) -> RpcResult {
        let (account, tag) = (params.address(0)?, params.tag(1)?);
        if tag == RpcBlockTag::Pending {
            let mined = self.node.nonce(account);
            return Ok(quantity(self.node.pool.nonce_after(account, mined)));
        }
        let (view, _) = self.view(tag)?;
        Ok(quantity(view.peek(Slot::Nonce(account))))
    }

    pub(crate) fn call(&self, params: &RpcParams<'_>) -> RpcResult {
        let (request, mut view, env) = self.simulation(params)?;
        let returned = request.run(&mut view, &env, request.gas())?;
        if request.gas_used(&view) > request.gas() {
            return Err(RpcError::server("out of gas"));
        }
        Ok(hex(&returned))
    }

    pub(crate) fn estimate(&self, params: &RpcParams<'_>) -> RpcResult {
        let (request, mut view, env) = self.simulation(params)?;
        let most = request.most_gas(&view);
        request.run(&mut view, &env, most)?;
        // The nonce and the fee are written too, and a slot that is filled now may
        // be empty when the block comes.
        let used = request.gas_used(&view);
        let estimate = used.saturating_add(used / 8);
        if estimate > most {
            return Err(RpcError::server(format!("gas required exceeds allowance ({most})")));
        }
        Ok(quantity(estimate))
    }

    /// The call, the state and the environment to run it in.
    fn simulation(
        &self,
        params: &RpcParams<'_>,
    ) -> Result<(CallRequest, StateView<'a>, CallEnv<'a>), RpcError> {
        let (request, tag) = (CallRequest::read(params)?, params.tag(1)?);
        let (view, env) = self.view(tag)?;
        let gas_price = request.gas_price(self.known(tag)?.base_fee)?;
        Ok((request, view, CallEnv { gas_price, ..env }))
    }

    pub(crate) fn transaction(&self, params: &RpcParams<'_>) -> RpcResult {
        let hash = params.hash(0)?;
        if let Some((block, index)) = self.node.mined(hash) {
            if block.number > self.head {
                return Ok(Value::Null);
            }
            let mined = &block.transactions[index];
            let place = Some((block, index, mined.price));
            return Ok(shape::transaction(&mined.transaction, place));
        }
        let waiting = self.node.pool.find(hash);
        Ok(waiting.map_or(Value::Null, |waiting| shape::transaction(waiting, None)))
    }

    pub(crate) fn receipt(&self, params: &RpcParams<'_>) -> RpcResult {
        let found = self.node.mined(params.hash(0)?);
        let seen = found.filter(|(block, _)| block.number <= self.head);
        Ok(seen.map_or(Value::Null, |(block, index)| shape::receipt(block, index)))
    }

    pub(crate) fn fee_history(&self, params: &RpcParams<'_>) -> RpcResult {
        let count = params.get(0).map(count).transpose()?.unwrap_or(1).min(FEE_BLOCKS);
        let newest = self.known(params.tag(1)?)?.number;
        let oldest = (newest + 1).saturating_sub(count.max(1)).max(self.node.oldest());
        let blocks: Vec<&EmulatedBlock> =
            (oldest..=newest).filter_map(|at| self.node.block(at)).collect();
        let mut fees: Vec<Value> = blocks.iter().map(|block| quantity(block.base_fee)).collect();
        fees.push(quantity(self.node.base_fee));
        let mut history = json!({
            "oldestBlock": quantity(oldest),
            "baseFeePerGas": fees,
            "gasUsedRatio": vec![0; blocks.len()],
        });
        if let Some(percentiles) = params.get(2).and_then(Value::as_array) {
            let reward = vec![quantity(PRIORITY_FEE); percentiles.len().min(100)];
            history["reward"] = json!(vec![reward; blocks.len()]);
        }
        Ok(history)
    }
}

/// Nodes accept the number of blocks as a number or as hex.
fn count(value: &Value) -> Result<u64, RpcError> {
    match value.as_u64() {
        Some(count) => Ok(count),
        None => u64::try_from(number(value)?).map_err(|_| RpcError::invalid("too many blocks")),
    }
}

fn detail(params: &RpcParams<'_>) -> Detail {
    if params.get(1) == Some(&Value::Bool(true)) { Detail::Whole } else { Detail::Hashes }
}
