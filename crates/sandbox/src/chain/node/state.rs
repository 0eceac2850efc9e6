//! The state of a chain: numbers in named slots, discardable views, and undo.

use std::collections::HashMap;

use alloy_primitives::{Address, B256, Bytes, U256};

/// The key of one stored number. All state consists of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Slot {
    Native(Address),
    Nonce(Address),
    /// One, if a contract lives here that confirms nothing; the owner's address, if
    /// it is a wallet that confirms what its owner signed.
    Code(Address),
    /// How a wallet behaves: see `WalletKind`.
    WalletKind(Address),
    Usdc(Address),
    Supply,
    Allowance {
        owner: Address,
        spender: Address,
    },
    PermitNonce(Address),
    Authorization(Address, B256),
    Paused,
    Blacklisted(Address),
    /// Permit2's used nonces, 256 to a word.
    Bitmap(Address, U256),
}

/// An event that a contract wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContractEvent {
    pub(crate) address: Address,
    pub(crate) topics: Vec<B256>,
    pub(crate) data: Bytes,
}

pub(crate) type Changes = HashMap<Slot, U256>;

#[derive(Default)]
pub(crate) struct State(HashMap<Slot, U256>);

impl State {
    pub(crate) fn get(&self, slot: Slot) -> U256 {
        self.0.get(&slot).copied().unwrap_or_default()
    }

    /// Takes the changes, and returns what undoes them.
    pub(crate) fn apply(&mut self, changes: Changes) -> Changes {
        let put = |(slot, value): (Slot, U256)| {
            let old =
                if value.is_zero() { self.0.remove(&slot) } else { self.0.insert(slot, value) };
            (slot, old.unwrap_or_default())
        };
        changes.into_iter().map(put).collect()
    }
}

/// The state as one call sees and changes it. Dropped, it has changed nothing.
pub(crate) struct StateView<'a> {
    state: &'a State,
    /// What a slot held at an earlier block, where that differs.
    past: Changes,
    written: Changes,
    events: Vec<ContractEvent>,
    gas: u64,
}

/// Roughly what the real contracts pay, so that estimates look alike.
const READ: u64 = 2_100;
const WRITE: u64 = 5_000;
const FIRST_WRITE: u64 = 20_000;
const EVENT: u64 = 1_800;

impl<'a> StateView<'a> {
    pub(crate) fn latest(state: &'a State) -> Self {
        Self::at(state, Changes::new())
    }

    /// The state before some blocks, given what undoes them.
    pub(crate) fn at(state: &'a State, past: Changes) -> Self {
        Self { state, past, written: Changes::new(), events: Vec::new(), gas: 0 }
    }

    pub(crate) fn get(&mut self, slot: Slot) -> U256 {
        self.gas += READ;
        self.peek(slot)
    }

    pub(crate) fn peek(&self, slot: Slot) -> U256 {
        let found = self.written.get(&slot).or_else(|| self.past.get(&slot));
        found.copied().unwrap_or_else(|| self.state.get(slot))
    }

    pub(crate) fn set(&mut self, slot: Slot, value: U256) {
        self.gas += if self.peek(slot).is_zero() { FIRST_WRITE } else { WRITE };
        self.written.insert(slot, value);
    }

    pub(crate) fn emit(&mut self, event: ContractEvent) {
        self.gas += EVENT;
        self.events.push(event);
    }

    pub(crate) fn spend(&mut self, gas: u64) {
        self.gas += gas;
    }

    pub(crate) fn gas(&self) -> u64 {
        self.gas
    }

    /// Runs this and discards its changes if it fails; the gas stays spent.
    pub(crate) fn attempt<T, E>(
        &mut self,
        doing: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let (written, events) = (self.written.clone(), self.events.len());
        let done = doing(self);
        if done.is_err() {
            self.written = written;
            self.events.truncate(events);
        }
        done
    }

    pub(crate) fn into_parts(self) -> (Changes, Vec<ContractEvent>) {
        (self.written, self.events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Slot = Slot::Usdc(Address::ZERO);

    #[test]
    fn changes_of_a_view_can_be_applied_and_undone() {
        let mut state = State::default();
        let mut view = StateView::latest(&state);
        view.set(SLOT, U256::from(5));
        assert_eq!(view.get(SLOT), U256::from(5));
        let (changes, _) = view.into_parts();
        assert_eq!(state.get(SLOT), U256::ZERO);
        let undo = state.apply(changes);
        assert_eq!(state.get(SLOT), U256::from(5));
        assert_eq!(StateView::at(&state, undo.clone()).get(SLOT), U256::ZERO);
        state.apply(undo);
        assert_eq!(state.get(SLOT), U256::ZERO);
        assert!(state.0.is_empty(), "what is zero again is not remembered");
    }

    #[test]
    fn a_failed_attempt_changes_nothing() {
        let state = State::default();
        let mut view = StateView::latest(&state);
        view.set(SLOT, U256::from(5));
        let failed: Result<(), ()> = view.attempt(|view| {
            view.set(SLOT, U256::from(6));
            view.emit(ContractEvent { address: Address::ZERO, topics: vec![], data: Bytes::new() });
            Err(())
        });
        assert_eq!(failed, Err(()));
        assert_eq!(view.get(SLOT), U256::from(5));
        assert_eq!(view.into_parts().1, []);
    }
}
