//! The preview endpoint over the fakes of the order crate.

use axum::body::{Body, to_bytes};
use http::header::{
    ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ALLOW,
};
use http::{Method, Request};
use order::checkout::Checkout;
use order::model::mail::Promises;
use order::model::money::{CEILING, Price};
use order::testing::fakes::fault_schedule::ExhaustiveFaults;
use order::testing::fakes::manual_time::ManualTime;
use order::testing::fakes::world::FakeWorld;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::*;

fn site() -> Router {
    let promises =
        Promises { idempotent_seconds: None, cancel_seconds: 0, visibility_lag_seconds: 0 };
    let still = Box::new(ManualTime::default());
    let world = FakeWorld::new(Box::new(ExhaustiveFaults::default()), still, promises);
    let Checkout { sellers, identity, .. } = world.process().checkout;
    let prices =
        vec![(TenderKind::X402, Price::UpTo(CEILING)), (TenderKind::Mpp, Price::Fixed(CEILING))];
    let (provider, names, clock) = (world.clone(), world.clone(), world);
    let previews = Previews { provider, names, sellers, identity, clock, prices };
    routes(Some(PreviewState::new(previews)))
}

fn body() -> Value {
    json!({
        "front_image_url": "https://images.example.org/sea.jpg",
        "message": "The sea says hello.",
        "recipient": {
            "name": "Ada Lovelace", "address": "12 St James's Square", "city": "London",
            "province": "London", "postal_code": "SW1Y 4JH", "country": "GB",
        },
    })
}

async fn ask(site: &Router, method: Method, body: String) -> (Response, Value) {
    let request = Request::builder().method(method).uri(PATH).body(Body::from(body)).unwrap();
    let mut response = site.clone().oneshot(request).await.unwrap();
    assert_eq!(response.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "*");
    let body = std::mem::take(response.body_mut());
    let bytes = to_bytes(body, 65_536).await.unwrap();
    (response, serde_json::from_slice(&bytes).unwrap_or_default())
}

#[tokio::test]
async fn a_valid_card_is_rendered_and_not_cached() {
    let (response, said) = ask(&site(), Method::POST, body().to_string()).await;
    assert_eq!(response.status(), StatusCode::OK, "{said}");
    assert!(!said["preview_urls"].as_array().unwrap().is_empty(), "{said}");
    assert_eq!(response.headers()[CACHE_CONTROL], "no-store");
}

#[tokio::test]
async fn a_preview_has_a_quote_for_each_way_of_paying_and_no_warning_without_cause() {
    let (_, said) = ask(&site(), Method::POST, body().to_string()).await;
    for (member, charge) in [("quote", "2.42"), ("mpp_quote", "3.50")] {
        let quote = &said[member];
        assert_eq!(quote["charge"], charge, "{said}");
        assert_eq!((&quote["maximum"], &quote["currency"]), (&json!("3.50"), &json!("USDC")));
        assert_eq!(quote["country"], "GB");
        assert_eq!(quote["id"].as_str().unwrap().len(), 64);
        assert!(quote["expires_at"].as_str().unwrap().ends_with('Z'), "{said}");
    }
    assert_eq!(said["warnings"], json!([]));
}

#[tokio::test]
async fn a_warning_has_a_code_a_field_and_a_message() {
    let mut body = body();
    body["recipient"]["postal_code"] = json!("12345");
    let (response, said) = ask(&site(), Method::POST, body.to_string()).await;
    assert_eq!(response.status(), StatusCode::OK);
    let warnings = said["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{said}");
    assert_eq!(warnings[0]["code"], "address_incomplete");
    assert_eq!(warnings[0]["field"], "recipient.postal_code");
    assert!(warnings[0]["message"].as_str().unwrap().contains("SW1Y 4LB"), "{said}");
}

#[tokio::test]
async fn a_seller_that_is_not_enabled_is_rejected_before_the_provider_is_called() {
    let mut body = body();
    body["seller"] = json!("mallory");
    let (response, said) = ask(&site(), Method::POST, body.to_string()).await;
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    assert_eq!(said["error"]["code"], "seller_not_enabled");
    assert_eq!(response.headers()[ACCESS_CONTROL_EXPOSE_HEADERS], "Retry-After, X-Request-Id");
}

#[tokio::test(start_paused = true)]
async fn previews_are_rate_limited_and_requests_without_a_preview_do_not_count() {
    let site = site();
    let mut refused = body();
    refused["seller"] = json!("mallory");
    for _ in 0..CALLS_PER_MINUTE {
        assert_eq!(ask(&site, Method::POST, "{}".into()).await.0.status(), 400);
        assert_eq!(ask(&site, Method::POST, refused.to_string()).await.0.status(), 403);
        assert_eq!(ask(&site, Method::POST, body().to_string()).await.0.status(), 200);
    }
    let (response, said) = ask(&site, Method::POST, body().to_string()).await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(said["error"]["code"], "preview_busy");
    assert_eq!(response.headers()[RETRY_AFTER], "60");
    assert_eq!(response.headers()[ACCESS_CONTROL_EXPOSE_HEADERS], "Retry-After, X-Request-Id");
    // The contract: do not pay because a preview failed.
    let message = said["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("Do not send a paid request merely because of this error"),
        "{message}"
    );
    tokio::time::advance(std::time::Duration::from_secs(60)).await;
    assert_eq!(ask(&site, Method::POST, body().to_string()).await.0.status(), 200);
}

#[tokio::test]
async fn preflights_are_answered_and_other_methods_get_405() {
    let (preflight, _) = ask(&site(), Method::OPTIONS, String::new()).await;
    assert_eq!(preflight.status(), StatusCode::NO_CONTENT);
    assert_eq!(preflight.headers()[ACCESS_CONTROL_ALLOW_METHODS], "POST, OPTIONS");
    let (get, _) = ask(&site(), Method::GET, String::new()).await;
    assert_eq!((get.status().as_u16(), &get.headers()[ALLOW]), (405, &"POST".parse().unwrap()));
}
