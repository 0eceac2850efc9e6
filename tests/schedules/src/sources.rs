//! Modules of the service as build.rs copies them: unchanged but for shuttle's locks and atomics.

#![expect(dead_code, reason = "only what shares memory is called here")]
#![expect(clippy::new_without_default, reason = "as in the service")]

pub mod single_flight {
    include!(concat!(env!("OUT_DIR"), "/single_flight.rs"));
}

pub mod ticker {
    include!(concat!(env!("OUT_DIR"), "/ticker.rs"));
}

pub mod rate_limit {
    include!(concat!(env!("OUT_DIR"), "/rate_limit.rs"));
}

pub mod task_tracker {
    include!(concat!(env!("OUT_DIR"), "/task_tracker.rs"));
}

pub mod token_bucket {
    include!(concat!(env!("OUT_DIR"), "/token_bucket.rs"));
}

pub mod name_cache {
    include!(concat!(env!("OUT_DIR"), "/name_cache.rs"));
}

pub mod sqlite_readers {
    include!(concat!(env!("OUT_DIR"), "/sqlite_readers.rs"));
}

pub mod sqlite_command {
    include!(concat!(env!("OUT_DIR"), "/sqlite_command.rs"));
}

pub mod sqlite_writer {
    include!(concat!(env!("OUT_DIR"), "/sqlite_writer.rs"));
}
