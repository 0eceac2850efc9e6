//! PostgreSQL, put to the contract.

use std::sync::Arc;

use adapters::store::postgres::PostgresStore;
use order::contract::{Restart, Subject, tidying};
use order::ports::Store;
use tokio::sync::Mutex;

use crate::postgres_server::Schema;
use crate::subject::{crowd, keyring, runtime, worker};

fn put_to<C: Future<Output = ()>>(check: impl FnOnce(Subject) -> C) {
    runtime().block_on(async {
        let schema = Schema::create().await;
        let store = Arc::new(connect(&schema.url, 1).await);
        let newest = Arc::new(Mutex::new((store.clone(), 1)));
        let (opened, url) = (newest.clone(), schema.url.clone());
        let restart: Restart = Arc::new(move || {
            let (opened, url) = (opened.clone(), url.clone());
            Box::pin(async move {
                let mut opened = opened.lock().await;
                opened.0.close().await.unwrap();
                *opened = (Arc::new(connect(&url, opened.1 + 1).await), opened.1 + 1);
                let store: Arc<dyn Store> = opened.0.clone();
                (store, worker(opened.1))
            })
        });
        check(Subject { store, worker: worker(1), crowd, restart }).await;
        newest.lock().await.0.close().await.unwrap();
        schema.drop().await;
    });
}

async fn connect(url: &str, number: u8) -> PostgresStore {
    PostgresStore::connect(url, &keyring(), worker(number)).await.unwrap()
}

order::store_contract!(put_to);

#[test]
fn age_counts_and_not_the_sequence_in_which_offers_came() {
    put_to(tidying::age_counts_and_not_the_sequence_in_which_offers_came);
}
