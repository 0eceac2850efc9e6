//! The result of live checks, as a table or as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LiveStatus {
    Ok,
    /// It works, and needs attention.
    Warn,
    Fail,
    /// It was not checked.
    Skip,
}

impl LiveStatus {
    const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "WARN",
            Self::Fail => "FAIL",
            Self::Skip => "skip",
        }
    }
}

/// One check.
pub(super) struct LiveCheck {
    status: LiveStatus,
    /// What was checked.
    subject: String,
    found: String,
    /// What to do.
    remedy: Option<String>,
}

impl LiveCheck {
    pub(super) fn ok(subject: impl Into<String>, found: impl ToString) -> Self {
        let (status, found) = (LiveStatus::Ok, found.to_string());
        Self { status, subject: subject.into(), found, remedy: None }
    }

    pub(super) fn warn(
        subject: impl Into<String>,
        found: impl ToString,
        remedy: impl Into<String>,
    ) -> Self {
        Self { status: LiveStatus::Warn, ..Self::fail(subject, found, remedy) }
    }

    pub(super) fn fail(
        subject: impl Into<String>,
        found: impl ToString,
        remedy: impl Into<String>,
    ) -> Self {
        let (status, found) = (LiveStatus::Fail, found.to_string());
        Self { status, subject: subject.into(), found, remedy: Some(remedy.into()) }
    }

    pub(super) fn skip(subject: impl Into<String>, reason: impl ToString) -> Self {
        Self { status: LiveStatus::Skip, ..Self::ok(subject, reason) }
    }
}

pub(super) fn is_failed(checks: &[LiveCheck]) -> bool {
    count(checks, LiveStatus::Fail) > 0
}

fn count(checks: &[LiveCheck], status: LiveStatus) -> usize {
    checks.iter().filter(|check| check.status == status).count()
}

/// One line for each check.
pub(super) fn table(checks: &[LiveCheck]) -> String {
    let width = checks.iter().map(|check| check.subject.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for LiveCheck { status, subject, found, remedy } in checks {
        let remedy = remedy.as_ref().map_or(String::new(), |remedy| format!(" {remedy}"));
        writeln!(text, "{:<4}  {subject:<width$}  {found}.{remedy}", status.word())
            .expect("writing to a String cannot fail");
    }
    let (failed, warned) = (count(checks, LiveStatus::Fail), count(checks, LiveStatus::Warn));
    format!("{text}\n{} checks, {failed} failed, {warned} warnings\n", checks.len())
}

pub(super) fn json(checks: &[LiveCheck]) -> Value {
    let rows: Vec<Value> = checks
        .iter()
        .map(|LiveCheck { status, subject, found, remedy }| {
            json!({
                "status": status.word().to_lowercase(),
                "check": subject,
                "found": found,
                "remedy": remedy,
            })
        })
        .collect();
    json!({
        "checks": rows,
        "failed": count(checks, LiveStatus::Fail),
        "warnings": count(checks, LiveStatus::Warn),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_one_line_with_its_remedy() {
        let checks = [
            LiveCheck::ok("store", "schema 102"),
            LiveCheck::fail("base: gas", "0 ETH", "Send ETH."),
            LiveCheck::skip("names", "not configured"),
        ];
        let expected = "\
            ok    store      schema 102.\n\
            FAIL  base: gas  0 ETH. Send ETH.\n\
            skip  names      not configured.\n\
            \n3 checks, 1 failed, 0 warnings\n";
        assert_eq!(table(&checks), expected);
        assert!(is_failed(&checks) && !is_failed(&checks[..1]));
        let json = json(&checks);
        assert_eq!((&json["failed"], &json["checks"][1]["status"]), (&json!(1), &json!("fail")));
        assert_eq!(json["checks"][0]["remedy"], Value::Null);
    }
}
