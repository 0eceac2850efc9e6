//! How long this process itself has looked for a card in vain.
//!
//! Before a provider is asked again for a card whose answer was lost, its list
//! must have had time to show it. A wall clock can be put forward and make a
//! minute out of a second, so this counts by the process's own uptime. After a
//! restart the vigil begins anew: that only makes it longer.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::ids::OrderId;

#[derive(Default)]
pub struct Vigils {
    begun: Mutex<HashMap<OrderId, Vigil>>,
}

/// A watch for one card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Vigil {
    begun: u64,
    /// Looks in vain so far, this one included.
    pub(crate) looks: u32,
}

impl Vigil {
    pub(crate) const fn seconds(self, uptime: u64) -> u64 {
        uptime.saturating_sub(self.begun)
    }
}

impl Vigils {
    /// One more look was in vain.
    pub(crate) fn keep(&self, order: OrderId, uptime: u64) -> Vigil {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let vigil = begun.entry(order).or_insert(Vigil { begun: uptime, looks: 0 });
        vigil.looks = vigil.looks.saturating_add(1);
        *vigil
    }

    /// The card was found, or has been asked for again.
    pub(crate) fn end(&self, order: OrderId) {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).remove(&order);
    }
}
