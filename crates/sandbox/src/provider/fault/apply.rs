//! Applies a fault to a response.

use serde_json::{Value, json};

use crate::http::raw_response::{ConnectionEnd, RawResponse};
use crate::http::response::{EmulatedResponse, HTML};
use crate::provider::fault::effect::FaultEffect;
use crate::provider::fault::gzip;
use crate::provider::fault::rule::ProviderFaultRule;

/// The response after a fault.
pub(crate) enum FaultedResponse {
    Response(EmulatedResponse),
    /// Raw bytes that bypass the HTTP library.
    Raw(RawResponse),
}

const TOTALS: &[&str] =
    &["authorization_total", "grand_total", "order_total", "total_cost_in_cents"];
const PREVIEWS: &[&str] = &["previews", "thumbnails"];
/// A placeholder for JSON that `Value` cannot represent.
const GAP: &str = "\u{fffd}gap\u{fffd}";

/// The response with the fault applied. For a fault before the call takes effect, `good` is
/// only a template.
pub(crate) fn apply(rule: &ProviderFaultRule, good: EmulatedResponse) -> FaultedResponse {
    let length = good.body.len();
    match rule.kind.effect() {
        FaultEffect::Silence => FaultedResponse::Raw(RawResponse::silence()),
        FaultEffect::Reset => FaultedResponse::Raw(RawResponse::reset()),
        FaultEffect::Status(status) => FaultedResponse::Response(error(status)),
        FaultEffect::RuledStatus => FaultedResponse::Response(error(rule.status)),
        FaultEffect::ComeBackLater => {
            FaultedResponse::Response(error(429).with("retry-after", rule.seconds.to_string()))
        }
        FaultEffect::Page(status) => FaultedResponse::Response(page(status)),
        FaultEffect::Body(mangle) => {
            FaultedResponse::Response(EmulatedResponse { body: mangle(&good.body), ..good })
        }
        FaultEffect::Gzip => {
            let wrapped = EmulatedResponse { body: gzip::wrap(&good.body), ..good };
            FaultedResponse::Response(wrapped.with("content-encoding", "gzip"))
        }
        FaultEffect::Truncation => {
            let half = &good.body[..length / 2];
            FaultedResponse::Raw(RawResponse::prompt(
                [&good.head(&[length]), half].concat(),
                ConnectionEnd::Close,
            ))
        }
        FaultEffect::TwoLengths => {
            let head = good.head(&[length, length + 7]);
            FaultedResponse::Raw(RawResponse::prompt(
                [head, good.body].concat(),
                ConnectionEnd::Close,
            ))
        }
        FaultEffect::SlowBody => FaultedResponse::Raw(RawResponse::slow(
            good.head(&[length]),
            good.body,
            rule.milliseconds,
        )),
        FaultEffect::SlowHeaders => {
            let whole = [good.head(&[length]), good.body].concat();
            FaultedResponse::Raw(RawResponse::slow(Vec::new(), whole, rule.milliseconds))
        }
        FaultEffect::PreviewStore(other) => {
            FaultedResponse::Response(exchanged(good, PREVIEWS, &|good| {
                other.map(|text| like(good, text))
            }))
        }
        FaultEffect::Total(other) => FaultedResponse::Response(exchanged(good, TOTALS, &|total| {
            other(total.as_u64().unwrap_or_default())
        })),
        FaultEffect::LedgerFault(_) => FaultedResponse::Response(good),
    }
}

/// Replaces the preview URLs. If the good ones are objects of URLs, the replacements are
/// too, so that only the URLs are wrong.
fn like(good: &Value, text: &str) -> String {
    let (Some(shape), Ok(Value::Array(urls))) = (good[0].as_object(), serde_json::from_str(text))
    else {
        return text.to_owned();
    };
    let dressed = |url: &Value| shape.keys().map(|size| (size.clone(), url.clone())).collect();
    Value::Array(urls.iter().map(dressed).collect()).to_string()
}

/// Replaces the values of these fields at any depth. The replacement is JSON text, which
/// `Value` may not be able to represent.
fn exchanged(
    mut good: EmulatedResponse,
    names: &[&str],
    other: &dyn Fn(&Value) -> Option<String>,
) -> EmulatedResponse {
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

/// With the real provider's messages, as far as they are known.
fn error(status: u16) -> EmulatedResponse {
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
    EmulatedResponse::json(status, &body)
}

fn page(status: u16) -> EmulatedResponse {
    let page = "<!doctype html><title>Gateway</title><h1>Something went wrong</h1>\
                <p>A page of the sandbox, in place of an answer.</p>";
    EmulatedResponse::new(status, HTML, page)
}
