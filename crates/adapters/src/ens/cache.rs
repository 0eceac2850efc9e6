//! Results of recent lookups, and one lookup at a time per name.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use order::model::evidence::Age;
use order::model::resolution::Resolution;
use order::model::seller::Username;
use order::ports::{Clock, Purpose};
use tokio::sync::{OnceCell, Semaphore};

use super::error::LookupError;
use crate::rate_limit::{BucketRate, TokenBucket};

/// How long a found name is cached, in seconds.
pub(super) const FOUND_SECONDS: u64 = 60;
/// How long a missing name is cached.
const NOTHING_SECONDS: u64 = 30;
/// How long a cached account may be offered while no node answers.
const STALE_SECONDS: u64 = 10 * 60;
/// Any caller can ask for any name, so the cache is bounded.
const NAMES_MAX: usize = 10_000;
/// The most concurrent lookups of names that are not enabled here, so that they do not delay those
/// that are. A name that was found once counts too: a resolver may answer for any name.
const OTHER_NAMES_MAX: usize = 32;
/// The rate of such lookups: each costs calls to a node.
const OTHER_NAMES_RATE: BucketRate = BucketRate { burst: 120, per_second: 2 };

pub(super) type LookupResult = Result<Option<Resolution>, LookupError>;

pub(super) struct NameCache {
    clock: Arc<dyn Clock>,
    entries: Mutex<HashMap<Username, CacheEntry>>,
    lookups: Mutex<HashMap<Username, PendingLookup>>,
    other_names: Semaphore,
    other_names_rate: TokenBucket,
    /// Enabled sellers: always looked up, never evicted.
    enabled: HashSet<Username>,
}

/// A lookup that several callers wait for.
type PendingLookup = Arc<OnceCell<LookupResult>>;

struct CacheEntry {
    /// As returned to later callers.
    answer: Option<Resolution>,
    /// By monotonic time.
    since: u64,
}

impl NameCache {
    pub(super) fn new(clock: Arc<dyn Clock>, enabled: impl IntoIterator<Item = Username>) -> Self {
        Self {
            other_names_rate: TokenBucket::new(OTHER_NAMES_RATE, clock.clone()),
            enabled: enabled.into_iter().collect(),
            clock,
            entries: Mutex::default(),
            lookups: Mutex::default(),
            other_names: Semaphore::new(OTHER_NAMES_MAX),
        }
    }

    /// The cached result, or the result of `look`.
    pub(super) async fn get_or_resolve<L: Future<Output = LookupResult>>(
        &self,
        seller: &Username,
        purpose: Purpose,
        look: impl FnOnce() -> L,
    ) -> LookupResult {
        if let Some(answer) = self.cached(seller) {
            return Ok(answer);
        }
        let waiter = self.join_lookup(seller);
        // Boxed: most calls are answered from the cache and should not hold a large future.
        let run_lookup = || Box::pin(self.run_lookup(seller, look()));
        let outcome = waiter.lookup.get_or_init(run_lookup).await.clone();
        match (outcome, purpose) {
            (Ok(answer), _) => Ok(answer),
            (Err(error), Purpose::Payment) => Err(error),
            (Err(error), Purpose::Offer) => self.stale(seller).map(Some).ok_or(error),
        }
    }

    async fn run_lookup(
        &self,
        seller: &Username,
        look: impl Future<Output = LookupResult>,
    ) -> LookupResult {
        // mutant: found-names-without-limit
        let outcome = if self.enabled.contains(seller) {
            look.await
        } else {
            match self.other_names.try_acquire() {
                Ok(_permit) if self.other_names_rate.take() => look.await,
                Ok(_) | Err(_) => Err(LookupError::Busy),
            }
        };
        if let Ok(answer) = &outcome {
            self.keep(seller.clone(), answer.clone());
        }
        // Later calls find the cached result, or start a new lookup.
        lock(&self.lookups).remove(seller);
        outcome
    }

    fn join_lookup<'a>(&'a self, seller: &'a Username) -> LookupWaiter<'a> {
        let lookup = lock(&self.lookups).entry(seller.clone()).or_default().clone();
        LookupWaiter { cache: self, seller, lookup }
    }

    fn cached(&self, seller: &Username) -> Option<Option<Resolution>> {
        let now = self.clock.uptime();
        let entries = lock(&self.entries);
        let kept = entries.get(seller).filter(|kept| kept.is_fresh(now))?;
        Some(kept.answer.clone())
    }

    fn stale(&self, seller: &Username) -> Option<Resolution> {
        let now = self.clock.uptime();
        let entries = lock(&self.entries);
        let kept = entries.get(seller).filter(|kept| kept.age(now) < STALE_SECONDS)?;
        kept.answer.clone()
    }

    fn keep(&self, seller: Username, answer: Option<Resolution>) {
        let now = self.clock.uptime();
        let mut entries = lock(&self.entries);
        if entries.len() >= NAMES_MAX && !entries.contains_key(&seller) {
            entries.retain(|name, kept| kept.is_fresh(now) || self.enabled.contains(name));
            let others = entries.iter().filter(|(name, _)| !self.enabled.contains(*name));
            // Missing names are evicted before found ones.
            let oldest = others.min_by_key(|(_, kept)| (kept.answer.is_some(), kept.since));
            let oldest = oldest.map(|(name, _)| name.clone());
            if let Some(name) = oldest.filter(|_| entries.len() >= NAMES_MAX) {
                entries.remove(&name);
            }
        }
        entries.insert(seller, CacheEntry { answer: answer.map(aged), since: now });
    }
}

impl CacheEntry {
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

/// One caller of a pending lookup. The last caller removes a lookup that was not finished:
/// clients may disconnect.
struct LookupWaiter<'a> {
    cache: &'a NameCache,
    seller: &'a Username,
    lookup: PendingLookup,
}

impl Drop for LookupWaiter<'_> {
    fn drop(&mut self) {
        let mut lookups = lock(&self.cache.lookups);
        // Dropped before the lock: of two callers that leave at once the second must see that it is
        // the last.
        // mutant: lookup-released-late
        let lookup = mem::take(&mut self.lookup);
        let ours = lookups.get(self.seller).is_some_and(|other| Arc::ptr_eq(other, &lookup));
        // One reference in the map and one here: they are taken and dropped under the lock only.
        if ours && Arc::strong_count(&lookup) == 2 {
            lookups.remove(self.seller);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that runs under these locks can leave a map half changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
