//! Fault rules: which calls fail, how, and how often.

pub(crate) mod apply;
pub(crate) mod effect;
pub(crate) mod gzip;
pub mod kind;
pub mod operation;
pub(crate) mod read;
pub mod rule;

#[cfg(test)]
mod tests {
    use super::kind::ProviderFault;
    use super::operation::ProviderOperation;
    use super::rule::ProviderFaultRule;
    use crate::fault_rules::FaultRules;

    fn broken_calls(rule: ProviderFaultRule, calls: usize) -> Vec<bool> {
        let mut rules = FaultRules::default();
        rules.add(rule);
        (0..calls)
            .map(|_| {
                rules.next(|rule| rule.concerns(ProviderOperation::Send, Some("order-7"))).is_some()
            })
            .collect()
    }

    #[test]
    fn a_rule_skips_calls_and_then_breaks_a_number_of_calls() {
        let rule = ProviderFaultRule::new(ProviderFault::ResetAfter).skip(2).times(2);
        assert_eq!(broken_calls(rule, 6), [false, false, true, true, false, false]);
    }

    #[test]
    fn a_rule_matches_its_operation_and_reference() {
        let on_list = ProviderFaultRule::new(ProviderFault::Malformed).on(ProviderOperation::List);
        assert_eq!(broken_calls(on_list, 1), [false]);
        for (pattern, broken) in [
            ("order-7", true),
            ("order-*", true),
            ("*7", true),
            ("*", true),
            ("order", false),
            ("*8", false),
        ] {
            assert_eq!(
                broken_calls(ProviderFaultRule::new(ProviderFault::Malformed).matching(pattern), 1),
                [broken],
                "{pattern}"
            );
        }
        let mut rules = FaultRules::default();
        rules.add(ProviderFaultRule::new(ProviderFault::Malformed).matching("order*"));
        assert!(rules.next(|rule| rule.concerns(ProviderOperation::Send, None)).is_none());
    }

    #[test]
    fn a_percentage_is_deterministic_by_seed() {
        let rule = |seed| ProviderFaultRule::new(ProviderFault::Malformed).percent(30, seed);
        assert_eq!(broken_calls(rule(7), 50), broken_calls(rule(7), 50));
        assert_ne!(broken_calls(rule(7), 50), broken_calls(rule(8), 50));
        let broken = broken_calls(rule(7), 2_000).into_iter().filter(|broken| *broken).count();
        assert!((500..700).contains(&broken), "{broken} of 2000");
    }

    #[test]
    fn a_fault_that_does_not_apply_to_a_call_is_kept_for_the_next() {
        let mut rules = FaultRules::default();
        rules.add(ProviderFaultRule::new(ProviderFault::ListEmpty).times(1));
        assert!(rules.next(|rule| rule.concerns(ProviderOperation::Send, None)).is_none());
        assert!(rules.next(|rule| rule.concerns(ProviderOperation::List, None)).is_some());
    }

    #[test]
    fn every_fault_name_parses_back() {
        for kind in ProviderFault::ALL {
            assert_eq!(ProviderFault::read(kind.written()), Some(*kind));
        }
        assert_eq!(ProviderFault::ALL.len(), 37);
    }
}
