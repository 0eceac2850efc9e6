//! The process's own connection, for heartbeat, leases and notifications.

use std::future::poll_fn;
use std::sync::Arc;

use order::model::ids::WorkerId;
use tokio::sync::{Mutex, Notify};
use tokio_postgres::{AsyncMessage, Client, Connection, Socket};

use super::notices;
use super::queries::BEAT;
use super::tls::{EncryptedSocket, ServerUrl};
use crate::settlement::outbox::{NoticeBoard, Notices};
use crate::store::encryption::ColumnCipher;

pub(super) struct Session {
    url: ServerUrl,
    worker: WorkerId,
    cipher: ColumnCipher,
    connection: Mutex<Option<Arc<Client>>>,
    notices: Arc<NoticeBoard>,
    ended: Arc<Notify>,
}

impl Session {
    pub(super) fn new(url: ServerUrl, worker: WorkerId, cipher: ColumnCipher) -> Self {
        let (notices, ended) = (Arc::default(), Arc::new(Notify::new()));
        Self { url, worker, cipher, connection: Mutex::new(None), notices, ended }
    }

    /// The connection, or a new one if it has ended. The heartbeat names the new one before
    /// it is used.
    pub(super) async fn client(&self) -> Result<Arc<Client>, tokio_postgres::Error> {
        let mut connection = self.connection.lock().await;
        if let Some(client) = connection.as_ref().filter(|client| !client.is_closed()) {
            return Ok(Arc::clone(client));
        }
        let (client, driver) = self.url.config.connect(self.url.tls.clone()).await?;
        let (board, ended) = (Arc::clone(&self.notices), Arc::clone(&self.ended));
        tokio::spawn(receive_notices(driver, self.cipher.clone(), board, ended));
        client.batch_execute(&notices::listen(self.worker)).await?;
        client.execute(BEAT, &[&self.worker.bytes().as_slice()]).await?;
        let client = Arc::new(client);
        *connection = Some(Arc::clone(&client));
        Ok(client)
    }

    /// Notices to this process while it is connected; the heartbeat reconnects.
    pub(super) fn notices(&self) -> Notices {
        self.notices.subscribe()
    }

    /// Waits until the connection has ended.
    pub(super) async fn ended(&self) {
        self.ended.notified().await;
    }

    pub(super) async fn close(&self) {
        *self.connection.lock().await = None;
    }
}

async fn receive_notices(
    mut driver: Connection<Socket, EncryptedSocket>,
    cipher: ColumnCipher,
    board: Arc<NoticeBoard>,
    ended: Arc<Notify>,
) {
    while let Some(Ok(message)) = poll_fn(|context| driver.poll_message(context)).await {
        if let AsyncMessage::Notification(notification) = message {
            notices::pass_on(&notification, &cipher, &board);
        }
    }
    ended.notify_one();
}
