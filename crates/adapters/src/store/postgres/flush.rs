//! Offers on their way from memory to PostgreSQL.

use std::sync::Arc;
use std::time::Duration;

use order::lifecycle::{Offered, Order};
use order::ports::StoreError;
use tokio::sync::{Mutex, Notify};
use tokio_postgres::types::ToSql;

use super::connection::{Server, trouble};
use super::queries::INSERT_OFFERS;
use crate::store::pending::Pending;
use crate::store::rows::{self, OFFER_COLUMNS, Value};

/// Offers in one statement; some ten milliseconds' worth.
const OFFERS_AT_ONCE: usize = 1_024;
/// How long offers wait for company.
const GATHERING: Duration = Duration::from_millis(5);
/// After a statement that failed.
const RECOVERY: Duration = Duration::from_millis(500);

pub(super) struct Flush {
    server: Server,
    pending: Arc<Pending>,
    /// One at a time: they are taken from the front and counted off there.
    turn: Mutex<()>,
}

impl Flush {
    pub(super) fn new(server: Server, pending: Arc<Pending>) -> Self {
        Self { server, pending, turn: Mutex::new(()) }
    }

    /// Writes offers whenever some have arrived, for as long as the store lives.
    pub(super) async fn whenever(self: Arc<Self>, arrived: Arc<Notify>) {
        loop {
            arrived.notified().await;
            tokio::time::sleep(GATHERING).await;
            while self.pending.waiting() > 0 {
                if self.some().await.is_err() {
                    tokio::time::sleep(RECOVERY).await;
                }
            }
        }
    }

    /// Returns when every offer that is in memory now is in the database.
    pub(super) async fn all(&self) -> Result<(), StoreError> {
        let mark = self.pending.mark();
        while !self.pending.reached(mark) {
            self.some().await?;
        }
        Ok(())
    }

    async fn some(&self) -> Result<(), StoreError> {
        let _turn = self.turn.lock().await;
        let offers = self.pending.next(OFFERS_AT_ONCE);
        if !offers.is_empty() {
            self.write(&offers).await?;
            self.pending.written(offers.len());
        }
        Ok(())
    }

    /// An offer can be made again, so its commit does not wait for the disk.
    async fn write(&self, offers: &[Order<Offered>]) -> Result<(), StoreError> {
        let columns = columns(offers);
        let cells: Vec<_> = columns.iter().map(Array::bound).collect();
        let mut client = self.server.client().await?;
        let fault = |error| trouble(&error);
        let statement = client.prepare_cached(&INSERT_OFFERS).await.map_err(fault)?;
        let transaction = client.transaction().await.map_err(fault)?;
        transaction.batch_execute("SET LOCAL synchronous_commit = off").await.map_err(fault)?;
        transaction.execute(&statement, &cells).await.map_err(fault)?;
        transaction.commit().await.map_err(fault)
    }
}

/// One column of many rows.
enum Array {
    Integer(Vec<Option<i64>>),
    Text(Vec<Option<String>>),
    Blob(Vec<Option<Vec<u8>>>),
}

impl Array {
    fn bound(&self) -> &(dyn ToSql + Sync) {
        match self {
            Self::Integer(cells) => cells,
            Self::Text(cells) => cells,
            Self::Blob(cells) => cells,
        }
    }

    fn push(&mut self, value: Value) {
        match (self, value) {
            (Self::Integer(cells), Value::Integer(cell)) => cells.push(cell),
            (Self::Text(cells), Value::Text(cell)) => cells.push(cell),
            (Self::Blob(cells), Value::Blob(cell)) => cells.push(cell),
            (Self::Integer(_) | Self::Text(_) | Self::Blob(_), _) => {
                unreachable!("a column has one kind")
            }
        }
    }
}

/// Rows turned into columns. They are sorted by id, so that two processes which
/// write the same offers wait for each other instead of both.
fn columns(offers: &[Order<Offered>]) -> Vec<Array> {
    let mut offers: Vec<_> = offers.iter().collect();
    offers.sort_by_key(|offer| offer.id);
    let mut columns: Vec<Array> = OFFER_COLUMNS
        .iter()
        .map(|column| match column.kind {
            rows::Kind::Integer => Array::Integer(Vec::new()),
            rows::Kind::Text => Array::Text(Vec::new()),
            rows::Kind::Blob => Array::Blob(Vec::new()),
        })
        .collect();
    for offer in offers {
        let values = rows::offer_row(offer.clone()).into_offer_values();
        for (column, value) in columns.iter_mut().zip(values) {
            column.push(value);
        }
    }
    columns
}
