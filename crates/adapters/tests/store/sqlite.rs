//! SQLite, put to the contract.

use std::sync::Arc;

use adapters::store::sqlite::SqliteStore;
use order::contract::Subject;

use crate::subject::{crowd, keyring, runtime};

fn put_to<C: Future<Output = ()>>(check: impl FnOnce(Subject) -> C) {
    let folder = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let store = SqliteStore::open(&folder.path().join("orders"), &keyring()).unwrap();
        let store = Arc::new(store);
        check(Subject { store: store.clone(), crowd }).await;
        store.close().await.unwrap();
    });
}

order::store_contract!(put_to);
