//! Runs a part under many schedules, each of which its seed repeats.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use order::testing::simulation::seed_of;
use shuttle::scheduler::RandomScheduler;
use shuttle::{Config, Runner};

use crate::parts::Part;

/// Below this, something rare may be missing by chance.
const FULL_SIZE: u64 = 10_000;
const PROGRESS: Duration = Duration::from_secs(5);

static SEEN: Mutex<BTreeMap<&'static str, u64>> = Mutex::new(BTreeMap::new());

/// Counts one occurrence of something that the schedules are meant to bring about.
pub fn saw(kind: &'static str) {
    *SEEN.lock().unwrap_or_else(PoisonError::into_inner).entry(kind).or_default() += 1;
}

/// The figures of a part, or None if a schedule failed.
pub fn explore(part: &Part, schedules: u64, seed: u64) -> Option<String> {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let mut shown = Instant::now();
    for number in 0..schedules {
        if shown.elapsed() > PROGRESS {
            shown = Instant::now();
            eprintln!("{}: {} of {} schedules", part.name, grouped(number), grouped(schedules));
        }
        let seed = seed_of(seed, number);
        let mut config = Config::new();
        // Checkout and reconciler have deep stacks without optimisation.
        config.stack_size = 0x10_0000;
        // It warns that it treats every ordering of an atomic as the strongest one.
        config.silence_warnings = true;
        let runner = Runner::new(RandomScheduler::new_from_seed(seed, 1), config);
        if catch_unwind(AssertUnwindSafe(|| runner.run(part.run))).is_err() {
            eprintln!("{}: schedule {number} failed", part.name);
            eprintln!("To repeat: tests/schedules/run {} 1 {seed}", part.name);
            return None;
        }
    }
    let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    let count = |kind: &str| seen.get(kind).copied().unwrap_or_default();
    for kind in part.kinds.iter().filter(|kind| count(kind) == 0) {
        eprintln!("{}: no schedule had {kind}", part.name);
        if schedules >= FULL_SIZE {
            return None;
        }
    }
    let counts = part.kinds.iter().map(|kind| format!("{} {kind}", grouped(count(kind))));
    let counts = counts.collect::<Vec<_>>().join(", ");
    Some(format!("{} {} schedules, 0 failed ({counts})", part.name, grouped(schedules)))
}

/// With a comma after each three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| str::from_utf8(group).expect("digits"))
        .collect();
    groups.join(",")
}
