//! A backup of a store in use: everything acknowledged before it is in it, and it is complete or absent.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use adapters::store::sqlite::{BackupError, SqliteStore};
use order::lifecycle::Stored;
use order::lifecycle::event::Actor;
use order::operator::filter::OrderFilter;
use order::ports::Store;
use order::testing::contract::samples::{every_state, mailed, offer, paid};

use crate::test_store::{keyring, runtime};

#[test]
fn a_backup_under_load_has_every_order_that_was_acknowledged_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("orders"), folder.path().join("copy"));
    runtime().block_on(async {
        let store = Arc::new(SqliteStore::open(&path, &keyring()).unwrap());
        let written = Arc::new(AtomicU64::new(0));
        let writer = {
            let (store, written) = (store.clone(), written.clone());
            tokio::spawn(async move {
                for seed in 1.. {
                    store.record(&paid(seed).into(), &Actor::Checkout).await.unwrap();
                    written.store(seed, Ordering::SeqCst);
                }
            })
        };
        while written.load(Ordering::SeqCst) < 50 {
            tokio::task::yield_now().await;
        }
        let acknowledged = written.load(Ordering::SeqCst);
        let report = store.backup(&copy).await.unwrap();
        // The writers go on meanwhile and afterwards.
        let during = written.load(Ordering::SeqCst);
        while written.load(Ordering::SeqCst) == during {
            tokio::task::yield_now().await;
        }
        writer.abort();
        assert!(report.orders >= acknowledged, "{report:?} {acknowledged}");
        assert_eq!(report.orders, report.events);
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
        let restored = SqliteStore::open(&copy, &keyring()).unwrap();
        for seed in 1..=acknowledged {
            let kept = restored.find(offer(seed).id).await.unwrap();
            assert!(matches!(kept, Some(Stored::Submitting(_))), "{seed}: {kept:?}");
        }
        restored.close().await.unwrap();
    });
}

#[test]
fn a_restored_store_has_every_state_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("orders"), folder.path().join("copy"));
    runtime().block_on(async {
        let store = SqliteStore::open(&path, &keyring()).unwrap();
        for order in every_state(1) {
            store.record(&order, &Actor::Checkout).await.unwrap();
        }
        let all = store.list(&OrderFilter::default(), 1_000).await.unwrap().orders;
        store.backup(&copy).await.unwrap();
        let restored = SqliteStore::open(&copy, &keyring()).unwrap();
        // Orders of the process that has ended are due at once; the rest is the same.
        let found = restored.list(&OrderFilter::default(), 1_000).await.unwrap().orders;
        let ids = |orders: &[Stored]| orders.iter().map(Stored::id).collect::<Vec<_>>();
        assert_eq!(ids(&found), ids(&all));
        let late = Stored::from(mailed(900));
        restored.record(&late, &Actor::Checkout).await.unwrap();
        restored.close().await.unwrap();
    });
}

#[test]
fn a_backup_never_overwrites_a_file_and_leaves_none_if_it_fails() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("orders"), folder.path().join("copy"));
    runtime().block_on(async {
        let store = SqliteStore::open(&path, &keyring()).unwrap();
        fs::write(&copy, "something else").unwrap();
        let made = store.backup(&copy).await;
        assert!(matches!(made, Err(BackupError::Exists(_))), "{made:?}");
        assert_eq!(fs::read_to_string(&copy).unwrap(), "something else");
        let nowhere = folder.path().join("missing/copy");
        let made = store.backup(&nowhere).await;
        assert!(matches!(made, Err(BackupError::File { .. })), "{made:?}");
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|one| one.unwrap()).collect();
        let partial = |name: &str| name.ends_with(".partial");
        assert!(!left.iter().any(|one| partial(&one.file_name().to_string_lossy())));
    });
}
