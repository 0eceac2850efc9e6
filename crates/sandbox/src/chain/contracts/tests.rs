//! The contracts, before signatures that other people's libraries made.

mod names;
mod token;
mod upto;

use alloy_primitives::{Address, B256, Bytes, U256, address};

use crate::chain::contracts::call;
use crate::chain::contracts::env::{CallEnv, CallExecution, ContractResult, Revert};
use crate::chain::network::ChainId;
use crate::chain::node::state::{Changes, ContractEvent, Slot, State, StateView};
use crate::chain::testing::{NOW, no_names};

/// The second account of the well-known development mnemonic signs for the payer.
const PAYER: Address = address!("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC");
const FACILITATOR: Address = address!("0x70997970C51812dc3A010C7d01b50e0d17dc79C8");
const PAYEE: Address = address!("0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65");

/// A chain of one call after another.
struct Bench {
    chain: ChainId,
    state: State,
    now: u64,
    gas_price: U256,
    execution: CallExecution,
    events: Vec<ContractEvent>,
}

impl Bench {
    /// The payer has ten dollars.
    fn new(chain: ChainId) -> Self {
        let mut bench = Self {
            chain,
            state: State::default(),
            now: NOW,
            gas_price: U256::ZERO,
            execution: CallExecution::Simulation,
            events: Vec::new(),
        };
        bench.put(Slot::Usdc(PAYER), U256::from(10_000_000));
        bench
    }

    fn put(&mut self, slot: Slot, value: U256) {
        self.state.apply(Changes::from([(slot, value)]));
    }

    fn get(&self, slot: Slot) -> U256 {
        self.state.get(slot)
    }

    fn call(&mut self, sender: Address, to: Address, data: impl AsRef<[u8]>) -> ContractResult {
        let names = no_names();
        let env = CallEnv {
            chain: self.chain,
            now: self.now,
            names: &names,
            gas_price: self.gas_price,
            execution: self.execution,
            dispatch: call,
        };
        let mut view = StateView::latest(&self.state);
        let answer = call(&mut view, &env, sender, to, data.as_ref());
        let (changes, events) = view.into_parts();
        self.state.apply(changes);
        self.events = events;
        answer
    }
}

fn reason(answer: ContractResult) -> String {
    use alloy_sol_types::SolError;
    alloy_sol_types::Revert::abi_decode(&answer.unwrap_err().0).unwrap().reason
}

fn bytes(hex: &str) -> Bytes {
    hex.parse().unwrap()
}

fn parts(signature: &str) -> (u8, B256, B256) {
    let raw = bytes(signature);
    (raw[64], B256::from_slice(&raw[..32]), B256::from_slice(&raw[32..64]))
}

#[test]
fn an_unknown_selector_reverts_without_data_and_an_empty_address_succeeds() {
    let mut bench = Bench::new(ChainId::Base);
    let usdc = ChainId::Base.usdc();
    assert_eq!(bench.call(PAYER, usdc, [1, 2, 3, 4]), Err(Revert(Bytes::new())));
    assert_eq!(bench.call(PAYER, PAYEE, [1, 2, 3, 4]), Ok(Bytes::new()));
}
