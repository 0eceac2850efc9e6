//! The connection pool, and the mapping of its errors.

use std::time::Duration;

use deadpool_postgres::{
    Client, Manager, ManagerConfig, Pool, PoolError, QueueMode, RecyclingMethod, Runtime,
};
use order::ports::StoreError;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row as Answer, Transaction};

use super::queries::{IN_PLAY_INDEX, PAYMENT_KEYS_INDEX};
use super::tls::ServerUrl;
use crate::keys::Keyring;
use crate::store::identity::identity;
use crate::store::migration;
use crate::store::rows::Row;
use crate::store::{OpenError, error::postgres};

/// The server groups the commits of that many callers into one sync.
const CONNECTIONS: usize = 16;
/// Five processes, each with one more connection for its lease and its notices, fit into the
/// hundred connections that a server has by default, of which three are kept for administrators.
const _: () = assert!(5 * (CONNECTIONS + 1) <= 97, "five processes exceed a server's default");
/// How long a caller waits for a free connection.
const WAIT: Duration = Duration::from_secs(2);
const CONNECT: Duration = Duration::from_secs(5);
/// TCP keepalive: the system closes a connection to an unreachable server after this time. Longer
/// than any statement may take, so that a slow server does not count as dead.
const SILENCE: Duration = Duration::from_secs(20);
const SILENT_LOOKS: u32 = 2;
/// No statement of ours takes a tenth of this. The server gives up, not we, so
/// that nothing happens after we have said that it did not. Almost every statement reads by key,
/// so one plan serves all values; left to itself, the server plans some of them anew each time.
// mutant: no-synchronous-commit
const SETTINGS: &str = "-c synchronous_commit=on -c statement_timeout=5s -c lock_timeout=2s \
     -c idle_in_transaction_session_timeout=10s -c plan_cache_mode=force_generic_plan";
/// An arbitrary number, the same in every process.
const MIGRATION_LOCK: i64 = 0x7065_6e6e_7962_6c6b;

/// For a read-only connection.
const READ_ONLY: &str = "-c default_transaction_read_only=on -c statement_timeout=5s";

/// One connection that can only read.
pub(super) async fn read_only(url: &str) -> Result<tokio_postgres::Client, OpenError> {
    let ServerUrl { config, tls } = configuration(url, READ_ONLY)?;
    let (client, connection) = config.connect(tls).await.map_err(postgres)?;
    tokio::spawn(connection);
    Ok(client)
}

fn configuration(url: &str, settings: &str) -> Result<ServerUrl, OpenError> {
    let mut url = ServerUrl::parse(url)?;
    let config = &mut url.config;
    let settings = format!("{settings} {}", config.get_options().unwrap_or_default());
    config.options(settings.trim()).application_name("pennyblack").connect_timeout(CONNECT);
    config.keepalives_idle(SILENCE / 2).keepalives_interval(SILENCE / 4);
    config.keepalives_retries(SILENT_LOOKS).tcp_user_timeout(SILENCE);
    Ok(url)
}

#[derive(Clone)]
pub(super) struct Server {
    pool: Pool,
}

impl Server {
    /// The pool, and the settings for a connection beside it.
    pub(super) async fn connect(
        url: &str,
        keyring: &Keyring,
    ) -> Result<(Self, ServerUrl), OpenError> {
        let url = configuration(url, SETTINGS)?;
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(url.config.clone(), url.tls.clone(), recycling);
        let pool = Pool::builder(manager)
            .max_size(CONNECTIONS)
            // A connection that was just used has its statements in the processor's cache.
            .queue_mode(QueueMode::Lifo)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(WAIT))
            .create_timeout(Some(CONNECT))
            .recycle_timeout(Some(CONNECT))
            .build()
            .map_err(postgres)?;
        let server = Self { pool };
        server.prepare(keyring).await?;
        Ok((server, url))
    }

    pub(super) fn close(&self) {
        self.pool.close();
    }

    pub(super) async fn client(&self) -> Result<Client, StoreError> {
        self.pool.get().await.map_err(|error: PoolError| {
            tracing::warn!(fault = %error, "no connection to PostgreSQL");
            StoreError::Lost
        })
    }

    pub(super) async fn one(
        &self,
        sql: &str,
        cells: &[&(dyn ToSql + Sync)],
    ) -> Result<Option<Row>, StoreError> {
        self.all(sql, cells).await?.first().map(Row::from_cells).transpose()
    }

    pub(super) async fn all(
        &self,
        sql: &str,
        cells: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Answer>, StoreError> {
        let client = self.client().await?;
        let statement = client.prepare_cached(sql).await.map_err(|error| store_error(&error))?;
        client.query(&statement, cells).await.map_err(|error| store_error(&error))
    }

    /// A query whose best plan depends on the values.
    pub(super) async fn all_planned_for(
        &self,
        sql: &str,
        cells: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Answer>, StoreError> {
        let fault = |error| store_error(&error);
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(fault)?;
        let plan = "SET LOCAL plan_cache_mode = force_custom_plan";
        transaction.batch_execute(plan).await.map_err(fault)?;
        let statement = transaction.prepare_cached(sql).await.map_err(fault)?;
        transaction.query(&statement, cells).await.map_err(fault)
    }

    pub(super) async fn execute(
        &self,
        sql: &str,
        cells: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, StoreError> {
        let client = self.client().await?;
        let statement = client.prepare_cached(sql).await.map_err(|error| store_error(&error))?;
        client.execute(&statement, cells).await.map_err(|error| store_error(&error))
    }

    /// Runs migrations, one process at a time.
    async fn prepare(&self, keyring: &Keyring) -> Result<(), OpenError> {
        let mut client = self.pool.get().await.map_err(postgres)?;
        let transaction = client.transaction().await.map_err(postgres)?;
        let patience = "SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = '60s'";
        transaction.batch_execute(patience).await.map_err(postgres)?;
        let lock = "SELECT pg_advisory_xact_lock($1)";
        transaction.query(lock, &[&MIGRATION_LOCK]).await.map_err(postgres)?;
        migrate(&transaction).await?;
        check_identity(&transaction, keyring).await?;
        transaction.commit().await.map_err(postgres)
    }
}

/// Maps and logs an error.
pub(super) fn store_error(error: &tokio_postgres::Error) -> StoreError {
    let Some(fault) = error.as_db_error() else {
        tracing::warn!(fault = %error, "PostgreSQL did not answer");
        return StoreError::Lost;
    };
    let code = fault.code();
    if *code == SqlState::UNIQUE_VIOLATION {
        match fault.constraint() {
            Some(PAYMENT_KEYS_INDEX) => return StoreError::PaymentBound,
            Some(IN_PLAY_INDEX) => return StoreError::Moved,
            Some(_) | None => {}
        }
    }
    // The message alone: the detail may quote what was to be written.
    let message = fault.message();
    if *code == SqlState::DATA_CORRUPTED || *code == SqlState::INDEX_CORRUPTED {
        tracing::error!(fault = message, code = code.code(), "the database is damaged");
        return StoreError::Corrupt;
    }
    tracing::warn!(fault = message, code = code.code(), "PostgreSQL refused a statement");
    StoreError::Lost
}

async fn migrate(transaction: &Transaction<'_>) -> Result<(), OpenError> {
    transaction.batch_execute(migration::TABLE).await.map_err(postgres)?;
    let found = "SELECT coalesce(max(version), 0) FROM schema_migrations";
    let found = transaction.query_one(found, &[]).await.map_err(postgres)?;
    for step in migration::after(migration::POSTGRES, found.get(0))? {
        transaction.batch_execute(step.sql).await.map_err(postgres)?;
        let done = "INSERT INTO schema_migrations (version) VALUES ($1)";
        transaction.execute(done, &[&step.version]).await.map_err(postgres)?;
    }
    Ok(())
}

async fn check_identity(transaction: &Transaction<'_>, keyring: &Keyring) -> Result<(), OpenError> {
    let kept = transaction.query_opt("SELECT identity FROM keyring", &[]).await;
    let kept = kept.map_err(postgres)?.map(|row| row.get::<_, String>(0));
    let identity = identity(keyring, kept.as_deref())?;
    let write = match kept {
        Some(kept) if kept == identity => return Ok(()),
        Some(_) => "UPDATE keyring SET identity = $1",
        None => "INSERT INTO keyring (identity) VALUES ($1)",
    };
    transaction.execute(write, &[&identity]).await.map(drop).map_err(postgres)
}
