//! The page for orders in every state, and in four languages.

use axum::body::{Body, to_bytes};
use http::Request;
use http::header::{ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_TYPE};
use order::lifecycle::Stored;
use order::lifecycle::event::Actor;
use order::model::mail::Promises;
use order::ports::Store;
use order::testing::contract::samples::{card_of, every_state, identity, mailed, offer};
use order::testing::fakes::fault_schedule::ExhaustiveFaults;
use order::testing::fakes::manual_time::ManualTime;
use order::testing::fakes::store::FakeStore;
use order::testing::fakes::world::FakeWorld;
use tower::ServiceExt;

use super::*;
use crate::discovery::fixtures::site_facts;
use crate::documents::site::Site;

async fn site(orders: &[Stored], mode: PaymentMode) -> Router {
    let store = FakeStore::default();
    for order in orders {
        store.record(order, &Actor::Checkout).await.unwrap();
    }
    let promises =
        Promises { idempotent_seconds: None, cancel_seconds: 0, visibility_lag_seconds: 0 };
    let clock = FakeWorld::new(
        Box::new(ExhaustiveFaults::default()),
        Box::new(ManualTime::default()),
        promises,
    );
    routes(OrderPageState {
        statuses: StatusReader { store: Arc::new(store), identity: identity(), clock },
        pages: Site::render(site_facts(), Timestamp(1_794_700_800)).unwrap().order_pages,
        mode,
        scheme: UrlScheme::Https,
        languages: Language::ALL.to_vec(),
    })
}

async fn get(site: &Router, target: &str, languages: &str) -> (Response, String) {
    let request = Request::builder().uri(format!("/orders/{target}"));
    let request = request.header(ACCEPT_LANGUAGE, languages).body(Body::empty()).unwrap();
    let mut response = site.clone().oneshot(request).await.unwrap();
    let body = to_bytes(std::mem::take(response.body_mut()), 1 << 20).await.unwrap();
    (response, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn every_state_has_a_page_without_personal_data() {
    for order in every_state(1) {
        let site = site(std::slice::from_ref(&order), PaymentMode::Live).await;
        let (response, html) = get(&site, &order.id().to_string(), "en").await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()[CONTENT_TYPE], "text/html; charset=utf-8");
        assert_eq!(response.headers()[CACHE_CONTROL], "private, no-cache");
        let view = View::of(&order);
        assert!(html.contains(&format!("data-status=\"{}\"", view.status.word())), "{view:?}");
        if let Some(payment) = &view.payment {
            assert!(html.contains(&payment.charged.to_string()), "{view:?}");
            assert!(html.contains(&payment.transaction), "{view:?}");
        }
        let card = card_of(1);
        let to = &card.recipient;
        for word in [card.message.as_str(), to.name.as_str(), to.address.as_str()] {
            assert!(!html.contains(word), "{view:?}");
        }
    }
}

#[tokio::test]
async fn the_language_is_that_of_the_query_or_of_the_browser() {
    let order = Stored::from(mailed(1));
    let site = site(std::slice::from_ref(&order), PaymentMode::Live).await;
    let id = order.id().to_string();
    for (target, accepted, expected) in [
        (id.clone(), "de-AT,en;q=0.8", "de"),
        (format!("{id}?lang=es"), "de", "es"),
        (format!("{id}?lang=fr"), "it", "it"),
        (id.clone(), "fr", "en"),
    ] {
        let (response, html) = get(&site, &target, accepted).await;
        assert_eq!(response.headers()[CONTENT_LANGUAGE], expected, "{target} {accepted}");
        assert!(html.contains(&format!("<html lang=\"{expected}\">")));
        assert_eq!(response.headers()["vary"], "Accept-Language");
        assert_eq!(response.headers()["x-robots-tag"], "noindex");
    }
}

#[tokio::test]
async fn only_real_payments_link_to_a_block_explorer() {
    let order = Stored::from(mailed(1));
    for (mode, linked) in [(PaymentMode::Live, true), (PaymentMode::Sandbox, false)] {
        let site = site(std::slice::from_ref(&order), mode).await;
        let (_, html) = get(&site, &order.id().to_string(), "en").await;
        assert_eq!(html.contains("basescan.org"), linked, "{mode:?}");
    }
}

#[tokio::test]
async fn an_unpaid_id_is_200_a_foreign_id_404_and_an_invalid_id_400() {
    let site = site(&[], PaymentMode::Live).await;
    let unpaid = offer(9).id.to_string();
    let (response, html) = get(&site, &unpaid, "en").await;
    assert_eq!(response.status(), StatusCode::OK);
    assert!(html.contains("Not paid"));
    let mut other = offer(9).id.bytes();
    other[15] ^= 1;
    let unknown = OrderId::from_bytes(other).to_string();
    for (id, status, text) in [
        (unknown.as_str(), 404, "No such order"),
        ("0x00", 400, "No such order"),
        ("%3Cscript%3E", 400, "No such order"),
        ("%ff", 400, "No such order"),
        (&unknown.to_uppercase(), 400, "No such order"),
    ] {
        let (response, html) = get(&site, id, "en").await;
        assert_eq!(response.status().as_u16(), status, "{id}");
        assert!(html.contains(text) && !html.contains(id), "{id}");
    }
}

#[test]
fn an_order_is_polled_until_nothing_can_change() {
    for (status, expected) in [
        (Status::PaymentUnconfirmed, Some(3)),
        (Status::Mailed, Some(600)),
        (Status::Delivered, None),
        (Status::Refunded, None),
    ] {
        assert_eq!(poll_seconds(status), expected, "{status:?}");
    }
}
