//! Faults by rule: which call, after how many, how often, and what goes wrong.

/// What can go wrong with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection is cut before anything happens.
    Reset,
    /// HTTP 503, before anything happens.
    Unavailable,
    /// No answer ever, and nothing happens.
    Hang,
    /// HTTP 429 with this `Retry-After`, before anything happens.
    RateLimited { seconds: u64 },
    /// The call is done and the connection is cut instead of an answer.
    LoseAnswer,
    /// The call is done and no answer ever comes.
    HangAfter,
    /// The call is done, and the answer is not JSON.
    Garbage,
    /// A read fails as if the contract had refused it; a transaction is taken and
    /// fails in its block.
    Revert,
    /// A JSON-RPC error of this code and message instead of doing the call.
    Error { code: i64, message: String },
    /// `eth_chainId` and `net_version` name this chain.
    ChainId(u64),
    /// The node has not seen the last so many blocks.
    Stale { blocks: u64 },
    /// A search for events finds none, wherever they are.
    Silent,
    /// A sent transaction is acknowledged and stored, but filed as waiting for a
    /// predecessor: neither it nor any later nonce is mined until it is replaced.
    Strand,
    /// A sent transaction is acknowledged and forgotten.
    Drop,
    /// The transactions of one batch take effect in reverse order; the answers stay
    /// in the order of the requests. Counts batches of two or more, not calls.
    Reorder,
}

impl Fault {
    /// As the controls and the journal call it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::Unavailable => "unavailable",
            Self::Hang => "hang",
            Self::RateLimited { .. } => "rate_limited",
            Self::LoseAnswer => "lose_answer",
            Self::HangAfter => "hang_after",
            Self::Garbage => "garbage",
            Self::Revert => "revert",
            Self::Error { .. } => "error",
            Self::ChainId(_) => "chain_id",
            Self::Stale { .. } => "stale",
            Self::Silent => "silent",
            Self::Strand => "strand",
            Self::Drop => "drop",
            Self::Reorder => "reorder",
        }
    }
}

/// A fault, and when it strikes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub fault: Fault,
    /// Only calls of this method; without one, every call.
    pub method: Option<String>,
    /// This many matching calls pass first.
    pub skip: u32,
    /// And this many are struck; without a number, all that follow.
    pub times: Option<u32>,
    /// Of the calls that follow, only every n-th is struck; without a number, or
    /// with 0, every one.
    pub every: Option<u32>,
}

impl Rule {
    /// Strikes the next call of this method, once.
    pub fn once(fault: Fault, method: &str) -> Self {
        Self { fault, method: Some(method.to_owned()), skip: 0, times: Some(1), every: None }
    }

    /// Strikes every call until the faults are cleared.
    pub fn always(fault: Fault) -> Self {
        Self { fault, method: None, skip: 0, times: None, every: None }
    }
}

/// A rule in use. The count is kept beside the rule, which others build field by field.
struct ActiveRule {
    rule: Rule,
    /// How many matching calls have passed since the last strike.
    passed: u32,
}

impl ActiveRule {
    /// Counts a matching call, and says whether it is struck.
    fn strikes(&mut self) -> bool {
        if let Some(left) = self.rule.skip.checked_sub(1) {
            self.rule.skip = left;
            return false;
        }
        self.passed += 1;
        if self.passed < self.rule.every.unwrap_or(1) {
            return false;
        }
        self.passed = 0;
        self.rule.times = self.rule.times.map(|times| times.saturating_sub(1));
        true
    }
}

#[derive(Default)]
pub(super) struct Faults(Vec<ActiveRule>);

impl Faults {
    pub(super) fn add(&mut self, rule: Rule) {
        self.0.push(ActiveRule { rule, passed: 0 });
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn all(&self) -> Vec<Rule> {
        self.0.iter().map(|active| active.rule.clone()).collect()
    }

    /// The fault that strikes this call: the first rule that fits and lets it not
    /// pass. Rules that are used up go.
    pub(super) fn strike(&mut self, method: &str) -> Option<Fault> {
        self.first(method, |fault| *fault != Fault::Reorder)
    }

    /// The fault that strikes a batch with several calls of this method.
    pub(super) fn strike_batch(&mut self, method: &str) -> Option<Fault> {
        self.first(method, |fault| *fault == Fault::Reorder)
    }

    fn first(&mut self, method: &str, kind: impl Fn(&Fault) -> bool) -> Option<Fault> {
        let fits = |rule: &Rule| {
            kind(&rule.fault) && rule.method.as_deref().is_none_or(|wanted| wanted == method)
        };
        let mut fitting = self.0.iter_mut().filter(|active| fits(&active.rule));
        let struck = fitting.find_map(|active| active.strikes().then(|| active.rule.fault.clone()));
        self.0.retain(|active| active.rule.times != Some(0));
        struck
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_skips_strikes_and_goes() {
        let mut faults = Faults::default();
        let rule = Rule { skip: 1, times: Some(2), ..Rule::once(Fault::Reset, "eth_call") };
        faults.add(rule);
        assert_eq!(faults.strike("eth_chainId"), None);
        let struck: Vec<_> = (0..4).map(|_| faults.strike("eth_call")).collect();
        assert_eq!(struck, [None, Some(Fault::Reset), Some(Fault::Reset), None]);
        assert_eq!(faults.all(), []);
    }

    #[test]
    fn a_rule_can_strike_every_third_call_and_those_between_pass() {
        let mut faults = Faults::default();
        let every_third = Rule { every: Some(3), ..Rule::always(Fault::Reset) };
        faults.add(Rule { skip: 1, times: Some(2), ..every_third });
        let struck: Vec<u32> = (1..=12).filter(|_| faults.strike("eth_call").is_some()).collect();
        assert_eq!(struck, [4, 7], "one is skipped, and after two strikes the rule is used up");
        assert_eq!(faults.all(), []);
    }

    #[test]
    fn a_call_that_one_rule_lets_pass_can_be_struck_by_the_next() {
        let mut faults = Faults::default();
        faults.add(Rule { every: Some(2), ..Rule::always(Fault::Reset) });
        faults.add(Rule::always(Fault::Hang));
        let struck: Vec<_> = (0..3).map(|_| faults.strike("eth_call").unwrap()).collect();
        assert_eq!(struck, [Fault::Hang, Fault::Reset, Fault::Hang]);
    }

    #[test]
    fn a_lasting_fault_lasts_until_it_is_cleared() {
        let mut faults = Faults::default();
        faults.add(Rule::always(Fault::Unavailable));
        for _ in 0..5 {
            assert_eq!(faults.strike("eth_call"), Some(Fault::Unavailable));
        }
        faults.clear();
        assert_eq!(faults.strike("eth_call"), None);
    }
}
