//! Writes orders to a data folder as the service stores them, for `scripts/bench`.
//!
//! `fill_orders <folder> <how many> <file for their identifiers>`

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use adapters::keys::Keyring;
use adapters::store::sqlite::SqliteStore;
use order::lifecycle::event::Actor;
use order::lifecycle::{Offered, Order, Stored};
use order::model::identity::Identity;
use order::model::mail::Mailpiece;
use order::model::payment::Finality;
use order::ports::{Store, StoreError};
use order::testing::contract::samples::{NOW, begun, operation, settlement};
use tokio::task::JoinSet;

/// The store groups concurrent writes, so many writers are fast.
const WRITERS: usize = 512;

type ExampleError = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), ExampleError> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("fill_orders <folder> <how many> <file>");
    let folder = PathBuf::from(next()?);
    let count: u64 = next()?.parse()?;
    let mut identifiers = BufWriter::new(File::create(next()?)?);
    std::fs::create_dir_all(&folder)?;
    // The default paths of the service in its data folder.
    let keyring = Keyring::load_or_create(&folder.join("pennyblack.key"))?;
    let store = Arc::new(SqliteStore::open(&folder.join("pennyblack.sqlite3"), &keyring)?);
    let (seeds, identity) = (Arc::new(AtomicU64::new(0)), keyring.identity());
    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        let (store, seeds, identity) = (Arc::clone(&store), Arc::clone(&seeds), identity.clone());
        writers.spawn(async move {
            loop {
                let seed = seeds.fetch_add(1, Ordering::Relaxed);
                if seed >= count {
                    return Ok(());
                }
                complete(&store, fresh(&identity, seed), seed).await?;
            }
        });
    }
    while let Some(ended) = writers.join_next().await {
        ended?.map_err(|error: StoreError| format!("an order was not written: {error:?}"))?;
    }
    for seed in 0..count {
        writeln!(identifiers, "{}", fresh(&identity, seed).id)?;
    }
    identifiers.flush()?;
    store.close().await.map_err(|error| format!("the store did not close: {error:?}"))?;
    Ok(())
}

/// An offer with a valid order id.
fn fresh(identity: &Identity, seed: u64) -> Order<Offered> {
    let operation = operation(seed);
    Order::offer(identity.order_id(&operation), operation, NOW)
}

/// One order from its payment to the accepted mailpiece.
async fn complete(store: &SqliteStore, fresh: Order<Offered>, seed: u64) -> Result<(), StoreError> {
    let order = write(store, begun(fresh, seed)).await?;
    let order = order.settled(settlement(Finality::Final), NOW.plus(3));
    let order = write(store, order).await?;
    write(store, order.accepted(Mailpiece(format!("order-{seed}")), NOW.plus(4))).await?;
    Ok(())
}

async fn write<S: Clone>(store: &SqliteStore, order: Order<S>) -> Result<Order<S>, StoreError>
where
    Stored: From<Order<S>>,
{
    let version = store.record(&Stored::from(order.clone()), &Actor::Checkout).await?;
    Ok(Order { version, ..order })
}
