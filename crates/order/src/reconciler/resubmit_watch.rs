//! How long this process has looked for a card without finding it.
//!
//! Before a provider is asked again for a card whose answer was lost, its list
//! must have had time to show it. A wall clock can be put forward and make a
//! minute out of a second, so this counts by the process's own uptime. After a
//! restart the watch begins anew: that only makes it longer.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::model::ids::OrderId;

#[derive(Default)]
pub struct ResubmitWatches {
    begun: Mutex<HashMap<OrderId, ResubmitWatch>>,
}

/// A watch for the card of one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResubmitWatch {
    attempt: u32,
    begun: u64,
    /// Looks without a result so far, this one included.
    pub(crate) looks: u32,
}

impl ResubmitWatch {
    pub(crate) const fn seconds(self, uptime: u64) -> u64 {
        uptime.saturating_sub(self.begun)
    }
}

impl ResubmitWatches {
    /// One more look without a result. If another process has submitted the card again in the
    /// meantime, the watch for that attempt begins now.
    pub(crate) fn keep(&self, order: OrderId, attempt: u32, uptime: u64) -> ResubmitWatch {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = ResubmitWatch { attempt, begun: uptime, looks: 0 };
        let watch = begun.entry(order).or_insert(fresh);
        if watch.attempt != attempt {
            *watch = fresh;
        }
        watch.looks = watch.looks.saturating_add(1);
        *watch
    }

    /// The card was found, or has been asked for again.
    pub(crate) fn end(&self, order: OrderId) {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).remove(&order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_grows_with_every_look_and_begins_anew_for_every_attempt() {
        let (resubmit_watches, order) = (ResubmitWatches::default(), OrderId::from_bytes([1; 16]));
        resubmit_watches.keep(order, 1, 100);
        let watch = resubmit_watches.keep(order, 1, 400);
        assert_eq!((watch.looks, watch.seconds(400)), (2, 300));
        let next = resubmit_watches.keep(order, 2, 500);
        assert_eq!((next.looks, next.seconds(500)), (1, 0));
        resubmit_watches.end(order);
        assert_eq!(resubmit_watches.keep(order, 2, 600).seconds(600), 0);
    }
}
