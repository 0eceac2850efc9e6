//! Orders that are encrypted with a key which one process has and another has not.

use adapters::keys::Keyring;
use adapters::store::postgres::PostgresStore;
use adapters::store::sqlite::SqliteStore;
use order::lifecycle::Stored;
use order::lifecycle::event::Actor;
use order::lifecycle::schedule::Attention;
use order::model::ids::WorkerId;
use order::operator::filter::OrderFilter;
use order::ports::{Store, StoreError};
use order::testing::contract::samples::{NOW, begun, offer};

use crate::postgres_server::Schema;
use crate::test_store::{keyring, runtime, worker};

/// The same keys and a newer one, with which new orders are encrypted.
fn rotated() -> Keyring {
    Keyring::from_text(&format!("{}\n{}", "42".repeat(32), "43".repeat(32))).unwrap()
}

/// An order that this process is at. It is due much later.
async fn begin(store: &dyn Store, seed: u64, by: WorkerId) -> Stored {
    let mut order = Stored::from(begun(offer(seed), seed));
    let attention = Attention { worker: Some(by), ..order.attention() };
    order.set_attention(attention);
    let version = store.record(&order, &Actor::Checkout).await.unwrap();
    order.set_version(version);
    order
}

async fn claim(store: &dyn Store, by: WorkerId) -> Vec<u64> {
    let claimed = store.claim(by, NOW, NOW.plus(60), 64).await.unwrap();
    let seed = |order: &Stored| (1..9).find(|seed| offer(*seed).id == order.id()).unwrap();
    let mut seeds: Vec<_> = claimed.iter().map(seed).collect();
    seeds.sort_unstable();
    seeds
}

#[test]
fn on_postgres_an_order_is_left_unchanged_to_a_process_that_can_decrypt_it() {
    runtime().block_on(async {
        let schema = Schema::create().await;
        let connect = async |keys: &Keyring, number| {
            PostgresStore::connect(&schema.url, keys, worker(number)).await.unwrap()
        };
        let newer = connect(&rotated(), 1).await;
        let old = connect(&keyring(), 2).await;
        let kept = begin(&newer, 1, worker(1)).await;
        newer.close().await.unwrap();
        let third = connect(&keyring(), 3).await;
        begin(&third, 2, worker(3)).await;
        third.close().await.unwrap();
        assert_eq!(old.find(kept.id()).await, Err(StoreError::Corrupt));
        let listed = old.list(&OrderFilter::default(), 64).await.unwrap();
        assert_eq!((listed.orders.len(), listed.unreadable.len()), (1, 1), "{listed:?}");
        assert_eq!(claim(&old, worker(2)).await, [2], "the other one is looked after");
        let next = connect(&rotated(), 4).await;
        assert_eq!(next.find(kept.id()).await, Ok(Some(kept.clone())), "as before the claim");
        assert_eq!(claim(&old, worker(2)).await, [0; 0]);
        assert_eq!(next.find(kept.id()).await, Ok(Some(kept.clone())), "not claimed again");
        assert_eq!(claim(&next, worker(4)).await, [1]);
        let taken = next.find(kept.id()).await.unwrap().unwrap();
        assert_eq!(taken.version(), kept.version() + 1);
        for store in [&old, &next] {
            store.close().await.unwrap();
        }
        schema.drop().await;
    });
}

#[test]
fn on_sqlite_an_order_is_left_unchanged_until_the_key_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders");
    runtime().block_on(async {
        let store = SqliteStore::open(&path, &keyring()).unwrap();
        begin(&store, 2, worker(1)).await;
        store.close().await.unwrap();
        let store = SqliteStore::open(&path, &rotated()).unwrap();
        let kept = begin(&store, 1, worker(2)).await;
        store.close().await.unwrap();
        let store = SqliteStore::open(&path, &keyring()).unwrap();
        assert_eq!(claim(&store, worker(3)).await, [2], "the other one is looked after");
        assert_eq!(claim(&store, worker(3)).await, [0; 0]);
        store.close().await.unwrap();
        let store = SqliteStore::open(&path, &rotated()).unwrap();
        let found = store.find(kept.id()).await.unwrap().unwrap();
        assert_eq!(found.version(), kept.version());
        assert_eq!(claim(&store, worker(4)).await, [1, 2]);
        store.close().await.unwrap();
    });
}

/// Each process is restarted twice, one after the other. In each pair one process has already been
/// restarted and the other has not.
#[test]
fn with_a_next_key_two_processes_can_always_read_each_others_orders() {
    let (old, new) = ("42".repeat(32), "43".repeat(32));
    let files = [old.clone(), format!("{old}\nnext {new}"), format!("{old}\n{new}")];
    let keys = files.map(|file| Keyring::from_text(&file).unwrap());
    runtime().block_on(async {
        let schema = Schema::create().await;
        let mut seed = 0;
        for pair in keys.windows(2) {
            for (writer, reader) in [(&pair[0], &pair[1]), (&pair[1], &pair[0])] {
                seed += 1;
                let one = PostgresStore::connect(&schema.url, writer, worker(1)).await.unwrap();
                let two = PostgresStore::connect(&schema.url, reader, worker(2)).await.unwrap();
                let written = begin(&one, seed, worker(1)).await;
                assert_eq!(two.find(written.id()).await, Ok(Some(written)));
                one.close().await.unwrap();
                two.close().await.unwrap();
            }
        }
        schema.drop().await;
    });
}
