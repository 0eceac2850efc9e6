//! The damage, done to an answer.

use serde_json::{Value, json};

use super::super::answer::{Answer, HTML};
use super::super::wire::plan::{End, Plan};
use super::damage::Damage;
use super::gzip;
use super::rule::Rule;

/// What goes to the caller.
pub(crate) enum Outcome {
    Answer(Answer),
    /// Bytes of our own, past the HTTP library.
    Wire(Plan),
}

const TOTALS: &[&str] =
    &["authorization_total", "grand_total", "order_total", "total_cost_in_cents"];
const PREVIEWS: &[&str] = &["previews", "thumbnails"];
/// Stands for a text that `Value` cannot hold, until the whole is written.
const GAP: &str = "\u{fffd}gap\u{fffd}";

/// The answer, spoiled. For a fault that strikes before the work, `good` is
/// only a sheet to write on.
pub(crate) fn spoil(rule: &Rule, good: Answer) -> Outcome {
    let length = good.body.len();
    match rule.kind.damage() {
        Damage::Silence => Outcome::Wire(Plan::silence()),
        Damage::Reset => Outcome::Wire(Plan::reset()),
        Damage::Status(status) => Outcome::Answer(error(status)),
        Damage::RuledStatus => Outcome::Answer(error(rule.status)),
        Damage::ComeBackLater => {
            Outcome::Answer(error(429).with("retry-after", rule.seconds.to_string()))
        }
        Damage::Page(status) => Outcome::Answer(page(status)),
        Damage::Body(mangle) => Outcome::Answer(Answer { body: mangle(&good.body), ..good }),
        Damage::Gzip => {
            let wrapped = Answer { body: gzip::wrap(&good.body), ..good };
            Outcome::Answer(wrapped.with("content-encoding", "gzip"))
        }
        Damage::Truncation => {
            let half = &good.body[..length / 2];
            Outcome::Wire(Plan::prompt([&good.head(&[length]), half].concat(), End::Close))
        }
        Damage::TwoLengths => {
            let head = good.head(&[length, length + 7]);
            Outcome::Wire(Plan::prompt([head, good.body].concat(), End::Close))
        }
        Damage::SlowBody => {
            Outcome::Wire(Plan::slow(good.head(&[length]), good.body, rule.milliseconds))
        }
        Damage::SlowHeaders => {
            let whole = [good.head(&[length]), good.body].concat();
            Outcome::Wire(Plan::slow(Vec::new(), whole, rule.milliseconds))
        }
        Damage::Previews(other) => {
            Outcome::Answer(exchanged(good, PREVIEWS, &|good| other.map(|text| like(good, text))))
        }
        Damage::Total(other) => Outcome::Answer(exchanged(good, TOTALS, &|total| {
            other(total.as_u64().unwrap_or_default())
        })),
        Damage::Twist(_) => Outcome::Answer(good),
    }
}

/// Pictures in place of good ones. Where those are objects of addresses, each of
/// these becomes such an object, so that nothing but the addresses is wrong.
fn like(good: &Value, text: &str) -> String {
    let (Some(shape), Ok(Value::Array(urls))) = (good[0].as_object(), serde_json::from_str(text))
    else {
        return text.to_owned();
    };
    let dressed = |url: &Value| shape.keys().map(|size| (size.clone(), url.clone())).collect();
    Value::Array(urls.iter().map(dressed).collect()).to_string()
}

/// The answer with other values under these names, wherever they are. What
/// the values become is written as JSON, so that they may be no JSON value.
fn exchanged(mut good: Answer, names: &[&str], other: &dyn Fn(&Value) -> Option<String>) -> Answer {
    let Ok(mut body) = serde_json::from_slice::<Value>(&good.body) else { return good };
    let mut written = Vec::new();
    exchange(&mut body, names, other, &mut written);
    let mut text = body.to_string();
    for other in written {
        text = text.replacen(&format!("\"{GAP}\""), &other, 1);
    }
    good.body = text.into_bytes();
    good
}

fn exchange(
    value: &mut Value,
    names: &[&str],
    other: &dyn Fn(&Value) -> Option<String>,
    written: &mut Vec<String>,
) {
    let Value::Object(fields) = value else { return };
    let found: Vec<String> = fields.keys().cloned().collect();
    for name in found {
        let Some(field) = fields.get_mut(&name) else { continue };
        if !names.contains(&name.as_str()) {
            exchange(field, names, other, written);
            continue;
        }
        match other(field) {
            Some(text) => {
                written.push(text);
                *field = Value::from(GAP);
            }
            None => {
                fields.remove(&name);
            }
        }
    }
}

/// In the words of the real provider, as far as they are known.
fn error(status: u16) -> Answer {
    let body = match status {
        401 => json!({ "message": "Unauthenticated." }),
        402 => json!({
            "status": "failed",
            "message": "API access is disabled because of failed payments.",
            "code": "api_disabled_payment_failures",
        }),
        429 => json!({ "message": "Too Many Attempts." }),
        500 => json!({ "message": "Error Submitting Mailer" }),
        _ => json!({ "message": "The sandbox was asked to answer with this status." }),
    };
    Answer::json(status, &body)
}

fn page(status: u16) -> Answer {
    let page = "<!doctype html><title>Gateway</title><h1>Something went wrong</h1>\
                <p>A page of the sandbox, in place of an answer.</p>";
    Answer::new(status, HTML, page)
}
