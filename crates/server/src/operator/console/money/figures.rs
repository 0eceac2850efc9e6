//! What happened on each of the last days, added up from orders.

use order::lifecycle::Stored;
use order::model::ids::Timestamp;

const DAY_SECONDS: u64 = 24 * 60 * 60;
/// Today and the days before.
const DAYS: u64 = 30;

/// The figures of the last days, the oldest first.
pub(super) struct Figures {
    first: u64,
    days: Vec<DayFigures>,
    /// Orders of the days whose rows cannot be read. They are counted nowhere else.
    pub(super) unreadable: usize,
}

/// The figures of one day in UTC. Money counts on the day on which it moved, everything else on
/// the day on which the order was begun.
#[derive(Clone, Debug, Default)]
pub(super) struct DayFigures {
    number: u64,
    pub(super) charged: u64,
    pub(super) charges: u64,
    pub(super) refunded: u64,
    pub(super) refunds: u64,
    latencies: Vec<u64>,
    outcomes: [u64; OUTCOMES.len()],
}

/// What became of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DayOutcome {
    Mailed,
    Refunded,
    InProgress,
    Owed,
    NotPaid,
}

pub(super) const OUTCOMES: [DayOutcome; 5] = [
    DayOutcome::Mailed,
    DayOutcome::Refunded,
    DayOutcome::InProgress,
    DayOutcome::Owed,
    DayOutcome::NotPaid,
];

impl DayOutcome {
    fn of(order: &Stored) -> Self {
        match order {
            Stored::Mailed(_) => Self::Mailed,
            Stored::Refunded(_) => Self::Refunded,
            Stored::Settling(_) | Stored::Unconfirmed(_) | Stored::Submitting(_) => {
                Self::InProgress
            }
            Stored::Unfulfilled(_) => Self::Owed,
            Stored::Offered(_) | Stored::Lapsed(_) => Self::NotPaid,
        }
    }

    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Mailed => "mailed",
            Self::Refunded => "refunded",
            Self::InProgress => "in progress",
            Self::Owed => "owed",
            Self::NotPaid => "not paid",
        }
    }

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Mailed => "Mailed",
            Self::Refunded => "Refunded",
            Self::InProgress => "In progress",
            Self::Owed => "Owed",
            Self::NotPaid => "Not paid",
        }
    }

    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Mailed => "mailed",
            Self::Refunded => "given-back",
            Self::InProgress => "in-progress",
            Self::Owed => "owed",
            Self::NotPaid => "not-paid",
        }
    }

    const fn place(self) -> usize {
        match self {
            Self::Mailed => 0,
            Self::Refunded => 1,
            Self::InProgress => 2,
            Self::Owed => 3,
            Self::NotPaid => 4,
        }
    }
}

impl Figures {
    /// The days that end with the one of `now`.
    pub(super) fn ending(now: Timestamp) -> Self {
        let first = (now.0 / DAY_SECONDS).saturating_sub(DAYS - 1);
        let day = |number| DayFigures { number, ..DayFigures::default() };
        Self { first, days: (first..first + DAYS).map(day).collect(), unreadable: 0 }
    }

    pub(super) const fn begin(&self) -> Timestamp {
        Timestamp(self.first * DAY_SECONDS)
    }

    pub(super) fn days(&self) -> impl DoubleEndedIterator<Item = &DayFigures> {
        self.days.iter()
    }

    /// A percentile of all latencies.
    pub(super) fn latency(&self, percent: usize) -> Option<u64> {
        let all = self.days.iter().flat_map(|day| day.latencies.iter().copied());
        percentile(all.collect(), percent)
    }

    pub(super) fn add(&mut self, order: &Stored) {
        if let Some(paid) = order.paid()
            && let Some(day) = self.day(paid.settlement.at)
        {
            day.charged = day.charged.saturating_add(paid.settlement.amount.atomic());
            day.charges += 1;
        }
        if let Stored::Refunded(order) = order
            && let Some(day) = self.day(order.state.refund.at)
        {
            day.refunded = day.refunded.saturating_add(order.state.refund.amount.atomic());
            day.refunds += 1;
        }
        let latency = order.mailed().and_then(|mailed| mailed.mailed_at.since(order.created_at()));
        if let Some(day) = self.day(order.created_at()) {
            day.latencies.extend(latency);
            day.outcomes[DayOutcome::of(order).place()] += 1;
        }
    }

    fn day(&mut self, at: Timestamp) -> Option<&mut DayFigures> {
        let place = (at.0 / DAY_SECONDS).checked_sub(self.first)?;
        self.days.get_mut(usize::try_from(place).ok()?)
    }
}

impl DayFigures {
    /// As `2026-11-15`.
    pub(super) fn date(&self) -> String {
        let midnight = Timestamp(self.number * DAY_SECONDS).to_string();
        midnight.split('T').next().unwrap_or_default().to_owned()
    }

    /// Whether neither an order was begun nor money moved.
    pub(super) fn is_empty(&self) -> bool {
        self.outcomes.iter().all(|count| *count == 0) && self.charges == 0 && self.refunds == 0
    }

    /// A percentile of the seconds from begun to mailed. None if no card was mailed.
    pub(super) fn latency(&self, percent: usize) -> Option<u64> {
        percentile(self.latencies.clone(), percent)
    }

    pub(super) const fn count(&self, outcome: DayOutcome) -> u64 {
        self.outcomes[outcome.place()]
    }
}

/// The smallest value that at least so many percent do not exceed.
fn percentile(mut values: Vec<u64>, percent: usize) -> Option<u64> {
    values.sort_unstable();
    let rank = (values.len() * percent).div_ceil(100);
    values.get(rank.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use order::testing::contract::samples::{NOW, every_state, mailed};

    use super::*;

    #[test]
    fn a_percentile_is_a_value_that_occurred() {
        assert_eq!(percentile(vec![], 50), None);
        assert_eq!(percentile(vec![7], 99), Some(7));
        assert_eq!(percentile((1..=100).rev().collect(), 50), Some(50));
        assert_eq!(percentile((1..=100).collect(), 99), Some(99));
        assert_eq!(percentile(vec![1, 2, 1_000], 99), Some(1_000));
    }

    #[test]
    fn orders_count_on_their_day_and_others_are_left_out() {
        let order = Stored::from(mailed(1));
        for (days_later, counted) in [(0, 1), (29, 1), (30, 0)] {
            let mut figures = Figures::ending(NOW.plus(days_later * DAY_SECONDS));
            figures.add(&order);
            assert_eq!(figures.days().map(|day| day.charges).sum::<u64>(), counted);
            let mailed = figures.days().map(|day| day.count(DayOutcome::Mailed)).sum::<u64>();
            assert_eq!(mailed, counted);
        }
        let mut figures = Figures::ending(NOW);
        figures.add(&order);
        assert_eq!(figures.latency(50), Some(4));
        assert_eq!(figures.days().filter(|day| !day.is_empty()).count(), 1);
        let today = figures.days().next_back().unwrap();
        assert_eq!((today.date().as_str(), today.charged), ("2030-03-17", 2_117_500));
    }

    #[test]
    fn every_order_has_one_outcome() {
        let mut figures = Figures::ending(NOW);
        let orders = every_state(0);
        orders.iter().for_each(|order| figures.add(order));
        let counts =
            |day: &DayFigures| OUTCOMES.map(|outcome| day.count(outcome)).iter().sum::<u64>();
        let counted: u64 = figures.days().map(counts).sum();
        assert_eq!(counted, u64::try_from(orders.len()).unwrap());
    }
}
