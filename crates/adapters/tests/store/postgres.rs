//! The store contract, run against PostgreSQL.

use std::sync::Arc;

use adapters::store::postgres::PostgresStore;
use order::lifecycle::event::Actor;
use order::lifecycle::{Order, Setback};
use order::model::mail::ProviderAccount;
use order::ports::Store;
use order::testing::contract::{RestartStore, StoreUnderTest, samples};
use tokio::sync::Mutex;

use crate::postgres_server::Schema;
use crate::test_store::{crowd, keyring, runtime, worker};

fn put_to<C: Future<Output = ()>>(check: impl FnOnce(StoreUnderTest) -> C) {
    put_to_url(|schema| schema.url.clone(), check);
}

/// Runs a check of the contract on a new schema, which the stores reach by the given URL.
pub(crate) fn put_to_url<C: Future<Output = ()>>(
    url: fn(&Schema) -> String,
    check: impl FnOnce(StoreUnderTest) -> C,
) {
    runtime().block_on(async {
        let schema = Schema::create().await;
        let url = url(&schema);
        let store = Arc::new(connect(&url, 1).await);
        let newest = Arc::new(Mutex::new((store.clone(), 1)));
        let opened = newest.clone();
        let restart: RestartStore = Arc::new(move || {
            let (opened, url) = (opened.clone(), url.clone());
            Box::pin(async move {
                let mut opened = opened.lock().await;
                opened.0.close().await.unwrap();
                *opened = (Arc::new(connect(&url, opened.1 + 1).await), opened.1 + 1);
                let store: Arc<dyn Store> = opened.0.clone();
                (store, worker(opened.1))
            })
        });
        check(StoreUnderTest { store, worker: worker(1), run_concurrently: crowd, restart }).await;
        newest.lock().await.0.close().await.unwrap();
        schema.drop().await;
    });
}

async fn connect(url: &str, number: u8) -> PostgresStore {
    PostgresStore::connect(url, &keyring(), worker(number)).await.unwrap()
}

order::store_contract!(put_to);

#[test]
fn open_orders_are_read_without_opening_the_store_and_nothing_is_changed() {
    runtime().block_on(async {
        let schema = Schema::create().await;
        assert_eq!(PostgresStore::open_orders_at(&schema.url).await.unwrap(), [], "no tables yet");
        let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()";
        let count = schema.client.query_one(tables, &[]).await.unwrap();
        assert_eq!(count.get::<_, i64>(0), 0, "and none is made");
        let store = connect(&schema.url, 1).await;
        let order = samples::paid(1).asking(ProviderAccount("one".into()));
        let order = order.failed(Setback::Lost, samples::NOW);
        store.record(&Order { version: 0, ..order }.into(), &Actor::Checkout).await.unwrap();
        let open = PostgresStore::open_orders_at(&schema.url).await.unwrap();
        assert_eq!(open, store.open_orders().await.unwrap());
        assert_eq!(open[0].account, Some(ProviderAccount("one".into())));
        store.close().await.unwrap();
        schema.drop().await;
    });
    let nowhere = runtime().block_on(PostgresStore::open_orders_at("postgres://x@127.0.0.1:1/x"));
    assert!(nowhere.is_err());
}
