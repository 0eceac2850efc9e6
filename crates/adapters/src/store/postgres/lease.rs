//! Which process sends: an advisory lock on the process's own connection, and an epoch.

use sha2::{Digest, Sha256};

use super::connection::store_error;
use super::notices::QUEUED;
use super::session::Session;
use crate::settlement::outbox::{Epoch, OutboxError, SenderAccount};
use crate::store::rows::outbox::{account_cell, network_cell};

const LOCK: &str = "SELECT pg_try_advisory_lock($1)";
const LEAD: &str = "INSERT INTO senders (network, account, epoch, backend, heartbeat_at) \
     VALUES ($1, $2, 1, pg_backend_pid(), now()) ON CONFLICT (network, account) DO UPDATE \
     SET epoch = senders.epoch + 1, backend = pg_backend_pid(), heartbeat_at = now() \
     RETURNING epoch";
/// A process that is suspended keeps its connection and its lock, but writes no heartbeat.
// begin mutant: suspended-sender-keeps-lease
const END_STALE: &str = "SELECT pg_terminate_backend(backend) FROM senders \
     WHERE network = $1 AND account = $2 AND heartbeat_at < now() - interval '10 seconds'";
// end mutant
/// Written with each heartbeat of the process.
pub(super) const BEAT: &str =
    "UPDATE senders SET heartbeat_at = now() WHERE backend = pg_backend_pid()";

/// The epoch, if no other process has the lease.
pub(super) async fn take(
    session: &Session,
    account: SenderAccount,
) -> Result<Option<Epoch>, OutboxError> {
    let fault = |error: tokio_postgres::Error| {
        store_error(&error);
        OutboxError::Lost
    };
    let client = session.client().await.map_err(fault)?;
    let (network, address) = (network_cell(account), account_cell(account));
    let locked = client.query_one(LOCK, &[&lock_key(account)]).await.map_err(fault)?;
    if !locked.get::<_, bool>(0) {
        client.query(END_STALE, &[&network, &address]).await.map_err(fault)?;
        return Ok(None);
    }
    client.batch_execute(&format!("LISTEN {QUEUED}")).await.map_err(fault)?;
    // mutant: lease-outlives-process
    let row = client.query_one(LEAD, &[&network, &address]).await.map_err(fault)?;
    Ok(Some(Epoch(row.get::<_, i64>(0).cast_unsigned())))
}

/// One number for each account, the same in every process.
fn lock_key(account: SenderAccount) -> i64 {
    let hash = Sha256::new_with_prefix(b"pennyblack sender")
        .chain_update(network_cell(account))
        .chain_update(account_cell(account))
        .finalize();
    i64::from_be_bytes(*hash.first_chunk().expect("8 of 32 bytes"))
}
