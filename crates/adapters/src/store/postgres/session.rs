//! The process's own connection, for heartbeat, leases and notifications.

use std::future::poll_fn;
use std::sync::Arc;

use alloy_primitives::{B256, hex};
use order::model::ids::WorkerId;
use order::model::payment::PaymentKey;
use tokio::sync::{Mutex, Notify};
use tokio_postgres::{AsyncMessage, Client, Connection, Socket};

use super::queries::BEAT;
use super::tls::{EncryptedSocket, ServerUrl};
use crate::settlement::outbox::{MinedNotice, NoticeBoard, Notices};

/// The notification channel of the outbox.
pub(super) const CHANNEL: &str = "pennyblack_outbox";

/// The payload for a new queue entry. Any other payload is a list of mined transactions.
pub(super) const QUEUED: &str = "queued";
/// A payload has less than 8,000 bytes.
pub(super) const NOTICES_AT_ONCE: usize = 56;
/// A payment key and the hash of a transaction, 32 bytes each. A byte is two digits.
const NOTICE_BYTES: usize = 64;

/// The payload that tells of transactions in blocks: payment key and hash of each.
pub(super) fn write_mined(mined: &[MinedNotice]) -> String {
    let mut payload = String::with_capacity(mined.len() * 2 * NOTICE_BYTES);
    for MinedNotice { key, transaction } in mined {
        payload.push_str(&hex::encode(key.0));
        payload.push_str(&hex::encode(transaction));
    }
    payload
}

fn read_mined(payload: &str) -> Option<Arc<[MinedNotice]>> {
    let bytes = hex::decode(payload).ok()?;
    let (notices, rest) = bytes.as_chunks::<NOTICE_BYTES>();
    let notice = |both: &[u8; NOTICE_BYTES]| {
        let (key, transaction) = both.split_at(NOTICE_BYTES / 2);
        let key = PaymentKey(key.try_into().ok()?);
        Some(MinedNotice { key, transaction: B256::from_slice(transaction) })
    };
    if rest.is_empty() { notices.iter().map(notice).collect() } else { None }
}

pub(super) struct Session {
    url: ServerUrl,
    worker: WorkerId,
    connection: Mutex<Option<Arc<Client>>>,
    notices: Arc<NoticeBoard>,
    ended: Arc<Notify>,
}

impl Session {
    pub(super) fn new(url: ServerUrl, worker: WorkerId) -> Self {
        let (notices, ended) = (Arc::default(), Arc::new(Notify::new()));
        Self { url, worker, connection: Mutex::new(None), notices, ended }
    }

    /// The connection, or a new one if it has ended. The heartbeat names the new one before
    /// it is used.
    pub(super) async fn client(&self) -> Result<Arc<Client>, tokio_postgres::Error> {
        let mut connection = self.connection.lock().await;
        if let Some(client) = connection.as_ref().filter(|client| !client.is_closed()) {
            return Ok(Arc::clone(client));
        }
        let (client, driver) = self.url.config.connect(self.url.tls.clone()).await?;
        tokio::spawn(receive_notices(driver, Arc::clone(&self.notices), Arc::clone(&self.ended)));
        client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
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
    notices: Arc<NoticeBoard>,
    ended: Arc<Notify>,
) {
    while let Some(Ok(message)) = poll_fn(|context| driver.poll_message(context)).await {
        if let AsyncMessage::Notification(notification) = message {
            match notification.payload() {
                QUEUED => notices.queued(),
                payload => {
                    if let Some(mined) = read_mined(payload) {
                        notices.mined(mined);
                    }
                }
            }
        }
    }
    ended.notify_one();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_are_read_as_they_were_written_and_fit_into_a_payload() {
        let notice = |n: u8| MinedNotice {
            key: PaymentKey([n; 32]),
            transaction: B256::repeat_byte(255 - n),
        };
        let mined: Vec<MinedNotice> = (0..56).map(notice).collect();
        assert_eq!(mined.len(), NOTICES_AT_ONCE);
        let payload = write_mined(&mined);
        assert!(payload.len() < 8_000, "{}", payload.len());
        assert_eq!(read_mined(&payload).unwrap()[..], mined[..]);
        assert_eq!(read_mined("00ff"), None);
        assert_eq!(read_mined("mined"), None);
    }
}
