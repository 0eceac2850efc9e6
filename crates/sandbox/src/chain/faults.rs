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
}

impl Rule {
    /// Strikes the next call of this method, once.
    pub fn once(fault: Fault, method: &str) -> Self {
        Self { fault, method: Some(method.to_owned()), skip: 0, times: Some(1) }
    }

    /// Strikes every call until the faults are cleared.
    pub fn always(fault: Fault) -> Self {
        Self { fault, method: None, skip: 0, times: None }
    }
}

#[derive(Default)]
pub(super) struct Faults(Vec<Rule>);

impl Faults {
    pub(super) fn add(&mut self, rule: Rule) {
        self.0.push(rule);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn all(&self) -> &[Rule] {
        &self.0
    }

    /// The fault that strikes this call: the first rule that fits and is not
    /// skipping. Rules that are used up go.
    pub(super) fn strike(&mut self, method: &str) -> Option<Fault> {
        let fits = |rule: &Rule| rule.method.as_deref().is_none_or(|wanted| wanted == method);
        let mut struck = None;
        for rule in self.0.iter_mut().filter(|rule| fits(rule)) {
            if let Some(left) = rule.skip.checked_sub(1) {
                rule.skip = left;
                continue;
            }
            rule.times = rule.times.map(|times| times.saturating_sub(1));
            struck = Some(rule.fault.clone());
            break;
        }
        self.0.retain(|rule| rule.times != Some(0));
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
