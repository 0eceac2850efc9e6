//! What operators read: lists, events and counts; and the transaction of a refund.

use super::StoreUnderTest;
use super::samples::{NOW, begun, every_state, mailed, named, offer, offer_of, operation, paid};
use crate::lifecycle::event::{Actor, OperatorAction};
use crate::lifecycle::{Refund, Setback, Stored};
use crate::model::chain::EvmAddress;
use crate::model::money::Usdc;
use crate::operator::filter::{AttentionFilter, OrderFilter};
use crate::ports::StoreError;

pub async fn the_operators_list_has_begun_orders_newest_first_page_by_page(
    subject: StoreUnderTest,
) {
    subject.store.offer(named(100)).await.unwrap();
    for seed in 1..=5 {
        let order = offer_of(operation(seed), NOW.plus(seed / 2));
        subject.insert(begun(order, seed)).await;
    }
    let all = subject.store.list(&OrderFilter::default(), 5).await.unwrap();
    assert_eq!(all.next, None, "a full page may be the last one");
    let all = all.orders;
    let placed = |order: &Stored| (order.created_at(), order.id());
    let mut sorted: Vec<_> = all.iter().map(placed).collect();
    assert_eq!(sorted.len(), 5, "an unpaid offer is not listed");
    sorted.sort();
    sorted.reverse();
    assert_eq!(all.iter().map(placed).collect::<Vec<_>>(), sorted);
    let (mut after, mut pages) = (None, Vec::new());
    loop {
        let filter = OrderFilter { after, ..OrderFilter::default() };
        let page = subject.store.list(&filter, 2).await.unwrap();
        pages.extend(page.orders);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(pages, all);
}

pub async fn every_filter_admits_what_the_domain_admits(subject: StoreUnderTest) {
    for order in every_state(1) {
        subject.store.record(&order, &Actor::Checkout).await.unwrap();
    }
    let all = subject.store.list(&OrderFilter::default(), 1_000).await.unwrap().orders;
    let mut filters = vec![OrderFilter::default()];
    for seconds in [0, 1, 3_601, 3_602, 3_603, 100_000] {
        let attention = AttentionFilter::NeedsAttention(NOW.plus(seconds));
        filters.push(OrderFilter { attention, ..OrderFilter::default() });
    }
    filters.extend(all.iter().map(|order| OrderFilter {
        state: Some(order.headline().to_owned()),
        ..OrderFilter::default()
    }));
    for payer in [5, 6].map(|byte| Some(EvmAddress::from_bytes([byte; 20]))) {
        filters.push(OrderFilter { payer, ..OrderFilter::default() });
    }
    for (since, until) in [(Some(NOW), None), (Some(NOW.plus(1)), None), (None, Some(NOW))] {
        filters.push(OrderFilter { since, until, ..OrderFilter::default() });
    }
    for filter in filters {
        let listed = subject.store.list(&filter, 1_000).await.unwrap().orders;
        let expected: Vec<_> = all.iter().filter(|order| filter.admits(order)).cloned().collect();
        assert_eq!(listed, expected, "{filter:?}");
    }
}

pub async fn events_of_all_orders_are_numbered_and_carry_notes(subject: StoreUnderTest) {
    let first = subject.insert(paid(1).failed(Setback::Lost, NOW)).await;
    subject.insert(begun(offer(2), 2)).await;
    let by = Actor::Operator(OperatorAction {
        operator: "ada".parse().unwrap(),
        action: "acknowledge",
        note: "the provider looks for it".to_owned(),
        at: NOW.plus(9),
    });
    subject.store.record(&first.clone().into(), &by).await.unwrap();
    let events = subject.store.events_after(0, 64).await.unwrap();
    let told: Vec<_> =
        events.iter().map(|one| (one.event.actor.as_str(), one.event.note.as_str())).collect();
    let note = "acknowledge: the provider looks for it";
    assert_eq!(told, [("checkout", ""), ("checkout", ""), ("operator:ada", note)]);
    assert!(events.is_sorted_by(|one, next| one.number < next.number));
    assert_eq!(subject.store.events_after(events[0].number, 1).await.unwrap(), events[1..2]);
    assert_eq!(subject.store.events_after(events[2].number, 64).await.unwrap(), []);
    assert_eq!(subject.store.events(first.id).await.unwrap()[1], events[2].event);
}

pub async fn orders_in_play_are_counted_by_state(subject: StoreUnderTest) {
    subject.store.offer(named(100)).await.unwrap();
    subject.insert(begun(offer_of(operation(1), NOW.plus(9)), 1)).await;
    subject.insert(begun(offer_of(operation(2), NOW.plus(7)), 2)).await;
    subject.insert(mailed(3)).await;
    subject.insert(paid(4).failed(Setback::Lost, NOW)).await;
    let counts = subject.store.count_in_play().await.unwrap();
    let counts: Vec<_> =
        counts.iter().map(|one| (one.state.as_str(), one.count, one.oldest)).collect();
    assert_eq!(counts, [("settling", 2, NOW.plus(7)), ("unfulfilled_lost", 1, NOW)]);
}

pub async fn a_refund_transaction_refunds_one_order(subject: StoreUnderTest) {
    let refund = Refund {
        transaction: format!("0x{}", "ab".repeat(32)),
        amount: Usdc::from_atomic(2_117_500),
        at: NOW,
    };
    let first = subject.insert(mailed(1)).await;
    let second = subject.insert(mailed(2)).await;
    subject.record(first.refunded(refund.clone(), NOW)).await.unwrap();
    let upper = Refund { transaction: refund.transaction.to_uppercase(), ..refund };
    let again = subject.record(second.clone().refunded(upper, NOW)).await;
    assert_eq!(again.map(drop), Err(StoreError::PaymentBound));
    assert_eq!(subject.store.find(second.id).await, Ok(Some(second.into())));
}
