//! How an answer is written into a snapshot: status, headers, and JSON on many lines.

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use serde_json::Value;

use super::service::Answer;
use super::variable_values::{between, replaced};

/// Headers that belong to the contract of an error. Others are tested where they are set.
const HEADERS: [&str; 8] = [
    "allow",
    "cache-control",
    "content-type",
    "payment-required",
    "ratelimit-policy",
    "retry-after",
    "www-authenticate",
    "x-service-api-version",
];

/// Answers one below the other, each with a title.
#[derive(Default)]
pub(super) struct Recording {
    text: String,
    /// Challenges that were written already, without their error.
    challenges: Vec<Value>,
}

impl Recording {
    pub(super) fn add(&mut self, title: &str, answer: &Answer) {
        let mut text = format!("## {title}\n\n{}\n", answer.status);
        for name in HEADERS {
            let value = answer.header(name);
            if !value.is_empty() {
                text.push_str(&format!("{name}: {}\n", self.header(name, value)));
            }
        }
        let body = body(answer);
        if !body.is_empty() {
            text.push_str(&format!("\n{}\n", body.trim_end()));
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let text = between(&replaced(&text), "\"facilitatorAddress\": \"", "\"", "address");
        self.text.push_str(&between(&text, "\"challengeId\": \"", "\"", "challenge-id"));
    }

    pub(super) fn text(self) -> String {
        self.text
    }

    fn header(&mut self, name: &str, value: &str) -> String {
        match name {
            "payment-required" => self.challenge(value),
            "retry-after" if value != "2" => "<seconds>".to_owned(),
            "www-authenticate" => {
                let value = between(value, " id=\"", "\"", "challenge-id");
                between(&request_decoded(&value), "opaque=\"", "\"", "opaque")
            }
            _ => value.to_owned(),
        }
    }

    /// A challenge is written in full once; after that, only its error.
    fn challenge(&mut self, value: &str) -> String {
        let json = BASE64_STANDARD.decode(value).unwrap();
        let whole: Value = serde_json::from_slice(&json).unwrap();
        let mut rest = whole.clone();
        let error = rest["error"].take();
        if self.challenges.contains(&rest) {
            return format!("base64 of the challenge above, with the error {error}");
        }
        self.challenges.push(rest);
        format!("base64 of\n{}", indented(&whole))
    }
}

/// The body with JSON indented, without what a page for people says.
pub(super) fn body(answer: &Answer) -> String {
    let kind = answer.header("content-type");
    if kind.contains("json") {
        return indented(&answer.json());
    }
    if kind.starts_with("text/html") {
        return "<page>".to_owned();
    }
    answer.body.clone()
}

/// The parameter `request` of an MPP challenge is the base64url of JSON.
fn request_decoded(challenge: &str) -> String {
    const START: &str = "request=\"";
    let Some((before, after)) = challenge.split_once(START) else { return challenge.to_owned() };
    let (encoded, after) = after.split_once('"').unwrap();
    let json = BASE64_URL_SAFE_NO_PAD.decode(encoded).unwrap();
    let json = String::from_utf8(json).unwrap();
    format!("{before}{START}<base64url of {json}>\"{after}")
}

fn indented(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap()
}
