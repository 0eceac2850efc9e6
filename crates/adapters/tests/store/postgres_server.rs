//! A schema of its own for each test in the configured PostgreSQL server.

use std::sync::atomic::{AtomicU32, Ordering};

use tokio_postgres::{Client, NoTls};

use crate::test_store::told;

static COUNT: AtomicU32 = AtomicU32::new(0);

/// One schema, for one test.
pub(crate) struct Schema {
    pub(crate) name: String,
    /// Leads to this schema.
    pub(crate) url: String,
    /// A connection that sees this schema only.
    pub(crate) client: Client,
}

impl Schema {
    pub(crate) async fn create() -> Self {
        let server = told("DATABASE_URL").expect(
            "DATABASE_URL is not set: run the tests with scripts/test, which starts a PostgreSQL",
        );
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{number}", std::process::id());
        let between = if server.contains('?') { '&' } else { '?' };
        let url = format!("{server}{between}options=-csearch_path%3D{name}");
        let client = connect(&url).await;
        let fresh = format!("DROP SCHEMA IF EXISTS {name} CASCADE; CREATE SCHEMA {name}");
        client.batch_execute(&fresh).await.unwrap();
        Self { name, url, client }
    }

    pub(crate) async fn drop(self) {
        let gone = format!("DROP SCHEMA {} CASCADE", self.name);
        self.client.batch_execute(&gone).await.unwrap();
    }
}

pub(crate) async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}
