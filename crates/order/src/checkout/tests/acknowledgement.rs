//! The write of a payment whose acknowledgement is lost: who may mail the card then.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::lifecycle::event::Event;
use crate::lifecycle::schedule::Attention;
use crate::model::ids::{OperationKey, Timestamp};
use crate::model::payment::PaymentKey;
use crate::operator::filter::OrderFilter;
use crate::operator::page::OrderPage;
use crate::ports::{NumberedEvent, StateCount, StoreError, Tidied, TidyLimits};

/// What happens to the first write of a payment, none of which is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Happens {
    /// Another process writes the same state from the same version before us.
    OtherProcess,
    /// The reconciler of this process does.
    OwnReconciler,
    /// It arrives together with the second write, and before it.
    Late,
    /// Nothing: there is no space, for further writes neither.
    NoSpace,
}

/// A store that does not acknowledge the first write of a payment.
struct Unacknowledging {
    world: Arc<FakeWorld>,
    happens: Happens,
    late: Mutex<Option<Stored>>,
    has_space: AtomicBool,
}

impl Unacknowledging {
    fn new(world: &Arc<FakeWorld>, happens: Happens) -> Arc<Self> {
        let (late, has_space) = (Mutex::default(), AtomicBool::default());
        Arc::new(Self { world: world.clone(), happens, late, has_space })
    }
}

#[async_trait]
impl Store for Unacknowledging {
    async fn record(&self, next: &Stored, by: &Actor) -> Result<u64, StoreError> {
        let shelf = &self.world.store;
        let late = self.late.lock().unwrap().replace(next.clone());
        if !matches!(next, Stored::Submitting(_)) || self.has_space.load(Ordering::Relaxed) {
            return shelf.record(next, by).await;
        }
        match (self.happens, late) {
            (Happens::OtherProcess, _) => {
                let mut other = next.clone();
                let worker = Some(self.world.process().writer().worker);
                other.set_attention(Attention { worker, ..next.attention() });
                shelf.record(&other, by).await?;
            }
            (Happens::OwnReconciler, _) => {
                shelf.record(next, &Actor::Reconciler).await?;
            }
            (Happens::Late, Some(first @ Stored::Submitting(_))) => {
                shelf.record(&first, by).await?;
                return shelf.record(next, by).await;
            }
            (Happens::Late | Happens::NoSpace, _) => {}
        }
        Err(StoreError::Lost)
    }

    async fn newest(&self, key: &OperationKey) -> Result<Option<Stored>, StoreError> {
        self.world.store.newest(key).await
    }

    async fn find(&self, id: OrderId) -> Result<Option<Stored>, StoreError> {
        Store::find(&self.world.store, id).await
    }

    async fn offer(&self, fresh: Order<Offered>) -> Result<Stored, StoreError> {
        self.world.store.offer(fresh).await
    }

    async fn bound(&self, keys: &[PaymentKey]) -> Result<Vec<OrderId>, StoreError> {
        self.world.store.bound(keys).await
    }

    async fn claim(
        &self,
        worker: WorkerId,
        now: Timestamp,
        until: Timestamp,
        most: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        self.world.store.claim(worker, now, until, most).await
    }

    async fn hasten_refused(&self, now: Timestamp) -> Result<(), StoreError> {
        self.world.store.hasten_refused(now).await
    }

    async fn tidy(&self, now: Timestamp, limits: TidyLimits) -> Result<Tidied, StoreError> {
        self.world.store.tidy(now, limits).await
    }

    async fn events(&self, id: OrderId) -> Result<Vec<Event>, StoreError> {
        self.world.store.events(id).await
    }

    async fn list(&self, filter: &OrderFilter, most: usize) -> Result<OrderPage, StoreError> {
        self.world.store.list(filter, most).await
    }

    async fn events_after(
        &self,
        number: u64,
        most: usize,
    ) -> Result<Vec<NumberedEvent>, StoreError> {
        self.world.store.events_after(number, most).await
    }

    async fn count_in_play(&self) -> Result<Vec<StateCount>, StoreError> {
        self.world.store.count_in_play().await
    }

    async fn open_orders(&self) -> Result<Vec<crate::ports::OpenOrders>, StoreError> {
        self.world.store.open_orders().await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Pays for a card, and says what the payer hears and how many cards were mailed.
fn pay(happens: Happens) -> (Result<Outcome, Refusal>, usize) {
    let (world, _) = good_world();
    let process = FakeProcess::with_store(&world, Unacknowledging::new(&world, happens));
    let said = send(&world, &process, request("hello", Some(promise(&world, 1).credential())));
    let cards = world.provider.lock().unwrap().mailpieces.len();
    (said, cards)
}

#[test]
fn a_payer_who_repeats_a_payment_whose_result_was_not_written_gets_the_card_from_that_process() {
    let (world, _) = good_world();
    let store = Unacknowledging::new(&world, Happens::NoSpace);
    let process = FakeProcess::with_store(&world, store.clone());
    let repeat = |process: &FakeProcess| {
        send(&world, process, request("hello", Some(promise(&world, 1).credential())))
    };
    let counts = || {
        let (cards, transfers) = (&world.provider, &world.chain);
        (cards.lock().unwrap().mailpieces.len(), transfers.lock().unwrap().transfers.len())
    };
    for _ in 0..2 {
        let said = repeat(&process);
        assert!(matches!(said, Err(Refusal::PaymentUnconfirmed(_))), "{said:?}");
    }
    assert_eq!(counts(), (0, 1));

    let other = repeat(&world.process());
    assert!(matches!(other, Err(Refusal::PaymentUnconfirmed(_))), "{other:?}");
    assert_eq!(counts(), (0, 1), "the first process may still be settling it");

    store.has_space.store(true, Ordering::Relaxed);
    let said = repeat(&process);
    let Ok(Outcome::Paid { fulfilment, paid, .. }) = said else { panic!("{said:?}") };
    assert_eq!((fulfilment, paid), (Fulfilment::Submitted, When::Now));
    assert_eq!(counts(), (1, 1));
}

#[test]
fn what_another_process_or_the_reconciler_wrote_alike_is_not_taken_for_ours() {
    for happens in [Happens::OtherProcess, Happens::OwnReconciler] {
        let (said, cards) = pay(happens);
        assert!(matches!(said, Err(Refusal::PaymentUnconfirmed(_))), "{happens:?}: {said:?}");
        assert_eq!(cards, 0, "{happens:?}: the other one mails it");
    }
}

#[test]
fn a_first_write_that_arrives_before_the_second_is_taken_for_ours() {
    let (said, cards) = pay(Happens::Late);
    let Ok(Outcome::Paid { fulfilment, paid, .. }) = said else { panic!("{said:?}") };
    assert_eq!((fulfilment, paid, cards), (Fulfilment::Submitted, When::Now, 1));
}
