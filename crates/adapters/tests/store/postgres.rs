//! The store contract, run against PostgreSQL.

use std::pin::pin;
use std::sync::Arc;

use adapters::settlement::outbox::{
    MinedNotice, MinedTransaction, Outbox, SenderAccount, SettlementQueue,
};
use adapters::store::postgres::PostgresStore;
use alloy_primitives::B256;
use order::lifecycle::event::Actor;
use order::lifecycle::{Order, Setback};
use order::model::chain::{EvmAddress, Network};
use order::model::mail::ProviderAccount;
use order::ports::{Store, StoreError};
use order::testing::contract::{RestartStore, StoreUnderTest, samples};
use tokio::sync::Mutex;

use crate::postgres_server::{self, Schema};
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
        let order = samples::paid(1).submitting_to(ProviderAccount("one".into()));
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

/// With the logs of a settlement, as a sender reads it from its node.
fn mined(seed: u64) -> MinedNotice {
    let receipt = serde_json::json!({
        "transactionHash": B256::repeat_byte(7),
        "blockNumber": "0x9",
        "blockHash": B256::repeat_byte(8),
        "status": "0x1",
        "logs": [],
    });
    let receipt = serde_json::from_value(receipt).unwrap();
    let mined = Some(MinedTransaction { receipt, in_block: None });
    MinedNotice { key: samples::key(seed), transaction: B256::repeat_byte(7), mined }
}

#[test]
fn a_notice_reaches_the_process_that_works_on_the_order_or_else_all() {
    runtime().block_on(async {
        let schema = Schema::create().await;
        let sender = connect(&schema.url, 1).await;
        let (asking, other) = (connect(&schema.url, 2).await, connect(&schema.url, 3).await);
        let mut order = samples::begun(samples::offer(1), 1);
        (order.version, order.attention.worker) = (0, Some(worker(2)));
        asking.record(&order.into(), &Actor::Checkout).await.unwrap();
        let [mut told, mut not_told] = [asking.notices(), other.notices()];
        let account =
            SenderAccount { network: Network::Base, address: EvmAddress::from_bytes([7; 20]) };
        let (of_order, of_none) = (mined(1), mined(2));
        sender.announce(account, &[of_order.clone(), of_none.clone()]).await;
        assert_eq!(told.mined().await.as_deref(), Some(&[of_order][..]));
        for notices in [&mut told, &mut not_told] {
            assert_eq!(notices.mined().await.as_deref(), Some(std::slice::from_ref(&of_none)));
        }
        for store in [sender, asking, other] {
            store.close().await.unwrap();
        }
        schema.drop().await;
    });
}

#[test]
fn the_outbox_is_not_read_while_a_write_of_its_leader_may_still_be_committed() {
    let guard = "SELECT FROM senders FOR SHARE";
    let waits = "SELECT FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))";
    runtime().block_on(async {
        let schema = Schema::create().await;
        let store = connect(&schema.url, 1).await;
        let account =
            SenderAccount { network: Network::Base, address: EvmAddress::from_bytes([7; 20]) };
        store.lease(account).await.unwrap().expect("there is no other process");
        let mut undecided = postgres_server::connect(&schema.url).await;
        let pid = undecided.query_one("SELECT pg_backend_pid()", &[]).await.unwrap();
        let pid: i32 = pid.get(0);
        let undecided = undecided.transaction().await.unwrap();
        undecided.execute(guard, &[]).await.unwrap();
        let mut reading = pin!(store.open_rows(account));
        let is_waiting = async || {
            while schema.client.query(waits, &[&pid]).await.unwrap().is_empty() {}
        };
        tokio::select! {
            _ = &mut reading => panic!("read, although the write is undecided"),
            () = is_waiting() => {}
        }
        undecided.rollback().await.unwrap();
        assert_eq!(reading.await.map(|rows| rows.len()), Ok(0));
        store.close().await.unwrap();
        schema.drop().await;
    });
}

#[test]
fn an_event_that_is_committed_late_is_not_passed_over() {
    let draw = "INSERT INTO events (order_id, version, at, actor, state, evidence, note) \
         SELECT order_id, version + 1, at, actor, state, evidence, note FROM events LIMIT 1 \
         RETURNING sequence";
    runtime().block_on(async {
        let schema = Schema::create().await;
        let store = connect(&schema.url, 1).await;
        let first = Order { version: 0, ..samples::paid(1) };
        store.record(&first.into(), &Actor::Checkout).await.unwrap();
        let known = store.events_after(0, 9).await.unwrap()[0].number;
        let numbers = async || {
            let events = store.events_after(known, 9).await?;
            Ok::<_, StoreError>(events.iter().map(|event| event.number).collect::<Vec<_>>())
        };
        let [mut early, mut late, mut undone, mut other] = [
            postgres_server::connect(&schema.url).await,
            postgres_server::connect(&schema.url).await,
            postgres_server::connect(&schema.url).await,
            postgres_server::connect(&schema.url).await,
        ];
        // A transaction that writes no event is not waited for.
        let other = other.transaction().await.unwrap();
        other.execute("INSERT INTO payment_keys VALUES ('x', 'y')", &[]).await.unwrap();
        let undone = undone.transaction().await.unwrap();
        let dropped: i64 = undone.query_one(draw, &[]).await.unwrap().get(0);
        let early = early.transaction().await.unwrap();
        let lower: i64 = early.query_one(draw, &[]).await.unwrap().get(0);
        assert_eq!(numbers().await, Ok(vec![]), "nothing new is visible");
        let late = late.transaction().await.unwrap();
        let higher: i64 = late.query_one(draw, &[]).await.unwrap().get(0);
        late.commit().await.unwrap();
        assert!(dropped < lower && lower < higher);
        assert_eq!(numbers().await, Err(StoreError::Lost), "lower numbers may still be committed");
        undone.rollback().await.unwrap();
        let (found, ()) = tokio::join!(numbers(), async { early.commit().await.unwrap() });
        assert_eq!(found, Ok(vec![lower.cast_unsigned(), higher.cast_unsigned()]));
        other.rollback().await.unwrap();
        store.close().await.unwrap();
        schema.drop().await;
    });
}
