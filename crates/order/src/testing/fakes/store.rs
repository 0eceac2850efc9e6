//! An in-memory store that fulfils the whole store contract.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Mutex;

use async_trait::async_trait;

use crate::lifecycle::event::{Actor, Event};
use crate::lifecycle::schedule::Attention;
use crate::lifecycle::{Lapsed, Offered, Order, Stored};
use crate::model::ids::{OperationKey, OrderId, Timestamp, WorkerId};
use crate::model::payment::{Authorization, PaymentKey};
use crate::operator::filter::OrderFilter;
use crate::operator::page::OrderPage;
use crate::ports::{NumberedEvent, OpenOrders, StateCount, Store, StoreError, Tidied, TidyLimits};

/// Orders in memory.
#[derive(Default)]
pub struct FakeStore {
    rows: Mutex<Rows>,
    ping: PingResult,
}

/// What `ping` answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PingResult {
    #[default]
    Alive,
    Lost,
    /// Never completes.
    NoAnswer,
}

#[derive(Default)]
struct Rows {
    orders: BTreeMap<OrderId, Stored>,
    newest: HashMap<OperationKey, OrderId>,
    bound: HashMap<PaymentKey, OrderId>,
    events: Vec<Event>,
    dead: BTreeSet<WorkerId>,
}

impl FakeStore {
    /// An empty store with this answer to `ping`.
    pub fn with_ping(ping: PingResult) -> Self {
        Self { ping, ..Self::default() }
    }

    /// A worker's process has ended, or its heartbeat is missing.
    pub fn mark_dead(&self, worker: WorkerId) {
        self.rows.lock().unwrap().dead.insert(worker);
    }

    /// The heartbeat of a worker that was marked dead has arrived.
    pub fn mark_alive(&self, worker: WorkerId) {
        self.rows.lock().unwrap().dead.remove(&worker);
    }

    pub fn orders(&self) -> Vec<Stored> {
        self.rows.lock().unwrap().orders.values().cloned().collect()
    }

    pub fn get(&self, id: OrderId) -> Option<Stored> {
        self.rows.lock().unwrap().orders.get(&id).cloned()
    }

    /// Puts an earlier row of an order back, as restoring a backup does.
    pub fn restore(&self, order: Stored) {
        self.rows.lock().unwrap().orders.insert(order.id(), order);
    }

    /// The [headline](Stored::headline) of an order; `offered` if it has no row.
    pub fn headline(&self, id: OrderId) -> &'static str {
        self.rows.lock().unwrap().orders.get(&id).map_or("offered", Stored::headline)
    }

    /// The order of this operation with the highest generation.
    pub fn newest_id(&self, key: &OperationKey) -> Option<OrderId> {
        self.rows.lock().unwrap().newest.get(key).copied()
    }

    /// Advances the version of an order, as another claim does, and returns it.
    pub(super) fn advance(&self, id: OrderId) -> u64 {
        let mut rows = self.rows.lock().unwrap();
        let order = rows.orders.get_mut(&id).expect("the order was just claimed");
        order.set_version(order.version() + 1);
        order.version()
    }

    /// Makes the orders due now that no process works on and that are due at any time.
    pub fn make_due(&self, now: Timestamp) {
        for order in self.rows.lock().unwrap().orders.values_mut() {
            let earlier = order.attention();
            if earlier.worker.is_none() && earlier.due.is_some() {
                order.set_attention(Attention { due: Some(now), planned: now, ..earlier });
            }
        }
    }

    /// All events, in the order in which they were written.
    pub fn history(&self) -> Vec<Event> {
        self.rows.lock().unwrap().events.clone()
    }

    /// The order that a payment key is bound to.
    pub fn bound_to(&self, key: PaymentKey) -> Option<OrderId> {
        self.rows.lock().unwrap().bound.get(&key).copied()
    }

    /// All payment keys bound to an order.
    pub fn keys_of(&self, order: OrderId) -> Vec<PaymentKey> {
        let rows = self.rows.lock().unwrap();
        rows.bound.iter().filter(|(_, bound)| **bound == order).map(|(key, _)| *key).collect()
    }

    /// When the next order is due.
    pub fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        let rows = self.rows.lock().unwrap();
        let due = |order: &Stored| {
            let attention = order.attention();
            let at_once = attention.is_due(now) || is_orphan(order, &rows.dead);
            if at_once { Some(now) } else { attention.due }
        };
        rows.orders.values().filter_map(due).min()
    }
}

impl Rows {
    fn record(&mut self, next: &Stored, by: &Actor) -> Result<u64, StoreError> {
        let id = next.id();
        let kept = self.orders.get(&id).map(Stored::version);
        if kept.is_some_and(|version| version != next.version()) {
            return Err(StoreError::Moved);
        }
        let operation = next.operation().key;
        let rival = |other: &Stored| {
            other.id() != id && other.is_in_play() && other.operation().key == operation
        };
        if next.is_in_play() && self.orders.values().any(rival) {
            return Err(StoreError::Moved);
        }
        let keys = next.payment_keys();
        if keys.iter().any(|key| self.bound.get(key).is_some_and(|other| *other != id)) {
            return Err(StoreError::PaymentBound);
        }
        self.bound.extend(keys.iter().map(|key| (*key, id)));
        let version = next.version() + 1;
        let mut next = next.clone();
        next.set_version(version);
        self.events.push(Event::of(&next, version, by));
        self.remember_newest(&next);
        self.orders.insert(id, next);
        Ok(version)
    }

    fn claim(
        &mut self,
        worker: WorkerId,
        now: Timestamp,
        until: Timestamp,
        most: usize,
    ) -> Vec<Stored> {
        // A worker that claims is alive, even if others have marked it dead.
        let dead: BTreeSet<_> = self.dead.iter().filter(|dead| **dead != worker).copied().collect();
        let orphan = |order: &Stored| is_orphan(order, &dead);
        let is_due = |order: &Stored| orphan(order) || order.attention().is_due(now);
        let mut due: Vec<_> = self.orders.values_mut().filter(|order| is_due(order)).collect();
        due.sort_by_key(|order| (!orphan(order), !order.is_in_play(), order.attention().due));
        let take = |order: &mut Stored| {
            let worker = Some(worker);
            let earlier = order.attention();
            order.set_attention(Attention { due: Some(until), planned: now, worker, ..earlier });
            order.set_version(order.version() + 1);
            order.clone()
        };
        due.into_iter().take(most).map(take).collect()
    }

    fn hasten_refused(&mut self, now: Timestamp) {
        for order in self.orders.values_mut() {
            let earlier = order.attention();
            let waits = earlier.worker.is_none() && earlier.due.is_some_and(|due| due > now);
            if order.headline() == Stored::REFUSED_CARD && waits {
                order.set_attention(Attention { due: Some(now), planned: now, ..earlier });
            }
        }
    }

    fn tidy(&mut self, now: Timestamp, limits: TidyLimits) -> Tidied {
        let mut tidied = Tidied::default();
        for order in self.orders.values_mut() {
            if let Stored::Offered(offer) = order
                && offer.is_expired(now)
            {
                let lapsed =
                    Order::<Lapsed> { version: offer.version + 1, ..offer.clone().lapse() };
                *order = lapsed.into();
                tidied.lapsed += 1;
            }
        }
        let is_begun = |id| self.events.iter().any(|event| event.order == id);
        let mut unpaid: Vec<_> = self
            .orders
            .values()
            .filter(|order| matches!(order, Stored::Offered(_) | Stored::Lapsed(_)))
            .filter(|order| !is_begun(order.id()))
            .map(|order| (order.created_at(), order.id(), order.updated_at()))
            .collect();
        unpaid.sort();
        let kept = usize::try_from(limits.unpaid_rows_max).unwrap_or(usize::MAX);
        let above = unpaid.len().saturating_sub(kept);
        for (place, (_, id, updated_at)) in unpaid.into_iter().enumerate() {
            let lapsed = matches!(self.orders[&id], Stored::Lapsed(_));
            let old = now.since(updated_at).is_some_and(|age| age > limits.lapsed_seconds);
            if place < above || (lapsed && old) {
                self.forget(id);
                tidied.dropped += 1;
            }
        }
        tidied
    }

    /// A transition of an order of an old generation does not make it the newest.
    fn remember_newest(&mut self, order: &Stored) {
        let operation = order.operation();
        let kept = self.newest.get(&operation.key).and_then(|id| self.orders.get(id));
        if kept.is_none_or(|kept| kept.operation().generation <= operation.generation) {
            self.newest.insert(operation.key, order.id());
        }
    }

    fn forget(&mut self, id: OrderId) {
        if let Some(order) = self.orders.remove(&id)
            && self.newest.get(&order.operation().key) == Some(&id)
        {
            self.newest.remove(&order.operation().key);
        }
    }
}

fn is_orphan(order: &Stored, dead: &BTreeSet<WorkerId>) -> bool {
    let worker = order.attention().worker;
    order.is_recovered_at_once() && worker.is_some_and(|worker| dead.contains(&worker))
}

#[async_trait]
impl Store for FakeStore {
    async fn newest(&self, key: &OperationKey) -> Result<Option<Stored>, StoreError> {
        let rows = self.rows.lock().unwrap();
        Ok(rows.newest.get(key).map(|id| rows.orders[id].clone()))
    }

    async fn find(&self, id: OrderId) -> Result<Option<Stored>, StoreError> {
        Ok(self.get(id))
    }

    async fn offer(&self, fresh: Order<Offered>) -> Result<Stored, StoreError> {
        let mut rows = self.rows.lock().unwrap();
        let id = fresh.id;
        if let Some(kept) = rows.orders.get(&id) {
            return Ok(kept.clone());
        }
        let fresh = Stored::from(fresh);
        rows.remember_newest(&fresh);
        rows.orders.insert(id, fresh.clone());
        Ok(fresh)
    }

    async fn bound(&self, keys: &[PaymentKey]) -> Result<Vec<OrderId>, StoreError> {
        Ok(keys.iter().filter_map(|key| self.bound_to(*key)).collect())
    }

    async fn record(&self, next: &Stored, by: &Actor) -> Result<u64, StoreError> {
        self.rows.lock().unwrap().record(next, by)
    }

    async fn claim(
        &self,
        worker: WorkerId,
        now: Timestamp,
        until: Timestamp,
        most: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        Ok(self.rows.lock().unwrap().claim(worker, now, until, most))
    }

    async fn hasten_refused(&self, now: Timestamp) -> Result<(), StoreError> {
        self.rows.lock().unwrap().hasten_refused(now);
        Ok(())
    }

    async fn tidy(&self, now: Timestamp, limits: TidyLimits) -> Result<Tidied, StoreError> {
        Ok(self.rows.lock().unwrap().tidy(now, limits))
    }

    async fn events(&self, id: OrderId) -> Result<Vec<Event>, StoreError> {
        let rows = self.rows.lock().unwrap();
        Ok(rows.events.iter().filter(|event| event.order == id).cloned().collect())
    }

    async fn list(&self, filter: &OrderFilter, most: usize) -> Result<OrderPage, StoreError> {
        let begun: BTreeSet<_> = self.history().iter().map(|event| event.order).collect();
        let mut orders = self.orders();
        orders.retain(|order| begun.contains(&order.id()) && filter.admits(order));
        orders.sort_by_key(|order| Reverse((order.created_at(), order.id())));
        Ok(OrderPage::of(orders.into_iter().map(Ok).collect(), most))
    }

    async fn events_after(
        &self,
        number: u64,
        most: usize,
    ) -> Result<Vec<NumberedEvent>, StoreError> {
        let numbered = (1..).zip(self.history()).filter(|(at, _)| *at > number).take(most);
        Ok(numbered.map(|(number, event)| NumberedEvent { number, event }).collect())
    }

    async fn count_in_play(&self) -> Result<Vec<StateCount>, StoreError> {
        let mut counts = BTreeMap::<_, (u64, Timestamp)>::new();
        for order in self.orders().iter().filter(|order| order.is_in_play()) {
            let (count, oldest) = counts.entry(order.headline()).or_insert((0, order.created_at()));
            (*count, *oldest) = (*count + 1, order.created_at().min(*oldest));
        }
        let counted = |(state, (count, oldest)): (&str, _)| StateCount {
            state: state.to_owned(),
            count,
            oldest,
        };
        Ok(counts.into_iter().map(counted).collect())
    }

    async fn open_orders(&self) -> Result<Vec<OpenOrders>, StoreError> {
        let mut counts = BTreeMap::<_, u64>::new();
        for order in self.orders().iter().filter(|order| order.is_open()) {
            if let Some(payment) = order.payment() {
                let Authorization { tender, network, .. } = payment.authorization;
                *counts.entry((order.submitted_to().cloned(), tender, network)).or_default() += 1;
            }
        }
        let open =
            |((account, tender, network), count)| OpenOrders { account, tender, network, count };
        Ok(counts.into_iter().map(open).collect())
    }

    async fn ping(&self) -> Result<(), StoreError> {
        match self.ping {
            PingResult::Alive => Ok(()),
            PingResult::Lost => Err(StoreError::Lost),
            PingResult::NoAnswer => std::future::pending().await,
        }
    }
}
