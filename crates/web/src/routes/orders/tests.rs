//! The response for orders in every state.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use http::Request;
use order::lifecycle::Stored;
use order::lifecycle::event::Actor;
use order::model::mail::Promises;
use order::ports::Store;
use order::testing::contract::samples::{card_of, every_state, identity, mailed, offer};
use order::testing::fakes::fault_schedule::ExhaustiveFaults;
use order::testing::fakes::manual_time::ManualTime;
use order::testing::fakes::store::FakeStore;
use order::testing::fakes::world::FakeWorld;
use serde_json::Value;
use tower::ServiceExt;

use super::*;

async fn site(orders: &[Stored]) -> Router {
    let shelf = FakeStore::default();
    for order in orders {
        shelf.record(order, &Actor::Checkout).await.unwrap();
    }
    let promises =
        Promises { idempotent_seconds: None, cancel_seconds: 0, visibility_lag_seconds: 0 };
    let clock = FakeWorld::new(
        Box::new(ExhaustiveFaults::default()),
        Box::new(ManualTime::default()),
        promises,
    );
    routes(StatusReader { store: Arc::new(shelf), identity: identity(), clock })
}

async fn ask(site: &Router, id: &str, known: &str) -> (Response, String) {
    let uri = format!("/api/x402/orders/{id}");
    let request = Request::builder().uri(uri).header(IF_NONE_MATCH, known);
    let request = request.body(Body::empty()).unwrap();
    let mut response = site.clone().oneshot(request).await.unwrap();
    let body = to_bytes(std::mem::take(response.body_mut()), 65_536).await.unwrap();
    (response, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn every_state_has_a_status_and_no_personal_data() {
    let orders = every_state(1);
    assert!(orders.len() >= 8);
    for order in orders {
        let site = site(std::slice::from_ref(&order)).await;
        let (response, body) = ask(&site, &order.id().to_string(), "").await;
        assert_eq!(response.status(), StatusCode::OK, "{body}");
        let said: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(said["id"], order.id().to_string());
        assert_eq!(said["status"], View::of(&order).status.word());
        let paid = View::of(&order).payment.is_some();
        assert_eq!((said["pricing"].is_object(), said["payment"].is_object()), (paid, paid));
        let card = card_of(1);
        let to = &card.recipient;
        for word in [card.message.as_str(), to.name.as_str(), to.address.as_str()] {
            assert!(!body.contains(word), "{body}");
        }
    }
}

#[tokio::test]
async fn a_matching_entity_tag_answers_304() {
    let order = Stored::from(mailed(1));
    let site = site(std::slice::from_ref(&order)).await;
    let id = order.id().to_string();
    let (first, _) = ask(&site, &id, "").await;
    let tag = first.headers()[ETAG].to_str().unwrap().to_owned();
    let (second, body) = ask(&site, &id, &tag).await;
    assert_eq!((second.status(), body.as_str()), (StatusCode::NOT_MODIFIED, ""));
    assert_eq!(ask(&site, &id, "\"0-unpaid\"").await.0.status(), StatusCode::OK);
}

#[tokio::test]
async fn an_unchanged_order_keeps_its_entity_tag_and_time() {
    let order = mailed(1);
    let mut looked_at = order.clone().looked(order.updated_at.plus(3_600));
    looked_at.version += 1;
    assert_ne!(looked_at, order);
    let (before, after) = (Stored::from(order), Stored::from(looked_at));
    let (first, told) = ask(&site(&[before]).await, &after.id().to_string(), "").await;
    let (second, told_later) =
        ask(&site(std::slice::from_ref(&after)).await, &after.id().to_string(), "").await;
    assert_eq!(told, told_later);
    assert_eq!(first.headers()[ETAG], second.headers()[ETAG]);
}

#[tokio::test]
async fn an_unpaid_id_answers_200_a_foreign_id_404_and_an_invalid_id_400() {
    let site = site(&[]).await;
    let unpaid = offer(9).id.to_string();
    let (response, body) = ask(&site, &unpaid, "").await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(body, format!(r#"{{"id":"{unpaid}","status":"unpaid"}}"#));
    let mut other = offer(9).id.bytes();
    other[15] ^= 1;
    let unknown = OrderId::from_bytes(other).to_string();
    let upper = unknown.to_uppercase();
    for (id, status, code) in [
        (unknown.as_str(), 404, "order_not_found"),
        (&unknown[1..], 400, "invalid_order_id"),
        ("0x00", 400, "invalid_order_id"),
        (&upper, 400, "invalid_order_id"),
        ("%00", 400, "invalid_order_id"),
        ("%ff", 400, "invalid_order_id"),
    ] {
        let (response, body) = ask(&site, id, "").await;
        assert_eq!(response.status().as_u16(), status, "{id}");
        assert!(body.contains(code), "{body}");
    }
}
