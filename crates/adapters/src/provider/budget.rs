//! How many calls a provider's account allows, shared by everybody who calls it.

use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};

use order::ports::Clock;

/// On whose behalf a call is made, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// Somebody has paid, or is about to.
    Paid,
    Reconciler,
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

/// The calls of one account that still count.
pub struct Budget {
    rate: Rate,
    clock: Arc<dyn Clock>,
    /// When each was made, by the process's own uptime, and for whom.
    made: Mutex<VecDeque<(u64, Caller)>>,
}

/// There is none left for this caller now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent;

impl Budget {
    pub fn new(rate: Rate, clock: Arc<dyn Clock>) -> Self {
        Self { rate, clock, made: Mutex::default() }
    }

    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// Takes one call, or says at once that there is none: a caller who waits
    /// here would keep a payer waiting.
    pub fn take(&self, caller: Caller) -> Result<(), Spent> {
        let now = self.clock.uptime();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        // Uptime counts whole seconds, so one made a moment less than a second
        // ago may look a second old.
        made.retain(|(at, _)| now.saturating_sub(*at) <= self.rate.seconds);
        let by = |who: Caller| made.iter().filter(|(_, caller)| *caller == who).count();
        let paid_share = self.rate.paid.saturating_sub(by(Caller::Paid));
        let reconciler_share = self.rate.reconciler.saturating_sub(by(Caller::Reconciler));
        let kept_for_others = match caller {
            Caller::Paid => 0,
            Caller::Reconciler => paid_share,
            Caller::Preview => paid_share + reconciler_share,
        };
        let own_share_spent = match caller {
            Caller::Paid | Caller::Reconciler => false,
            Caller::Preview => by(Caller::Preview) >= self.rate.preview,
        };
        if own_share_spent || made.len() + kept_for_others >= self.rate.calls() {
            return Err(Spent);
        }
        made.push_back((now, caller));
        Ok(())
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
    fn no_stretch_of_a_minute_sees_more_than_the_account_allows() {
        let (budget, clock) = budget();
        let mut made = Vec::new();
        for second in 0..600_u64 {
            for caller in [Caller::Preview, Caller::Reconciler, Caller::Paid] {
                made.extend(budget.take(caller).ok().map(|()| second));
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
