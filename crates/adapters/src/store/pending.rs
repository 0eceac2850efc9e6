//! Offers that no disk has seen yet.
//!
//! Whatever a database has under the same id counts for more than what is here:
//! an offer may have been written, and moved on, before it leaves this place.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use order::ids::{OperationKey, OrderId};
use order::lifecycle::{Offered, Order, Stored};
use order::ports::StoreError;

use super::digested::ByDigest;

/// A few seconds' worth at the highest rate, and about 30 MB.
const OFFERS_MAX: usize = 65_536;

#[derive(Default)]
pub(super) struct Pending {
    shelf: Mutex<Shelf>,
}

#[derive(Default)]
struct Shelf {
    offers: ByDigest<OrderId, Order<Offered>>,
    /// The highest generation of each operation among them.
    newest: ByDigest<OperationKey, OrderId>,
    /// In the sequence in which they came.
    queue: VecDeque<OrderId>,
    /// How many have been written since the start.
    written: u64,
}

/// What became of an offer that was brought here.
pub(super) struct Kept {
    pub(super) offer: Order<Offered>,
    pub(super) waiting: usize,
}

impl Pending {
    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        // Nothing here panics half-way, so what a dead thread left is whole.
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn newest(&self, key: &OperationKey) -> Option<Order<Offered>> {
        let shelf = self.shelf();
        shelf.newest.get(key).and_then(|id| shelf.offers.get(id)).cloned()
    }

    pub(super) fn find(&self, id: OrderId) -> Option<Order<Offered>> {
        self.shelf().offers.get(&id).cloned()
    }

    /// Keeps an offer, unless there is one of that id already.
    pub(super) fn keep(&self, fresh: Order<Offered>) -> Result<Kept, StoreError> {
        let mut shelf = self.shelf();
        if let Some(offer) = shelf.offers.get(&fresh.id).cloned() {
            return Ok(Kept { offer, waiting: shelf.queue.len() });
        }
        if shelf.queue.len() >= OFFERS_MAX {
            return Err(StoreError::Busy);
        }
        let operation = &fresh.operation;
        let newer = shelf
            .newest
            .get(&operation.key)
            .and_then(|id| shelf.offers.get(id))
            .is_none_or(|other| other.operation.generation < operation.generation);
        if newer {
            shelf.newest.insert(operation.key, fresh.id);
        }
        shelf.queue.push_back(fresh.id);
        shelf.offers.insert(fresh.id, fresh.clone());
        Ok(Kept { offer: fresh, waiting: shelf.queue.len() })
    }

    pub(super) fn waiting(&self) -> usize {
        self.shelf().queue.len()
    }

    /// Those that have waited longest. They stay until they are [`written`](Self::written).
    pub(super) fn next(&self, most: usize) -> Vec<Order<Offered>> {
        let shelf = self.shelf();
        shelf.queue.iter().take(most).filter_map(|id| shelf.offers.get(id)).cloned().collect()
    }

    /// The first `count` are in the database now.
    pub(super) fn written(&self, count: usize) {
        let mut shelf = self.shelf();
        for _ in 0..count {
            let Some(id) = shelf.queue.pop_front() else { return };
            shelf.written += 1;
            if let Some(offer) = shelf.offers.remove(&id)
                && shelf.newest.get(&offer.operation.key) == Some(&id)
            {
                shelf.newest.remove(&offer.operation.key);
            }
        }
    }

    /// The count that [`Self::reached`] tells of, once all that is here now is written.
    pub(super) fn mark(&self) -> u64 {
        let shelf = self.shelf();
        let waiting = u64::try_from(shelf.queue.len()).expect("a length fits 64 bits");
        shelf.written + waiting
    }

    pub(super) fn reached(&self, mark: u64) -> bool {
        self.shelf().written >= mark
    }
}

/// Of what a database has and what waits to be written, the one that counts.
pub(super) fn newer(kept: Option<Stored>, waiting: Option<Order<Offered>>) -> Option<Stored> {
    match (kept, waiting) {
        (Some(kept), Some(waiting))
            if waiting.operation.generation > kept.operation().generation =>
        {
            Some(waiting.into())
        }
        (Some(kept), _) => Some(kept),
        (None, waiting) => waiting.map(Stored::from),
    }
}

#[cfg(test)]
mod tests {
    use order::contract::samples::{NOW, offer, offer_of, operation};
    use order::identity::Operation;

    use super::*;

    #[test]
    fn a_full_memory_says_so_before_it_takes_anything() {
        let pending = Pending::default();
        let most = u64::try_from(OFFERS_MAX).unwrap();
        for seed in 0..most {
            pending.keep(offer(seed)).unwrap();
        }
        assert_eq!(pending.keep(offer(most)).err(), Some(StoreError::Busy));
        assert!(pending.find(offer(most).id).is_none());
        assert_eq!(pending.keep(offer(0)).unwrap().offer, offer(0), "what is there is there");
        pending.written(1);
        assert!(pending.keep(offer(most)).is_ok());
    }

    #[test]
    fn what_is_written_leaves_and_what_came_later_stays() {
        let pending = Pending::default();
        let generation = |generation| offer_of(Operation { generation, ..operation(1) }, NOW);
        pending.keep(generation(1)).unwrap();
        pending.keep(generation(0)).unwrap();
        let mark = pending.mark();
        pending.keep(offer(2)).unwrap();
        assert_eq!(pending.newest(&operation(1).key), Some(generation(1)));
        assert_eq!(pending.next(2), [generation(1), generation(0)]);
        assert!(!pending.reached(mark));
        pending.written(2);
        assert!(pending.reached(mark));
        assert_eq!(pending.newest(&operation(1).key), None);
        assert_eq!(pending.next(9), [offer(2)]);
    }

    #[test]
    fn the_database_counts_for_more_unless_a_later_generation_waits() {
        let first = offer(1);
        let next = offer_of(Operation { generation: 1, ..operation(1) }, NOW);
        let lapsed = Stored::from(first.clone().lapse(NOW));
        assert_eq!(newer(Some(lapsed.clone()), Some(first)), Some(lapsed.clone()));
        assert_eq!(newer(Some(lapsed), Some(next.clone())), Some(next.clone().into()));
        assert_eq!(newer(None, Some(next.clone())), Some(next.into()));
        assert_eq!(newer(None, None), None);
    }
}
