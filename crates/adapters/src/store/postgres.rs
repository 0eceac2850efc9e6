//! Orders in PostgreSQL, for any number of processes.
//!
//! A write is one statement: atomic, one round trip, and the server groups commits.
//!
//! `sslmode=verify-full` in the URL encrypts all connections (`tls`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use order::lifecycle::event::{Actor, Event};
use order::lifecycle::schedule::CLOCK_SKEW_SECONDS;
use order::lifecycle::{Offered, Order, Stored};
use order::model::ids::{OperationKey, OrderId, Timestamp, WorkerId};
use order::model::payment::PaymentKey;
use order::operator::filter::OrderFilter;
use order::operator::page::OrderPage;
use order::ports::{NumberedEvent, OpenOrders, StateCount, Store, StoreError, Tidied, TidyLimits};
use tokio_postgres::Row as Answer;
use tokio_postgres::types::ToSql;

mod budget;
mod connection;
mod events;
mod heartbeat;
mod lease;
mod notices;
mod outbox;
mod queries;
mod session;
mod tls;

use self::connection::Server;
use self::heartbeat::Heartbeat;
use self::queries::BeforeClaim;
use self::session::Session;
pub use self::tls::PostgresTransport;
use self::tls::ServerUrl;
use super::rows::{self, Row, seconds_cell, sql};
use super::schema::{self, StoredSchema};
use super::undecryptable::Undecryptable;
use super::{OpenError, error, migration};
use crate::keys::Keyring;
use crate::store::encryption::ColumnCipher;

/// The most rows of one clean-up statement, so that its locks are short.
const TIDY_ROWS: u64 = 1_000;

/// After so many new identifiers from this process the cap is enforced.
const OFFERS_BETWEEN_CAPS: u64 = 10_000;

pub struct PostgresStore {
    cipher: ColumnCipher,
    /// New identifiers that this process has written.
    offers: AtomicU64,
    server: Server,
    session: Arc<Session>,
    heartbeat: Heartbeat,
    undecryptable: Arc<Undecryptable>,
}

impl PostgresStore {
    /// Connects, and brings the schema up to date, one process at a time. As long as this
    /// store is open, the other processes see that `worker` is alive.
    pub async fn connect(
        url: &str,
        keyring: &Keyring,
        worker: WorkerId,
    ) -> Result<Self, OpenError> {
        let (server, url) = Server::connect(url, keyring).await?;
        // The first heartbeat is written before anything else can be.
        let cipher = ColumnCipher::new(keyring);
        let session = Arc::new(Session::new(url, worker, cipher.clone()));
        session.client().await.map_err(error::postgres)?;
        let undecryptable = Arc::new(Undecryptable::default());
        let heartbeat =
            Heartbeat::start(server.clone(), session.clone(), worker, undecryptable.clone());
        let offers = AtomicU64::new(0);
        Ok(Self { cipher, offers, server, session, heartbeat, undecryptable })
    }

    /// How the connections to the server of a URL are protected. Nothing is sent; the file of
    /// authorities is read.
    pub fn transport(url: &str) -> Result<PostgresTransport, OpenError> {
        ServerUrl::parse(url).map(|server| server.transport())
    }

    /// The open orders of a database, which is read and not changed. A database without our
    /// tables has none.
    pub async fn open_orders_at(url: &str) -> Result<Vec<OpenOrders>, OpenError> {
        let client = connection::read_only(url).await?;
        let found = client.query_one("SELECT to_regclass('orders') IS NOT NULL", &[]).await;
        if !found.and_then(|row| row.try_get(0)).map_err(error::postgres)? {
            return Ok(Vec::new());
        }
        let open = client.query(sql::OPEN_ORDERS, &[]).await.map_err(error::postgres)?;
        open.iter()
            .map(rows::read_open)
            .collect::<Result<_, _>>()
            .map_err(|_| OpenError::Unreadable)
    }

    /// The schema of a database, which is read and not changed.
    pub async fn schema_at(url: &str) -> Result<StoredSchema, OpenError> {
        let client = connection::read_only(url).await?;
        let table = "SELECT to_regclass('schema_migrations') IS NOT NULL";
        let found = client.query_one(table, &[]).await;
        if !found.and_then(|row| row.try_get(0)).map_err(error::postgres)? {
            return Ok(StoredSchema::Missing);
        }
        let version = "SELECT coalesce(max(version), 0) FROM schema_migrations";
        let found = client.query_one(version, &[]).await.and_then(|row| row.try_get(0));
        schema::classify(migration::POSTGRES, found.map_err(error::postgres)?)
    }

    /// Closes all connections.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.heartbeat.end().await;
        self.session.close().await;
        self.server.close();
        Ok(())
    }

    fn read(&self, row: Option<Row>) -> Result<Option<Stored>, StoreError> {
        row.map(|row| rows::read(row, &self.cipher)).transpose()
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn newest(&self, key: &OperationKey) -> Result<Option<Stored>, StoreError> {
        self.read(self.server.one(&queries::NEWEST, &[&key.0.as_slice()]).await?)
    }

    async fn find(&self, id: OrderId) -> Result<Option<Stored>, StoreError> {
        self.read(self.server.one(&queries::FIND, &[&id.to_string()]).await?)
    }

    async fn offer(&self, fresh: Order<Offered>) -> Result<Stored, StoreError> {
        let id = fresh.id;
        let values = rows::offer_row(fresh).into_values();
        let cells: Vec<_> = values.iter().map(queries::bound).collect();
        let written = self.server.execute(&queries::INSERT_OFFER, &cells).await?;
        let count = self.offers.fetch_add(written, Ordering::Relaxed) + written;
        if written == 1 && count.is_multiple_of(OFFERS_BETWEEN_CAPS) {
            // A flood must not outgrow the cap until the expiry job runs.
            self.drop_unpaid(TidyLimits::DEFAULT.unpaid_rows_max).await?;
        }
        self.find(id).await?.ok_or(StoreError::Lost)
    }

    async fn record(&self, next: &Stored, by: &Actor) -> Result<u64, StoreError> {
        let version = next.version() + 1;
        let mut row = rows::write(next, &self.cipher).map_err(|_| StoreError::Lost)?;
        row.version = Some(version.cast_signed());
        let event = Event::of(next, version, by);
        let (at, keys) = (event.at.0.cast_signed(), keys(next.payment_keys()));
        let values = row.into_values();
        let mut cells: Vec<&(dyn ToSql + Sync)> = Vec::with_capacity(values.len() + 6);
        cells.extend(values.iter().map(queries::bound));
        let event: [&(dyn ToSql + Sync); 6] =
            [&keys, &at, &event.actor, &event.state, &event.evidence, &event.note];
        cells.extend(event);
        match self.server.execute(&queries::RECORD, &cells).await? {
            0 => Err(StoreError::Moved),
            _ => Ok(version),
        }
    }

    async fn bound(&self, payment_keys: &[PaymentKey]) -> Result<Vec<OrderId>, StoreError> {
        let rows = self.server.all(&queries::BOUND, &[&keys(payment_keys)]).await?;
        rows.iter().map(queries::owner).collect()
    }

    async fn claim(
        &self,
        worker: WorkerId,
        now: Timestamp,
        until: Timestamp,
        most: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        let except = self.undecryptable.ids_at(now);
        let (found, ahead) = (now, seconds_cell(now.plus(CLOCK_SKEW_SECONDS).0));
        let now = seconds_cell(now.0);
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let (until, worker) = (until.0.cast_signed(), worker.bytes().to_vec());
        let cells: [&(dyn ToSql + Sync); 6] = [&worker, &now, &ahead, &most, &until, &except];
        let claimed = self.server.all(&queries::CLAIM, &cells).await?;
        // An order that cannot be read is logged and must not block the others.
        let mut orders = Vec::with_capacity(claimed.len());
        for answer in &claimed {
            let Ok(row) = Row::from_cells(answer) else { continue };
            if rows::is_decryptable(&row, &self.cipher) {
                orders.extend(rows::read(row, &self.cipher));
            } else {
                // If this fails, the order is free when the claim expires.
                let _ = self.release(&row, answer, found).await;
            }
        }
        Ok(orders)
    }

    async fn hasten_refused(&self, now: Timestamp) -> Result<(), StoreError> {
        let now = now.0.cast_signed();
        self.server.execute(&queries::HASTEN_REFUSED, &[&now]).await.map(drop)
    }

    async fn orphaned(&self) {
        self.heartbeat.orphaned().await;
    }

    async fn tidy(&self, now: Timestamp, limits: TidyLimits) -> Result<Tidied, StoreError> {
        self.tidy_outbox(now).await?;
        let lapsed = self.step_by_step(&queries::LAPSE, &[&seconds_cell(now.0)]).await?;
        let mut tidied = Tidied { lapsed, dropped: 0 };
        if let Some(before) = now.0.checked_sub(limits.lapsed_seconds) {
            let old = self.step_by_step(&queries::DROP_LAPSED, &[&seconds_cell(before)]).await?;
            tidied.dropped += old;
        }
        tidied.dropped += self.drop_unpaid(limits.unpaid_rows_max).await?;
        Ok(tidied)
    }

    async fn events(&self, id: OrderId) -> Result<Vec<Event>, StoreError> {
        let found = self.server.all(&queries::EVENTS, &[&id.to_string()]).await?;
        found.iter().map(|row| rows::read_event(row, id, 0)).collect()
    }

    async fn list(&self, filter: &OrderFilter, most: usize) -> Result<OrderPage, StoreError> {
        let values = sql::list_values(filter, most);
        let cells: Vec<_> = values.iter().map(queries::bound).collect();
        let found = self.server.all_planned_for(&queries::LIST, &cells).await?;
        let found = found.iter().map(Row::from_cells).collect::<Result<_, _>>()?;
        Ok(rows::read_page(found, &self.cipher, most))
    }

    async fn events_after(
        &self,
        number: u64,
        most: usize,
    ) -> Result<Vec<NumberedEvent>, StoreError> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        events::after(&self.server, seconds_cell(number), most).await
    }

    async fn count_in_play(&self) -> Result<Vec<StateCount>, StoreError> {
        let found = self.server.all(&sql::count_in_play(), &[]).await?;
        found.iter().map(rows::read_count).collect()
    }

    async fn open_orders(&self) -> Result<Vec<OpenOrders>, StoreError> {
        let open = self.server.all(sql::OPEN_ORDERS, &[]).await?;
        open.iter().map(rows::read_open).collect()
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.server.all(&queries::PING, &[]).await.map(drop)
    }
}

impl PostgresStore {
    /// Releases an order that we cannot decrypt, as it was before the claim.
    async fn release(&self, row: &Row, answer: &Answer, now: Timestamp) -> Result<(), StoreError> {
        self.undecryptable.add(row.id.as_deref().unwrap_or_default(), now);
        let BeforeClaim { due_at, planned_at, worker } = BeforeClaim::of(answer)?;
        let cells: [&(dyn ToSql + Sync); 5] =
            [&row.id, &row.version, &due_at, &planned_at, &worker];
        self.server.execute(&queries::RELEASE, &cells).await.map(drop)
    }

    /// Drops the oldest unpaid rows above the cap.
    async fn drop_unpaid(&self, most: u64) -> Result<u64, StoreError> {
        self.step_by_step(&queries::DROP_UNPAID, &[&seconds_cell(most)]).await
    }

    /// Repeats a statement that touches a limited number of rows, given as its
    /// last value, until it finds no more.
    async fn step_by_step(
        &self,
        statement: &str,
        cells: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, StoreError> {
        let limit = seconds_cell(TIDY_ROWS);
        let mut cells = cells.to_vec();
        cells.push(&limit);
        let mut touched = 0;
        loop {
            let step = self.server.execute(statement, &cells).await?;
            touched += step;
            if step < TIDY_ROWS {
                return Ok(touched);
            }
        }
    }
}

/// Sorted, so that two writes with the same keys do not deadlock.
fn keys(keys: &[PaymentKey]) -> Vec<Vec<u8>> {
    let mut keys: Vec<_> = keys.iter().map(|key| key.0.to_vec()).collect();
    keys.sort();
    keys.dedup();
    keys
}
