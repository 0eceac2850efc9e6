//! This process's own connection: it shows that the process is alive, holds its leases and
//! hears of changes.

use std::future::poll_fn;
use std::sync::Arc;

use order::ids::WorkerId;
use tokio::sync::{Mutex, Notify};
use tokio_postgres::config::Config;
use tokio_postgres::{AsyncMessage, Client, Connection, NoTls, Socket, tls::NoTlsStream};

use super::heartbeat;
use crate::settlement::outbox::{Change, Changes};

/// Where processes tell each other that the outbox has changed.
pub(super) const CHANNEL: &str = "pennyblack_outbox";

/// How a change is called there.
pub(super) fn word(change: Change) -> &'static str {
    match change {
        Change::Queued => "queued",
        Change::Mined => "mined",
    }
}

pub(super) struct Session {
    config: Config,
    worker: WorkerId,
    connection: Mutex<Option<Arc<Client>>>,
    changes: Arc<Changes>,
    ended: Arc<Notify>,
}

impl Session {
    pub(super) fn new(config: Config, worker: WorkerId) -> Self {
        let (changes, ended) = (Arc::default(), Arc::new(Notify::new()));
        Self { config, worker, connection: Mutex::new(None), changes, ended }
    }

    /// The connection, or a new one if it has ended. The heartbeat names the new one before
    /// it is used.
    pub(super) async fn client(&self) -> Result<Arc<Client>, tokio_postgres::Error> {
        let mut connection = self.connection.lock().await;
        if let Some(client) = connection.as_ref().filter(|client| !client.is_closed()) {
            return Ok(Arc::clone(client));
        }
        let (client, driver) = self.config.connect(NoTls).await?;
        tokio::spawn(hear(driver, Arc::clone(&self.changes), Arc::clone(&self.ended)));
        client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
        client.execute(heartbeat::BEAT, &[&self.worker.bytes().as_slice()]).await?;
        let client = Arc::new(client);
        *connection = Some(Arc::clone(&client));
        Ok(client)
    }

    /// Waits until this process has been told of more changes than it has seen.
    pub(super) async fn changed(&self, change: Change, seen: u64) -> u64 {
        // Without a connection nothing is heard, and those who wait look by themselves.
        let _ = self.client().await;
        self.changes.after(change, seen).await
    }

    /// Waits until the connection has ended.
    pub(super) async fn ended(&self) {
        self.ended.notified().await;
    }

    pub(super) async fn close(&self) {
        *self.connection.lock().await = None;
    }
}

async fn hear(
    mut driver: Connection<Socket, NoTlsStream>,
    changes: Arc<Changes>,
    ended: Arc<Notify>,
) {
    while let Some(Ok(message)) = poll_fn(|context| driver.poll_message(context)).await {
        if let AsyncMessage::Notification(notification) = message {
            let change = [Change::Queued, Change::Mined]
                .into_iter()
                .find(|change| word(*change) == notification.payload());
            if let Some(change) = change {
                changes.count(change);
            }
        }
    }
    ended.notify_one();
}
