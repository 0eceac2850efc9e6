//! The paid endpoints over the fakes of the order crate, with a minimal payment protocol.

use axum::body::Body;
use http::StatusCode;
use http::header::{
    ACCEPT, ACCEPT_LANGUAGE, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, VARY,
};
use http_body_util::BodyExt;
use order::model::ids::Timestamp;
use order::model::mail::Promises;
use order::model::money::{CEILING, Cents, Price};
use order::model::payment::TenderKind;
use order::testing::fakes::fault_schedule::ExhaustiveFaults;
use order::testing::fakes::manual_time::ManualTime;
use order::testing::fakes::tender::FakeCredential;
use order::testing::fakes::world::FakeWorld;
use pay::x402::http_binding::PAYMENT_REQUIRED;
use serde_json::{Value, json};

use super::*;
use crate::app::postcard_limits;
use crate::discovery::fixtures::site_facts;
use crate::documents::document::PAGE_CSP;
use crate::documents::site::Site;

mod interrupted;
mod not_configured;
mod protocol;

use self::protocol::{HeaderProtocol, Interruption};

struct TestSite {
    world: Arc<FakeWorld>,
    tasks: TaskTracker,
    endpoints: [Arc<PaidEndpoint>; 2],
}

fn site() -> TestSite {
    site_with(&Interruption::None)
}

fn site_with(interruption: &Interruption) -> TestSite {
    let promises =
        Promises { idempotent_seconds: None, cancel_seconds: 0, visibility_lag_seconds: 0 };
    let still = Box::new(ManualTime::default());
    let world = FakeWorld::new(Box::new(ExhaustiveFaults::default()), still, promises);
    let x402 = Arc::new(HeaderProtocol::new(world.tender(TenderKind::X402), interruption));
    let tasks = TaskTracker::new();
    let page = paywall_page();
    let checkout = Arc::new(world.process().checkout);
    let mpp: Arc<dyn HttpBinding> =
        Arc::new(HeaderProtocol::new(world.tender(TenderKind::Mpp), interruption));
    let mpp = Some(mpp);
    let routes = PaidRoutes { checkout, x402, mpp, money: Money::Play, nodes: BTreeMap::new() };
    let limits = postcard_limits(RequestLimits::default());
    let endpoints = PaidEndpoint::both(Some(routes), page, &tasks, limits, PaymentMode::Live);
    TestSite { world, tasks, endpoints }
}

fn paywall_page() -> PaywallPage {
    Site::render(site_facts(), Timestamp(0)).unwrap().paywall
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

fn coin(site: &TestSite) -> (&'static str, String) {
    let deadline = site.world.process().writer().clock.now().0 + 3_600;
    let payee = *site.world.seller_address.lock().unwrap();
    let promise = FakeCredential { nonce: 7, most: 3_500_000, deadline, payee };
    ("coin", String::from_utf8(promise.credential().0).unwrap())
}

async fn answer(
    site: &TestSite,
    path: &str,
    method: Method,
    headers: &[(&str, String)],
) -> (Response<()>, Bytes) {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    let request = request.body(Body::from(body().to_string())).unwrap();
    serve(site, request).await
}

async fn serve(site: &TestSite, request: Request<Body>) -> (Response<()>, Bytes) {
    let path = request.uri().path();
    let endpoint = site.endpoints.iter().find(|endpoint| endpoint.path() == path).unwrap();
    let (parts, body) = endpoint.clone().respond(request).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (Response::from_parts(parts, ()), body)
}

async fn page(site: &TestSite, headers: &[(&str, String)]) -> (Response<()>, String) {
    let (response, bytes) = answer(site, X402, Method::POST, headers).await;
    (response, String::from_utf8(bytes.to_vec()).unwrap())
}

async fn ask(site: &TestSite, method: Method, headers: &[(&str, String)]) -> (Response<()>, Value) {
    ask_at(site, X402, method, headers).await
}

async fn ask_at(
    site: &TestSite,
    path: &str,
    method: Method,
    headers: &[(&str, String)],
) -> (Response<()>, Value) {
    let (response, bytes) = answer(site, path, method, headers).await;
    (response, serde_json::from_slice(&bytes).unwrap_or_default())
}

#[tokio::test]
async fn an_unpaid_request_is_paid_and_then_repeated() {
    let site = site();
    let (unpaid, order) = ask(&site, Method::POST, &[]).await;
    assert_eq!(unpaid.status(), StatusCode::PAYMENT_REQUIRED, "{order}");
    assert_eq!(unpaid.headers()[ACCESS_CONTROL_EXPOSE_HEADERS], X402_CORS.expose_headers.unwrap());
    let (paid, same) = ask(&site, Method::POST, &[coin(&site)]).await;
    assert_eq!((paid.status(), &same), (StatusCode::OK, &order));
    let (again, same) = ask(&site, Method::POST, &[]).await;
    assert_eq!((again.status(), &same), (StatusCode::OK, &order));
    assert_eq!(site.world.chain.lock().unwrap().transfers.len(), 1);
}

#[tokio::test]
async fn a_payment_identifier_belongs_to_one_card() {
    let site = site();
    let (_, order) = ask(&site, Method::POST, &[]).await;
    let (name, value) = coin(&site);
    let identified = [(name, format!("{value} pay_0123456789abcdef"))];
    let (paid, same) = ask(&site, Method::POST, &identified).await;
    assert_eq!((paid.status(), &same), (StatusCode::OK, &order));
    let mut other = body();
    other["message"] = json!("Another card.");
    let [(name, value)] = identified;
    let request = Request::builder().method(Method::POST).uri(X402).header(name, value);
    let request = request.body(Body::from(other.to_string())).unwrap();
    let (told, words) = serve(&site, request).await;
    assert_eq!(told.status(), StatusCode::CONFLICT);
    let words = str::from_utf8(&words).unwrap();
    assert!(words.starts_with("\"PaymentIdentifierUsed("), "{words}");
}

#[tokio::test]
async fn an_operation_identifier_belongs_to_one_card() {
    let site = site();
    let key = ("idempotency-key", "birthday-of-ada-1");
    let (_, named) = ask(&site, Method::POST, &[(key.0, key.1.to_owned())]).await;
    let (_, unnamed) = ask(&site, Method::POST, &[]).await;
    assert_ne!(named, unnamed);
    let mut other = body();
    other["message"] = json!("Another card.");
    let request = Request::builder().method(Method::POST).uri(X402).header(key.0, key.1);
    let (told, words) = serve(&site, request.body(Body::from(other.to_string())).unwrap()).await;
    assert_eq!(told.status(), StatusCode::CONFLICT);
    assert!(str::from_utf8(&words).unwrap().starts_with("\"DifferentRequest"), "{words:?}");
}

#[tokio::test]
async fn a_browser_gets_an_uncached_page_that_repeats_the_request() {
    let site = site();
    let html = (ACCEPT.as_str(), "text/html".to_owned());
    let key = ("idempotency-key", "birthday-of-ada-1".to_owned());
    let (response, page) = page(&site, &[html, key]).await;
    assert_eq!(response.status(), StatusCode::PAYMENT_REQUIRED);
    let headers = response.headers();
    assert_eq!(headers[CONTENT_TYPE], "text/html; charset=utf-8");
    let kept: Vec<_> = headers.get_all(CACHE_CONTROL).iter().collect();
    assert_eq!(kept, ["no-store"]);
    assert_eq!(headers[CONTENT_SECURITY_POLICY], PAGE_CSP);
    assert!(headers.contains_key(PAYMENT_REQUIRED));
    assert!(page.contains("birthday-of-ada-1") && page.contains("The sea says hello."), "{page}");
    assert!(page.contains("Base") && !page.contains("eip155:137"), "{page}");
}

#[tokio::test]
async fn the_page_is_in_the_language_that_the_browser_prefers() {
    let site = site();
    for (accept, expected) in [("de-AT, en;q=0.5", "de"), ("fr", "en"), ("it;q=0.2, es", "es")] {
        let html = (ACCEPT.as_str(), "text/html".to_owned());
        let language = (ACCEPT_LANGUAGE.as_str(), accept.to_owned());
        let (response, page) = page(&site, &[html, language]).await;
        assert_eq!(response.headers()[CONTENT_LANGUAGE], expected);
        assert_eq!(response.headers()[VARY], "Accept, Accept-Language, User-Agent");
        assert!(page.contains(&format!("<html lang=\"{expected}\">")), "{accept}");
    }
}

#[tokio::test]
async fn the_page_shows_the_quote_that_the_request_names() {
    let site = site();
    let checkout = site.world.process().checkout;
    let card = draft::read(&*checkout.names, &HeaderMap::new(), body().to_string().as_bytes());
    let card = card.unwrap_or_else(|_| panic!("the card is valid")).card;
    let (price, now) = (Price::UpTo(CEILING), checkout.writer.clock.now());
    let quote = checkout.identity.quote(&card, price, Cents(200), now).unwrap();
    let html = (ACCEPT.as_str(), "text/html".to_owned());
    let named = ("quote-id", quote.id.to_string());
    let (response, page) = page(&site, &[html, named]).await;
    assert_eq!(response.status(), StatusCode::PAYMENT_REQUIRED);
    assert!(page.contains(&format!("\"quoted\":\"{}\"", quote.charge)), "{page}");
    assert!(page.contains(&format!("\"quote_id\":\"{}\"", quote.id)));
}

#[tokio::test]
async fn contradicting_headers_are_rejected_before_the_body_is_parsed() {
    let site = site();
    let (response, said) = ask(&site, Method::POST, &[coin(&site), coin(&site)]).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert_eq!(said["error"]["code"], "payment_ambiguous");
}

#[tokio::test]
async fn during_shutdown_payments_are_rejected_and_challenges_are_sent() {
    let site = site();
    assert_eq!(site.tasks.shutdown(std::time::Duration::ZERO).await, 0);
    let (paid, _) = ask(&site, Method::POST, &[coin(&site)]).await;
    assert_eq!(paid.status(), StatusCode::SERVICE_UNAVAILABLE);
    let (unpaid, _) = ask(&site, Method::POST, &[]).await;
    assert_eq!(unpaid.status(), StatusCode::PAYMENT_REQUIRED);
    assert!(site.world.chain.lock().unwrap().transfers.is_empty());
}

#[tokio::test]
async fn preflights_are_answered_and_other_methods_get_405() {
    let site = site();
    let (preflight, _) = ask(&site, Method::OPTIONS, &[]).await;
    assert_eq!(preflight.status(), StatusCode::NO_CONTENT);
    let allowed = preflight.headers()[ACCESS_CONTROL_ALLOW_HEADERS].to_str().unwrap();
    for name in ["payment-signature", "access-control-expose-headers", "idempotency-key"] {
        assert!(allowed.contains(name), "{allowed}");
    }
    let (get, _) = ask(&site, Method::GET, &[]).await;
    assert_eq!((get.status().as_u16(), &get.headers()[ALLOW]), (405, &"POST".parse().unwrap()));
}

#[tokio::test]
async fn both_protocols_share_one_order_and_one_charge() {
    for (first, second) in [(X402, MPP), (MPP, X402)] {
        let site = site();
        let (unpaid, order) = ask_at(&site, first, Method::POST, &[]).await;
        assert_eq!(unpaid.status(), StatusCode::PAYMENT_REQUIRED);
        let (paid, same) = ask_at(&site, first, Method::POST, &[coin(&site)]).await;
        assert_eq!((paid.status(), &same), (StatusCode::OK, &order));
        for brings in [&[][..], &[coin(&site)]] {
            let (again, same) = ask_at(&site, second, Method::POST, brings).await;
            assert_eq!((again.status(), &same), (StatusCode::OK, &order));
        }
        assert_eq!(site.world.chain.lock().unwrap().transfers.len(), 1);
    }
}

#[tokio::test]
async fn mpp_exposes_its_headers_and_has_no_paywall_page() {
    let site = site();
    let html = (ACCEPT.as_str(), "text/html".to_owned());
    let (response, _) = ask_at(&site, MPP, Method::POST, &[html]).await;
    assert_eq!(response.status(), StatusCode::PAYMENT_REQUIRED);
    let exposed = response.headers()[ACCESS_CONTROL_EXPOSE_HEADERS].to_str().unwrap();
    for name in ["WWW-Authenticate", "Payment-Receipt", "PAYMENT-REQUIRED"] {
        assert!(exposed.contains(name), "{exposed}");
    }
    assert_eq!(response.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "*");
    assert!(!response.headers().contains_key(CONTENT_TYPE));
}

#[tokio::test]
async fn mpp_accepts_only_post_and_browser_preflights() {
    let site = site();
    let browser = ("access-control-request-method", "POST".to_owned());
    let (preflight, _) = ask_at(&site, MPP, Method::OPTIONS, &[browser]).await;
    assert_eq!(preflight.status(), StatusCode::NO_CONTENT);
    let allowed = preflight.headers()[ACCESS_CONTROL_ALLOW_HEADERS].to_str().unwrap();
    for name in ["authorization", "payment-authorization", "payment-signature", "accept-payment"] {
        assert!(allowed.split(", ").any(|listed| listed == name), "{allowed}");
    }
    let trace = Method::from_bytes(b"TRACE").unwrap();
    let own = Method::from_bytes(b"PAY").unwrap();
    for method in [
        Method::GET,
        Method::HEAD,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
        trace,
        own,
    ] {
        let (response, said) = ask_at(&site, MPP, method.clone(), &[]).await;
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert_eq!(response.headers()[ALLOW], "POST", "{method}");
        if method != Method::HEAD {
            assert_eq!(said["error"]["code"], "method_not_allowed", "{method}");
        }
    }
}

#[tokio::test]
async fn malformed_json_is_rejected_by_both_endpoints() {
    let site = site();
    for path in [X402, MPP] {
        let request = Request::post(path).body(Body::from("{")).unwrap();
        let (response, body) = serve(&site, request).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let said: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(said["error"]["code"], "malformed_json");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_arrive_times_out() {
    let site = site();
    for path in [X402, MPP] {
        // A body that never ends.
        let begun = http_body_util::Empty::new();
        let endless = Body::new(begun.with_trailers(std::future::pending()));
        let (response, body) = serve(&site, Request::post(path).body(endless).unwrap()).await;
        // The contract has no 408 here.
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        let said: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(said["error"]["code"], "body_too_slow");
        assert_eq!(response.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "*");
    }
}
