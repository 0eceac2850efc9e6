//! The order in which one account's transactions go into blocks: who has which number.
//!
//! A chain takes an account's transactions in the order of their numbers, without
//! gaps, so a number that was given away and never used would stop everybody who
//! comes after. A number is therefore lent: whoever has not sent anything by the
//! end of the loan has lost it to the next one, and what is missing in front of a
//! transaction that was sent is filled by those who wait behind it. Two payments
//! that meet under one number do no harm: one of them goes in, and the other is
//! signed again under another number.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use alloy_primitives::Bytes;

use super::fees::Fees;
use super::transaction::Signed;

/// Between signing and sending lies one write to the store.
const LOAN_SECONDS: u64 = 20;
/// How long a transaction that is in a block is remembered, in case a
/// reorganisation takes it out again.
const MEMORY_SECONDS: u64 = 60 * 60;
/// A first transaction that has not gone in for so long does not pay enough, and
/// whoever sent it does not care any more.
const STUCK_SECONDS: u64 = 60;
/// Not everybody who waits has to look after the queue.
const MEND_SECONDS: u64 = 3;
/// How many numbers are mended at once.
const MEND_MOST: usize = 32;

/// What a transaction is sent for: all transactions for one payment share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ErrandId(pub(super) [u8; 32]);

/// Nobody's errand: it only moves the queue.
pub(super) const NOBODY: ErrandId = ErrandId([0; 32]);

/// How far the account has come, as the chain sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    /// Numbers below are in blocks.
    pub(super) mined: u64,
    /// Numbers below are in blocks or wait without a gap.
    pub(super) pooled: u64,
}

impl Counts {
    fn first_free(self) -> u64 {
        self.mined.max(self.pooled)
    }
}

/// A number to sign with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) nonce: u64,
    /// What waits under this number and must be outbid.
    pub(super) replaces: Option<Fees>,
}

/// Whether a transaction that was signed earlier can still go in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Good,
    /// Its number went to another, or nobody knows what is in front of it.
    Lost,
}

/// Whether a transaction may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Certainly for the first time.
    First,
    /// Perhaps not for the first time.
    Again,
    /// Never: its number is somebody else's by now.
    Others,
}

/// What moves the queue on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    /// The pool has lost this one.
    SendAgain(Bytes),
    /// Nothing is under this number, or nothing that pays enough or that the node takes.
    Fill(Place),
}

impl Repair {
    fn fills(&self, number: u64) -> bool {
        match self {
            Self::Fill(place) => place.nonce == number,
            Self::SendAgain(_) => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Lent,
    /// Its owner sends it for the first time, and nobody else does: if that fails for
    /// certain, it never left us.
    Sending,
    /// Perhaps more than once, and by anybody who mends the queue.
    Sent,
}

/// What is known of a transaction whose first sending failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Release {
    /// Nobody sent it, and nobody will.
    NeverSent,
    /// Somebody else has been given it, or its number.
    PerhapsSent,
}

struct Loan {
    errand: ErrandId,
    state: State,
    since: u64,
    signed: Option<Signed>,
}

impl Loan {
    fn holds(&self, now: u64) -> bool {
        match self.state {
            State::Sending | State::Sent => true,
            State::Lent => now.saturating_sub(self.since) < LOAN_SECONDS,
        }
    }

    fn is_being_sent(&self, now: u64) -> bool {
        self.state == State::Sending && now.saturating_sub(self.since) < LOAN_SECONDS
    }

    fn fees(&self) -> Option<Fees> {
        match self.state {
            State::Sending | State::Sent => self.signed.as_ref().map(|signed| signed.fees),
            State::Lent => None,
        }
    }
}

#[derive(Default)]
struct Book {
    loans: BTreeMap<u64, Loan>,
    /// What waits in the pool to go in next, and since when it has been seen there.
    head: Option<(u64, u64)>,
    /// What was sent to go in next and is in no block and no pool, and since when.
    ignored: Option<(u64, u64)>,
    mended: Option<u64>,
}

/// One for each account and chain. Times are the process's uptime in seconds.
#[derive(Default)]
pub(super) struct Queue(Mutex<Book>);

impl Queue {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number for this errand. One errand has one number as long as it can be
    /// used: whoever brings the same promise many times takes one place only.
    pub(super) fn take(&self, errand: ErrandId, counts: Counts, now: u64) -> Place {
        let mut book = self.book();
        book.tidy(counts, now);
        let own = book.loans.range_mut(counts.mined..).find(|(_, loan)| loan.errand == errand);
        if let Some((nonce, loan)) = own {
            let replaces = loan.fees();
            if loan.state == State::Lent {
                loan.since = now;
            }
            return Place { nonce: *nonce, replaces };
        }
        let mut nonce = counts.first_free();
        while book.holds(nonce, now) {
            nonce += 1;
        }
        book.loans.insert(nonce, Loan { errand, state: State::Lent, since: now, signed: None });
        Place { nonce, replaces: None }
    }

    pub(super) fn standing(
        &self,
        errand: ErrandId,
        signed: &Signed,
        counts: Counts,
        now: u64,
    ) -> Standing {
        let mut book = self.book();
        book.tidy(counts, now);
        if signed.nonce < counts.mined {
            return Standing::Lost;
        }
        match book.loans.get(&signed.nonce) {
            Some(loan) if loan.errand == errand => Standing::Good,
            Some(_) => Standing::Lost,
            // It was signed before this process began, and may have been sent.
            None => {
                let mut before = counts.first_free()..signed.nonce;
                if !before.all(|nonce| book.holds(nonce, now)) {
                    return Standing::Lost;
                }
                let signed_then = Some(signed.clone());
                let loan = Loan { errand, state: State::Sent, since: now, signed: signed_then };
                book.loans.insert(signed.nonce, loan);
                Standing::Good
            }
        }
    }

    /// About to send: from now on the number is used.
    pub(super) fn begin(&self, errand: ErrandId, signed: &Signed, now: u64) -> Turn {
        let mut book = self.book();
        let turn = match book.loans.get(&signed.nonce) {
            Some(loan) if loan.errand != errand => return Turn::Others,
            Some(Loan { state: State::Lent, .. }) => Turn::First,
            Some(Loan { state: State::Sending | State::Sent, .. }) | None => Turn::Again,
        };
        let state = if turn == Turn::First { State::Sending } else { State::Sent };
        let loan = Loan { errand, state, since: now, signed: Some(signed.clone()) };
        book.loans.insert(signed.nonce, loan);
        turn
    }

    /// It has been sent, or may have been: whoever mends the queue may send it again.
    pub(super) fn sent(&self, errand: ErrandId, nonce: u64) {
        if let Some(loan) = self.book().loans.get_mut(&nonce)
            && loan.errand == errand
        {
            loan.state = State::Sent;
        }
    }

    /// Nobody's transaction goes under this number, whoever had it.
    pub(super) fn occupy(&self, signed: &Signed, now: u64) {
        let signed_now = Some(signed.clone());
        let loan = Loan { errand: NOBODY, state: State::Sent, since: now, signed: signed_now };
        self.book().loans.insert(signed.nonce, loan);
    }

    /// Its owner has certainly not sent it. The number is free again, unless somebody
    /// else may have sent it meanwhile.
    pub(super) fn release(&self, errand: ErrandId, nonce: u64) -> Release {
        let mut book = self.book();
        match book.loans.get(&nonce) {
            Some(Loan { errand: owner, state: State::Lent | State::Sending, .. })
                if *owner == errand =>
            {
                book.loans.remove(&nonce);
                Release::NeverSent
            }
            Some(_) | None => Release::PerhapsSent,
        }
    }

    /// What keeps the transactions that were sent from going in, lowest first.
    pub(super) fn repairs(&self, counts: Counts, base_fee: u128, now: u64) -> Vec<Repair> {
        let mut book = self.book();
        if book.mended.is_some_and(|then| now.saturating_sub(then) < MEND_SECONDS) {
            return Vec::new();
        }
        book.mended = Some(now);
        book.tidy(counts, now);
        let stuck = book.stuck_head(base_fee, now).or_else(|| book.ignored_head(now));
        let mut repairs: Vec<_> = stuck.into_iter().collect();
        let sent = |(_, loan): &(&u64, &Loan)| loan.state != State::Lent;
        let Some(last) = book.loans.iter().rev().find(sent).map(|(nonce, _)| *nonce) else {
            return repairs;
        };
        for nonce in (counts.first_free()..=last).take(MEND_MOST) {
            if repairs.iter().any(|repair| repair.fills(nonce)) {
                continue;
            }
            match book.loans.get_mut(&nonce) {
                // Somebody is sending it.
                Some(loan) if loan.is_being_sent(now) => break,
                Some(Loan {
                    state: state @ (State::Sending | State::Sent),
                    signed: Some(signed),
                    ..
                }) => {
                    // From here on nobody can say that it never left us.
                    *state = State::Sent;
                    repairs.push(Repair::SendAgain(signed.raw.clone()));
                }
                // Somebody is about to send it.
                Some(loan) if loan.holds(now) => break,
                Some(_) | None => {
                    let loan =
                        Loan { errand: NOBODY, state: State::Lent, since: now, signed: None };
                    book.loans.insert(nonce, loan);
                    repairs.push(Repair::Fill(Place { nonce, replaces: None }));
                }
            }
        }
        repairs
    }
}

impl Book {
    fn holds(&self, nonce: u64, now: u64) -> bool {
        self.loans.get(&nonce).is_some_and(|loan| loan.holds(now))
    }

    /// Forgets what is long in blocks. What went in lately is remembered: after a
    /// reorganisation its number must not go to another.
    fn tidy(&mut self, counts: Counts, now: u64) {
        self.loans.retain(|nonce, loan| {
            let fresh = now.saturating_sub(loan.since) < MEMORY_SECONDS;
            *nonce >= counts.mined || (loan.state != State::Lent && fresh)
        });
        let waits = counts.mined < counts.pooled;
        match self.head {
            Some((head, _)) if waits && head == counts.mined => {}
            Some(_) | None => self.head = waits.then_some((counts.mined, now)),
        }
        let sent = self.loans.get(&counts.mined).is_some_and(|loan| loan.state != State::Lent);
        match self.ignored {
            Some((head, _)) if !waits && sent && head == counts.mined => {}
            Some(_) | None => self.ignored = (!waits && sent).then_some((counts.mined, now)),
        }
    }

    /// The first in the queue waits in the pool and has waited too long.
    fn stuck_head(&self, base_fee: u128, now: u64) -> Option<Repair> {
        let (nonce, seen) = self.head?;
        let loan = self.loans.get(&nonce);
        let since = loan.map_or(seen, |loan| loan.since.max(seen));
        let replaces = loan.and_then(Loan::fees);
        let cheap = replaces.is_none_or(|fees| fees.most < base_fee);
        let stuck = cheap && now.saturating_sub(since) >= STUCK_SECONDS;
        stuck.then_some(Repair::Fill(Place { nonce, replaces }))
    }

    /// The first in the queue was sent and sent again, and the node does not count it as
    /// waiting: it has it in some corner from which it does not come out by itself. A
    /// dearer one under the same number is another transaction to the node.
    fn ignored_head(&self, now: u64) -> Option<Repair> {
        let (nonce, seen) = self.ignored?;
        let loan = self.loans.get(&nonce)?;
        let ignored = now.saturating_sub(loan.since.max(seen)) >= STUCK_SECONDS;
        ignored.then(|| Repair::Fill(Place { nonce, replaces: loan.fees() }))
    }
}

#[cfg(test)]
mod tests;
