//! This process's own connection: it shows that the process is alive, holds its leases and
//! hears of changes.

use std::future::poll_fn;
use std::sync::Arc;

use order::ids::WorkerId;
use tokio::sync::{Mutex, Notify};
use tokio_postgres::config::Config;
use tokio_postgres::{AsyncMessage, Client, Connection, NoTls, Socket, tls::NoTlsStream};

use super::heartbeat;

/// Where processes tell each other that the outbox has changed.
pub(super) const CHANNEL: &str = "pennyblack_outbox";

pub(super) struct Session {
    config: Config,
    worker: WorkerId,
    connection: Mutex<Option<Arc<Client>>>,
    changed: Arc<Notify>,
    ended: Arc<Notify>,
}

impl Session {
    pub(super) fn new(config: Config, worker: WorkerId) -> Self {
        let (changed, ended) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        Self { config, worker, connection: Mutex::new(None), changed, ended }
    }

    /// The connection, or a new one if it has ended. The heartbeat names the new one before
    /// it is used.
    pub(super) async fn client(&self) -> Result<Arc<Client>, tokio_postgres::Error> {
        let mut connection = self.connection.lock().await;
        if let Some(client) = connection.as_ref().filter(|client| !client.is_closed()) {
            return Ok(Arc::clone(client));
        }
        let (client, driver) = self.config.connect(NoTls).await?;
        tokio::spawn(hear(driver, Arc::clone(&self.changed), Arc::clone(&self.ended)));
        client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
        client.execute(heartbeat::BEAT, &[&self.worker.bytes().as_slice()]).await?;
        let client = Arc::new(client);
        *connection = Some(Arc::clone(&client));
        Ok(client)
    }

    /// Waits until another process has changed the outbox.
    pub(super) async fn changed(&self) {
        // Without a connection nothing is heard, and those who wait look by themselves.
        let notified = self.changed.notified();
        let _ = self.client().await;
        notified.await;
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
    changed: Arc<Notify>,
    ended: Arc<Notify>,
) {
    while let Some(Ok(message)) = poll_fn(|context| driver.poll_message(context)).await {
        if let AsyncMessage::Notification(_) = message {
            changed.notify_waiters();
        }
    }
    ended.notify_one();
}
