//! The outbox in PostgreSQL: one process sends, and the others hand their settlements to it.

use async_trait::async_trait;
use order::model::ids::Timestamp;
use order::model::payment::PaymentKey;
use order::ports::StoreError;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::PostgresStore;
use super::connection::store_error;
use super::lease;
use super::notices::{self, MINED};
use crate::settlement::outbox::{
    Epoch, FailedSettlement, MinedNotice, Notices, Outbox, OutboxError, OutboxRow, SenderAccount,
    SentTransactions, SettlementQueue, SettlementRequest, Withdrawal,
};
use crate::store::rows::outbox::{self as outbox_rows, OutboxCells, account_cell, network_cell};

/// Waits for a write of [`GUARD`] whose commit was not acknowledged.
const AWAIT_WRITES: &str =
    "SELECT FROM senders WHERE network = $1 AND account = $2 FOR NO KEY UPDATE";
const OPEN: &str = "SELECT nonce, payment_key, payer, hashes, sealed, signed_at, reverted_at \
     FROM outbox WHERE network = $1 AND account = $2 AND sealed IS NOT NULL ORDER BY nonce";
/// Locked until the commit: a successor raises the epoch before or after, never in between.
const GUARD: &str =
    // mutant: old-epoch-writes
    "SELECT FROM senders WHERE network = $1 AND account = $2 AND epoch = $3 FOR SHARE";
const UNQUEUE: &str = "DELETE FROM settlement_queue WHERE payment_key = ANY($1)";
const INSERT: &str = "INSERT INTO outbox (network, account, nonce, payment_key, payer, hashes, \
     sealed, signed_at, reverted_at) SELECT $1, $2, * FROM unnest($3::bigint[], $4::bytea[], \
     $5::text[], $6::bytea[], $7::bytea[], $8::bigint[], $9::bigint[]) \
     ON CONFLICT (network, account, nonce) DO UPDATE SET payment_key = excluded.payment_key, \
     payer = excluded.payer, hashes = excluded.hashes, sealed = excluded.sealed, \
     signed_at = excluded.signed_at, reverted_at = excluded.reverted_at \
     WHERE outbox.sealed IS NULL";
const UPDATE: &str = "UPDATE outbox SET hashes = $4, sealed = $5, reverted_at = $6 \
     WHERE network = $1 AND account = $2 AND nonce = $3 AND sealed IS NOT NULL";
const END: &str = "UPDATE outbox SET sealed = NULL \
     WHERE network = $1 AND account = $2 AND nonce = ANY($3)";
const OF_PAYMENTS: &str =
    "SELECT payment_key, nonce, hashes FROM outbox WHERE payment_key = ANY($1) ORDER BY nonce";
const FAILURES: &str = "SELECT payment_key, payer, hashes, reverted_at FROM outbox \
     WHERE network = $1 AND account = $2 AND reverted_at >= $3 AND payment_key IS NOT NULL";
const TIDY: &str = "DELETE FROM outbox WHERE sealed IS NULL AND signed_at < $1";
/// Returns what was signed for them before. The commit does not wait for the disk.
const ENQUEUE: &str = "WITH queued AS (INSERT INTO settlement_queue \
     (payment_key, network, account, sealed) SELECT key, $3, $4, sealed \
     FROM unnest($1::bytea[], $2::bytea[]) AS new (key, sealed) ON CONFLICT DO NOTHING) \
     SELECT payment_key, nonce, hashes FROM outbox WHERE payment_key = ANY($1) \
     UNION ALL SELECT NULL, NULL, NULL WHERE pg_notify($5, '') IS NULL \
     OR set_config('synchronous_commit', 'off', true) IS NULL";
const QUEUED: &str = "SELECT payment_key, sealed FROM settlement_queue \
     WHERE network = $1 AND account = $2 ORDER BY sequence LIMIT $3";
const WAITING: &str = "SELECT payment_key FROM settlement_queue WHERE payment_key = ANY($1)";
const WITHDRAW: &str = "DELETE FROM settlement_queue WHERE payment_key = $1";
/// To the process that works on the order, or to all. The commit does not wait for the disk.
const ANNOUNCE: &str = "SELECT pg_notify($1 || coalesce('_' || encode(worker, 'hex'), ''), payload) \
     FROM unnest($2::bytea[], $3::text[]) AS new (key, payload) \
     LEFT JOIN payment_keys USING (key) LEFT JOIN orders ON orders.id = order_id \
     WHERE set_config('synchronous_commit', 'off', true) IS NOT NULL";

#[async_trait]
impl Outbox for PostgresStore {
    async fn lease(&self, account: SenderAccount) -> Result<Option<Epoch>, OutboxError> {
        lease::take(&self.session, account).await
    }

    async fn open_rows(&self, account: SenderAccount) -> Result<Vec<OutboxRow>, OutboxError> {
        let (network, address) = (network_cell(account), account_cell(account));
        let mut client = self.server.client().await.map_err(busy)?;
        let transaction = client.transaction().await.map_err(fault)?;
        transaction.execute(AWAIT_WRITES, &[&network, &address]).await.map_err(fault)?;
        // A second statement sees what was committed while the first one waited.
        let rows = transaction.query(OPEN, &[&network, &address]).await.map_err(fault)?;
        transaction.commit().await.map_err(fault)?;
        rows.iter().map(|row| outbox_rows::read(cells(row)?, &self.cipher)).collect()
    }

    async fn assign(
        &self,
        account: SenderAccount,
        epoch: Epoch,
        rows: &[OutboxRow],
        from_queue: &[PaymentKey],
    ) -> Result<(), OutboxError> {
        let columns = Columns::of(rows, self)?;
        let queued: Vec<&[u8]> = from_queue.iter().map(|key| key.0.as_slice()).collect();
        let (network, address) = (network_cell(account), account_cell(account));
        let mut client = self.server.client().await.map_err(busy)?;
        let guard = client.prepare_cached(GUARD).await.map_err(fault)?;
        let unqueue = client.prepare_cached(UNQUEUE).await.map_err(fault)?;
        let insert = client.prepare_cached(INSERT).await.map_err(fault)?;
        let transaction = client.transaction().await.map_err(fault)?;
        let epoch = epoch.0.cast_signed();
        let Columns { nonces, keys, payers, hashes, sealed, signed, reverted } = columns;
        let guarded: [&(dyn ToSql + Sync); 3] = [&network, &address, &epoch];
        let inserted: [&(dyn ToSql + Sync); 9] =
            [&network, &address, &nonces, &keys, &payers, &hashes, &sealed, &signed, &reverted];
        let unqueued = async {
            match queued.is_empty() {
                true => Ok(0),
                false => transaction.execute(&unqueue, &[&queued]).await,
            }
        };
        // In one exchange, in this order. Nothing is kept before the commit.
        let (held, gone, written) = tokio::join!(
            biased;
            transaction.query(&guard, &guarded),
            unqueued,
            transaction.execute(&insert, &inserted),
        );
        if held.map_err(fault)?.is_empty() {
            return Err(OutboxError::LeaseLost);
        }
        if usize::try_from(gone.map_err(fault)?) != Ok(queued.len()) {
            return Err(OutboxError::Withdrawn);
        }
        if usize::try_from(written.map_err(fault)?) != Ok(rows.len()) {
            return Err(OutboxError::Lost);
        }
        transaction.commit().await.map_err(fault)
    }

    async fn update(
        &self,
        account: SenderAccount,
        epoch: Epoch,
        row: &OutboxRow,
    ) -> Result<(), OutboxError> {
        let row = outbox_rows::write(row, &self.cipher)?;
        let (network, address) = (network_cell(account), account_cell(account));
        let cells: [&(dyn ToSql + Sync); 6] =
            [&network, &address, &row.nonce, &row.hashes, &row.sealed, &row.reverted_at];
        self.guarded(account, epoch, UPDATE, &cells).await
    }

    async fn end(
        &self,
        account: SenderAccount,
        epoch: Epoch,
        nonces: &[u64],
    ) -> Result<(), OutboxError> {
        let nonces: Vec<i64> = nonces.iter().map(|nonce| nonce.cast_signed()).collect();
        let (network, address) = (network_cell(account), account_cell(account));
        self.guarded(account, epoch, END, &[&network, &address, &nonces]).await
    }

    async fn transactions(
        &self,
        keys: &[PaymentKey],
    ) -> Result<Vec<SentTransactions>, OutboxError> {
        let keys: Vec<&[u8]> = keys.iter().map(|key| key.0.as_slice()).collect();
        let rows = self.server.all(OF_PAYMENTS, &[&keys]).await.map_err(busy)?;
        rows.iter().map(sent).collect()
    }

    async fn failures(
        &self,
        account: SenderAccount,
        since: Timestamp,
    ) -> Result<Vec<FailedSettlement>, OutboxError> {
        let (network, address) = (network_cell(account), account_cell(account));
        let since = since.0.cast_signed();
        let rows = self.server.all(FAILURES, &[&network, &address, &since]).await;
        let failure = |row: &Row| {
            outbox_rows::failure(cell(row, 0)?, cell(row, 1)?, cell(row, 2)?, cell(row, 3)?)
        };
        rows.map_err(busy)?.iter().map(failure).collect()
    }

    fn queue(&self) -> Option<&dyn SettlementQueue> {
        Some(self)
    }
}

#[async_trait]
impl SettlementQueue for PostgresStore {
    async fn enqueue(
        &self,
        account: SenderAccount,
        requests: &[SettlementRequest],
    ) -> Result<Vec<SentTransactions>, OutboxError> {
        let keys: Vec<&[u8]> = requests.iter().map(|request| request.key.0.as_slice()).collect();
        let sealed =
            requests.iter().map(|request| outbox_rows::write_queued(request, &self.cipher));
        let sealed = sealed.collect::<Result<Vec<_>, _>>()?;
        let (network, address) = (network_cell(account), account_cell(account));
        let cells: [&(dyn ToSql + Sync); 5] =
            [&keys, &sealed, &network, &address, &notices::QUEUED];
        let rows = self.server.all(ENQUEUE, &cells).await.map_err(busy)?;
        rows.iter().map(sent).collect()
    }

    async fn queued(
        &self,
        account: SenderAccount,
        most: usize,
    ) -> Result<Vec<SettlementRequest>, OutboxError> {
        let (network, address) = (network_cell(account), account_cell(account));
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = self.server.all(QUEUED, &[&network, &address, &most]).await.map_err(busy)?;
        let read = |row: &Row| outbox_rows::read_queued(cell(row, 0)?, cell(row, 1)?, &self.cipher);
        // One that this process cannot read is left to those who can.
        Ok(rows.iter().filter_map(|row| read(row).ok()).collect())
    }

    async fn waiting(&self, keys: &[PaymentKey]) -> Result<Vec<PaymentKey>, OutboxError> {
        let keys: Vec<&[u8]> = keys.iter().map(|key| key.0.as_slice()).collect();
        let rows = self.server.all(WAITING, &[&keys]).await.map_err(busy)?;
        rows.iter().map(|row| outbox_rows::key(cell(row, 0)?)).collect()
    }

    async fn withdraw(&self, key: PaymentKey) -> Result<Withdrawal, OutboxError> {
        let gone = self.server.execute(WITHDRAW, &[&key.0.as_slice()]).await.map_err(busy)?;
        Ok(if gone == 0 { Withdrawal::NotQueued } else { Withdrawal::Withdrawn })
    }

    async fn announce(&self, _account: SenderAccount, mined: &[MinedNotice]) {
        let payloads: Vec<_> = mined.iter().map(|one| notices::write(one, &self.cipher)).collect();
        let keys: Vec<&[u8]> = mined.iter().map(|one| one.key.0.as_slice()).collect();
        // Those that are not told look by themselves.
        let _ = self.server.all(ANNOUNCE, &[&MINED, &keys, &payloads]).await;
    }

    fn notices(&self) -> Notices {
        self.session.notices()
    }
}

impl PostgresStore {
    /// Drops rows that ended long ago.
    pub(super) async fn tidy_outbox(&self, now: Timestamp) -> Result<(), StoreError> {
        let before = now.0.saturating_sub(outbox_rows::KEEP_SECONDS).cast_signed();
        self.server.execute(TIDY, &[&before]).await.map(drop)
    }

    /// One statement, if this process still has the lease.
    async fn guarded(
        &self,
        account: SenderAccount,
        epoch: Epoch,
        sql: &str,
        cells: &[&(dyn ToSql + Sync)],
    ) -> Result<(), OutboxError> {
        let (network, address) = (network_cell(account), account_cell(account));
        let mut client = self.server.client().await.map_err(busy)?;
        let guard = client.prepare_cached(GUARD).await.map_err(fault)?;
        let statement = client.prepare_cached(sql).await.map_err(fault)?;
        let transaction = client.transaction().await.map_err(fault)?;
        let epoch = epoch.0.cast_signed();
        let guarded: [&(dyn ToSql + Sync); 3] = [&network, &address, &epoch];
        // In one exchange. Nothing is kept before the commit.
        let (held, written) = tokio::join!(
            biased;
            transaction.query(&guard, &guarded),
            transaction.execute(&statement, cells),
        );
        if held.map_err(fault)?.is_empty() {
            return Err(OutboxError::LeaseLost);
        }
        written.map_err(fault)?;
        transaction.commit().await.map_err(fault)
    }
}

/// Many rows as one array for each column.
#[derive(Default)]
struct Columns {
    nonces: Vec<i64>,
    keys: Vec<Option<Vec<u8>>>,
    payers: Vec<Option<String>>,
    hashes: Vec<Vec<u8>>,
    sealed: Vec<Vec<u8>>,
    signed: Vec<i64>,
    reverted: Vec<Option<i64>>,
}

impl Columns {
    fn of(rows: &[OutboxRow], store: &PostgresStore) -> Result<Self, OutboxError> {
        let mut columns = Self::default();
        for row in rows {
            let cells = outbox_rows::write(row, &store.cipher)?;
            columns.nonces.push(cells.nonce);
            columns.keys.push(cells.payment_key);
            columns.payers.push(cells.payer);
            columns.hashes.push(cells.hashes);
            columns.sealed.push(cells.sealed);
            columns.signed.push(cells.signed_at);
            columns.reverted.push(cells.reverted_at);
        }
        Ok(columns)
    }
}

fn sent(row: &Row) -> Result<SentTransactions, OutboxError> {
    let (key, nonce, hashes): (&[u8], i64, &[u8]) = (cell(row, 0)?, cell(row, 1)?, cell(row, 2)?);
    outbox_rows::sent(key, nonce, hashes)
}

fn cells(row: &Row) -> Result<OutboxCells, OutboxError> {
    Ok(OutboxCells {
        nonce: cell(row, 0)?,
        payment_key: cell(row, 1)?,
        payer: cell(row, 2)?,
        hashes: cell(row, 3)?,
        sealed: cell(row, 4)?,
        signed_at: cell(row, 5)?,
        reverted_at: cell(row, 6)?,
    })
}

fn cell<'a, T: tokio_postgres::types::FromSql<'a>>(
    row: &'a Row,
    place: usize,
) -> Result<T, OutboxError> {
    row.try_get(place).map_err(|error| {
        tracing::error!(fault = %error, place, "a cell of the outbox cannot be read");
        OutboxError::Lost
    })
}

fn fault(error: tokio_postgres::Error) -> OutboxError {
    store_error(&error);
    OutboxError::Lost
}

fn busy(_: StoreError) -> OutboxError {
    OutboxError::Lost
}
