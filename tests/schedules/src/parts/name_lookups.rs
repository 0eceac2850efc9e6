//! Lookups of names: one at a time for a name, and nothing is kept of those that were given up.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use order::model::seller::Username;
use order::ports::Purpose;
use order::testing::manual_clock::ManualClock;
use shuttle::future::{block_on, spawn, yield_now};

use crate::explore::saw;
use crate::sources::name_cache::NameCache;
use crate::stand_ins::{LookupError, random};

pub const KINDS: &[&str] = &[
    "lookups",
    "callers who got the result of another",
    "callers who left",
    "lookups that failed",
];

/// Four callers ask for two names, and some of them leave.
pub fn run() {
    let cache = Arc::new(NameCache::new(Arc::new(ManualClock::default()), []));
    let running = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let callers: Vec<_> = (0..4)
        .map(|_| {
            let (cache, running) = (cache.clone(), running.clone());
            let leaves = random(2) == 0;
            let caller = spawn(async move { call(&cache, &running).await });
            (caller, leaves)
        })
        .collect();
    block_on(async {
        for (caller, leaves) in &callers {
            if *leaves {
                for _ in 0..random(4) {
                    yield_now().await;
                }
                // The client disconnects, and its future is dropped.
                caller.abort();
                saw(KINDS[2]);
            }
        }
        for (caller, _) in callers {
            let _ = caller.await;
        }
    });
    let lookups = cache.lookups.lock().expect("no caller panics");
    assert!(lookups.is_empty(), "{} lookups are kept that no caller waits for", lookups.len());
}

async fn call(cache: &NameCache, running: &[AtomicUsize; 2]) {
    let place = usize::from(random(4) == 0);
    let name = Username::kept(["alice", "bob"][place].into());
    let mut looked = false;
    let _ = cache
        .get_or_resolve(&name, Purpose::Payment, || {
            looked = true;
            look(&running[place])
        })
        .await;
    if !looked {
        saw(KINDS[1]);
    }
}

async fn look(running: &AtomicUsize) -> crate::sources::name_cache::LookupResult {
    saw(KINDS[0]);
    let lookup = Running::begin(running);
    for _ in 0..random(3) {
        yield_now().await;
    }
    drop(lookup);
    if random(3) == 0 {
        saw(KINDS[3]);
        return Err(LookupError::TimedOut);
    }
    Ok(None)
}

/// One lookup in progress, which may be dropped at any step.
struct Running<'a>(&'a AtomicUsize);

impl<'a> Running<'a> {
    fn begin(running: &'a AtomicUsize) -> Self {
        assert_eq!(running.fetch_add(1, Ordering::Relaxed), 0, "two lookups of one name");
        Self(running)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
