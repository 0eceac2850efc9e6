//! What is rendered, and that the alert rules and their runbook name only what exists.

use std::collections::BTreeSet;
use std::time::Duration;

use adapters::measurements::count_outside_call;
use metrics::{histogram, with_local_recorder};
use order::model::mail::ProviderAccount;

use super::*;

const RULES: &str = include_str!("../../../../ops/alerts.rules.yml");
const RUNBOOK: &str = include_str!("../../../../docs/operate/alerts.md");

/// Renders what `record` leaves in a recorder of its own.
fn rendered(record: impl FnOnce()) -> String {
    let recorder = recorder();
    let handle = MetricsHandle(recorder.handle());
    with_local_recorder(&recorder, || {
        register();
        record();
    });
    handle.run_upkeep();
    handle.render()
}

const NOW: Timestamp = Timestamp(1_900_000_000);

fn counted(state: &str, count: u64, age: u64) -> StateCount {
    StateCount { state: state.to_owned(), count, oldest: Timestamp(NOW.0 - age) }
}

fn every_alert() -> [AlertKind; 8] {
    [
        AlertKind::Payment,
        AlertKind::RefusedCard,
        AlertKind::CardInDoubt,
        AlertKind::Finality,
        AlertKind::Reversed,
        AlertKind::ReversedElsewhere(Some(ProviderAccount("lob https://lob.example main".into()))),
        AlertKind::Undelivered,
        AlertKind::RefundDue,
    ]
}

#[test]
fn the_version_and_every_kind_of_alert_are_rendered_from_the_start() {
    let text = rendered(|| {});
    let version = env!("CARGO_PKG_VERSION");
    assert!(text.contains(&format!("{BUILD_INFO}{{version=\"{version}\"}} 1\n")), "{text}");
    for kind in ALERT_KINDS {
        assert!(text.contains(&format!("{ALERTS}{{kind=\"{kind}\"}} 0\n")), "{text}");
    }
    assert!(text.contains(&format!("# TYPE {ALERTS} counter")), "{text}");
}

#[test]
fn what_was_never_read_is_absent() {
    let text = rendered(|| {});
    for name in [SETTLER_BALANCE, PROVIDER_CALLS_LEFT, RECONCILED_AT, ORDERS, OLDEST_UNRESOLVED] {
        assert!(!text.contains(name), "{name}: {text}");
    }
}

#[test]
fn every_alert_is_counted_under_a_kind_that_is_known_at_start() {
    let text = rendered(|| every_alert().iter().for_each(count_alert));
    let counted = text.lines().filter(|line| line.starts_with(ALERTS)).collect::<Vec<_>>();
    assert_eq!(counted.len(), ALERT_KINDS.len(), "{counted:?}");
    assert!(counted.iter().all(|line| line.ends_with(" 1")), "{counted:?}");
    assert!(!text.contains("lob.example"), "no label names an account");
}

#[test]
fn orders_are_rendered_by_state_and_a_state_that_is_empty_again_is_zero() {
    let text = rendered(|| {
        update_orders(&[counted("unconfirmed", 3, 90)], NOW);
        update_orders(&[counted("unfulfilled_lost", 1, 7)], NOW);
    });
    for (name, state, value) in [
        (ORDERS, "unconfirmed", 0),
        (ORDERS, "unfulfilled_lost", 1),
        (OLDEST_UNRESOLVED, "unconfirmed", 0),
        (OLDEST_UNRESOLVED, "unfulfilled_lost", 7),
    ] {
        let line = format!("{name}{{state=\"{state}\"}} {value}\n");
        assert!(text.contains(&line), "{line}: {text}");
    }
}

#[test]
fn durations_are_rendered_in_buckets() {
    let text = rendered(|| count_outside_call("a node", "lost", Duration::from_millis(700)));
    assert!(text.contains(&format!("{OUTSIDE_CALLS}{{peer=\"node\",outcome=\"lost\"}} 1\n")));
    let bucket = |le: &str, count: u64| {
        format!(
            "{OUTSIDE_CALL_DURATION}_bucket{{peer=\"node\",outcome=\"lost\",le=\"{le}\"}} {count}\n"
        )
    };
    assert!(text.contains(&bucket("0.5", 0)) && text.contains(&bucket("1", 1)), "{text}");
}

/// The words of the rules file that look like our metrics, without the suffixes of a histogram.
fn metrics_of_the_rules() -> BTreeSet<&'static str> {
    let words = RULES.lines().filter(|line| !line.trim_start().starts_with('#')).flat_map(|line| {
        line.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
    });
    let ours =
        words.filter(|word| word.starts_with("pennyblack_") || word.starts_with("http_server_"));
    let suffixes = ["_bucket", "_count", "_sum"];
    ours.map(|word| suffixes.iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word))
        .collect()
}

#[test]
fn every_metric_of_the_alert_rules_is_rendered() {
    let text = rendered(|| {
        update_orders(&[], NOW);
        set_provider_calls_left(1);
        set_reconciled(Timestamp(1));
        count_outside_call("a node", "answered", Duration::ZERO);
        histogram!(REQUEST_DURATION).record(0.1);
        gauge!(SETTLER_BALANCE).set(1);
        gauge!(SETTLER_LOW_BALANCE).set(1);
    });
    let used = metrics_of_the_rules();
    assert!(used.len() > 5, "{used:?}");
    for name in used {
        assert!(text.contains(&format!("# TYPE {name} ")), "{name} is not rendered");
    }
}

/// The anchors of a Markdown file, as GitHub makes them.
fn anchors() -> BTreeSet<String> {
    let headings = RUNBOOK.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-"))
        .collect()
}

#[test]
fn every_alert_rule_has_a_section_in_the_runbook() {
    let values = |key: &'static str| {
        RULES
            .lines()
            .filter_map(move |line| line.trim_start().trim_start_matches("- ").strip_prefix(key))
    };
    let alerts: Vec<&str> = values("alert: ").collect();
    let runbooks: Vec<&str> = values("runbook: ").collect();
    assert!(alerts.len() > 8 && alerts.len() == runbooks.len());
    for (alert, runbook) in alerts.iter().zip(runbooks) {
        let anchor = runbook.strip_prefix("docs/operate/alerts.md#").expect("the runbook's path");
        assert_eq!(anchor, alert.to_lowercase());
        assert!(anchors().contains(anchor), "{alert} has no section");
    }
}

#[test]
fn every_link_within_the_runbook_leads_to_a_section() {
    let mut anchors = anchors();
    anchors.extend(
        RUNBOOK
            .split("<a id=\"")
            .skip(1)
            .filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())),
    );
    for link in RUNBOOK.split("](#").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)) {
        assert!(anchors.contains(link), "#{link}");
    }
}

#[test]
fn every_kind_of_log_alert_has_a_section_in_the_runbook() {
    for kind in every_alert() {
        assert!(anchors().contains(alert_kind(&kind)), "{kind:?} has no section");
    }
}
