//! The call budget of a provider: one contract for the process's own and the one in PostgreSQL.

use std::sync::Arc;

use adapters::provider::budget::{CallBudget, CallPurpose, CallRate};
use adapters::store::postgres::PostgresStore;
use order::testing::manual_clock::ManualClock;
use tokio_postgres::Client;

use crate::postgres_server::Schema;
use crate::test_store::{keyring, runtime, worker};

mod contract;
mod outage;
mod shared;

const RATE: CallRate = CallRate { seconds: 60, paid: 30, reconciler: 15, preview: 15 };
const ACCOUNT: &str = "thanks.io https://api.thanks.io";

/// Holds the row as a process would that was stopped in the middle.
const HOLD: &str = "BEGIN; SELECT FROM provider_budget FOR UPDATE";

/// The clock that a budget goes by.
enum Time {
    OfTheProcess(Arc<ManualClock>),
    OfTheDatabase(Arc<DatabaseClock>),
}

impl Time {
    async fn pass(&self, seconds: u64) {
        match self {
            Self::OfTheProcess(clock) => clock.advance(seconds),
            Self::OfTheDatabase(clock) => clock.shift(seconds.cast_signed()).await,
        }
    }
}

/// A schema with a `clock_timestamp()` of its own, which hides the server's.
struct DatabaseClock {
    client: Client,
    /// Leads to the schema, with that clock.
    url: String,
    schema: String,
}

impl DatabaseClock {
    async fn in_schema(schema: Schema) -> Self {
        let Schema { name, url, client } = schema;
        let clock = format!(
            "CREATE TABLE {name}.stopped (time TIMESTAMPTZ NOT NULL);
             INSERT INTO {name}.stopped VALUES ('2026-11-17T12:00:00Z');
             CREATE FUNCTION {name}.clock_timestamp() RETURNS timestamptz LANGUAGE sql
                 AS 'SELECT time FROM {name}.stopped'"
        );
        client.batch_execute(&clock).await.unwrap();
        // The server's own functions come first unless a path says otherwise.
        Self { client, url: format!("{url}%2Cpg_catalog"), schema: name }
    }

    async fn shift(&self, seconds: i64) {
        let shift = format!("UPDATE stopped SET time = time + interval '{seconds} seconds'");
        self.client.batch_execute(&shift).await.unwrap();
    }

    async fn store(&self) -> PostgresStore {
        PostgresStore::connect(&self.url, &keyring(), worker(1)).await.unwrap()
    }
}

/// A budget, and what a test needs to know about it.
struct Subject {
    budget: CallBudget,
    time: Time,
    /// After so many seconds a call no longer counts.
    forgotten: u64,
}

fn own_budget() -> (CallBudget, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::default());
    (CallBudget::new(RATE, clock.clone()), clock)
}

/// As another process would have it.
fn shared_budget(store: &PostgresStore) -> CallBudget {
    own_budget().0.shared_through(store.provider_budget(ACCOUNT))
}

/// How many calls this caller still gets.
async fn rest(budget: &CallBudget, caller: CallPurpose) -> usize {
    let mut calls = 0;
    while calls < 1_000 && budget.take(caller).await.is_ok() {
        calls += 1;
    }
    calls
}

/// Runs a test with a schema of its own, which is dropped if it passes.
fn with_database(test: impl AsyncFnOnce(Arc<DatabaseClock>)) {
    runtime().block_on(async {
        let clock = Arc::new(DatabaseClock::in_schema(Schema::create().await).await);
        test(clock.clone()).await;
        let gone = format!("DROP SCHEMA {} CASCADE", clock.schema);
        clock.client.batch_execute(&gone).await.unwrap();
    });
}
