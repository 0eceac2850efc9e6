//! The environment and the result of a contract call.

use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::{Revert as Reason, SolError, SolEvent};

use crate::chain::ens::names::NameRegistry;
use crate::chain::network::ChainId;
use crate::chain::node::state::{ContractEvent, StateView};

/// Runs a call to any contract. Contracts call each other through it.
pub(crate) type Dispatch =
    fn(&mut StateView<'_>, &CallEnv<'_>, Address, Address, &[u8]) -> ContractResult;

/// The environment of a call.
#[derive(Clone, Copy)]
pub(crate) struct CallEnv<'a> {
    pub(crate) chain: ChainId,
    /// The block's time, in seconds.
    pub(crate) now: u64,
    pub(crate) names: &'a NameRegistry,
    /// What the sender pays for a unit of gas; zero in a read that names no fees.
    pub(crate) gas_price: U256,
    pub(crate) execution: CallExecution,
    pub(crate) dispatch: Dispatch,
}

/// Where a call is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallExecution {
    Simulation,
    Block,
}

/// A reverted call, with its revert data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Revert(pub(crate) Bytes);

impl Revert {
    /// The same as Solidity's `require`.
    pub(crate) fn reason(words: &str) -> Self {
        Self(Reason::from(words).abi_encode().into())
    }

    pub(crate) fn error(error: &impl SolError) -> Self {
        Self(error.abi_encode().into())
    }

    /// Without data, as for an unknown selector.
    pub(crate) fn silent() -> Self {
        Self(Bytes::new())
    }
}

pub(crate) type ContractResult = Result<Bytes, Revert>;

impl CallEnv<'_> {
    /// Calls another contract.
    pub(crate) fn call(
        &self,
        view: &mut StateView<'_>,
        sender: Address,
        to: Address,
        data: &[u8],
    ) -> ContractResult {
        (self.dispatch)(view, self, sender, to, data)
    }
}

pub(crate) fn emit(view: &mut StateView<'_>, place: Address, event: &impl SolEvent) {
    let log = event.encode_log_data();
    view.emit(ContractEvent { address: place, topics: log.topics().to_vec(), data: log.data });
}
