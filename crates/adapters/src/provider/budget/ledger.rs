//! The calls of one account that still count, and who may make the next one.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Caller, Rate, Spent, Standing};

/// A paid request is over by then, whatever came of it, and so is a process that died.
pub(crate) const RESERVATION_SECONDS: u64 = 120;

/// After so many refused cards in a row no card is sold for a while, counted from the last
/// refusal.
const REFUSALS_MOST: u32 = 3;
const REFUSED_SECONDS: u64 = 60;

/// One change to a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// One call is about to be made.
    Take(Caller),
    /// One call is kept for a card whose money is about to move.
    Reserve,
    /// The money of a reserved call did not move.
    Release,
    /// The card's call is about to be made: a reserved one, or any other that is free.
    TakeReserved,
    /// What a submitted card has shown about the account.
    Note(Standing),
    /// So many calls for paid cards were made while the ledger could not be asked.
    Report(usize),
}

impl Entry {
    /// For whom it is made; entries for the most urgent go first.
    pub(crate) const fn caller(self) -> Caller {
        match self {
            Self::Take(caller) => caller,
            Self::Reserve => Caller::Buyer,
            Self::Release | Self::TakeReserved | Self::Note(_) | Self::Report(_) => Caller::Paid,
        }
    }
}

/// Calls are counted by the whole second, so its size depends on the time that it covers and
/// not on the number of calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// In which second, for whom, and how many; oldest first.
    made: VecDeque<(u64, Caller, usize)>,
    /// Since when, and how many; oldest first.
    reserved: VecDeque<(u64, usize)>,
    /// How many paid cards in a row the account was refused for, and the last time.
    refusals: u32,
    refused_at: u64,
}

impl Ledger {
    /// Makes one change, or says that there is no call left for it.
    ///
    /// # Errors
    ///
    /// [`Spent`], and then the change is not made.
    pub fn apply(&mut self, entry: Entry, rate: Rate, now: u64) -> Result<(), Spent> {
        self.advance(rate, now);
        match entry {
            Entry::Take(caller) => {
                self.has_room(rate, caller)?;
                self.count(now, caller, 1);
            }
            Entry::Reserve => {
                if self.is_refused(now) {
                    return Err(Spent);
                }
                self.has_room(rate, Caller::Buyer)?;
                self.reserve(now);
            }
            Entry::Release => self.drop_newest_reservation(),
            Entry::TakeReserved => {
                if self.reserved.is_empty() {
                    self.has_room(rate, Caller::Paid)?;
                }
                self.drop_oldest_reservation();
                self.count(now, Caller::Paid, 1);
            }
            Entry::Note(Standing::Served) => self.refusals = 0,
            Entry::Note(Standing::Refused) => {
                self.refusals = self.refusals.saturating_add(1);
                self.refused_at = now;
            }
            Entry::Report(calls) => self.count(now, Caller::Paid, calls),
        }
        Ok(())
    }

    /// Forgets what no longer counts.
    pub fn advance(&mut self, rate: Rate, now: u64) {
        self.follow_clock(now);
        // Seconds are whole, so a call made a moment less than a second ago may look a
        // second old.
        self.made.retain(|(at, ..)| now.saturating_sub(*at) <= rate.seconds);
        self.reserved.retain(|(at, _)| now.saturating_sub(*at) <= RESERVATION_SECONDS);
    }

    /// How many calls still count, reservations aside.
    pub fn calls(&self) -> usize {
        self.made.iter().map(|(_, _, calls)| calls).sum()
    }

    /// How many paid cards in a row the account was refused for.
    pub const fn refusals(&self) -> u32 {
        self.refusals
    }

    /// A database's clock may be set back. What was written later than now moves back with
    /// it and keeps its distances, or nothing would be free until the clock has caught up.
    fn follow_clock(&mut self, now: u64) {
        let newest_call = self.made.back().map_or(0, |(at, ..)| *at);
        let newest_reservation = self.reserved.back().map_or(0, |(at, _)| *at);
        let newest = newest_call.max(newest_reservation).max(self.refused_at);
        let ahead = newest.saturating_sub(now);
        if ahead == 0 {
            return;
        }
        self.made.iter_mut().for_each(|(at, ..)| *at = at.saturating_sub(ahead));
        self.reserved.iter_mut().for_each(|(at, _)| *at = at.saturating_sub(ahead));
        self.refused_at = self.refused_at.saturating_sub(ahead);
    }

    const fn is_refused(&self, now: u64) -> bool {
        let since = now.saturating_sub(self.refused_at);
        self.refusals >= REFUSALS_MOST && since <= REFUSED_SECONDS
    }

    fn count(&mut self, now: u64, caller: Caller, calls: usize) {
        let of_this_second = self.made.iter_mut().rev().take_while(|(at, ..)| *at == now);
        match of_this_second.into_iter().find(|(_, by, _)| *by == caller) {
            Some((_, _, counted)) => *counted = counted.saturating_add(calls),
            None => self.made.push_back((now, caller, calls)),
        }
    }

    fn reserve(&mut self, now: u64) {
        match self.reserved.back_mut() {
            Some((at, calls)) if *at == now => *calls = calls.saturating_add(1),
            Some(_) | None => self.reserved.push_back((now, 1)),
        }
    }

    fn drop_newest_reservation(&mut self) {
        match self.reserved.back_mut() {
            Some((_, calls)) if *calls > 1 => *calls -= 1,
            Some(_) | None => drop(self.reserved.pop_back()),
        }
    }

    fn drop_oldest_reservation(&mut self) {
        match self.reserved.front_mut() {
            Some((_, calls)) if *calls > 1 => *calls -= 1,
            Some(_) | None => drop(self.reserved.pop_front()),
        }
    }

    fn has_room(&self, rate: Rate, caller: Caller) -> Result<(), Spent> {
        let by = |who: Caller| -> usize {
            self.made.iter().filter(|(_, by, _)| *by == who).map(|(_, _, calls)| calls).sum()
        };
        let reserved: usize = self.reserved.iter().map(|(_, calls)| calls).sum();
        let payers = by(Caller::Paid) + by(Caller::Buyer) + reserved;
        let paid_share = rate.paid.saturating_sub(payers);
        // Cards that are owed come before looks, and have two thirds of the share.
        let looks = rate.reconciler / 3;
        let owed_share = (rate.reconciler - looks).saturating_sub(by(Caller::Reconciler));
        let look_share = looks.saturating_sub(by(Caller::Look));
        let kept_for_others = match caller {
            Caller::Paid => 0,
            Caller::Buyer => owed_share + look_share,
            Caller::Reconciler => paid_share,
            Caller::Look => paid_share + owed_share,
            Caller::Preview => paid_share + owed_share + look_share,
        };
        let own_share_spent = match caller {
            Caller::Paid | Caller::Buyer | Caller::Reconciler | Caller::Look => false,
            Caller::Preview => by(Caller::Preview) >= rate.preview,
        };
        let used = self.calls() + reserved + kept_for_others;
        if own_share_spent || used >= rate.calls() { Err(Spent) } else { Ok(()) }
    }
}
