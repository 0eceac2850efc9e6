//! Fault rules of the JSON-RPC nodes: which calls fail, how often, and how.

/// What can go wrong with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeFault {
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
    /// The node has not seen the last `blocks` blocks.
    Stale { blocks: u64 },
    /// `eth_getLogs` finds no events.
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

impl NodeFault {
    /// The name in the control interface and the journal.
    pub(crate) fn name(&self) -> &'static str {
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

/// A fault and the calls that it applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeFaultRule {
    pub fault: NodeFault,
    /// Only calls of this method; without one, every call.
    pub method: Option<String>,
    /// This many matching calls pass first.
    pub skip: u32,
    /// This many calls fail; without a number, all that follow.
    pub times: Option<u32>,
    /// Only every n-th of the following calls fails; without a number, or with 0, every
    /// call.
    pub every: Option<u32>,
}

impl NodeFaultRule {
    /// Applies to the next call of this method, once.
    pub fn once(fault: NodeFault, method: &str) -> Self {
        Self { fault, method: Some(method.to_owned()), skip: 0, times: Some(1), every: None }
    }

    /// Applies to every call until the faults are cleared.
    pub fn always(fault: NodeFault) -> Self {
        Self { fault, method: None, skip: 0, times: None, every: None }
    }
}

/// An active rule with its counter.
struct ActiveRule {
    rule: NodeFaultRule,
    /// Matching calls since the last failed one.
    passed: u32,
}

impl ActiveRule {
    /// Counts a matching call and tells whether it fails.
    fn applies(&mut self) -> bool {
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
pub(crate) struct NodeFaults(Vec<ActiveRule>);

impl NodeFaults {
    pub(crate) fn add(&mut self, rule: NodeFaultRule) {
        self.0.push(ActiveRule { rule, passed: 0 });
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn all(&self) -> Vec<NodeFaultRule> {
        self.0.iter().map(|active| active.rule.clone()).collect()
    }

    /// The fault of this call: that of the first rule that matches and applies. Used-up
    /// rules are removed.
    pub(crate) fn next(&mut self, method: &str) -> Option<NodeFault> {
        self.first(method, |fault| *fault != NodeFault::Reorder)
    }

    /// The fault of a batch with several calls of this method.
    pub(crate) fn next_of_batch(&mut self, method: &str) -> Option<NodeFault> {
        self.first(method, |fault| *fault == NodeFault::Reorder)
    }

    fn first(&mut self, method: &str, kind: impl Fn(&NodeFault) -> bool) -> Option<NodeFault> {
        let fits = |rule: &NodeFaultRule| {
            kind(&rule.fault) && rule.method.as_deref().is_none_or(|wanted| wanted == method)
        };
        let mut fitting = self.0.iter_mut().filter(|active| fits(&active.rule));
        let found = fitting.find_map(|active| active.applies().then(|| active.rule.fault.clone()));
        self.0.retain(|active| active.rule.times != Some(0));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_skips_calls_applies_and_is_removed() {
        let mut faults = NodeFaults::default();
        let rule = NodeFaultRule {
            skip: 1,
            times: Some(2),
            ..NodeFaultRule::once(NodeFault::Reset, "eth_call")
        };
        faults.add(rule);
        assert_eq!(faults.next("eth_chainId"), None);
        let found: Vec<_> = (0..4).map(|_| faults.next("eth_call")).collect();
        assert_eq!(found, [None, Some(NodeFault::Reset), Some(NodeFault::Reset), None]);
        assert_eq!(faults.all(), []);
    }

    #[test]
    fn a_rule_can_apply_to_every_third_call() {
        let mut faults = NodeFaults::default();
        let every_third =
            NodeFaultRule { every: Some(3), ..NodeFaultRule::always(NodeFault::Reset) };
        faults.add(NodeFaultRule { skip: 1, times: Some(2), ..every_third });
        let found: Vec<u32> = (1..=12).filter(|_| faults.next("eth_call").is_some()).collect();
        assert_eq!(found, [4, 7], "one is skipped, and after two failed calls the rule is used up");
        assert_eq!(faults.all(), []);
    }

    #[test]
    fn a_call_that_passes_one_rule_can_meet_the_next() {
        let mut faults = NodeFaults::default();
        faults.add(NodeFaultRule { every: Some(2), ..NodeFaultRule::always(NodeFault::Reset) });
        faults.add(NodeFaultRule::always(NodeFault::Hang));
        let found: Vec<_> = (0..3).map(|_| faults.next("eth_call").unwrap()).collect();
        assert_eq!(found, [NodeFault::Hang, NodeFault::Reset, NodeFault::Hang]);
    }

    #[test]
    fn a_permanent_fault_applies_until_cleared() {
        let mut faults = NodeFaults::default();
        faults.add(NodeFaultRule::always(NodeFault::Unavailable));
        for _ in 0..5 {
            assert_eq!(faults.next("eth_call"), Some(NodeFault::Unavailable));
        }
        faults.clear();
        assert_eq!(faults.next("eth_call"), None);
    }
}
