//! How many calls a provider's account allows, shared by everybody who calls it.

use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use order::ports::Clock;

/// On whose behalf a call is made, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// Somebody has paid.
    Paid,
    Reconciler,
    /// Somebody wants to pay, and no money has moved.
    Buyer,
    /// Anybody, for nothing.
    Preview,
}

/// What an account allows in any stretch of so many seconds, and how much of it
/// is kept for whom. The three shares together are all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    pub seconds: u64,
    pub paid: usize,
    pub reconciler: usize,
    pub preview: usize,
}

impl Rate {
    /// For an account that may call so many times as often as the usual one.
    #[must_use]
    pub fn times(self, factor: NonZero<u16>) -> Self {
        let more = |calls: usize| calls.saturating_mul(factor.get().into());
        let Self { seconds, paid, reconciler, preview } = self;
        Self { seconds, paid: more(paid), reconciler: more(reconciler), preview: more(preview) }
    }

    pub const fn calls(self) -> usize {
        self.paid + self.reconciler + self.preview
    }
}

/// A request that pays is over by then, whatever came of it.
const PROMISE_SECONDS: u64 = 120;

/// An account that refused so many paid cards in a row serves nobody for now, and after each
/// refusal no card is sold for so long.
const REFUSALS_MOST: u32 = 3;
const REFUSED_SECONDS: u64 = 60;

/// The calls of one account that still count.
pub struct Budget {
    rate: Rate,
    clock: Arc<dyn Clock>,
    ledger: Mutex<Ledger>,
}

/// All times are the process's own uptime.
#[derive(Default)]
struct Ledger {
    /// When each call was made, and for whom.
    made: VecDeque<(u64, Caller)>,
    /// Since when a call is kept for somebody who is paying. Money that has moved must
    /// not wait for those who only ask.
    promised: VecDeque<u64>,
    /// How many paid cards in a row the account was refused for, and the last time.
    refusals: u32,
    refused_at: u64,
}

/// Whether a provider does anything for our account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Served,
    Refused,
}

/// There is none left for this caller now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent;

impl Budget {
    pub fn new(rate: Rate, clock: Arc<dyn Clock>) -> Self {
        Self { rate, clock, ledger: Mutex::default() }
    }

    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// Takes one call, or says at once that there is none: a caller who waits
    /// here would keep a payer waiting.
    pub fn take(&self, caller: Caller) -> Result<(), Spent> {
        let (mut ledger, now) = self.ledger();
        self.has_room(&ledger, caller)?;
        ledger.made.push_back((now, caller));
        Ok(())
    }

    /// Keeps a call for a buyer whose money is about to move; none while the account is
    /// refused anyway.
    pub fn promise(&self) -> Result<(), Spent> {
        let (mut ledger, now) = self.ledger();
        let since = now.saturating_sub(ledger.refused_at);
        if ledger.refusals >= REFUSALS_MOST && since <= REFUSED_SECONDS {
            return Err(Spent);
        }
        self.has_room(&ledger, Caller::Buyer)?;
        ledger.promised.push_back(now);
        Ok(())
    }

    /// The buyer's money did not move.
    pub fn give_back(&self) {
        self.ledger().0.promised.pop_back();
    }

    /// Takes the call that was promised, or any other for somebody who has paid.
    pub fn redeem(&self) -> Result<(), Spent> {
        let (mut ledger, now) = self.ledger();
        if ledger.promised.pop_front().is_none() {
            self.has_room(&ledger, Caller::Paid)?;
        }
        ledger.made.push_back((now, Caller::Paid));
        Ok(())
    }

    /// What a card that was handed in has shown about the account.
    pub fn note(&self, standing: Standing) {
        let (mut ledger, now) = self.ledger();
        match standing {
            Standing::Served => ledger.refusals = 0,
            Standing::Refused => {
                ledger.refusals = ledger.refusals.saturating_add(1);
                ledger.refused_at = now;
            }
        }
    }

    fn ledger(&self) -> (MutexGuard<'_, Ledger>, u64) {
        let now = self.clock.uptime();
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        // Uptime counts whole seconds, so one made a moment less than a second
        // ago may look a second old.
        ledger.made.retain(|(at, _)| now.saturating_sub(*at) <= self.rate.seconds);
        ledger.promised.retain(|at| now.saturating_sub(*at) <= PROMISE_SECONDS);
        (ledger, now)
    }

    fn has_room(&self, ledger: &Ledger, caller: Caller) -> Result<(), Spent> {
        let Ledger { made, promised, .. } = ledger;
        let by = |who: Caller| made.iter().filter(|(_, caller)| *caller == who).count();
        let payers = by(Caller::Paid) + by(Caller::Buyer) + promised.len();
        let paid_share = self.rate.paid.saturating_sub(payers);
        let reconciler_share = self.rate.reconciler.saturating_sub(by(Caller::Reconciler));
        let kept_for_others = match caller {
            Caller::Paid => 0,
            Caller::Buyer => reconciler_share,
            Caller::Reconciler => paid_share,
            Caller::Preview => paid_share + reconciler_share,
        };
        let own_share_spent = match caller {
            Caller::Paid | Caller::Buyer | Caller::Reconciler => false,
            Caller::Preview => by(Caller::Preview) >= self.rate.preview,
        };
        let used = made.len() + promised.len() + kept_for_others;
        if own_share_spent || used >= self.rate.calls() { Err(Spent) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::testing::StoppedClock;

    const RATE: Rate = Rate { seconds: 60, paid: 30, reconciler: 15, preview: 15 };

    fn budget() -> (Budget, Arc<StoppedClock>) {
        let clock = Arc::new(StoppedClock::default());
        (Budget::new(RATE, clock.clone()), clock)
    }

    /// How many calls this caller still gets.
    fn rest(budget: &Budget, caller: Caller) -> usize {
        (0..1_000).take_while(|_| budget.take(caller).is_ok()).count()
    }

    #[test]
    fn an_account_that_may_call_more_often_shares_it_out_alike() {
        let clock = Arc::new(StoppedClock::default());
        let budget = Budget::new(RATE.times(NonZero::new(3).unwrap()), clock);
        assert_eq!(rest(&budget, Caller::Preview), 45);
        assert_eq!(rest(&budget, Caller::Reconciler), 45);
        assert_eq!(rest(&budget, Caller::Paid), 90);
    }

    #[test]
    fn a_payer_may_use_everything() {
        assert_eq!(rest(&budget().0, Caller::Paid), 60);
    }

    #[test]
    fn the_reconciler_leaves_what_is_kept_for_payers() {
        let (budget, _) = budget();
        assert_eq!(rest(&budget, Caller::Reconciler), 30);
        assert_eq!(rest(&budget, Caller::Preview), 0);
        assert_eq!(rest(&budget, Caller::Paid), 30);
    }

    #[test]
    fn previews_have_their_own_share_and_no_more() {
        let (budget, _) = budget();
        assert_eq!(rest(&budget, Caller::Preview), 15);
        assert_eq!(rest(&budget, Caller::Reconciler), 15);
        assert_eq!(rest(&budget, Caller::Paid), 30);
        assert_eq!(rest(&budget, Caller::Paid), 0);
    }

    #[test]
    fn what_payers_took_from_their_own_share_is_not_kept_twice() {
        let (budget, _) = budget();
        for _ in 0..20 {
            budget.take(Caller::Paid).unwrap();
        }
        assert_eq!(rest(&budget, Caller::Reconciler), 30);
        assert_eq!(rest(&budget, Caller::Paid), 10);
    }

    #[test]
    fn payers_in_a_crowd_take_the_previews_first() {
        let (budget, _) = budget();
        for _ in 0..45 {
            budget.take(Caller::Paid).unwrap();
        }
        assert_eq!(rest(&budget, Caller::Preview), 0);
        assert_eq!(rest(&budget, Caller::Reconciler), 15);
    }

    #[test]
    fn whoever_has_paid_finds_the_call_that_was_promised() {
        let (budget, clock) = budget();
        for _ in 0..22 {
            assert_eq!((budget.take(Caller::Buyer), budget.promise()), (Ok(()), Ok(())));
        }
        assert_eq!((budget.take(Caller::Buyer), budget.promise()), (Ok(()), Err(Spent)));
        assert_eq!(rest(&budget, Caller::Preview), 0);
        assert_eq!(rest(&budget, Caller::Reconciler), 15, "the reconciler keeps its share");
        assert_eq!(budget.take(Caller::Paid), Err(Spent));
        for _ in 0..22 {
            assert_eq!(budget.redeem(), Ok(()));
        }
        assert_eq!(budget.redeem(), Err(Spent));
        clock.pass(61);
        assert_eq!(budget.redeem(), Ok(()), "without a promise, where there is room");
    }

    #[test]
    fn a_promise_that_nobody_redeems_ends_with_its_request() {
        let (budget, clock) = budget();
        let promised = (0..1_000).take_while(|_| budget.promise().is_ok()).count();
        assert_eq!(promised, 45);
        budget.give_back();
        assert_eq!((budget.promise(), budget.promise()), (Ok(()), Err(Spent)));
        clock.pass(PROMISE_SECONDS);
        assert_eq!(budget.promise(), Err(Spent));
        clock.pass(1);
        assert_eq!(rest(&budget, Caller::Paid), 60);
    }

    #[test]
    fn nobody_pays_for_a_card_while_the_account_is_refused() {
        let (budget, clock) = budget();
        for said in [Standing::Refused, Standing::Refused, Standing::Served, Standing::Refused] {
            budget.note(said);
            assert_eq!(budget.promise(), Ok(()), "a refusal now and then is no outage");
        }
        budget.note(Standing::Refused);
        budget.note(Standing::Refused);
        assert_eq!(budget.promise(), Err(Spent));
        assert_eq!(budget.redeem(), Ok(()), "whoever has paid is served if at all possible");
        clock.pass(REFUSED_SECONDS + 1);
        assert_eq!(budget.promise(), Ok(()), "somebody has to try");
        budget.note(Standing::Refused);
        assert_eq!(budget.promise(), Err(Spent));
        budget.note(Standing::Served);
        assert_eq!(budget.promise(), Ok(()));
    }

    #[test]
    fn no_stretch_of_a_minute_sees_more_than_the_account_allows() {
        let (budget, clock) = budget();
        let mut made = Vec::new();
        for second in 0..600_u64 {
            for caller in [Caller::Preview, Caller::Reconciler, Caller::Buyer] {
                made.extend(budget.take(caller).ok().map(|()| second));
            }
            let _ = budget.promise();
            if second % 7 < 3 {
                made.extend(budget.redeem().ok().map(|()| second));
            }
            clock.pass(1);
        }
        for from in 0..600 {
            let within = made.iter().filter(|at| (from..=from + 60).contains(*at)).count();
            assert!(within <= 60, "{within} from second {from}");
        }
        assert!(made.len() > 500, "a budget that is never given out: {}", made.len());
    }
}
