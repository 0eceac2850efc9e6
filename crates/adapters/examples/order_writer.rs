//! Writes orders into a store as fast as it can, and tells each one that is written.
//!
//! A test kills it at a random moment and looks whether everything that it told
//! is there. It takes the path of a SQLite database or the address of a PostgreSQL,
//! and the number of its first order.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use adapters::keys::Keyring;
use adapters::store::postgres::PostgresStore;
use adapters::store::sqlite::SqliteStore;
use order::lifecycle::event::Actor;
use order::lifecycle::schedule::Attention;
use order::lifecycle::{Order, Stored};
use order::model::ids::WorkerId;
use order::model::mail::Mailpiece;
use order::model::payment::Finality;
use order::ports::Store;
use order::testing::contract::samples::{NOW, begun, offer, settlement};
use tokio::task::JoinSet;

const WRITERS: usize = 24;
/// More than any test lets it write.
const ORDERS_MAX: usize = 1_000_000;

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let place = arguments.next().expect("the path or the address of a database");
    let first = arguments.next().and_then(|number| number.parse().ok());
    let next = Arc::new(AtomicU64::new(first.expect("the number of the first order")));
    let mut worker = [0; 16];
    getrandom::fill(&mut worker).expect("random bytes");
    let worker = WorkerId::from_bytes(worker);
    let store = open(&place, worker).await;
    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        let (store, next) = (Arc::clone(&store), Arc::clone(&next));
        writers.spawn(async move {
            for _ in 0..ORDERS_MAX {
                walk(&*store, worker, next.fetch_add(1, Ordering::Relaxed)).await;
            }
        });
    }
    while let Some(ended) = writers.join_next().await {
        ended.expect("no writer panics");
    }
}

async fn open(place: &str, worker: WorkerId) -> Arc<dyn Store> {
    let keyring = Keyring::from_text(&"42".repeat(32)).expect("a key");
    if place.starts_with("postgres") {
        Arc::new(PostgresStore::connect(place, &keyring, worker).await.expect("a database"))
    } else {
        Arc::new(SqliteStore::open(Path::new(place), &keyring).expect("a database"))
    }
}

/// One order from its offer to the post.
async fn walk(store: &dyn Store, worker: WorkerId, seed: u64) {
    store.offer(offer(seed)).await.expect("an offer");
    let order = write(store, worked_on(begun(offer(seed), seed), worker)).await;
    let order = order.settled(settlement(Finality::Provisional), NOW.plus(3));
    let order = write(store, worked_on(order, worker)).await;
    write(store, order.accepted(Mailpiece(format!("order-{seed}")), NOW.plus(4))).await;
}

fn worked_on<S>(order: Order<S>, worker: WorkerId) -> Order<S> {
    let attention = Attention { worker: Some(worker), ..order.attention };
    Order { attention, ..order }
}

async fn write<S: Clone>(store: &dyn Store, order: Order<S>) -> Order<S>
where
    Stored: From<Order<S>>,
{
    let next = Stored::from(order.clone());
    let version = store.record(&next, &Actor::Checkout).await.expect("a durable write");
    // One system call, so that a line is told whole or not at all.
    let line = format!("{} {version}\n", order.id);
    std::io::stdout().write_all(line.as_bytes()).expect("stdout is open");
    Order { version, ..order }
}
