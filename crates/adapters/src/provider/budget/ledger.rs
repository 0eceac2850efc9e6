//! The calls of one account that still count, and the rules for the next one.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::rate::{AccountStanding, BudgetExhausted, CallPurpose, CallRate};

/// By then a paid request has ended, and so has a crashed process.
pub(crate) const RESERVATION_SECONDS: u64 = 120;

/// After this many refused cards in a row no card is sold for `REFUSED_SECONDS` after the last
/// refusal.
const REFUSALS_MOST: u32 = 3;
const REFUSED_SECONDS: u64 = 60;

/// One change to a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerEntry {
    /// One call is about to be made.
    Take(CallPurpose),
    /// One call is reserved for a card before settlement.
    Reserve,
    /// The settlement of a reserved call did not happen.
    Release,
    /// A card is about to be submitted, with a reserved call or any free one.
    TakeReserved,
    /// Whether the provider served the account.
    Note(AccountStanding),
    /// Calls for paid cards that were made while the ledger was unavailable.
    Report(usize),
}

impl LedgerEntry {
    /// Its purpose; the most urgent entries are applied first.
    pub(crate) const fn caller(self) -> CallPurpose {
        match self {
            Self::Take(caller) => caller,
            Self::Reserve => CallPurpose::Buyer,
            Self::Release | Self::TakeReserved | Self::Note(_) | Self::Report(_) => {
                CallPurpose::Paid
            }
        }
    }
}

/// Calls are counted per second, so the size depends on the period and not on the number of
/// calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallLedger {
    /// Second, purpose and number of calls; oldest first.
    made: VecDeque<(u64, CallPurpose, usize)>,
    /// Second and number of reservations; oldest first.
    reserved: VecDeque<(u64, usize)>,
    /// How many paid cards in a row the account was refused for, and the last time.
    refusals: u32,
    refused_at: u64,
}

impl CallLedger {
    /// Applies one entry.
    ///
    /// # Errors
    ///
    /// [`BudgetExhausted`]; then nothing is changed.
    pub fn apply(
        &mut self,
        entry: LedgerEntry,
        rate: CallRate,
        now: u64,
    ) -> Result<(), BudgetExhausted> {
        self.advance(rate, now);
        match entry {
            LedgerEntry::Take(caller) => {
                self.check_free(rate, caller)?;
                self.count(now, caller, 1);
            }
            LedgerEntry::Reserve => {
                if self.is_refused(now) {
                    return Err(BudgetExhausted);
                }
                self.check_free(rate, CallPurpose::Buyer)?;
                self.reserve(now);
            }
            LedgerEntry::Release => self.drop_newest_reservation(),
            LedgerEntry::TakeReserved => {
                if self.reserved.is_empty() {
                    self.check_free(rate, CallPurpose::Paid)?;
                }
                self.drop_oldest_reservation();
                self.count(now, CallPurpose::Paid, 1);
            }
            LedgerEntry::Note(AccountStanding::Served) => self.refusals = 0,
            LedgerEntry::Note(AccountStanding::Refused) => {
                self.refusals = self.refusals.saturating_add(1);
                self.refused_at = now;
            }
            LedgerEntry::Report(calls) => self.count(now, CallPurpose::Paid, calls),
        }
        Ok(())
    }

    /// Drops what no longer counts.
    pub fn advance(&mut self, rate: CallRate, now: u64) {
        self.follow_clock(now);
        // Seconds are whole, so a call may look up to a second older than it is.
        self.made.retain(|(at, ..)| now.saturating_sub(*at) <= rate.seconds);
        self.reserved.retain(|(at, _)| now.saturating_sub(*at) <= RESERVATION_SECONDS);
    }

    /// How many calls still count, reservations aside.
    pub fn calls(&self) -> usize {
        self.made.iter().map(|(_, _, calls)| calls).sum()
    }

    /// How many calls are neither made nor reserved.
    pub fn calls_left(&self, rate: CallRate) -> usize {
        rate.calls().saturating_sub(self.calls() + self.calls_reserved())
    }

    fn calls_reserved(&self) -> usize {
        self.reserved.iter().map(|(_, calls)| calls).sum()
    }

    /// How many paid cards in a row the account was refused for.
    pub const fn refusals(&self) -> u32 {
        self.refusals
    }

    /// The database's clock may be set back. Later entries are shifted with it; otherwise no call
    /// would be free until the clock has caught up.
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

    fn count(&mut self, now: u64, caller: CallPurpose, calls: usize) {
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

    fn check_free(&self, rate: CallRate, caller: CallPurpose) -> Result<(), BudgetExhausted> {
        let by = |who: CallPurpose| -> usize {
            self.made.iter().filter(|(_, by, _)| *by == who).map(|(_, _, calls)| calls).sum()
        };
        let reserved = self.calls_reserved();
        let payers = by(CallPurpose::Paid) + by(CallPurpose::Buyer) + reserved;
        let paid_share = rate.paid.saturating_sub(payers);
        // Owed cards have precedence over lookups and two thirds of the share.
        let lookups = rate.reconciler / 3;
        let owed_share = (rate.reconciler - lookups).saturating_sub(by(CallPurpose::Reconciler));
        let lookup_share = lookups.saturating_sub(by(CallPurpose::Look));
        let kept_for_others = match caller {
            CallPurpose::Paid => 0,
            CallPurpose::Buyer => owed_share + lookup_share,
            CallPurpose::Reconciler => paid_share,
            CallPurpose::Look => paid_share + owed_share,
            CallPurpose::Preview => paid_share + owed_share + lookup_share,
        };
        let own_share_spent = match caller {
            CallPurpose::Paid
            | CallPurpose::Buyer
            | CallPurpose::Reconciler
            | CallPurpose::Look => false,
            CallPurpose::Preview => by(CallPurpose::Preview) >= rate.preview,
        };
        let used = self.calls() + reserved + kept_for_others;
        if own_share_spent || used >= rate.calls() { Err(BudgetExhausted) } else { Ok(()) }
    }
}
