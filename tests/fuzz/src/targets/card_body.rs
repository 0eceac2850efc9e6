//! The body of a postcard request at the three endpoints that read it.

use axum::body::Body;
use axum::http::Request;
use axum::http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::site::{Answer, FuzzedSite, MARKER, site};

/// The statuses of the contract for a request without a payment.
const X402: (&str, &[u16]) =
    ("/api/x402/postcards", &[400, 402, 403, 404, 409, 410, 500, 502, 503]);
const MPP: (&str, &[u16]) = ("/api/mpp/postcards", &[400, 402, 403, 404, 409, 410, 500, 502, 503]);
const PREVIEW: (&str, &[u16]) =
    ("/api/x402/postcards/preview", &[200, 400, 403, 404, 500, 502, 503]);

/// The largest body that these endpoints read.
const BODY_BYTES_MAX: usize = 16 * 1024;

/// Every endpoint that reads a card.
pub(crate) const ENDPOINTS: [(&str, &[u16]); 3] = [X402, MPP, PREVIEW];

pub(crate) fn run(data: &[u8]) {
    let Some((choice, body)) = super::choice(data) else { return };
    let endpoint = ENDPOINTS[usize::from(choice >> 4) % 3];
    let body = if choice & 1 == 0 { body.to_vec() } else { marked(body) };
    let client = if choice & 2 == 0 { Client::Program } else { Client::Browser };
    let site = site();
    let answer = post(&site, endpoint.0, client, &body);
    check(&answer, endpoint.1, &body);
    if answer.status == 402 && client == Client::Program {
        check_same_order(&site, endpoint.0, &answer, &body);
    }
    site.forget();
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let card = card();
    let mut named = card.clone();
    named["seller"] = json!("@alice");
    named["operation_id"] = json!("birthday-of-ada-1");
    named["quote_id"] = json!("0".repeat(64));
    let mut bodies = vec![card.to_string(), named.to_string()];
    bodies.extend([
        r#"{"message":"a","message":"b","recipient":{"name":"A","name":"B"}}"#.to_owned(),
        r#"{"front_image_url":"https://10.0.0.1/","message":"\u0000\ud83d\ude00","recipient":[]}"#
            .to_owned(),
        "{\"message\":".to_owned(),
        String::new(),
    ]);
    let choices = ["0", "1", "3", "@", "A", "P", "Q"];
    bodies
        .iter()
        .flat_map(|body| choices.map(|choice| format!("{choice}{body}").into_bytes()))
        .collect()
}

pub(crate) fn card() -> Value {
    json!({
        "front_image_url": "https://images.example.org/sea.jpg",
        "message": "The sea says hello.",
        "recipient": {
            "name": "Ada Lovelace",
            "address": "12 St James's Square",
            "city": "London",
            "province": "Greater London",
            "postal_code": "SW1Y 4LB",
            "country": "GB",
        },
    })
}

/// Sends a body and checks the answer. Returns its status.
#[cfg(test)]
pub(crate) fn post_and_check((path, statuses): (&str, &[u16]), body: &[u8]) -> u16 {
    let site = site();
    let answer = post(&site, path, Client::Program, body);
    check(&answer, statuses, body);
    site.forget();
    answer.status
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Client {
    Program,
    Browser,
}

fn post(site: &FuzzedSite, path: &str, client: Client, body: &[u8]) -> Answer {
    let mut request = Request::post(path).header(CONTENT_TYPE, "application/json");
    if client == Client::Browser {
        request = request.header(ACCEPT, "text/html").header(USER_AGENT, "Mozilla/5.0");
    }
    site.send(request.body(Body::from(body.to_vec())).expect("a request"))
}

fn check(answer: &Answer, statuses: &[u16], body: &[u8]) {
    let shown = || String::from_utf8_lossy(&answer.body).into_owned();
    assert!(
        statuses.contains(&answer.status),
        "{} is not in the contract: {}",
        answer.status,
        shown()
    );
    let text = std::str::from_utf8(body).unwrap_or("not text");
    let read = serde_json::from_str::<Value>(if text.is_empty() { "{}" } else { text });
    let is_json = read.is_ok() || serde_json::from_str::<&RawValue>(text).is_ok();
    if body.len() > BODY_BYTES_MAX {
        assert_eq!((answer.status, answer.code().as_str()), (500, "body_too_large"), "{}", shown());
    } else if !is_json || answer.status == 500 {
        assert_eq!((answer.status, answer.code().as_str()), (500, "malformed_json"), "{}", shown());
        // Half a surrogate pair and 1e999 are JSON by its grammar, but no text and no number.
        assert!(read.is_err(), "{}", shown());
    }
    let Ok(read) = read else { return };
    if matches!(answer.status, 402 | 200) {
        let required = [
            "/front_image_url",
            "/message",
            "/recipient/name",
            "/recipient/address",
            "/recipient/city",
            "/recipient/province",
            "/recipient/postal_code",
            "/recipient/country",
        ];
        let missing =
            required.iter().find(|path| !read.pointer(path).is_some_and(Value::is_string));
        assert_eq!(missing, None, "a card without it is accepted");
    }
}

/// The same JSON in another form is the same order, and the same request again is too.
fn check_same_order(site: &FuzzedSite, path: &str, first: &Answer, body: &[u8]) {
    let Ok(read) = serde_json::from_slice::<Value>(body) else { return };
    let id = |answer: &Answer| answer.json()["public_order_id"].as_str().map(str::to_owned);
    let order = id(first).expect("the id of the order");
    for form in [serde_json::to_vec(&read), serde_json::to_vec_pretty(&read)] {
        let form = form.expect("JSON");
        if form.len() <= BODY_BYTES_MAX {
            let again = post(site, path, Client::Program, &form);
            assert_eq!((again.status, id(&again).as_ref()), (402, Some(&order)));
        }
    }
}

/// The body with a marked word in every field that holds personal data.
fn marked(body: &[u8]) -> Vec<u8> {
    let Ok(mut read) = serde_json::from_slice::<Value>(body) else { return body.to_vec() };
    for path in [
        "/message",
        "/recipient/name",
        "/recipient/address",
        "/recipient/city",
        "/recipient/province",
        "/recipient/postal_code",
        "/front_image_url",
    ] {
        if let Some(Value::String(text)) = read.pointer_mut(path) {
            text.push_str(MARKER);
        }
    }
    read.to_string().into_bytes()
}
