//! Faults by rule: which call goes wrong, how, and how often.

pub(crate) mod damage;
pub(crate) mod gzip;
pub mod kind;
pub mod operation;
pub(crate) mod read;
pub mod rule;
pub(crate) mod spoil;

use operation::Operation;
use rule::Rule;

/// The rules in force, in the sequence in which they were made.
#[derive(Default)]
pub(crate) struct Rules {
    rules: Vec<Active>,
}

struct Active {
    rule: Rule,
    /// Calls that the rule was about.
    met: u64,
    /// Calls that it broke.
    broken: u64,
}

impl Rules {
    pub(crate) fn add(&mut self, rule: Rule) {
        self.rules.push(Active { rule, met: 0, broken: 0 });
    }

    pub(crate) fn clear(&mut self) {
        self.rules.clear();
    }

    /// Every rule, with how many calls it broke.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&Rule, u64)> {
        self.rules.iter().map(|active| (&active.rule, active.broken))
    }

    /// The fault for this call. The first rule that applies decides; a rule
    /// behind it does not count the call.
    pub(crate) fn meet(&mut self, operation: Operation, reference: Option<&str>) -> Option<Rule> {
        self.rules.iter_mut().find_map(|active| active.meet(operation, reference))
    }
}

impl Active {
    fn meet(&mut self, operation: Operation, reference: Option<&str>) -> Option<Rule> {
        if !self.rule.concerns(operation, reference) {
            return None;
        }
        self.met += 1;
        let spent = self.rule.times.is_some_and(|times| self.broken >= times);
        if self.met <= self.rule.skip || spent || !self.rule.strikes(self.met) {
            return None;
        }
        self.broken += 1;
        Some(self.rule.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::kind::Kind;
    use super::*;

    fn strikes(rule: Rule, calls: usize) -> Vec<bool> {
        let mut rules = Rules::default();
        rules.add(rule);
        (0..calls).map(|_| rules.meet(Operation::Send, Some("order-7")).is_some()).collect()
    }

    #[test]
    fn a_rule_skips_then_strikes_so_many_times() {
        let rule = Rule::new(Kind::ResetAfter).skip(2).times(2);
        assert_eq!(strikes(rule, 6), [false, false, true, true, false, false]);
    }

    #[test]
    fn a_rule_knows_its_operation_and_its_references() {
        let on_list = Rule::new(Kind::Malformed).on(Operation::List);
        assert_eq!(strikes(on_list, 1), [false]);
        for (pattern, struck) in [
            ("order-7", true),
            ("order-*", true),
            ("*7", true),
            ("*", true),
            ("order", false),
            ("*8", false),
        ] {
            assert_eq!(
                strikes(Rule::new(Kind::Malformed).matching(pattern), 1),
                [struck],
                "{pattern}"
            );
        }
        let mut rules = Rules::default();
        rules.add(Rule::new(Kind::Malformed).matching("order*"));
        assert!(rules.meet(Operation::Send, None).is_none());
    }

    #[test]
    fn chance_comes_from_a_seed_and_keeps_its_promise() {
        let rule = |seed| Rule::new(Kind::Malformed).percent(30, seed);
        assert_eq!(strikes(rule(7), 50), strikes(rule(7), 50));
        assert_ne!(strikes(rule(7), 50), strikes(rule(8), 50));
        let struck = strikes(rule(7), 2_000).into_iter().filter(|struck| *struck).count();
        assert!((500..700).contains(&struck), "{struck} of 2000");
    }

    #[test]
    fn a_fault_without_meaning_for_a_call_is_kept_for_one_that_has() {
        let mut rules = Rules::default();
        rules.add(Rule::new(Kind::ListEmpty).times(1));
        assert!(rules.meet(Operation::Send, None).is_none());
        assert!(rules.meet(Operation::List, None).is_some());
    }

    #[test]
    fn every_kind_reads_back_as_written() {
        for kind in Kind::ALL {
            assert_eq!(Kind::read(kind.written()), Some(*kind));
        }
        assert_eq!(Kind::ALL.len(), 37);
    }
}
