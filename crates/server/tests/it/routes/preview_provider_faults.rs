//! The status of a preview for every fault of the provider.

use std::thread;

use sandbox::provider::fault::kind::ProviderFault;
use serde_json::{Value, json};

use crate::fixture::sandbox::{DIALECTS, ProviderControl, card, code, preview, with_dialect};
use crate::fixture::test_app::TestApp;

/// With two previews without a fault and one price, below the limit of fifteen calls per minute.
const FAULTS_PER_APP: usize = 11;

/// The outcome of a preview while the provider has this fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PreviewOutcome {
    /// The fault does not affect previews.
    Shown,
    /// 502: no response, or an invalid one.
    BadGateway,
    /// 502, after our timeout.
    BadGatewayAfterTimeout,
    /// 503: an error of our account.
    Unavailable,
}

fn expected(kind: ProviderFault) -> PreviewOutcome {
    match kind {
        ProviderFault::TimeoutBefore
        | ProviderFault::TimeoutAfter
        | ProviderFault::SlowLoris
        | ProviderFault::SlowHeaders => PreviewOutcome::BadGatewayAfterTimeout,
        ProviderFault::StatusBefore
        | ProviderFault::StatusAfter
        | ProviderFault::ResetBefore
        | ProviderFault::ResetAfter
        | ProviderFault::HtmlAfter
        | ProviderFault::Malformed
        | ProviderFault::Truncated
        | ProviderFault::Empty
        | ProviderFault::Html
        | ProviderFault::Array
        | ProviderFault::Deep
        | ProviderFault::Huge
        | ProviderFault::Gzip
        | ProviderFault::DupContentLength
        | ProviderFault::MissingPreviews
        | ProviderFault::EmptyPreviews
        | ProviderFault::NotListPreviews
        | ProviderFault::HttpPreviews
        | ProviderFault::PrivatePreviews => PreviewOutcome::BadGateway,
        ProviderFault::Unauthorized
        | ProviderFault::PaymentDisabled
        | ProviderFault::RateLimited => PreviewOutcome::Unavailable,
        ProviderFault::MissingTotal
        | ProviderFault::StringTotal
        | ProviderFault::FloatTotal
        | ProviderFault::NegativeTotal
        | ProviderFault::ZeroTotal
        | ProviderFault::OverflowTotal
        | ProviderFault::HugeTotal
        | ProviderFault::TotalDrift
        | ProviderFault::DuplicateAccept
        | ProviderFault::ListLag
        | ProviderFault::ListEmpty => PreviewOutcome::Shown,
    }
}

fn kinds(wanted: impl Fn(PreviewOutcome) -> bool) -> Vec<ProviderFault> {
    ProviderFault::ALL.iter().copied().filter(|kind| wanted(expected(*kind))).collect()
}

/// Only errors of our account that need an operator cause an alert.
fn causes_alert(kind: ProviderFault) -> bool {
    [ProviderFault::Unauthorized, ProviderFault::PaymentDisabled].contains(&kind)
}

const ALERT: &str = "The provider refuses our account";

fn one_kind(app: &TestApp, provider: &ProviderControl, dialect: &str, kind: ProviderFault) {
    let about = format!("{dialect}, {}", kind.written());
    let alerts = || app.log().matches(ALERT).count();
    let alerts_before = alerts();
    provider.add_faults(&json!({ "kind": kind.written() }));
    let reply = preview(app, &card());
    let broken: u64 = provider.clear_faults().iter().sum();
    let said = reply.text();
    match expected(kind) {
        PreviewOutcome::Shown => assert_eq!((reply.status, broken), (200, 0), "{about}: {said}"),
        PreviewOutcome::BadGateway | PreviewOutcome::BadGatewayAfterTimeout => {
            assert_eq!((reply.status, broken), (502, 1), "{about}: {said}");
            let known = ["provider_unreachable", "provider_invalid_response"];
            assert!(known.contains(&code(&reply).as_str()), "{about}: {said}");
        }
        PreviewOutcome::Unavailable => {
            assert_eq!((reply.status, broken), (503, 1), "{about}: {said}");
            let seconds: u64 = reply.header("retry-after").parse().expect("Retry-After");
            assert_ne!(seconds, 0, "{about}");
            // Our own limit has another code.
            assert_ne!(code(&reply), "preview_busy", "{about}");
        }
    }
    assert_eq!(alerts() - alerts_before, usize::from(causes_alert(kind)), "{about}");
}

#[expect(clippy::print_stdout, reason = "tests/provider_matrix/run adds up these lines")]
fn every_fast_fault(dialect: &str) {
    let quick = kinds(|answer| answer != PreviewOutcome::BadGatewayAfterTimeout);
    assert_eq!(quick.len(), 33);
    for some in quick.chunks(FAULTS_PER_APP) {
        let app = TestApp::start(&with_dialect(dialect));
        let provider = ProviderControl::of(&app);
        // The price is known from now on, so that each fault meets a preview.
        assert_eq!(preview(&app, &card()).status, 200, "{dialect}");
        for kind in some {
            one_kind(&app, &provider, dialect, *kind);
        }
        assert_eq!(preview(&app, &card()).status, 200, "{dialect}: it works once faults end");
        assert_eq!(provider.cards_accepted(), 0, "{dialect}: a preview mails nothing");
    }
    println!("{} faults of the provider", quick.len());
}

#[test]
fn every_fast_fault_of_thanks_io_has_its_status() {
    every_fast_fault("thanks_io");
}

#[test]
fn every_fast_fault_of_lob_has_its_status() {
    every_fast_fault("lob");
}

/// Concurrently, because each takes as long as our timeout.
#[test]
fn a_provider_that_never_finishes_is_timed_out() {
    let slow = kinds(|answer| answer == PreviewOutcome::BadGatewayAfterTimeout);
    assert_eq!(slow.len(), 4);
    let rules: Value =
        slow.iter().map(|kind| json!({ "kind": kind.written(), "times": 1 })).collect();
    thread::scope(|threads| {
        for dialect in DIALECTS {
            let (rules, slow) = (&rules, &slow);
            threads.spawn(move || {
                let app = &TestApp::start(&with_dialect(dialect));
                let provider = ProviderControl::of(app);
                provider.add_faults(rules);
                thread::scope(|threads| {
                    for _ in slow {
                        threads.spawn(move || {
                            let reply = preview(app, &card());
                            assert_eq!(reply.status, 502, "{dialect}: {}", reply.text());
                            assert_eq!(code(&reply), "provider_unreachable", "{dialect}");
                        });
                    }
                });
                assert_eq!(provider.clear_faults(), [1, 1, 1, 1], "{dialect}: each struck once");
                assert_eq!(preview(app, &card()).status, 200, "{dialect}");
                assert_eq!(provider.cards_accepted(), 0, "{dialect}");
                println!("{} faults of the provider", slow.len());
            });
        }
    });
}

#[test]
fn a_fault_of_the_price_leaves_the_preview_without_a_quote() {
    for kind in ["status_before", "missing_total", "zero_total", "unauthorized"] {
        let app = TestApp::start("");
        let provider = ProviderControl::of(&app);
        provider.add_faults(&json!({ "kind": kind, "operation": "estimate" }));
        let reply = preview(&app, &card());
        let said = reply.json();
        assert_eq!((reply.status, provider.clear_faults()), (200, vec![1]), "{kind}: {said}");
        assert_eq!((&said["quote"], &said["mpp_quote"]), (&Value::Null, &Value::Null), "{kind}");
        assert_eq!(said["warnings"][0]["code"], "no_quote", "{kind}: {said}");
        assert_eq!(preview(&app, &card()).json()["quote"]["charge"], "2.0812", "{kind}");
    }
}
