//! The door before the small world of the order crate.

use axum::body::{Body, to_bytes};
use http::header::{
    ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ALLOW,
};
use http::{Method, Request};
use order::model::mail::Promises;
use order::testing::fakes::fates::EveryFate;
use order::testing::fakes::still::Still;
use order::testing::fakes::world::World;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::*;

fn site() -> Router {
    let promises =
        Promises { idempotent_seconds: None, cancel_seconds: 0, visibility_lag_seconds: 0 };
    let still = Box::new(Still::default());
    let world = World::new(Box::new(EveryFate::default()), still, promises);
    let sellers = world.desk().sellers;
    routes(Some(Previews { provider: world.clone(), names: world, sellers }))
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
async fn a_good_card_is_shown_and_no_cache_keeps_it() {
    let (response, said) = ask(&site(), Method::POST, body().to_string()).await;
    assert_eq!(response.status(), StatusCode::OK, "{said}");
    assert!(!said["preview_urls"].as_array().unwrap().is_empty(), "{said}");
    assert_eq!(response.headers()[CACHE_CONTROL], "no-store");
}

#[tokio::test]
async fn a_seller_who_does_not_sell_here_is_refused_before_the_provider_sees_the_card() {
    let mut body = body();
    body["seller"] = json!("mallory");
    let (response, said) = ask(&site(), Method::POST, body.to_string()).await;
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    assert_eq!(said["error"]["code"], "seller_not_enabled");
    assert_eq!(response.headers()[ACCESS_CONTROL_EXPOSE_HEADERS], "Retry-After, X-Request-Id");
}

#[tokio::test(start_paused = true)]
async fn so_many_in_a_minute_and_nonsense_takes_nobodys_turn() {
    let site = site();
    for _ in 0..PREVIEWS {
        assert_eq!(ask(&site, Method::POST, "{}".into()).await.0.status(), 400);
        assert_eq!(ask(&site, Method::POST, body().to_string()).await.0.status(), 200);
    }
    let (response, said) = ask(&site, Method::POST, body().to_string()).await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(said["error"]["code"], "preview_busy");
    assert_eq!(response.headers()[RETRY_AFTER], "60");
    assert_eq!(response.headers()[ACCESS_CONTROL_EXPOSE_HEADERS], "Retry-After, X-Request-Id");
    // The contract: a preview that failed is no reason to pay.
    let words = said["error"]["message"].as_str().unwrap();
    assert!(words.contains("Do not send the card to be paid merely because of this"), "{words}");
    tokio::time::advance(std::time::Duration::from_secs(60)).await;
    assert_eq!(ask(&site, Method::POST, body().to_string()).await.0.status(), 200);
}

#[tokio::test]
async fn a_page_may_ask_first_and_other_methods_are_told_what_is_taken() {
    let (preflight, _) = ask(&site(), Method::OPTIONS, String::new()).await;
    assert_eq!(preflight.status(), StatusCode::NO_CONTENT);
    assert_eq!(preflight.headers()[ACCESS_CONTROL_ALLOW_METHODS], "POST, OPTIONS");
    let (get, _) = ask(&site(), Method::GET, String::new()).await;
    assert_eq!((get.status().as_u16(), &get.headers()[ALLOW]), (405, &"POST".parse().unwrap()));
}
