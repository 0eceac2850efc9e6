//! When an order is examined next.

use crate::model::ids::{OrderId, Timestamp, WorkerId};

/// Longer than a paid request usually works on its order, so that it is not examined meanwhile.
/// If both happen, the version of the order lets only one of them write.
pub const CLAIM_SECONDS: u64 = 120;
/// The first wait after something was left in doubt. Each examination without a result
/// doubles it.
const BACK_OFF_SECONDS: u64 = 5;
const BACK_OFF_SECONDS_MAX: u64 = 10 * 60;
/// When a mailed card is examined, by its age: in the first hour a duplicate can still be
/// cancelled and the chain may be reorganised.
const FOLLOW_UPS_SECONDS: [u64; 5] = [2 * 60, 15 * 60, 45 * 60, 6 * 60 * 60, 24 * 60 * 60];
const DAY_SECONDS: u64 = 24 * 60 * 60;
/// A card that has not arrived after this long is not examined any more.
const FOLLOW_UP_SECONDS_MAX: u64 = 60 * DAY_SECONDS;
/// Clocks of two processes may differ by this much. If a look was planned
/// further ahead of us than that, the clock that planned it was wrong, and the
/// look is due now.
pub const CLOCK_SKEW_SECONDS: u64 = 60;

/// When an order is due, how often it was examined without a result, and which process works on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attention {
    pub due: Option<Timestamp>,
    /// When `due` was written.
    pub planned: Timestamp,
    pub looks: u32,
    /// The process that works on the order: its request runs there, or its reconciler has
    /// claimed it. None at rest.
    pub worker: Option<WorkerId>,
    /// When an operator acknowledged that the order needs a person. It raises no alert from
    /// then on, until its state changes.
    pub acknowledged: Option<Timestamp>,
}

impl Attention {
    /// Nothing will happen by itself.
    pub const NONE: Self =
        Self { due: None, planned: Timestamp(0), looks: 0, worker: None, acknowledged: None };

    pub fn is_due(self, now: Timestamp) -> bool {
        let planned_ahead_of_time = self.planned > now.plus(CLOCK_SKEW_SECONDS);
        self.due.is_some_and(|due| due <= now || planned_ahead_of_time)
    }

    /// One more examination without a result. Up to a quarter of the wait is left out, depending
    /// on the order and the count, so that orders that failed together are not all due together.
    pub(crate) fn next_look(self, order: OrderId, now: Timestamp) -> Self {
        let wait = (BACK_OFF_SECONDS << self.looks.min(10)).min(BACK_OFF_SECONDS_MAX);
        let mixed = order.bytes().iter().fold(u64::from(self.looks), |mixed, byte| {
            mixed.wrapping_mul(0x0100_0000_01b3) ^ u64::from(*byte)
        });
        let left_out = mixed % (wait / 4 + 1);
        self.later(wait - left_out, now)
    }

    /// The first examination of a new state.
    const fn first(seconds: u64, now: Timestamp) -> Self {
        Self { due: Some(now.plus(seconds)), planned: now, ..Self::NONE }
    }

    /// The next examination of the same state.
    const fn later(self, seconds: u64, now: Timestamp) -> Self {
        let looks = self.looks.saturating_add(1);
        Self { due: Some(now.plus(seconds)), planned: now, looks, worker: None, ..self }
    }
}

/// An outside call is about to be made.
pub(crate) fn in_flight(now: Timestamp) -> Attention {
    Attention::first(CLAIM_SECONDS, now)
}

pub(crate) fn first_follow_up(now: Timestamp) -> Attention {
    Attention::first(FOLLOW_UPS_SECONDS[0], now)
}

/// The next examination of a card whose payment is not final. It must come while the card can
/// still be cancelled.
pub(crate) fn soon(earlier: Attention, now: Timestamp) -> Attention {
    earlier.later(FOLLOW_UPS_SECONDS[0], now)
}

/// The first daily alert for an order that needs a person.
pub(crate) fn first_reminder(now: Timestamp) -> Attention {
    Attention::first(DAY_SECONDS, now)
}

/// The next alert for an order that needs a person.
pub(crate) fn daily(earlier: Attention, now: Timestamp) -> Attention {
    earlier.later(DAY_SECONDS, now)
}

/// The next examination of a mailed card, until nothing more can change.
pub(crate) fn follow_up(earlier: Attention, mailed_at: Timestamp, now: Timestamp) -> Attention {
    let age = now.since(mailed_at).unwrap_or_default();
    let ahead = FOLLOW_UPS_SECONDS.iter().find(|step| **step > age).map(|step| step - age);
    if age > FOLLOW_UP_SECONDS_MAX {
        return Attention::NONE;
    }
    earlier.later(ahead.unwrap_or(DAY_SECONDS), now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_examination_without_a_result_doubles_the_wait_up_to_ten_minutes_less_jitter() {
        let waits = |order: u8| {
            let mut attention = in_flight(Timestamp(0));
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
    fn an_examination_planned_by_a_clock_that_ran_ahead_is_due_now() {
        let planned = in_flight(Timestamp(1_000_000_000));
        assert!(planned.is_due(Timestamp(5)));
        assert!(!in_flight(Timestamp(5)).is_due(Timestamp(5)));
        assert!(in_flight(Timestamp(5)).is_due(Timestamp(5 + CLAIM_SECONDS)));
        assert!(!Attention::NONE.is_due(Timestamp(u64::MAX)));
    }

    #[test]
    fn a_mailed_card_is_examined_three_times_within_the_hour_and_daily_later() {
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
