//! Which process sends: an advisory lock on a connection of its own, an epoch and a heartbeat.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::sync::{Mutex, Notify};
use tokio::task::JoinHandle;
use tokio_postgres::config::Config;
use tokio_postgres::{AsyncMessage, Client, NoTls};

use super::connection::trouble;
use crate::settlement::outbox::{Epoch, OutboxError, SenderAccount};
use crate::store::outbox_rows::{account_cell, network_cell};

/// Where processes tell each other that the outbox has changed.
pub(super) const CHANNEL: &str = "pennyblack_outbox";

const HEARTBEAT: Duration = Duration::from_secs(2);

const LOCK: &str = "SELECT pg_try_advisory_lock($1)";
const LEAD: &str = "INSERT INTO senders (network, account, epoch, backend, heartbeat_at) \
     VALUES ($1, $2, 1, pg_backend_pid(), now()) ON CONFLICT (network, account) DO UPDATE \
     SET epoch = senders.epoch + 1, backend = pg_backend_pid(), heartbeat_at = now() \
     RETURNING epoch";
/// A process that is suspended keeps its connection and its lock, but writes no heartbeat.
const END_STALE: &str = "SELECT pg_terminate_backend(backend) FROM senders \
     WHERE network = $1 AND account = $2 AND heartbeat_at < now() - interval '10 seconds'";
const BEAT: &str = "UPDATE senders SET heartbeat_at = now() WHERE backend = pg_backend_pid()";

/// The connection that holds the leases of this process and hears of changes.
pub(super) struct Leases {
    config: Config,
    connection: Mutex<Option<Arc<Client>>>,
    pub(super) changed: Arc<Notify>,
    beating: std::sync::Mutex<Option<JoinHandle<()>>>,
}

impl Leases {
    pub(super) fn new(config: Config) -> Self {
        let (connection, changed) = (Mutex::new(None), Arc::new(Notify::new()));
        Self { config, connection, changed, beating: std::sync::Mutex::new(None) }
    }

    pub(super) async fn lease(&self, account: SenderAccount) -> Result<Option<Epoch>, OutboxError> {
        let client = self.client().await?;
        let fault = |error: tokio_postgres::Error| {
            trouble(&error);
            OutboxError::Busy
        };
        let (network, address) = (network_cell(account), account_cell(account));
        let locked = client.query_one(LOCK, &[&lock_key(account)]).await.map_err(fault)?;
        if !locked.get::<_, bool>(0) {
            client.query(END_STALE, &[&network, &address]).await.map_err(fault)?;
            return Ok(None);
        }
        let row = client.query_one(LEAD, &[&network, &address]).await.map_err(fault)?;
        Ok(Some(Epoch(row.get::<_, i64>(0).cast_unsigned())))
    }

    /// Waits until another process has changed the outbox.
    pub(super) async fn changed(&self) {
        // Without a connection nothing is heard, and those who wait look by themselves.
        let notified = self.changed.notified();
        let _ = self.client().await;
        notified.await;
    }

    pub(super) async fn close(&self) {
        if let Some(beating) = self.beating.lock().ok().and_then(|mut beating| beating.take()) {
            beating.abort();
        }
        *self.connection.lock().await = None;
    }

    async fn client(&self) -> Result<Arc<Client>, OutboxError> {
        let mut connection = self.connection.lock().await;
        if let Some(client) = connection.as_ref().filter(|client| !client.is_closed()) {
            return Ok(Arc::clone(client));
        }
        let fault = |error: tokio_postgres::Error| {
            trouble(&error);
            OutboxError::Busy
        };
        let (client, mut driver) = self.config.connect(NoTls).await.map_err(fault)?;
        let changed = Arc::clone(&self.changed);
        tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|context| driver.poll_message(context)).await {
                if let AsyncMessage::Notification(_) = message {
                    changed.notify_waiters();
                }
            }
        });
        client.batch_execute(&format!("LISTEN {CHANNEL}")).await.map_err(fault)?;
        let client = Arc::new(client);
        *connection = Some(Arc::clone(&client));
        let beating = tokio::spawn(beat(Arc::downgrade(&client)));
        if let Ok(mut known) = self.beating.lock()
            && let Some(earlier) = known.replace(beating)
        {
            earlier.abort();
        }
        Ok(client)
    }
}

async fn beat(client: std::sync::Weak<Client>) {
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        let Some(client) = client.upgrade() else { return };
        if client.execute(BEAT, &[]).await.is_err() {
            return;
        }
    }
}

/// One number for each account, the same in every process.
fn lock_key(account: SenderAccount) -> i64 {
    let hash = Sha256::new_with_prefix(b"pennyblack sender")
        .chain_update(network_cell(account))
        .chain_update(account_cell(account))
        .finalize();
    i64::from_be_bytes(*hash.first_chunk().expect("8 of 32 bytes"))
}
