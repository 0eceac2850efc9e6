//! Errors when a store cannot be opened, and damaged rows.

use adapters::keys::Keyring;
use adapters::store::OpenError;
use adapters::store::postgres::PostgresStore;
use adapters::store::schema::{FileUse, StoredSchema};
use adapters::store::sqlite::SqliteStore;
use order::lifecycle::event::Actor;
use order::operator::filter::OrderFilter;
use order::ports::{Store, StoreError};
use order::testing::contract::samples::{NOW, begun, offer};
use rusqlite::Connection;

use crate::postgres_server::Schema;
use crate::test_store::{keyring, runtime, worker};

fn other_keys() -> Keyring {
    Keyring::from_text(&"43".repeat(32)).unwrap()
}

fn rotated_keys() -> Keyring {
    Keyring::from_text(&format!("{}\n{}", "42".repeat(32), "43".repeat(32))).unwrap()
}

#[test]
fn a_second_opening_of_the_same_file_is_refused_until_the_first_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders");
    runtime().block_on(async {
        let store = SqliteStore::open(&path, &keyring()).unwrap();
        let refused = SqliteStore::open(&path, &keyring()).err().unwrap();
        assert!(matches!(refused, OpenError::InUse { .. }));
        assert!(refused.to_string().contains("another process"), "{refused}");
        store.close().await.unwrap();
        let next = SqliteStore::open(&path, &keyring()).unwrap();
        next.close().await.unwrap();
    });
}

#[test]
fn what_was_offered_is_there_after_a_restart_and_nothing_is_written_to_a_closed_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders");
    runtime().block_on(async {
        let store = SqliteStore::open(&path, &keyring()).unwrap();
        for seed in 0..100 {
            store.offer(offer(seed)).await.unwrap();
        }
        store.close().await.unwrap();
        let late = store.record(&begun(offer(1), 1).into(), &Actor::Checkout).await;
        assert_eq!(late, Err(StoreError::Lost));
        assert_eq!(store.find(offer(1).id).await, Err(StoreError::Lost));
        assert_eq!(store.offer(offer(2_000)).await, Err(StoreError::Lost));
        assert_eq!(store.newest(&offer(2_000).operation.key).await, Err(StoreError::Lost));
        assert!(!folder.path().join("orders-wal").exists(), "one file, without a log");
        let next = SqliteStore::open(&path, &keyring()).unwrap();
        for seed in 0..100 {
            assert_eq!(next.find(offer(seed).id).await, Ok(Some(offer(seed).into())));
        }
        next.close().await.unwrap();
    });
}

#[test]
fn a_newer_sqlite_database_and_other_keys_are_refused_and_rotated_keys_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders");
    runtime().block_on(async {
        let store = SqliteStore::open(&path, &keyring()).unwrap();
        store.record(&begun(offer(1), 1).into(), &Actor::Checkout).await.unwrap();
        store.close().await.unwrap();
        let refused = SqliteStore::open(&path, &other_keys()).err().unwrap();
        assert!(matches!(refused, OpenError::OtherKeys), "{refused}");
        let rotated = SqliteStore::open(&path, &rotated_keys()).unwrap();
        assert!(rotated.find(offer(1).id).await.unwrap().is_some());
        rotated.close().await.unwrap();
    });
    let database = Connection::open(&path).unwrap();
    database.execute("INSERT INTO schema_migrations (version) VALUES (999)", []).unwrap();
    drop(database);
    let refused = SqliteStore::open(&path, &keyring()).err().unwrap().to_string();
    assert!(refused.contains("999") && refused.contains("run the version"), "{refused}");
}

#[test]
fn what_is_no_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("letter.txt");
    std::fs::write(&path, "Dear Ada, ".repeat(1_000)).unwrap();
    assert!(matches!(SqliteStore::open(&path, &keyring()), Err(OpenError::Sqlite { .. })));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "Dear Ada, ".repeat(1_000));
    let nowhere = SqliteStore::open(&folder.path().join("no/orders"), &keyring()).err().unwrap();
    assert!(nowhere.to_string().contains("folder exists"), "{nowhere}");
}

#[test]
fn a_damaged_row_is_corrupt_and_the_others_are_looked_after() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders");
    runtime().block_on(async {
        let store = SqliteStore::open(&path, &keyring()).unwrap();
        for seed in 1..=3 {
            store.record(&begun(offer(seed), seed).into(), &Actor::Checkout).await.unwrap();
        }
        let damage = "UPDATE orders SET sealed_card = zeroblob(200) WHERE id = ?1";
        let database = Connection::open(&path).unwrap();
        database.execute(damage, [offer(2).id.to_string()]).unwrap();
        assert_eq!(store.find(offer(2).id).await, Err(StoreError::Corrupt));
        assert_eq!(store.offer(offer(2)).await, Err(StoreError::Corrupt));
        let listed = store.list(&OrderFilter::default(), 64).await.unwrap();
        assert_eq!(listed.orders.len(), 2);
        let unreadable: Vec<_> = listed.unreadable.iter().map(|order| order.id).collect();
        assert_eq!(unreadable, [offer(2).id]);
        let claimed = store.claim(worker(1), NOW.plus(500), NOW.plus(600), 64).await.unwrap();
        assert_eq!(claimed.len(), 2);
        store.close().await.unwrap();
    });
}

#[test]
fn events_can_be_neither_changed_nor_deleted() {
    let changes = ["UPDATE events SET actor = 'nobody'", "DELETE FROM events"];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders");
    runtime().block_on(async {
        let store = SqliteStore::open(&path, &keyring()).unwrap();
        store.record(&begun(offer(1), 1).into(), &Actor::Checkout).await.unwrap();
        let database = Connection::open(&path).unwrap();
        for change in changes {
            let refused = database.execute(change, []).unwrap_err().to_string();
            assert!(refused.contains("append-only"), "{refused}");
        }
        store.close().await.unwrap();

        let schema = Schema::create().await;
        let store = PostgresStore::connect(&schema.url, &keyring(), worker(1)).await.unwrap();
        store.record(&begun(offer(1), 1).into(), &Actor::Checkout).await.unwrap();
        for change in changes.into_iter().chain(["TRUNCATE events"]) {
            let refused = schema.client.batch_execute(change).await.unwrap_err();
            let refused = refused.as_db_error().unwrap().message();
            assert!(refused.contains("append-only"), "{refused}");
        }
        store.close().await.unwrap();
        schema.drop().await;
    });
}

#[test]
fn several_processes_may_open_one_postgres_at_once() {
    runtime().block_on(async {
        let schema = Schema::create().await;
        let keys = keyring();
        let open = |number| PostgresStore::connect(&schema.url, &keys, worker(number));
        let (one, two, three) = tokio::join!(open(1), open(2), open(3));
        let (one, two, three) = (one.unwrap(), two.unwrap(), three.unwrap());
        one.offer(offer(1)).await.unwrap();
        two.offer(offer(1)).await.unwrap();
        let (first, second) = (begun(offer(1), 1).into(), begun(offer(1), 2).into());
        let by = Actor::Checkout;
        let race = tokio::join!(one.record(&first, &by), two.record(&second, &by));
        assert!(matches!(race, (Ok(1), Err(StoreError::Moved)) | (Err(StoreError::Moved), Ok(1))));
        for store in [&one, &two, &three] {
            store.close().await.unwrap();
        }
        assert_eq!(one.find(offer(1).id).await, Err(StoreError::Lost));
        schema.drop().await;
    });
}

#[test]
fn a_newer_postgres_database_and_other_keys_are_refused() {
    runtime().block_on(async {
        let schema = Schema::create().await;
        let store = PostgresStore::connect(&schema.url, &keyring(), worker(1)).await.unwrap();
        store.close().await.unwrap();
        let refused =
            PostgresStore::connect(&schema.url, &other_keys(), worker(1)).await.err().unwrap();
        assert!(matches!(refused, OpenError::OtherKeys), "{refused}");
        let newer = "INSERT INTO schema_migrations (version) VALUES (999)";
        schema.client.batch_execute(newer).await.unwrap();
        let refused =
            PostgresStore::connect(&schema.url, &keyring(), worker(1)).await.err().unwrap();
        assert!(matches!(refused, OpenError::Newer { found: 999, .. }), "{refused}");
        let older = "UPDATE schema_migrations SET version = 5 WHERE version < 999;
             DELETE FROM schema_migrations WHERE version = 999";
        schema.client.batch_execute(older).await.unwrap();
        let refused =
            PostgresStore::connect(&schema.url, &keyring(), worker(1)).await.err().unwrap();
        assert!(matches!(refused, OpenError::Older { found: 5 }), "{refused}");
        schema.drop().await;
    });
}

#[test]
fn the_schema_of_a_sqlite_file_is_read_also_while_it_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders");
    let read = || SqliteStore::schema_in(&path).unwrap();
    assert_eq!(read(), (StoredSchema::Missing, FileUse::Free));
    assert!(!path.exists(), "reading creates nothing");
    runtime().block_on(async {
        let store = SqliteStore::open(&path, &keyring()).unwrap();
        assert!(matches!(read(), (StoredSchema::Current(_), FileUse::InUse)), "{:?}", read());
        store.close().await.unwrap();
    });
    assert!(matches!(read(), (StoredSchema::Current(_), FileUse::Free)), "{:?}", read());
    let database = Connection::open(&path).unwrap();
    database.execute("INSERT INTO schema_migrations (version) VALUES (999)", []).unwrap();
    let newer = SqliteStore::schema_in(&path);
    assert!(matches!(newer, Err(OpenError::Newer { found: 999, .. })), "{newer:?}");
}

#[test]
fn the_schema_of_a_postgres_database_is_read_and_not_created() {
    runtime().block_on(async {
        let schema = Schema::create().await;
        let read = async || PostgresStore::schema_at(&schema.url).await;
        assert!(matches!(read().await, Ok(StoredSchema::Missing)));
        assert!(matches!(read().await, Ok(StoredSchema::Missing)), "reading creates nothing");
        let store = PostgresStore::connect(&schema.url, &keyring(), worker(1)).await.unwrap();
        assert!(matches!(read().await, Ok(StoredSchema::Current(_))));
        store.close().await.unwrap();
        schema.drop().await;
    });
}

#[test]
fn an_unreachable_server_is_reported_without_its_password() {
    runtime().block_on(async {
        for url in [
            "postgresql://ida:hunter2@127.0.0.1:1/orders",
            "postgresql://ida:hunter2@127.0.0.1:hunter2/orders",
            "hunter2",
        ] {
            let refused = PostgresStore::connect(url, &keyring(), worker(1)).await.err().unwrap();
            let (shown, debugged) = (refused.to_string(), format!("{refused:?}"));
            assert!(!shown.contains("hunter2") && !debugged.contains("hunter2"), "{shown}");
            assert!(shown.contains("check that it runs") || shown.contains("write it as"));
        }
    });
}
