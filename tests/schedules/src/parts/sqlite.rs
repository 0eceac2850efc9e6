//! SQLite's writer thread and readers: every caller is answered, also while the store closes.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use order::ports::StoreError;
use shuttle::future::{block_on, spawn, yield_now};

use crate::explore::saw;
use crate::sources::sqlite_readers::Readers;
use crate::sources::sqlite_writer::Writer;
use crate::stand_ins::sqlite::{Disk, read_from};
use crate::stand_ins::{random, step};

pub const KINDS: &[&str] = &[
    "acknowledged writes",
    "writes that failed or were refused",
    "failed commits",
    "commits of several writes",
    "reads",
    "reads refused by a closed store",
];

/// Callers write and read while the store closes. A caller without an answer is a deadlock.
pub fn run() {
    let disk = Disk::default();
    read_from(&disk);
    let writer = Arc::new(Writer::start(Path::new("memory"), disk.open()).expect("it starts"));
    let readers = Arc::new(Readers::open(Path::new("memory")).expect("it opens"));
    let closing = Arc::new(AtomicBool::new(false));
    let writes: Vec<_> = (0..3)
        .map(|row| {
            let (writer, disk) = (writer.clone(), disk.clone());
            spawn(async move { write(&writer, &disk, row).await })
        })
        .collect();
    let reads: Vec<_> = (0..3)
        .map(|_| {
            let (readers, closing) = (readers.clone(), closing.clone());
            spawn(async move { read(&readers, &closing).await })
        })
        .collect();
    let acknowledged = block_on(async {
        for _ in 0..random(12) {
            yield_now().await;
        }
        closing.store(true, Ordering::Relaxed);
        readers.close().await;
        assert_eq!(disk.content().connections, 1, "a reader is open after it was closed");
        // A full queue refuses this too.
        while writer.close().await.is_err() {
            yield_now().await;
        }
        let open = disk.content().connections;
        assert_eq!(open, 0, "the writer is open after it was closed");
        assert!(!disk.content().is_locked, "another process could not open the file");
        let mut acknowledged = Vec::new();
        for write in writes {
            acknowledged.extend(write.await.expect("it does not panic"));
        }
        for read in reads {
            read.await.expect("it does not panic");
        }
        acknowledged
    });
    let content = disk.content();
    let mut rows = content.rows.clone();
    rows.sort_unstable();
    rows.dedup();
    assert_eq!(rows.len(), content.rows.len(), "a write was made twice");
    assert!(acknowledged.iter().all(|row| rows.contains(row)), "an acknowledged write is lost");
    if content.failed_commits > 0 {
        saw(KINDS[2]);
    }
    if content.commits > 0 && content.rows.len() > content.commits {
        saw(KINDS[3]);
    }
}

async fn write(writer: &Writer, disk: &Disk, row: u64) -> Option<u64> {
    match writer.offer(row).await {
        Ok(kept) => {
            assert_eq!(kept, row, "another caller's answer");
            assert!(disk.content().rows.contains(&row), "acknowledged before its commit");
            saw(KINDS[0]);
            Some(row)
        }
        Err(error) => {
            assert_eq!(error, StoreError::Lost);
            saw(KINDS[1]);
            None
        }
    }
}

async fn read(readers: &Readers, closing: &AtomicBool) {
    let outcome = if random(2) == 0 {
        readers.ask(|_| Ok(step())).await
    } else {
        readers.scan_rows(|_| Ok(step())).await
    };
    assert!(outcome.is_ok() || closing.load(Ordering::Relaxed), "an open store refused a read");
    saw(KINDS[if outcome.is_ok() { 4 } else { 5 }]);
}
