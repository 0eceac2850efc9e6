//! The parts of the service that share memory between tasks and have a protocol of their own.

pub mod claims;
pub mod name_lookups;
pub mod rate_limit;
pub mod single_flight;
pub mod sqlite;
pub mod task_tracker;
pub mod ticker;

/// One part: what a schedule runs, and what must have happened in some schedule.
pub struct Part {
    pub name: &'static str,
    pub run: fn(),
    pub kinds: &'static [&'static str],
}

pub const ALL: &[Part] = &[
    Part { name: "claims", run: claims::run, kinds: claims::KINDS },
    Part { name: "single-flight", run: single_flight::run, kinds: single_flight::KINDS },
    Part { name: "ticker", run: ticker::run, kinds: ticker::KINDS },
    Part { name: "rate-limit", run: rate_limit::run, kinds: rate_limit::KINDS },
    Part { name: "task-tracker", run: task_tracker::run, kinds: task_tracker::KINDS },
    Part { name: "name-lookups", run: name_lookups::run, kinds: name_lookups::KINDS },
    Part { name: "sqlite", run: sqlite::run, kinds: sqlite::KINDS },
];
