//! What a chain remembers: numbers in named slots, views that can be thrown away,
//! and the way back.

use std::collections::HashMap;

use alloy_primitives::{Address, B256, Bytes, U256};

/// One remembered number. Everything on this chain is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Slot {
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
pub(super) struct Event {
    pub(super) address: Address,
    pub(super) topics: Vec<B256>,
    pub(super) data: Bytes,
}

pub(super) type Changes = HashMap<Slot, U256>;

#[derive(Default)]
pub(super) struct State(HashMap<Slot, U256>);

impl State {
    pub(super) fn get(&self, slot: Slot) -> U256 {
        self.0.get(&slot).copied().unwrap_or_default()
    }

    /// Takes the changes, and returns what undoes them.
    pub(super) fn apply(&mut self, changes: Changes) -> Changes {
        let put = |(slot, value): (Slot, U256)| {
            let old =
                if value.is_zero() { self.0.remove(&slot) } else { self.0.insert(slot, value) };
            (slot, old.unwrap_or_default())
        };
        changes.into_iter().map(put).collect()
    }
}

/// The state as one call sees and changes it. Dropped, it has changed nothing.
pub(super) struct View<'a> {
    state: &'a State,
    /// What a slot held at an earlier block, where that differs.
    past: Changes,
    written: Changes,
    events: Vec<Event>,
    gas: u64,
}

/// Roughly what the real contracts pay, so that estimates look alike.
const READ: u64 = 2_100;
const WRITE: u64 = 5_000;
const FIRST_WRITE: u64 = 20_000;
const EVENT: u64 = 1_800;

impl<'a> View<'a> {
    pub(super) fn latest(state: &'a State) -> Self {
        Self::at(state, Changes::new())
    }

    /// The state before some blocks, given what undoes them.
    pub(super) fn at(state: &'a State, past: Changes) -> Self {
        Self { state, past, written: Changes::new(), events: Vec::new(), gas: 0 }
    }

    pub(super) fn get(&mut self, slot: Slot) -> U256 {
        self.gas += READ;
        self.peek(slot)
    }

    pub(super) fn peek(&self, slot: Slot) -> U256 {
        let found = self.written.get(&slot).or_else(|| self.past.get(&slot));
        found.copied().unwrap_or_else(|| self.state.get(slot))
    }

    pub(super) fn set(&mut self, slot: Slot, value: U256) {
        self.gas += if self.peek(slot).is_zero() { FIRST_WRITE } else { WRITE };
        self.written.insert(slot, value);
    }

    pub(super) fn emit(&mut self, event: Event) {
        self.gas += EVENT;
        self.events.push(event);
    }

    pub(super) fn spend(&mut self, gas: u64) {
        self.gas += gas;
    }

    pub(super) fn gas(&self) -> u64 {
        self.gas
    }

    /// Does this, and forgets all of it if it fails; the gas stays spent.
    pub(super) fn attempt<T, E>(
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

    pub(super) fn into_parts(self) -> (Changes, Vec<Event>) {
        (self.written, self.events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Slot = Slot::Usdc(Address::ZERO);

    #[test]
    fn a_view_changes_nothing_until_its_changes_are_applied_and_undone_they_are_gone() {
        let mut state = State::default();
        let mut view = View::latest(&state);
        view.set(SLOT, U256::from(5));
        assert_eq!(view.get(SLOT), U256::from(5));
        let (changes, _) = view.into_parts();
        assert_eq!(state.get(SLOT), U256::ZERO);
        let undo = state.apply(changes);
        assert_eq!(state.get(SLOT), U256::from(5));
        assert_eq!(View::at(&state, undo.clone()).get(SLOT), U256::ZERO);
        state.apply(undo);
        assert_eq!(state.get(SLOT), U256::ZERO);
        assert!(state.0.is_empty(), "what is zero again is not remembered");
    }

    #[test]
    fn a_failed_attempt_leaves_no_trace() {
        let state = State::default();
        let mut view = View::latest(&state);
        view.set(SLOT, U256::from(5));
        let failed: Result<(), ()> = view.attempt(|view| {
            view.set(SLOT, U256::from(6));
            view.emit(Event { address: Address::ZERO, topics: vec![], data: Bytes::new() });
            Err(())
        });
        assert_eq!(failed, Err(()));
        assert_eq!(view.get(SLOT), U256::from(5));
        assert_eq!(view.into_parts().1, []);
    }
}
