//! What the log prints and what it drops.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tracing::subscriber::with_default;
use tracing::{debug, info, info_span, warn};

use super::*;
use crate::config::logging::{LogFormat, LogLevels};

mod sources;

#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn printed(format: LogFormat, filter: &str, events: impl FnOnce()) -> String {
    let output = Output::default();
    let log = LogConfig { format, filter: LogLevels::parse(filter).unwrap() };
    let writer = output.clone();
    with_default(subscriber(&log, move || writer.clone()), events);
    let bytes = output.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

fn mail_a_card() {
    let span = info_span!("mailing", span_canary = "Ada Lovelace");
    let _inside = span.enter();
    info!(order.id = "cafe", status = 200, recipient_name = "Ada Lovelace", "mailed");
}

#[test]
fn a_field_that_is_not_allowed_is_dropped() {
    for format in [LogFormat::Text, LogFormat::Json] {
        let line = printed(format, "info", mail_a_card);
        assert!(line.contains("cafe") && line.contains("200") && line.contains("mailed"), "{line}");
        assert!(!line.contains("Ada") && !line.contains("recipient_name"), "{line}");
        assert!(!line.contains("canary"), "{line}");
    }
}

#[test]
fn text_is_one_readable_line() {
    let line = printed(LogFormat::Text, "info", mail_a_card);
    let (time, rest) = line.split_once(' ').unwrap();
    assert!(time.ends_with('Z') && time.contains('T'), "{time}");
    assert_eq!(rest, " INFO pennyblack::telemetry::tests: mailed order.id=cafe status=200\n");
}

#[test]
fn json_is_one_object_per_line() {
    let line = printed(LogFormat::Json, "info", mail_a_card);
    let json: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(json["level"], "INFO");
    assert_eq!(json["target"], "pennyblack::telemetry::tests");
    assert_eq!(json["message"], "mailed");
    assert_eq!(json["order.id"], "cafe");
    assert_eq!(json["status"], 200);
    assert_eq!(json.as_object().unwrap().len(), 6);
}

#[test]
fn messages_of_other_crates_are_not_printed() {
    let line = printed(LogFormat::Text, "debug", || {
        debug!(target: "h2::codec", status = "Ada", "headers of Ada Lovelace");
        warn!(target: "webby", "Ada");
    });
    assert!(line.contains("DEBUG h2::codec:\n"), "{line}");
    assert!(line.contains(" WARN webby:\n"), "{line}");
    assert!(!line.contains("Ada"), "{line}");
}

#[test]
fn a_value_cannot_start_a_new_line() {
    let value = "a\nFORGED \u{1b}[31m \"quoted\" \\";
    let text = printed(LogFormat::Text, "info", || info!(code = value, "x"));
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    let json = printed(LogFormat::Json, "info", || info!(code = value, "x"));
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["code"], value);
}

#[test]
fn the_filter_can_disable_the_request_log_only() {
    let lines = printed(LogFormat::Text, "info,request=warn", || {
        info!(target: "request", "answered");
        warn!(target: "request", "failed");
        info!("listening");
    });
    assert!(!lines.contains("answered"), "{lines}");
    assert!(lines.contains("failed") && lines.contains("listening"), "{lines}");
}

#[test]
fn a_panic_is_logged_with_its_location_and_not_its_message() {
    let line = printed(LogFormat::Text, "info", || {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(log_panic));
        let caught = catch_unwind(AssertUnwindSafe(|| panic!("no such street: Ada Lovelace")));
        std::panic::set_hook(before);
        assert!(caught.is_err());
    });
    assert!(line.contains("ERROR pennyblack::telemetry: panicked location="), "{line}");
    assert!(line.contains("tests.rs:"), "{line}");
    assert!(!line.contains("Ada"), "{line}");
}
