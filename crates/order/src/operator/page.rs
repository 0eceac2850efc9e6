//! A page of the list of orders.

use crate::lifecycle::Stored;
use crate::model::ids::{OrderId, Timestamp};

/// Orders that a filter admits, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderPage {
    pub orders: Vec<Stored>,
    /// Orders that belong on this page and whose rows cannot be read. They are listed, so that a
    /// damaged row or a missing key does not hide the other orders, and is not overlooked.
    pub unreadable: Vec<UnreadableOrder>,
    /// The last order of this page, if there are further pages:
    /// [`OrderFilter::after`](super::filter::OrderFilter::after) of the next one.
    pub next: Option<(Timestamp, OrderId)>,
}

/// An order of which only this is readable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableOrder {
    pub id: OrderId,
    pub created_at: Timestamp,
    /// The [headline](Stored::headline).
    pub state: String,
}

impl OrderPage {
    /// The first `most` of these rows. A store reads one more than that, which tells whether
    /// there is a further page.
    pub fn of(mut rows: Vec<Result<Stored, UnreadableOrder>>, most: usize) -> Self {
        let is_last = rows.len() <= most;
        rows.truncate(most);
        let next = rows.last().filter(|_| !is_last).map(|row| match row {
            Ok(order) => (order.created_at(), order.id()),
            Err(order) => (order.created_at, order.id),
        });
        let mut page = Self { next, ..Self::default() };
        for row in rows {
            match row {
                Ok(order) => page.orders.push(order),
                Err(order) => page.unreadable.push(order),
            }
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::contract::samples::{begun, offer};

    #[test]
    fn an_unreadable_order_takes_its_place_and_hides_no_other() {
        let order = |seed| Stored::from(begun(offer(seed), seed));
        let damaged = UnreadableOrder {
            id: offer(2).id,
            created_at: offer(2).created_at,
            state: "settling".to_owned(),
        };
        let rows = || vec![Ok(order(1)), Err(damaged.clone()), Ok(order(3))];
        let page = OrderPage::of(rows(), 2);
        assert_eq!((page.orders, page.unreadable), (vec![order(1)], vec![damaged.clone()]));
        assert_eq!(page.next, Some((damaged.created_at, damaged.id)));
        let all = OrderPage::of(rows(), 3);
        assert_eq!((all.orders.len(), all.unreadable.len(), all.next), (2, 1, None));
    }
}
