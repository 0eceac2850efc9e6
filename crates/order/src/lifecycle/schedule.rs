//! When an order is looked at next.

use crate::model::ids::{OrderId, Timestamp, WorkerId};

/// Longer than any paid request may take, so that nobody looks into a walk that
/// is still under way.
pub const WALK_SECONDS: u64 = 120;
/// The first wait after something was left in doubt. Each fruitless look doubles it.
const BACK_OFF_SECONDS: u64 = 5;
const BACK_OFF_SECONDS_MAX: u64 = 10 * 60;
/// Looks at a mailed card, by its age: inside the first hour a duplicate can
/// still be cancelled and the chain may still change its mind.
const FOLLOW_UPS_SECONDS: [u64; 5] = [2 * 60, 15 * 60, 45 * 60, 6 * 60 * 60, 24 * 60 * 60];
const DAY_SECONDS: u64 = 24 * 60 * 60;
/// A card that has not arrived after this long is not asked about any more.
const FOLLOW_UP_SECONDS_MAX: u64 = 60 * DAY_SECONDS;
/// Clocks of two processes may differ by this much. If a look was planned
/// further ahead of us than that, the clock that planned it was wrong, and the
/// look is due now.
pub const CLOCK_SKEW_SECONDS: u64 = 60;

/// When an order needs to be looked at, how often that was in vain, and who works on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attention {
    pub due: Option<Timestamp>,
    /// When `due` was written down.
    pub planned: Timestamp,
    pub looks: u32,
    /// The process that works on the order: its walk is under way, or it has claimed the
    /// order. None at rest.
    pub worker: Option<WorkerId>,
}

impl Attention {
    /// Nothing will happen by itself.
    pub const NONE: Self = Self { due: None, planned: Timestamp(0), looks: 0, worker: None };

    pub fn is_due(self, now: Timestamp) -> bool {
        let planned_ahead_of_time = self.planned > now.plus(CLOCK_SKEW_SECONDS);
        self.due.is_some_and(|due| due <= now || planned_ahead_of_time)
    }

    /// One more look was in vain. Up to a quarter of the wait is left out, by the order and
    /// the look, so that orders that failed together do not come back together.
    pub(crate) fn next_look(self, order: OrderId, now: Timestamp) -> Self {
        let wait = (BACK_OFF_SECONDS << self.looks.min(10)).min(BACK_OFF_SECONDS_MAX);
        let mixed = order.bytes().iter().fold(u64::from(self.looks), |mixed, byte| {
            mixed.wrapping_mul(0x0100_0000_01b3) ^ u64::from(*byte)
        });
        let left_out = mixed % (wait / 4 + 1);
        Self::after(wait - left_out, now, self.looks.saturating_add(1))
    }

    const fn after(seconds: u64, now: Timestamp, looks: u32) -> Self {
        Self { due: Some(now.plus(seconds)), planned: now, looks, worker: None }
    }
}

/// A walk has just begun its next step.
pub(crate) fn walking(now: Timestamp) -> Attention {
    Attention::after(WALK_SECONDS, now, 0)
}

pub(crate) fn first_follow_up(now: Timestamp) -> Attention {
    Attention::after(FOLLOW_UPS_SECONDS[0], now, 0)
}

/// The next look at a card whose money the chain may still take back. It must
/// come while the card can be stopped.
pub(crate) fn soon(earlier: Attention, now: Timestamp) -> Attention {
    Attention::after(FOLLOW_UPS_SECONDS[0], now, earlier.looks.saturating_add(1))
}

/// The next time that a person is told of an order that only a person can make good.
pub(crate) fn daily(earlier: Attention, now: Timestamp) -> Attention {
    Attention::after(DAY_SECONDS, now, earlier.looks.saturating_add(1))
}

/// The next look at a mailed card, until there is nothing more to see.
pub(crate) fn follow_up(earlier: Attention, mailed_at: Timestamp, now: Timestamp) -> Attention {
    let age = now.since(mailed_at).unwrap_or_default();
    let ahead = FOLLOW_UPS_SECONDS.iter().find(|step| **step > age).map(|step| step - age);
    let looks = earlier.looks.saturating_add(1);
    if age > FOLLOW_UP_SECONDS_MAX {
        return Attention::NONE;
    }
    Attention::after(ahead.unwrap_or(DAY_SECONDS), now, looks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_look_in_vain_doubles_the_wait_up_to_ten_minutes_less_a_part_of_each_orders_own() {
        let waits = |order: u8| {
            let mut attention = walking(Timestamp(0));
            let mut next = || {
                attention = attention.next_look(OrderId::from_bytes([order; 16]), Timestamp(0));
                attention.due.unwrap().0
            };
            [(); 10].map(|()| next())
        };
        for order in 0..=u8::MAX {
            let whole = [5, 10, 20, 40, 80, 160, 320, 600, 600, 600];
            for (wait, most) in waits(order).into_iter().zip(whole) {
                assert!(wait <= most && wait * 4 >= most * 3, "{wait} {most}");
            }
        }
        let last: std::collections::BTreeSet<u64> = (0..100).map(|order| waits(order)[9]).collect();
        assert!(last.len() > 50, "{last:?}");
    }

    #[test]
    fn a_look_planned_by_a_clock_that_ran_ahead_is_due_now() {
        let planned = walking(Timestamp(1_000_000_000));
        assert!(planned.is_due(Timestamp(5)));
        assert!(!walking(Timestamp(5)).is_due(Timestamp(5)));
        assert!(walking(Timestamp(5)).is_due(Timestamp(5 + WALK_SECONDS)));
        assert!(!Attention::NONE.is_due(Timestamp(u64::MAX)));
    }

    #[test]
    fn a_mailed_card_is_looked_at_three_times_within_the_hour_and_daily_later() {
        let mut now = 0;
        let mut attention = first_follow_up(Timestamp(now));
        let mut seen = Vec::new();
        while let Some(due) = attention.due {
            now = due.0;
            seen.push(now);
            attention = follow_up(attention, Timestamp(0), Timestamp(now));
        }
        assert_eq!(&seen[..5], [120, 900, 2_700, 21_600, 86_400]);
        assert_eq!((seen.len(), seen.last()), (65, Some(&(61 * DAY_SECONDS))));
    }
}
