//! Opens the keys and the store.

use std::path::Path;
use std::sync::Arc;

use adapters::keys::Keyring;
use adapters::provider::budget::SharedBudget;
use adapters::settlement::outbox::Outbox;
use adapters::store::postgres::PostgresStore;
use adapters::store::sqlite::SqliteStore;
use order::model::ids::WorkerId;
use order::ports::{Store, StoreError};

use crate::config::store_location::StoreLocation;
use crate::config::{Config, KeysConfig};

pub(crate) struct Storage {
    pub(crate) keyring: Keyring,
    pub(crate) store: OpenStore,
    /// The identifier of this process in the orders that it processes.
    pub(crate) worker: WorkerId,
}

/// The store of this process, which must be closed.
pub(crate) enum OpenStore {
    Sqlite(Arc<SqliteStore>),
    Postgres(Arc<PostgresStore>),
}

impl Storage {
    /// The error text contains the cause and the remedy.
    pub(crate) async fn open(config: &Config) -> Result<Self, String> {
        create_folder(&config.server.data)?;
        let keyring = match &config.keys {
            KeysConfig::File(path) => Keyring::load_or_create(path),
            KeysConfig::Environment(secret) => Keyring::from_text(secret.reveal()),
        };
        let keyring = keyring.map_err(|error| format!("Cannot start: {error}.\n"))?;
        let keyring = keyring.with_payments(config.payments.chains());
        let worker = new_worker()?;
        let opened = match &config.server.store {
            StoreLocation::Sqlite(path) => {
                SqliteStore::open(path, &keyring).map(Arc::new).map(OpenStore::Sqlite)
            }
            StoreLocation::Postgres(location) => {
                PostgresStore::connect(location.connection.reveal(), &keyring, worker)
                    .await
                    .map(Arc::new)
                    .map(OpenStore::Postgres)
            }
        };
        let store = opened.map_err(|error| format!("Cannot start: {error}.\n"))?;
        Ok(Self { keyring, store, worker })
    }
}

impl OpenStore {
    pub(crate) fn port(&self) -> Arc<dyn Store> {
        match self {
            Self::Sqlite(store) => store.clone(),
            Self::Postgres(store) => store.clone(),
        }
    }

    pub(crate) fn outbox(&self) -> Arc<dyn Outbox> {
        match self {
            Self::Sqlite(store) => store.clone(),
            Self::Postgres(store) => store.clone(),
        }
    }

    /// The rate limit that all processes on this store share for a provider account. With
    /// SQLite there is only one process, which counts in memory.
    pub(crate) fn provider_budget(&self, account: &str) -> Option<Arc<dyn SharedBudget>> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(store) => Some(store.provider_budget(account)),
        }
    }

    /// Flushes pending writes.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(store) => store.close().await,
            Self::Postgres(store) => store.close().await,
        }
    }
}

fn new_worker() -> Result<WorkerId, String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        format!("Cannot start: the operating system returned no random bytes: {error}.\n")
    })?;
    Ok(WorkerId::from_bytes(bytes))
}

fn create_folder(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let folder = folder.display();
        format!("Cannot start: cannot create the folder {folder}: {error}. Set a writable folder in server.data or PENNYBLACK_DATA.\n")
    })
}
