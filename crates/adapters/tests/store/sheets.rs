//! Offers in a SQLite file, across restarts and damage.

use std::path::Path;

use adapters::store::sqlite::SqliteStore;
use order::contract::samples::{NOW, begun, offer, offer_of, operation};
use order::event::Actor;
use order::lifecycle::{OFFER_SECONDS, Order, Stored};
use order::ports::{Store, Tidied, TidyLimits};
use rusqlite::Connection;

use crate::subject::{keyring, runtime};

const OVER: u64 = OFFER_SECONDS;
const LIMITS: TidyLimits = TidyLimits::DEFAULT;

/// Runs each step with the store opened anew.
fn in_turn<A, B>(
    path: &Path,
    first: impl AsyncFn(&SqliteStore) -> A,
    then: impl AsyncFn(&SqliteStore, A) -> B,
) -> B {
    runtime().block_on(async {
        let store = SqliteStore::open(path, &keyring()).unwrap();
        let between = first(&store).await;
        store.close().await.unwrap();
        let store = SqliteStore::open(path, &keyring()).unwrap();
        let end = then(&store, between).await;
        store.close().await.unwrap();
        end
    })
}

async fn offered(store: &SqliteStore, count: u64) {
    for seed in 0..count {
        store.offer(offer(seed)).await.unwrap();
    }
}

fn count(path: &Path, what: &str) -> i64 {
    let database = Connection::open(path).unwrap();
    database.query_row(&format!("SELECT count(*) FROM {what}"), [], |row| row.get(0)).unwrap()
}

#[test]
fn offers_are_found_again_after_a_restart_and_only_what_moved_is_in_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders");
    in_turn(
        &path,
        async |store| {
            offered(store, 1_000).await;
            let next = Stored::from(begun(offer(7), 7));
            assert_eq!(store.record(&next, &Actor::Desk).await, Ok(1));
        },
        async |store, ()| {
            for seed in (0..1_000).filter(|seed| *seed != 7) {
                let expected = Ok(Some(Stored::from(offer(seed))));
                assert_eq!(store.find(offer(seed).id).await, expected);
                assert_eq!(store.newest(&operation(seed).key).await, expected);
            }
            let paying = Order { version: 1, ..begun(offer(7), 7) };
            let paying = Ok(Some(Stored::from(paying)));
            assert_eq!(store.find(offer(7).id).await, paying);
            assert_eq!(store.newest(&operation(7).key).await, paying);
            assert_eq!(store.offer(offer(7)).await.map(Some), paying);
            assert_eq!(store.newest(&operation(1_000).key).await, Ok(None));
        },
    );
    assert_eq!(count(&path, "orders"), 1);
    assert!(count(&path, "sheets") >= 8);
}

#[test]
fn what_moved_before_a_restart_does_not_lapse_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders");
    in_turn(
        &path,
        async |store| {
            offered(store, 3).await;
            store.offer(offer_of(operation(3), NOW.plus(1))).await.unwrap();
            store.record(&begun(offer(1), 1).into(), &Actor::Desk).await.unwrap();
        },
        async |store, ()| {
            let tidied = store.tidy(NOW.plus(OVER), LIMITS).await;
            assert_eq!(tidied, Ok(Tidied { lapsed: 2, dropped: 0 }));
            let states = [("lapsed", 0), ("settling", 1), ("lapsed", 2), ("offered", 3)];
            for (state, seed) in states {
                let found = store.find(offer(seed).id).await.unwrap().unwrap();
                assert_eq!(found.headline(), state, "{seed}");
                assert_eq!(store.newest(&operation(seed).key).await, Ok(Some(found)));
            }
        },
    );
    assert_eq!((count(&path, "orders"), count(&path, "sheets")), (3, 1));
}

#[test]
fn tombstones_go_before_the_offers_that_came_after_them() {
    let folder = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let store = SqliteStore::open(&folder.path().join("orders"), &keyring()).unwrap();
        offered(&store, 3).await;
        store.tidy(NOW.plus(OVER), LIMITS).await.unwrap();
        for seed in 3..6 {
            store.offer(offer_of(operation(seed), NOW.plus(OVER))).await.unwrap();
        }
        let limits = TidyLimits { unpaid_rows_max: 2, ..LIMITS };
        let tidied = store.tidy(NOW.plus(OVER), limits).await;
        assert_eq!(tidied, Ok(Tidied { lapsed: 0, dropped: 4 }));
        for seed in 0..6 {
            let there = store.find(offer(seed).id).await.unwrap().is_some();
            assert_eq!(there, seed >= 4, "{seed}");
        }
        store.close().await.unwrap();
    });
}

#[test]
fn a_damaged_sheet_costs_its_offers_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders");
    in_turn(
        &path,
        async |store| {
            offered(store, 2).await;
            store.record(&begun(offer(1), 1).into(), &Actor::Desk).await.unwrap();
            let damage = "UPDATE sheets SET offers = substr(offers, 1, 50)";
            assert!(Connection::open(&path).unwrap().execute(damage, []).unwrap() > 0);
            assert_eq!(store.find(offer(0).id).await, Ok(None), "while it is open");
        },
        async |store, ()| {
            assert_eq!(store.newest(&operation(0).key).await, Ok(None));
            assert_eq!(store.offer(offer(0)).await, Ok(offer(0).into()));
            let paying = store.find(offer(1).id).await.unwrap().unwrap();
            assert_eq!(paying.headline(), "settling");
            let tidied = store.tidy(NOW.plus(OVER), LIMITS).await;
            assert_eq!(tidied, Ok(Tidied { lapsed: 1, dropped: 0 }));
        },
    );
    assert_eq!(count(&path, "sheets"), 0);
}
