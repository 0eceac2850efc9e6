//! What was found out lately, and one lookup at a time for each name.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use order::model::evidence::Age;
use order::model::seller::{Resolution, Username};
use order::ports::{Clock, Purpose};
use tokio::sync::{OnceCell, Semaphore};

use super::trouble::Trouble;
use crate::bucket::{Bucket, Rate};

/// How long an address is believed, in seconds.
pub(super) const FOUND_SECONDS: u64 = 60;
/// How long the absence of one is.
const NOTHING_SECONDS: u64 = 30;
/// How long an address is good enough to ask for payment while no node answers.
const STALE_SECONDS: u64 = 10 * 60;
/// Anybody can ask for any name, so there is an end to what is remembered.
const NAMES_MAX: usize = 10_000;
/// And to how many names that have never been found are looked up at once: a
/// seller who is known is not kept waiting by a crowd of strangers.
const STRANGERS_MAX: usize = 32;
/// And to how many of them are looked up over time: each costs calls to a node.
const STRANGERS: Rate = Rate { burst: 120, per_second: 2 };

pub(super) type Outcome = Result<Option<Resolution>, Trouble>;

pub(super) struct Memory {
    clock: Arc<dyn Clock>,
    shelf: Mutex<HashMap<Username, Kept>>,
    flights: Mutex<HashMap<Username, Flight>>,
    strangers: Semaphore,
    stranger_rate: Bucket,
    /// Sellers of this shop: always looked up, never forgotten.
    enabled: HashSet<Username>,
}

/// An outcome that several callers wait for.
type Flight = Arc<OnceCell<Outcome>>;

struct Kept {
    /// As it is told to those who come later.
    answer: Option<Resolution>,
    /// By the watch and not by the wall: nobody can put it back.
    since: u64,
}

impl Memory {
    pub(super) fn new(clock: Arc<dyn Clock>, enabled: impl IntoIterator<Item = Username>) -> Self {
        Self {
            stranger_rate: Bucket::new(STRANGERS, clock.clone()),
            enabled: enabled.into_iter().collect(),
            clock,
            shelf: Mutex::default(),
            flights: Mutex::default(),
            strangers: Semaphore::new(STRANGERS_MAX),
        }
    }

    /// What is known of a seller, or what `look` finds out.
    pub(super) async fn recall<L: Future<Output = Outcome>>(
        &self,
        seller: &Username,
        purpose: Purpose,
        look: impl FnOnce() -> L,
    ) -> Outcome {
        if let Some(answer) = self.remembered(seller) {
            return Ok(answer);
        }
        let seat = self.board(seller);
        // In a box: nearly everybody is answered above, and should not carry a flight.
        let fly = || Box::pin(self.fly(seller, look()));
        let outcome = seat.flight.get_or_init(fly).await.clone();
        match (outcome, purpose) {
            (Ok(answer), _) => Ok(answer),
            (Err(trouble), Purpose::Payment) => Err(trouble),
            (Err(trouble), Purpose::Offer) => self.stale(seller).map(Some).ok_or(trouble),
        }
    }

    async fn fly(&self, seller: &Username, look: impl Future<Output = Outcome>) -> Outcome {
        let outcome = if self.is_known(seller) {
            look.await
        } else {
            match self.strangers.try_acquire() {
                Ok(_permit) if self.stranger_rate.take() => look.await,
                Ok(_) | Err(_) => Err(Trouble::Busy),
            }
        };
        if let Ok(answer) = &outcome {
            self.keep(seller.clone(), answer.clone());
        }
        // Whoever comes from here on finds the answer on the shelf, or flies.
        lock(&self.flights).remove(seller);
        outcome
    }

    fn board<'a>(&'a self, seller: &'a Username) -> Seat<'a> {
        let flight = lock(&self.flights).entry(seller.clone()).or_default().clone();
        Seat { memory: self, seller, flight }
    }

    fn remembered(&self, seller: &Username) -> Option<Option<Resolution>> {
        let now = self.clock.uptime();
        let shelf = lock(&self.shelf);
        let kept = shelf.get(seller).filter(|kept| kept.is_fresh(now))?;
        Some(kept.answer.clone())
    }

    /// A seller of this shop, or one that was found before.
    fn is_known(&self, seller: &Username) -> bool {
        let was_found = |kept: &Kept| kept.answer.is_some();
        self.enabled.contains(seller) || lock(&self.shelf).get(seller).is_some_and(was_found)
    }

    fn stale(&self, seller: &Username) -> Option<Resolution> {
        let now = self.clock.uptime();
        let shelf = lock(&self.shelf);
        let kept = shelf.get(seller).filter(|kept| kept.age(now) < STALE_SECONDS)?;
        kept.answer.clone()
    }

    fn keep(&self, seller: Username, answer: Option<Resolution>) {
        let now = self.clock.uptime();
        let mut shelf = lock(&self.shelf);
        if shelf.len() >= NAMES_MAX && !shelf.contains_key(&seller) {
            shelf.retain(|name, kept| kept.is_fresh(now) || self.enabled.contains(name));
            let others = shelf.iter().filter(|(name, _)| !self.enabled.contains(*name));
            // Names that have no address go before sellers who were found.
            let oldest = others.min_by_key(|(_, kept)| (kept.answer.is_some(), kept.since));
            let oldest = oldest.map(|(name, _)| name.clone());
            if let Some(name) = oldest.filter(|_| shelf.len() >= NAMES_MAX) {
                shelf.remove(&name);
            }
        }
        shelf.insert(seller, Kept { answer: answer.map(aged), since: now });
    }
}

impl Kept {
    fn age(&self, now: u64) -> u64 {
        now.saturating_sub(self.since)
    }

    fn is_fresh(&self, now: u64) -> bool {
        let most = if self.answer.is_some() { FOUND_SECONDS } else { NOTHING_SECONDS };
        self.age(now) < most
    }
}

fn aged(mut answer: Resolution) -> Resolution {
    Arc::make_mut(&mut answer.evidence).age = Age::Cached;
    answer
}

/// A place in a flight. The last to leave one that nobody finished takes it
/// away: callers may hang up.
struct Seat<'a> {
    memory: &'a Memory,
    seller: &'a Username,
    flight: Flight,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut flights = lock(&self.memory.flights);
        let ours = flights.get(self.seller).is_some_and(|other| Arc::ptr_eq(other, &self.flight));
        // One copy in the map and one here: seats are taken under the lock only.
        if ours && Arc::strong_count(&self.flight) == 2 {
            flights.remove(self.seller);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that runs under these locks can leave a map half changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
