//! Truncates the write-ahead log as a power failure might, and checks what is left.

use std::fs;
use std::path::{Path, PathBuf};

use adapters::store::sqlite::SqliteStore;
use order::lifecycle::event::Actor;
use order::ports::Store;
use order::testing::contract::samples::{begun, offer};
use rusqlite::Connection;

use crate::killed_processes::every_id;
use crate::test_store::{keyring, runtime};

const ACKNOWLEDGED: u64 = 60;
const UNANSWERED: u64 = 20;
const CUTS: usize = 200;

#[test]
fn a_cut_after_the_last_acknowledged_commit_loses_nothing_that_was_acknowledged() {
    let run = Run::make();
    let acknowledged = *run.ends.last().unwrap();
    assert!(acknowledged < run.log.len(), "nothing was written after the last answer");
    for cut in positions(acknowledged, run.log.len()) {
        let kept = run.cut_at(cut);
        assert!(kept >= ACKNOWLEDGED, "cut at {cut}: {kept} orders of {ACKNOWLEDGED}");
    }
}

#[test]
fn a_cut_anywhere_leaves_the_beginning_of_history() {
    let run = Run::make();
    for cut in positions(0, *run.ends.last().unwrap()) {
        let before = run.ends.iter().filter(|end| **end <= cut).count();
        let kept = run.cut_at(cut);
        assert_eq!(kept, u64::try_from(before).unwrap(), "cut at {cut}");
    }
}

/// A database file, its whole log, and how long the log was after each answer.
struct Run {
    folder: tempfile::TempDir,
    database: PathBuf,
    log: Vec<u8>,
    ends: Vec<usize>,
}

impl Run {
    fn make() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("orders");
        runtime().block_on(async {
            let store = SqliteStore::open(&path, &keyring()).unwrap();
            // As long as a reader has the empty database open, no checkpoint may
            // touch it, and all of history stays in the log.
            let reader = Connection::open(&path).unwrap();
            reader.execute_batch("BEGIN; SELECT count(*) FROM orders;").unwrap();
            let mut ends = Vec::new();
            for seed in 0..ACKNOWLEDGED + UNANSWERED {
                let next = begun(offer(seed), seed).into();
                store.record(&next, &Actor::Checkout).await.unwrap();
                if seed < ACKNOWLEDGED {
                    ends.push(fs::read(log_of(&path)).unwrap().len());
                }
            }
            let database = folder.path().join("database");
            fs::copy(&path, &database).unwrap();
            let log = fs::read(log_of(&path)).unwrap();
            drop(reader);
            store.close().await.unwrap();
            Self { folder, database, log, ends }
        })
    }

    /// How many orders are left of a log that ends here. They must be the first.
    fn cut_at(&self, cut: usize) -> u64 {
        let path = self.folder.path().join("cut");
        fs::copy(&self.database, &path).unwrap();
        fs::write(log_of(&path), &self.log[..cut]).unwrap();
        let kept = runtime().block_on(async {
            let store = SqliteStore::open(&path, &keyring()).unwrap();
            let mut kept = 0;
            for seed in 0..ACKNOWLEDGED + UNANSWERED {
                let Some(found) = store.find(offer(seed).id).await.unwrap() else { continue };
                assert_eq!((seed, found.version()), (kept, 1), "not the beginning: cut at {cut}");
                assert_eq!(store.events(found.id()).await.unwrap().len(), 1);
                kept += 1;
            }
            store.close().await.unwrap();
            kept
        });
        assert_eq!(every_id(&path).len(), usize::try_from(kept).unwrap());
        kept
    }
}

fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}

/// Random places from `first` to `last`, and both of these.
fn positions(first: usize, last: usize) -> Vec<usize> {
    let random = |_| {
        let mut random = [0; 8];
        getrandom::fill(&mut random).unwrap();
        first + usize::from_le_bytes(random) % (last - first)
    };
    (0..CUTS - 2).map(random).chain([first, last]).collect()
}
