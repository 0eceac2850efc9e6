//! The store contract, run against SQLite.

use std::sync::Arc;

use adapters::store::sqlite::SqliteStore;
use order::ports::Store;
use order::testing::contract::{RestartStore, StoreUnderTest};
use tokio::sync::Mutex;

use crate::test_store::{crowd, keyring, runtime, worker};

fn put_to<C: Future<Output = ()>>(check: impl FnOnce(StoreUnderTest) -> C) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders");
    runtime().block_on(async {
        let store = Arc::new(SqliteStore::open(&path, &keyring()).unwrap());
        let newest = Arc::new(Mutex::new((store.clone(), 1)));
        let opened = newest.clone();
        let restart: RestartStore = Arc::new(move || {
            let (opened, path) = (opened.clone(), path.clone());
            Box::pin(async move {
                let mut opened = opened.lock().await;
                opened.0.close().await.unwrap();
                *opened = (Arc::new(SqliteStore::open(&path, &keyring()).unwrap()), opened.1 + 1);
                let store: Arc<dyn Store> = opened.0.clone();
                (store, worker(opened.1))
            })
        });
        check(StoreUnderTest { store, worker: worker(1), run_concurrently: crowd, restart }).await;
        newest.lock().await.0.close().await.unwrap();
    });
}

order::store_contract!(put_to);
