//! Opens the keys and the store that the configuration names.

use std::path::Path;
use std::sync::Arc;

use adapters::keys::Keyring;
use adapters::provider::budget::SharedBudget;
use adapters::settlement::outbox::Outbox;
use adapters::store::postgres::PostgresStore;
use adapters::store::sqlite::SqliteStore;
use order::model::ids::WorkerId;
use order::ports::{Store, StoreError};

use crate::config::store_place::StorePlace;
use crate::config::{Config, Keys};

/// The keys and the store, open.
pub(crate) struct Storage {
    pub(crate) keyring: Keyring,
    pub(crate) store: OpenStore,
    /// This process, as the orders that it works on name it.
    pub(crate) worker: WorkerId,
}

/// The one store of this process, which somebody has to close.
pub(crate) enum OpenStore {
    Sqlite(Arc<SqliteStore>),
    Postgres(Arc<PostgresStore>),
}

impl Storage {
    /// Says in words what is wrong and what to do about it.
    pub(crate) async fn open(config: &Config) -> Result<Self, String> {
        make_folder(&config.server.data)?;
        let keyring = match &config.keys {
            Keys::File(path) => Keyring::load_or_create(path),
            Keys::Given(secret) => Keyring::from_text(secret.reveal()),
        };
        let keyring = keyring.map_err(|error| format!("Cannot start: {error}.\n"))?;
        let worker = new_worker()?;
        let opened = match &config.server.store {
            StorePlace::Sqlite(path) => {
                SqliteStore::open(path, &keyring).map(Arc::new).map(OpenStore::Sqlite)
            }
            StorePlace::Postgres(place) => {
                PostgresStore::connect(place.connection.reveal(), &keyring, worker)
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

    /// The budget of calls that all processes on this store share for a provider's account.
    /// SQLite serves one process, which keeps it itself.
    pub(crate) fn provider_budget(&self, account: &str) -> Option<Arc<dyn SharedBudget>> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(store) => Some(store.provider_budget(account)),
        }
    }

    /// Writes what is still in memory.
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
        format!("Cannot start: the operating system gives no random bytes: {error}.\n")
    })?;
    Ok(WorkerId::from_bytes(bytes))
}

fn make_folder(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let folder = folder.display();
        format!("Cannot start: cannot make the folder {folder}: {error}. Name one that this user may write to, in server.data or PENNYBLACK_DATA.\n")
    })
}
