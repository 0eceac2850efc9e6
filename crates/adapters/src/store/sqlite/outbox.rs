//! The outbox in SQLite: the one process that has the file is the sender.

use async_trait::async_trait;
use order::model::ids::Timestamp;
use order::model::payment::PaymentKey;
use order::ports::StoreError;
use rusqlite::{Connection, Row, params};

use super::SqliteStore;
use super::connection::store_error;
use crate::settlement::outbox::{
    Epoch, FailedSettlement, Outbox, OutboxError, OutboxRow, SenderAccount, SentTransactions,
};
use crate::store::rows::outbox::{self as outbox_rows, OutboxCells, account_cell, network_cell};

const OPEN: &str = "SELECT nonce, payment_key, payer, hashes, sealed, signed_at, reverted_at \
     FROM outbox WHERE network = ?1 AND account = ?2 AND sealed IS NOT NULL ORDER BY nonce";
const INSERT: &str = "INSERT INTO outbox (network, account, nonce, payment_key, payer, hashes, \
     sealed, signed_at, reverted_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
     ON CONFLICT (network, account, nonce) DO UPDATE SET payment_key = excluded.payment_key, \
     payer = excluded.payer, hashes = excluded.hashes, sealed = excluded.sealed, \
     signed_at = excluded.signed_at, reverted_at = excluded.reverted_at \
     WHERE outbox.sealed IS NULL";
const UPDATE: &str = "UPDATE outbox SET hashes = ?4, sealed = ?5, reverted_at = ?6 \
     WHERE network = ?1 AND account = ?2 AND nonce = ?3 AND sealed IS NOT NULL";
const END: &str = "UPDATE outbox SET sealed = NULL \
     WHERE network = ?1 AND account = ?2 AND nonce = ?3";
const OF_PAYMENT: &str = "SELECT payment_key, nonce, hashes FROM outbox WHERE payment_key = ?1";
const TIDY: &str = "DELETE FROM outbox WHERE sealed IS NULL AND signed_at < ?1";
const FAILURES: &str = "SELECT payment_key, payer, hashes, reverted_at FROM outbox \
     WHERE network = ?1 AND account = ?2 AND reverted_at >= ?3 AND payment_key IS NOT NULL";

#[async_trait]
impl Outbox for SqliteStore {
    /// The file's lock is the lease.
    async fn lease(&self, _account: SenderAccount) -> Result<Option<Epoch>, OutboxError> {
        Ok(Some(Epoch(1)))
    }

    async fn open_rows(&self, account: SenderAccount) -> Result<Vec<OutboxRow>, OutboxError> {
        let cells = self.readers.ask(move |database| {
            let keys = params![network_cell(account), account_cell(account)];
            collect(database, OPEN, keys, cells)
        });
        let cells = cells.await.map_err(busy)?;
        cells.into_iter().map(|cells| outbox_rows::read(cells, &self.cipher)).collect()
    }

    async fn assign(
        &self,
        account: SenderAccount,
        _epoch: Epoch,
        rows: &[OutboxRow],
        _from_queue: &[PaymentKey],
    ) -> Result<(), OutboxError> {
        let cells = rows.iter().map(|row| outbox_rows::write(row, &self.cipher));
        let cells = cells.collect::<Result<Vec<_>, _>>()?;
        let write = move |database: &Connection| {
            let (network, address) = (network_cell(account), account_cell(account));
            let mut insert = database.prepare_cached(INSERT)?;
            for row in cells {
                let written = insert.execute(params![
                    network,
                    address,
                    row.nonce,
                    row.payment_key,
                    row.payer,
                    row.hashes,
                    row.sealed,
                    row.signed_at,
                    row.reverted_at
                ])?;
                // An open row has this nonce, which only a second sender could have written.
                if written != 1 {
                    return Err(rusqlite::Error::StatementChangedRows(written));
                }
            }
            Ok(())
        };
        self.writer.write(Box::new(write)).await.map_err(busy)
    }

    async fn update(
        &self,
        account: SenderAccount,
        _epoch: Epoch,
        row: &OutboxRow,
    ) -> Result<(), OutboxError> {
        let row = outbox_rows::write(row, &self.cipher)?;
        let write = move |database: &Connection| {
            let (network, address) = (network_cell(account), account_cell(account));
            let cells =
                params![network, address, row.nonce, row.hashes, row.sealed, row.reverted_at];
            database.prepare_cached(UPDATE)?.execute(cells).map(drop)
        };
        self.writer.write(Box::new(write)).await.map_err(busy)
    }

    async fn end(
        &self,
        account: SenderAccount,
        _epoch: Epoch,
        nonces: &[u64],
    ) -> Result<(), OutboxError> {
        let nonces = nonces.to_vec();
        let write = move |database: &Connection| {
            let (network, address) = (network_cell(account), account_cell(account));
            let mut end = database.prepare_cached(END)?;
            for nonce in nonces {
                end.execute(params![network, address, nonce.cast_signed()])?;
            }
            Ok(())
        };
        self.writer.write(Box::new(write)).await.map_err(busy)
    }

    async fn transactions(
        &self,
        keys: &[PaymentKey],
    ) -> Result<Vec<SentTransactions>, OutboxError> {
        let keys = keys.to_vec();
        let found = self.readers.ask(move |database| {
            let mut found: Vec<(Vec<u8>, i64, Vec<u8>)> = Vec::new();
            for PaymentKey(key) in keys {
                let three = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
                found.extend(collect(database, OF_PAYMENT, params![key], three)?);
            }
            Ok(found)
        });
        let found = found.await.map_err(busy)?.into_iter();
        found.map(|(key, nonce, hashes)| outbox_rows::sent(&key, nonce, &hashes)).collect()
    }

    async fn failures(
        &self,
        account: SenderAccount,
        since: Timestamp,
    ) -> Result<Vec<FailedSettlement>, OutboxError> {
        let found = self.readers.ask(move |database| {
            let since = since.0.cast_signed();
            let keys = params![network_cell(account), account_cell(account), since];
            let four = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
            collect::<(Vec<u8>, String, Vec<u8>, i64)>(database, FAILURES, keys, four)
        });
        let found = found.await.map_err(busy)?.into_iter();
        let failure = |(key, payer, hashes, at): (Vec<u8>, String, Vec<u8>, i64)| {
            outbox_rows::failure(&key, &payer, &hashes, at)
        };
        found.map(failure).collect()
    }
}

impl SqliteStore {
    /// Drops rows that ended long ago.
    pub(super) async fn tidy_outbox(&self, now: Timestamp) -> Result<(), StoreError> {
        let before = now.0.saturating_sub(outbox_rows::KEEP_SECONDS).cast_signed();
        let write =
            move |database: &Connection| database.prepare_cached(TIDY)?.execute([before]).map(drop);
        self.writer.write(Box::new(write)).await
    }
}

fn collect<T>(
    database: &Connection,
    sql: &str,
    keys: &[&dyn rusqlite::ToSql],
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, StoreError> {
    let rows = || -> rusqlite::Result<Vec<T>> {
        database.prepare_cached(sql)?.query_map(keys, read)?.collect()
    };
    rows().map_err(|error| store_error(&error))
}

fn cells(row: &Row<'_>) -> rusqlite::Result<OutboxCells> {
    Ok(OutboxCells {
        nonce: row.get(0)?,
        payment_key: row.get(1)?,
        payer: row.get(2)?,
        hashes: row.get(3)?,
        sealed: row.get(4)?,
        signed_at: row.get(5)?,
        reverted_at: row.get(6)?,
    })
}

fn busy(_: StoreError) -> OutboxError {
    OutboxError::Lost
}
