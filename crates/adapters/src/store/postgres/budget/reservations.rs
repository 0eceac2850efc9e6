//! The calls that this process has reserved in the shared row, so that most cards need no
//! database call.

use std::collections::VecDeque;
use std::mem;

use tokio::time::{Duration, Instant};

use crate::provider::budget::{CallRate, RESERVATION_SECONDS};

/// After this time a spare reservation is released. Together with a paid request this is less
/// than the lifetime of a reservation.
const SPARE_TIME: Duration = Duration::from_secs(10);

/// How long the row keeps a reservation, less a second, since it counts whole ones.
const KEPT: Duration = Duration::from_secs(RESERVATION_SECONDS - 1);

/// A process keeps at most this share of the calls for paid cards spare, and never more
/// than so many.
const SPARE_SHARE: usize = 32;
const SPARE_MOST: usize = 16;

/// How many reservations a process may keep spare at this rate.
pub(super) fn spare_most(rate: CallRate) -> usize {
    (rate.paid / SPARE_SHARE).min(SPARE_MOST)
}

#[derive(Default)]
pub(super) struct Reservations {
    /// When each was given to a card whose money may move, oldest first. One whose card is
    /// never submitted by this process expires here as it does in the row.
    held: VecDeque<Instant>,
    /// Given to no card yet, since the time of the oldest.
    spare: usize,
    spare_since: Option<Instant>,
}

impl Reservations {
    /// Gives a spare reservation to a card, if there is one.
    pub(super) fn take_spare(&mut self, now: Instant) -> bool {
        if self.spare == 0 {
            return false;
        }
        self.spare -= 1;
        self.hold(now);
        true
    }

    /// The row has reserved a call for a card.
    pub(super) fn hold(&mut self, now: Instant) {
        self.held.push_back(now);
    }

    /// The row has reserved more calls than were asked for.
    pub(super) fn add_spare(&mut self, calls: usize, now: Instant) {
        if self.spare == 0 {
            self.spare_since = Some(now);
        }
        self.spare += calls;
    }

    /// Releases the reservation of a card; false if the row must be told. Without a reservation
    /// there is nothing to release: the row would drop one of another process.
    pub(super) fn release(&mut self, rate: CallRate, now: Instant) -> bool {
        if !self.take_held(now) {
            return true;
        }
        let is_kept = self.spare > 0 && self.spare < spare_most(rate);
        self.spare += usize::from(is_kept);
        is_kept
    }

    /// The call of a reservation is about to be made; false if this process holds none.
    pub(super) fn take_held(&mut self, now: Instant) -> bool {
        self.held.retain(|since| now.duration_since(*since) < KEPT);
        self.held.pop_front().is_some()
    }

    /// The spare reservations that are too old for a card. Expired ones need no release.
    pub(super) fn take_stale(&mut self, now: Instant) -> usize {
        let age = self.spare_since.map_or(Duration::ZERO, |since| now.duration_since(since));
        if age < SPARE_TIME {
            return 0;
        }
        let stale = mem::take(&mut self.spare);
        if age < KEPT { stale } else { 0 }
    }

    /// All spare reservations.
    pub(super) const fn take_all_spare(&mut self) -> usize {
        mem::replace(&mut self.spare, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: CallRate = CallRate { seconds: 5, paid: 75, reconciler: 40, preview: 35 };

    #[test]
    fn a_process_keeps_a_small_share_spare_and_none_of_a_small_rate() {
        let of = |paid| spare_most(CallRate { paid, ..RATE });
        assert_eq!([of(30), of(75), of(512), of(750_000)], [0, 2, 16, 16]);
    }

    #[test]
    fn a_spare_reservation_is_given_to_one_card_and_only_while_it_is_fresh() {
        let (mut reservations, begun) = (Reservations::default(), Instant::now());
        reservations.add_spare(2, begun);
        assert!(reservations.take_spare(begun));
        let stale_at = begun + SPARE_TIME;
        assert_eq!(reservations.take_stale(stale_at - Duration::from_millis(1)), 0);
        assert_eq!(reservations.take_stale(stale_at), 1);
        assert!(!reservations.take_spare(stale_at));
        assert!(reservations.take_held(stale_at), "the card keeps its own");
        assert!(!reservations.take_held(stale_at));
    }

    #[test]
    fn a_released_reservation_becomes_spare_or_is_released_in_the_row() {
        let (mut reservations, now) = (Reservations::default(), Instant::now());
        assert!(reservations.release(RATE, now), "this process holds none");
        reservations.hold(now);
        assert!(!reservations.release(RATE, now), "its age is not known");
        reservations.add_spare(2, now);
        assert!(reservations.take_spare(now));
        assert!(reservations.release(RATE, now));
        reservations.hold(now);
        assert!(!reservations.release(RATE, now), "there are enough");
        assert_eq!(reservations.take_all_spare(), 2);
    }

    #[test]
    fn reservations_expire_here_as_in_the_row() {
        let (mut reservations, begun) = (Reservations::default(), Instant::now());
        reservations.add_spare(2, begun);
        reservations.hold(begun);
        assert_eq!(reservations.take_stale(begun + KEPT), 0, "the row need not be told");
        assert!(!reservations.take_spare(begun + KEPT));
        assert!(!reservations.take_held(begun + KEPT));
    }
}
