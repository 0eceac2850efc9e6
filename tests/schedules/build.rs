//! Copies modules of the service, with the locks and atomics of std replaced by shuttle's.
//!
//! The service itself needs no other code for these tests. A replacement whose text is not in the
//! source any more ends the build: the table below must follow the source.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// A module of the service, and what is replaced in it.
struct Source {
    path: &'static str,
    copy: &'static str,
    replacements: &'static [(&'static str, &'static str)],
}

const SHARED: (&str, &str) = ("use std::sync::", "use shuttle::sync::");

const SOURCES: &[Source] = &[
    Source {
        path: "order/src/checkout/single_flight.rs",
        copy: "single_flight.rs",
        replacements: &[
            SHARED,
            ("use crate::model::", "use order::model::"),
            ("const WAITING_MAX: usize = 256;", "const WAITING_MAX: usize = 2;"),
            (
                "    fn lines(&self)",
                "    pub fn is_empty(&self) -> bool { self.lines().is_empty() }\n    fn lines(&self)",
            ),
        ],
    },
    Source { path: "server/src/serve/ticker.rs", copy: "ticker.rs", replacements: &[SHARED] },
    Source {
        path: "web/src/http/rate_limit.rs",
        copy: "rate_limit.rs",
        replacements: &[SHARED, ("    fn take_at(", "    pub fn take_at(")],
    },
    Source {
        path: "web/src/task_tracker.rs",
        copy: "task_tracker.rs",
        replacements: &[
            ("use tokio::sync::watch;", "use crate::stand_ins::watch;"),
            ("use tokio::task::JoinHandle;", "use shuttle::future::JoinHandle;"),
            ("use tokio::time::timeout;", "use crate::stand_ins::timeout;"),
            ("tokio::spawn(", "shuttle::future::spawn("),
        ],
    },
    Source { path: "adapters/src/rate_limit.rs", copy: "token_bucket.rs", replacements: &[SHARED] },
    Source {
        path: "adapters/src/ens/cache.rs",
        copy: "name_cache.rs",
        replacements: &[
            SHARED,
            ("use super::error::LookupError;", "use crate::stand_ins::LookupError;"),
            ("use crate::rate_limit::", "use crate::sources::token_bucket::"),
            ("type PendingLookup = Arc<", "type PendingLookup = crate::stand_ins::CountedArc<"),
            ("Arc::ptr_eq(", "crate::stand_ins::CountedArc::ptr_eq("),
            ("Arc::strong_count(", "crate::stand_ins::CountedArc::strong_count("),
            ("    lookups: Mutex<", "    pub lookups: Mutex<"),
        ],
    },
    Source {
        path: "adapters/src/store/sqlite/readers.rs",
        copy: "sqlite_readers.rs",
        replacements: &[
            SHARED,
            ("use rusqlite::", "use crate::stand_ins::sqlite::"),
            ("use super::connection::", "use crate::stand_ins::sqlite::"),
            ("use crate::store::OpenError;", "use crate::stand_ins::sqlite::OpenError;"),
            ("tokio::task::spawn_blocking(", "crate::stand_ins::spawn_blocking("),
            ("const READERS: u32 = 4;", "const READERS: u32 = 2;"),
        ],
    },
    Source {
        path: "adapters/src/store/sqlite/command.rs",
        copy: "sqlite_command.rs",
        replacements: &[
            (
                "use rusqlite::Connection;",
                "use crate::stand_ins::sqlite::{self as rusqlite, Connection};",
            ),
            (
                "use crate::store::encryption::ColumnCipher;",
                "use crate::stand_ins::sqlite::ColumnCipher;",
            ),
            ("use crate::store::rows::Row;", "use crate::stand_ins::sqlite::Row;"),
        ],
    },
    Source {
        path: "adapters/src/store/sqlite/writer.rs",
        copy: "sqlite_writer.rs",
        replacements: &[
            ("use std::sync::mpsc::", "use crate::stand_ins::channel::"),
            (
                "use rusqlite::Connection;",
                "use crate::stand_ins::sqlite::{self as rusqlite, Connection};",
            ),
            ("use super::apply::{self,", "use crate::stand_ins::sqlite::apply::{self,"),
            ("use super::checkpoint::", "use crate::stand_ins::sqlite::"),
            ("use super::command::", "use crate::sources::sqlite_command::"),
            ("use super::connection::", "use crate::stand_ins::sqlite::"),
            ("use crate::store::OpenError;", "use crate::stand_ins::sqlite::OpenError;"),
            ("use crate::store::rows::Row;", "use crate::stand_ins::sqlite::Row;"),
            ("std::thread::", "shuttle::thread::"),
            // It waits for a step of the others instead of a time.
            ("waiting.recv_timeout(BATCH_WAIT)", "crate::stand_ins::recv_briefly(waiting)"),
            // Small enough to be full, and to need several commits.
            ("const COMMANDS_MAX: usize = 4_096;", "const COMMANDS_MAX: usize = 2;"),
            ("const WRITES_AT_ONCE: usize = 512;", "const WRITES_AT_ONCE: usize = 2;"),
        ],
    },
];

fn main() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    let copies = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    println!("cargo::rerun-if-changed=build.rs");
    for source in SOURCES {
        let path = crates.join(source.path);
        println!("cargo::rerun-if-changed={}", path.display());
        let text = fs::read_to_string(&path).expect(source.path);
        fs::write(copies.join(source.copy), replaced(&text, source)).expect(source.copy);
    }
}

fn replaced(text: &str, source: &Source) -> String {
    // Without the tests, and without the opening sentence, which `include!` cannot take.
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with("//!"));
    let mut text: String = lines.flat_map(|line| [line, "\n"]).collect();
    for (old, new) in source.replacements {
        assert!(text.contains(old), "{} does not contain {old}", source.path);
        text = text.replace(old, new);
    }
    text.replace("pub(super) ", "pub ").replace("pub(crate) ", "pub ")
}
