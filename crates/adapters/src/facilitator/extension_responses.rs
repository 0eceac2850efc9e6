//! What a facilitator reports about x402 extensions, such as whether its catalog lists this service.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::wire::PEER;
use crate::http::HttpResponse;

/// Base64 of a JSON object with one member for each extension.
const HEADER: &str = "extension-responses";
/// More than this is not a status.
const TEXT_CHARACTERS_MAX: usize = 80;
const EXTENSIONS_MAX: usize = 8;

/// One extension's status.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct ExtensionStatus {
    status: String,
    #[serde(default, rename = "rejectedReason", alias = "reason", alias = "error")]
    reason: Option<String>,
}

/// The last report on each extension. A report is logged when it differs from the last one, not
/// with each payment.
#[derive(Default)]
pub(super) struct ExtensionLog(Mutex<BTreeMap<String, ExtensionStatus>>);

impl ExtensionLog {
    pub(super) fn note(&self, answer: &HttpResponse) {
        for (extension, ExtensionStatus { status, reason }) in self.changed(answer) {
            if ["success", "processing", "accepted"].contains(&status.as_str()) {
                tracing::info!(
                    place = PEER,
                    kind = extension,
                    code = status,
                    "The facilitator reports on an x402 extension"
                );
            } else {
                tracing::warn!(
                    place = PEER,
                    kind = extension,
                    code = status,
                    reason,
                    "The facilitator rejects an x402 extension; its catalog may not list this service"
                );
            }
        }
    }

    #[cfg(test)]
    pub(super) fn last_status(&self, extension: &str) -> Option<String> {
        self.0.lock().unwrap().get(extension).map(|report| report.status.clone())
    }

    fn changed(&self, answer: &HttpResponse) -> Vec<(String, ExtensionStatus)> {
        let reports = read(answer).unwrap_or_default();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = Vec::new();
        for (extension, status) in reports {
            if known.get(&extension) != Some(&status) {
                known.insert(extension.clone(), status.clone());
                changed.push((extension, status));
            }
        }
        changed
    }
}

/// None if there is no report, or one that is not as documented.
fn read(answer: &HttpResponse) -> Option<BTreeMap<String, ExtensionStatus>> {
    let json = STANDARD.decode(answer.header(HEADER)?).ok()?;
    let reports: BTreeMap<String, ExtensionStatus> = serde_json::from_slice(&json).ok()?;
    let short = |(extension, report): (String, ExtensionStatus)| {
        let ExtensionStatus { status, reason } = report;
        let reason = reason.map(|reason| printable(&reason));
        (printable(&extension), ExtensionStatus { status: printable(&status), reason })
    };
    Some(reports.into_iter().take(EXTENSIONS_MAX).map(short).collect())
}

/// The text comes from outside: it is cut, and kept on one line.
fn printable(text: &str) -> String {
    let letters = text.chars().take(TEXT_CHARACTERS_MAX);
    letters.map(|letter| if matches!(letter, ' '..='~') { letter } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderMap, HeaderValue};

    use super::*;

    fn answer(header: &str) -> HttpResponse {
        let mut headers = HeaderMap::new();
        headers.insert(HEADER, HeaderValue::from_str(header).unwrap());
        HttpResponse { status: 200, headers, content_type: None, body: Vec::new() }
    }

    fn report(json: &str) -> HttpResponse {
        answer(&STANDARD.encode(json))
    }

    fn status(status: &str, reason: Option<&str>) -> ExtensionStatus {
        ExtensionStatus { status: status.into(), reason: reason.map(str::to_owned) }
    }

    #[test]
    fn a_report_is_logged_once_until_it_changes() {
        let log = ExtensionLog::default();
        let good = report(r#"{"bazaar":{"status":"success"}}"#);
        assert_eq!(log.changed(&good), [("bazaar".into(), status("success", None))]);
        assert_eq!(log.changed(&good), []);
        let bad = report(r#"{"bazaar":{"status":"rejected","rejectedReason":"no schema"}}"#);
        let rejected = status("rejected", Some("no schema"));
        assert_eq!(log.changed(&bad), [("bazaar".into(), rejected)]);
        assert_eq!(log.changed(&good).len(), 1);
    }

    #[test]
    fn any_other_header_is_ignored_and_text_stays_on_one_short_line() {
        let log = ExtensionLog::default();
        for header in ["", "no base64!", &STANDARD.encode("[]"), &STANDARD.encode("{\"a\":1}")] {
            assert_eq!(log.changed(&answer(header)), [], "{header}");
        }
        let long = format!(r#"{{"bazaar":{{"status":"a\nb{}"}}}}"#, "x".repeat(1_000));
        let changed = log.changed(&report(&long));
        let (_, ExtensionStatus { status, .. }) = &changed[0];
        assert!(status.starts_with("a?b") && status.len() == TEXT_CHARACTERS_MAX, "{status}");
    }
}
