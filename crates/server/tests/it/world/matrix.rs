//! Every fault of the provider, and what somebody who asked for a preview is told.

use std::thread;

use sandbox::provider::fault::kind::Kind;
use serde_json::{Value, json};

use super::{DIALECTS, Mailbox, card, code, preview, speaking};
use crate::house::House;

/// Less than the fifteen previews that a house gives in a minute.
const KINDS_IN_A_HOUSE: usize = 11;

/// What a preview becomes while the provider has this fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// The fault has no meaning for a preview.
    Shown,
    /// 502: nobody answered, or nobody we can believe.
    BadGateway,
    /// 502, once our own patience is over.
    BadGatewayInTheEnd,
    /// 503: it is about our account.
    Unavailable,
}

fn expected(kind: Kind) -> Answer {
    match kind {
        Kind::TimeoutBefore | Kind::TimeoutAfter | Kind::SlowLoris | Kind::SlowHeaders => {
            Answer::BadGatewayInTheEnd
        }
        Kind::StatusBefore
        | Kind::StatusAfter
        | Kind::ResetBefore
        | Kind::ResetAfter
        | Kind::HtmlAfter
        | Kind::Malformed
        | Kind::Truncated
        | Kind::Empty
        | Kind::Html
        | Kind::Array
        | Kind::Deep
        | Kind::Huge
        | Kind::Gzip
        | Kind::DupContentLength
        | Kind::MissingPreviews
        | Kind::EmptyPreviews
        | Kind::NotListPreviews
        | Kind::HttpPreviews
        | Kind::PrivatePreviews => Answer::BadGateway,
        Kind::Unauthorized | Kind::PaymentDisabled | Kind::RateLimited => Answer::Unavailable,
        Kind::MissingTotal
        | Kind::StringTotal
        | Kind::FloatTotal
        | Kind::NegativeTotal
        | Kind::ZeroTotal
        | Kind::OverflowTotal
        | Kind::HugeTotal
        | Kind::TotalDrift
        | Kind::DuplicateAccept
        | Kind::ListLag
        | Kind::ListEmpty => Answer::Shown,
    }
}

fn kinds(wanted: impl Fn(Answer) -> bool) -> Vec<Kind> {
    Kind::ALL.iter().copied().filter(|kind| wanted(expected(*kind))).collect()
}

/// Only what is meant as a call that cannot work may be spoken of as an alarm.
fn is_alarm(kind: Kind) -> bool {
    [Kind::Unauthorized, Kind::PaymentDisabled].contains(&kind)
}

const ALARM: &str = "The provider refuses our account";

fn one_kind(house: &House, mailbox: &Mailbox, dialect: &str, kind: Kind) {
    let about = format!("{dialect}, {}", kind.written());
    let alarms = || house.log().matches(ALARM).count();
    let alarms_before = alarms();
    mailbox.arm(&json!({ "kind": kind.written() }));
    let reply = preview(house, &card());
    let broken: u64 = mailbox.disarm().iter().sum();
    let said = reply.text();
    match expected(kind) {
        Answer::Shown => assert_eq!((reply.status, broken), (200, 0), "{about}: {said}"),
        Answer::BadGateway | Answer::BadGatewayInTheEnd => {
            assert_eq!((reply.status, broken), (502, 1), "{about}: {said}");
            let known = ["provider_unreachable", "provider_invalid_response"];
            assert!(known.contains(&code(&reply).as_str()), "{about}: {said}");
        }
        Answer::Unavailable => {
            assert_eq!((reply.status, broken), (503, 1), "{about}: {said}");
            let seconds: u64 = reply.header("retry-after").parse().expect("Retry-After");
            assert_ne!(seconds, 0, "{about}");
            // The house's own limit would say something else.
            assert_ne!(code(&reply), "preview_busy", "{about}");
        }
    }
    assert_eq!(alarms() - alarms_before, usize::from(is_alarm(kind)), "{about}");
}

fn every_quick_kind(dialect: &str) {
    let quick = kinds(|answer| answer != Answer::BadGatewayInTheEnd);
    assert_eq!(quick.len(), 33);
    for some in quick.chunks(KINDS_IN_A_HOUSE) {
        let house = House::open(&speaking(dialect));
        let mailbox = Mailbox::of(&house);
        for kind in some {
            one_kind(&house, &mailbox, dialect, *kind);
        }
        assert_eq!(preview(&house, &card()).status, 200, "{dialect}: it works once faults end");
        assert_eq!(mailbox.cards_accepted(), 0, "{dialect}: a preview mails nothing");
    }
}

#[test]
fn every_quick_fault_of_thanks_io_has_its_status() {
    every_quick_kind("thanks_io");
}

#[test]
fn every_quick_fault_of_lob_has_its_status() {
    every_quick_kind("lob");
}

/// All at once, since each takes as long as our patience with a provider.
#[test]
fn a_provider_who_never_finishes_is_left_in_time() {
    let slow = kinds(|answer| answer == Answer::BadGatewayInTheEnd);
    assert_eq!(slow.len(), 4);
    let rules: Value =
        slow.iter().map(|kind| json!({ "kind": kind.written(), "times": 1 })).collect();
    thread::scope(|threads| {
        for dialect in DIALECTS {
            let (rules, slow) = (&rules, &slow);
            threads.spawn(move || {
                let house = &House::open(&speaking(dialect));
                let mailbox = Mailbox::of(house);
                mailbox.arm(rules);
                thread::scope(|threads| {
                    for _ in slow {
                        threads.spawn(move || {
                            let reply = preview(house, &card());
                            assert_eq!(reply.status, 502, "{dialect}: {}", reply.text());
                            assert_eq!(code(&reply), "provider_unreachable", "{dialect}");
                        });
                    }
                });
                assert_eq!(mailbox.disarm(), [1, 1, 1, 1], "{dialect}: each struck once");
                assert_eq!(preview(house, &card()).status, 200, "{dialect}");
                assert_eq!(mailbox.cards_accepted(), 0, "{dialect}");
            });
        }
    });
}
