//! Everything that a node tells without changing anything.

use alloy_primitives::U256;
use serde_json::{Value, json};

use super::super::block::Block;
use super::super::contracts::{self, Contract, Env, Execution};
use super::super::names::Names;
use super::super::node::Node;
use super::super::state::{Slot, View};
use super::call::CallRequest;
use super::params::{Params, Tag, number};
use super::shape::{self, Detail, hex, quantity};
use super::{Answer, Failure};

pub(super) const PRIORITY_FEE: u64 = 1_000_000;
/// How far a fee history may reach back.
const FEE_BLOCKS: u64 = 1_024;

/// A node, as far as it has seen its own chain.
pub(super) struct Reader<'a> {
    node: &'a Node,
    names: &'a Names,
    head: u64,
}

impl<'a> Reader<'a> {
    pub(super) fn new(node: &'a Node, names: &'a Names, behind: u64) -> Self {
        let head = node.head().number.saturating_sub(behind).max(node.oldest());
        Self { node, names, head }
    }

    pub(super) fn node(&self) -> &'a Node {
        self.node
    }

    pub(super) fn head(&self) -> u64 {
        self.head
    }

    pub(super) fn gas_price(&self) -> U256 {
        self.node.base_fee.saturating_add(U256::from(PRIORITY_FEE))
    }

    /// The block that a tag means, as far as the node has seen it.
    pub(super) fn find(&self, tag: Tag) -> Option<&'a Block> {
        let oldest = self.node.oldest();
        let number = match tag {
            Tag::Latest | Tag::Pending => self.head,
            Tag::Safe => self.head.saturating_sub(self.node.depths.safe).max(oldest),
            Tag::Finalized => self.head.saturating_sub(self.node.depths.finalized).max(oldest),
            Tag::Earliest => oldest,
            Tag::Number(number) => number,
            Tag::Hash(hash) => {
                let block = self.node.block_by_hash(hash)?;
                return (block.number <= self.head).then_some(block);
            }
        };
        if number > self.head { None } else { self.node.block(number) }
    }

    fn known(&self, tag: Tag) -> Result<&'a Block, Failure> {
        self.find(tag).ok_or_else(|| Failure::server("header not found"))
    }

    fn view(&self, tag: Tag) -> Result<(View<'a>, Env<'a>), Failure> {
        let block = self.known(tag)?;
        let view = self.node.view(block.number);
        let view = view.ok_or_else(|| Failure::server("historical state is not available"))?;
        let env = Env {
            chain: self.node.chain,
            now: block.timestamp,
            names: self.names,
            gas_price: U256::ZERO,
            execution: Execution::Simulation,
        };
        Ok((view, env))
    }

    pub(super) fn block_by_number(&self, params: &Params<'_>) -> Answer {
        let found = self.find(params.tag(0)?);
        Ok(found.map_or(Value::Null, |block| shape::block(block, detail(params))))
    }

    pub(super) fn block_by_hash(&self, params: &Params<'_>) -> Answer {
        let found = self.find(Tag::Hash(params.hash(0)?));
        Ok(found.map_or(Value::Null, |block| shape::block(block, detail(params))))
    }

    pub(super) fn balance(&self, params: &Params<'_>) -> Answer {
        let account = params.address(0)?;
        let (view, _) = self.view(params.tag(1)?)?;
        Ok(quantity(view.peek(Slot::Native(account))))
    }

    /// Not the real code, but code: whoever asks wants to know whether there is any.
    pub(super) fn code(&self, params: &Params<'_>) -> Answer {
        let account = params.address(0)?;
        let (view, env) = self.view(params.tag(1)?)?;
        let name = match contracts::at(&view, &env, account) {
            None => return Ok(json!("0x")),
            Some(Contract::Usdc) => "usdc",
            Some(Contract::Permit2) => "permit2",
            Some(Contract::UptoProxy) => "upto",
            Some(Contract::UniversalResolver) => "resolver",
            Some(Contract::Multicall3) => "multicall3",
            Some(Contract::Wallet(_)) => "wallet",
            Some(Contract::Other) => "other",
        };
        // The first byte is the instruction that is never valid.
        Ok(hex([b"\xfe", name.as_bytes()].concat()))
    }

    pub(super) fn transaction_count(&self, params: &Params<'_>) -> Answer {
        let (account, tag) = (params.address(0)?, params.tag(1)?);
        if tag == Tag::Pending {
            let mined = self.node.nonce(account);
            return Ok(quantity(self.node.pool.nonce_after(account, mined)));
        }
        let (view, _) = self.view(tag)?;
        Ok(quantity(view.peek(Slot::Nonce(account))))
    }

    pub(super) fn call(&self, params: &Params<'_>) -> Answer {
        let (request, mut view, env) = self.simulation(params)?;
        let returned = request.run(&mut view, &env, request.gas())?;
        if request.gas_used(&view) > request.gas() {
            return Err(Failure::server("out of gas"));
        }
        Ok(hex(&returned))
    }

    pub(super) fn estimate(&self, params: &Params<'_>) -> Answer {
        let (request, mut view, env) = self.simulation(params)?;
        let most = request.most_gas(&view);
        request.run(&mut view, &env, most)?;
        // The nonce and the fee are written too, and a slot that is filled now may
        // be empty when the block comes.
        let used = request.gas_used(&view);
        let estimate = used.saturating_add(used / 8);
        if estimate > most {
            return Err(Failure::server(format!("gas required exceeds allowance ({most})")));
        }
        Ok(quantity(estimate))
    }

    /// What is asked for, and the state and the surroundings to run it in.
    fn simulation(&self, params: &Params<'_>) -> Result<(CallRequest, View<'a>, Env<'a>), Failure> {
        let (request, tag) = (CallRequest::read(params)?, params.tag(1)?);
        let (view, env) = self.view(tag)?;
        let gas_price = request.gas_price(self.known(tag)?.base_fee)?;
        Ok((request, view, Env { gas_price, ..env }))
    }

    pub(super) fn transaction(&self, params: &Params<'_>) -> Answer {
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

    pub(super) fn receipt(&self, params: &Params<'_>) -> Answer {
        let found = self.node.mined(params.hash(0)?);
        let seen = found.filter(|(block, _)| block.number <= self.head);
        Ok(seen.map_or(Value::Null, |(block, index)| shape::receipt(block, index)))
    }

    pub(super) fn fee_history(&self, params: &Params<'_>) -> Answer {
        let count = params.get(0).map(count).transpose()?.unwrap_or(1).min(FEE_BLOCKS);
        let newest = self.known(params.tag(1)?)?.number;
        let oldest = (newest + 1).saturating_sub(count.max(1)).max(self.node.oldest());
        let blocks: Vec<&Block> = (oldest..=newest).filter_map(|at| self.node.block(at)).collect();
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

/// Nodes take the number of blocks written either way.
fn count(value: &Value) -> Result<u64, Failure> {
    match value.as_u64() {
        Some(count) => Ok(count),
        None => u64::try_from(number(value)?).map_err(|_| Failure::invalid("too many blocks")),
    }
}

fn detail(params: &Params<'_>) -> Detail {
    if params.get(1) == Some(&Value::Bool(true)) { Detail::Whole } else { Detail::Hashes }
}
