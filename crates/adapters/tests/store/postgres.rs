//! PostgreSQL, put to the contract.

use std::sync::Arc;

use adapters::store::postgres::PostgresStore;
use order::contract::{Subject, tidying};

use crate::postgres_server::Schema;
use crate::subject::{crowd, keyring, runtime};

fn put_to<C: Future<Output = ()>>(check: impl FnOnce(Subject) -> C) {
    runtime().block_on(async {
        let schema = Schema::create().await;
        let store = PostgresStore::connect(&schema.url, &keyring()).await.unwrap();
        let store = Arc::new(store);
        check(Subject { store: store.clone(), crowd }).await;
        store.close().await.unwrap();
        schema.drop().await;
    });
}

order::store_contract!(put_to);

#[test]
fn age_counts_and_not_the_sequence_in_which_offers_came() {
    put_to(tidying::age_counts_and_not_the_sequence_in_which_offers_came);
}
