//! Valid and invalid bodies, with all faults in one response.

use axum::body::to_bytes;
use http::HeaderName;
use order::model::mail::Promises;
use order::testing::fakes::fault_schedule::ExhaustiveFaults;
use order::testing::fakes::manual_time::ManualTime;
use order::testing::fakes::world::FakeWorld;
use serde_json::{Value, json};

use super::*;
use crate::routes::refused::unread;

fn good() -> Value {
    json!({
        "front_image_url": "https://images.example.org/sea.jpg",
        "message": "The sea says hello.",
        "recipient": {
            "name": "Ada Lovelace", "address": "12 St James's Square", "city": "London",
            "province": "London", "postal_code": "SW1Y 4JH", "country": "GB",
        },
    })
}

fn promises() -> Promises {
    Promises { idempotent_seconds: None, cancel_seconds: 0, visibility_lag_seconds: 0 }
}

async fn refusal(body: &str, headers: HeaderMap) -> (u16, Value) {
    let still = ManualTime::default();
    let world = FakeWorld::new(Box::new(ExhaustiveFaults::default()), Box::new(still), promises());
    match read(world.as_ref(), &headers, body.as_bytes()) {
        Ok(_) => (200, Value::Null),
        Err(why) => {
            let response = unread(&why);
            let status = response.status().as_u16();
            let body = to_bytes(response.into_body(), 65_536).await.unwrap();
            (status, serde_json::from_slice(&body).unwrap())
        }
    }
}

fn fields(refusal: &Value) -> Vec<&str> {
    let fields = refusal["error"]["fields"].as_array().unwrap();
    fields.iter().map(|fault| fault["field"].as_str().unwrap()).collect()
}

fn keyed(values: &[&str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(IDEMPOTENCY_KEY, value.parse().unwrap());
    }
    headers
}

#[tokio::test]
async fn an_absent_body_is_a_postcard_with_every_field_missing() {
    let (status, told) = refusal("", HeaderMap::new()).await;
    assert_eq!((status, &told["error"]["code"]), (400, &json!("invalid_postcard")));
    let (_, empty) = refusal("{}", HeaderMap::new()).await;
    assert_eq!(told, empty);
    assert_eq!(fields(&told).len(), 8, "{told}");
    assert_eq!(refusal(" ", HeaderMap::new()).await.0, 500);
}

#[tokio::test]
async fn a_valid_body_is_parsed_and_unknown_members_are_ignored() {
    let mut body = good();
    body["gift"] = json!([1, 2.5, null, { "a": [true] }]);
    body["recipient"]["nickname"] = json!(-3);
    assert_eq!(refusal(&body.to_string(), HeaderMap::new()).await.0, 200);
}

/// The error example of the documentation is a real response.
#[tokio::test]
async fn the_error_example_of_the_documentation_is_a_real_response() {
    let page = include_str!("../../../../../content/pages/docs.en.md");
    let (_, errors) = page.split_once("## Errors").unwrap();
    let (_, example) = errors.split_once("```json").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let mut body = good();
    body.as_object_mut().unwrap().remove("message");
    body["recipient"]["country"] = json!("England");
    let (status, said) = refusal(&body.to_string(), HeaderMap::new()).await;
    assert_eq!((status, said), (400, serde_json::from_str(example).unwrap()));
}

#[tokio::test]
async fn all_invalid_fields_are_reported_together_without_their_values() {
    let body = json!({
        "front_image_url": "http://10.0.0.1/secret.png",
        "message": 7,
        "recipient": { "name": "", "address": ["Marked Street"], "country": "Marked" },
        "seller": "not.a.name",
        "operation_id": "short",
    });
    let (status, said) = refusal(&body.to_string(), HeaderMap::new()).await;
    assert_eq!((status, said["error"]["code"].as_str()), (400, Some("invalid_postcard")));
    let expected = [
        "front_image_url",
        "message",
        "recipient.name",
        "recipient.address",
        "recipient.city",
        "recipient.province",
        "recipient.postal_code",
        "recipient.country",
        "seller",
        "operation_id",
    ];
    assert_eq!(fields(&said), expected);
    let said = said.to_string();
    assert!(!said.contains("Marked") && !said.contains("10.0.0.1"), "{said}");
}

#[tokio::test]
async fn malformed_json_answers_500_and_another_type_answers_400() {
    for body in [" ", "{", "{\"message\":}", "\u{0}", "nul", "{\"a\":1}x", &"[".repeat(10_000)] {
        let (status, said) = refusal(body, HeaderMap::new()).await;
        assert_eq!((status, said["error"]["code"].as_str()), (500, Some("malformed_json")));
    }
    for body in ["[]", "\"card\"", "7", "null", "true", "-1.5e3"] {
        let (status, said) = refusal(body, HeaderMap::new()).await;
        assert_eq!((status, fields(&said)), (400, vec!["body"]), "{body}");
    }
}

#[tokio::test]
async fn a_duplicate_field_is_reported_once() {
    let body = good().to_string();
    let twice = body.replacen('{', r#"{"message":"again","#, 1);
    assert_eq!(fields(&refusal(&twice, HeaderMap::new()).await.1), ["message"]);
    let twice = body.replace(r#""city""#, r#""city":"Paris","city""#);
    assert_eq!(fields(&refusal(&twice, HeaderMap::new()).await.1), ["recipient.city"]);
}

#[tokio::test]
async fn the_identifier_may_be_in_header_and_body_if_both_are_equal() {
    let (one, other) = ("one-operation-of-mine", "another-operation-x");
    let mut named = good();
    named["operation_id"] = json!(one);
    let (bare, named) = (good().to_string(), named.to_string());
    for (body, header, status) in [
        (&bare, &[one][..], 200),
        (&named, &[], 200),
        (&named, &[one], 200),
        (&named, &[other], 400),
        (&bare, &[one, other], 400),
        (&bare, &["short"], 400),
    ] {
        let (found, said) = refusal(body, keyed(header)).await;
        assert_eq!(found, status, "{header:?}");
        if status == 400 {
            assert_eq!(said["error"]["code"], "invalid_payment_identifier");
        }
    }
}

#[tokio::test]
async fn a_quote_may_be_in_header_and_body_if_both_are_equal() {
    let (one, other) = ("0f".repeat(32), "1f".repeat(32));
    let quoted = |id: &str| {
        let mut body = good();
        body["quote_id"] = json!(id);
        body.to_string()
    };
    for (body, header, status) in [
        (good().to_string(), Some(&one), 200),
        (quoted(&one), None, 200),
        (quoted(&one), Some(&one), 200),
        (quoted(&one), Some(&other), 400),
        (quoted("short"), None, 400),
        (quoted(&one.to_uppercase()), None, 400),
        (good().to_string().replacen('{', r#"{"quote_id":7,"#, 1), None, 400),
    ] {
        let headers = header.map(|id| (HeaderName::from_static(QUOTE_ID), id.parse().unwrap()));
        let (found, said) = refusal(&body, HeaderMap::from_iter(headers)).await;
        assert_eq!(found, status, "{body} {header:?}");
        if status == 400 {
            assert_eq!(fields(&said), ["quote_id"]);
        }
    }
}
