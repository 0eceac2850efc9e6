//! The door before the small world of the order crate, with paper as plain as can be.

use async_trait::async_trait;
use axum::body::Body;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use http::header::{
    ACCEPT, ACCESS_CONTROL_ALLOW_HEADERS, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
};
use http_body_util::BodyExt;
use order::model::mail::Promises;
use order::model::money::{Price, Usdc};
use order::model::payment::{
    Authorization, Credential, CredentialKeys, Payment, Preparation, Settlement, TenderKind, Terms,
    Trace,
};
use order::ports::Failure;
use order::tender::{Rejection, Tender, Unsettled};
use order::testing::fakes::chain::{Promise, Till};
use order::testing::fakes::fates::EveryFate;
use order::testing::fakes::still::Still;
use order::testing::fakes::world::World;
use pay::envelope::{Muddle, verdict};
use pay::x402::envelope::PAYMENT_REQUIRED;
use serde_json::{Value, json};

use super::*;
use crate::discovery::samples::premises;
use crate::document::PAGE_POLICY;
use crate::publish;

mod closed;
mod trouble;

use self::trouble::Trouble;

/// A way of paying with one header each way.
struct Paper(Till, Trouble);

#[async_trait]
impl Tender for Paper {
    fn kind(&self) -> TenderKind {
        self.0.kind()
    }

    fn price(&self) -> Price {
        self.0.price()
    }

    fn keys(&self, credential: &Credential) -> CredentialKeys {
        self.0.keys(credential)
    }

    fn read(&self, credential: Credential, terms: &Terms) -> Result<Authorization, Rejection> {
        self.0.read(credential, terms)
    }

    async fn verify(&self, authorization: &Authorization) -> Result<(), Rejection> {
        self.0.verify(authorization).await
    }

    async fn prepare(
        &self,
        authorization: &Authorization,
        charge: Usdc,
        earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
        self.0.prepare(authorization, charge, earlier).await
    }

    async fn settle(&self, payment: &Payment) -> Result<Settlement, Unsettled> {
        self.1.comes().await;
        self.0.settle(payment).await
    }

    async fn trace(&self, payment: &Payment, told: Option<&str>) -> Result<Trace, Failure> {
        self.0.trace(payment, told).await
    }
}

impl Envelope for Paper {
    fn open(&self, headers: &HeaderMap, _: &[u8]) -> Result<Opened, Muddle> {
        let given: Vec<_> = headers.get_all("coin").into_iter().collect();
        if given.len() > 1 {
            return Err(Muddle::of_headers("two_coins", "Send one."));
        }
        let credential = given.first().map(|coin| Credential(coin.as_bytes().to_vec()));
        let person = headers.get(ACCEPT).is_some_and(|accept| accept == "text/html");
        let reader = if person { Reader::Person } else { Reader::Program };
        Ok(Opened { credential, reader })
    }

    fn turn_away(&self, muddle: &Muddle) -> Sealed {
        let body = json!({ "error": { "code": muddle.code } }).to_string().into_bytes();
        Sealed { status: muddle.status, headers: HeaderMap::new(), body }
    }

    fn seal(&self, said: &Result<Outcome, Refusal>, _: &Context<'_>) -> Sealed {
        let (status, body) = match said {
            Ok(Outcome::Due(offer)) => (StatusCode::PAYMENT_REQUIRED, offer.order.to_string()),
            Ok(Outcome::Paid { order, .. }) => (StatusCode::OK, order.to_string()),
            Err(refusal) => (verdict(refusal).status, format!("{refusal:?}")),
        };
        let challenge = STANDARD.encode(r#"{"accepts":[{"network":"eip155:8453"}]}"#);
        let challenge = (PAYMENT_REQUIRED, challenge.parse().unwrap());
        let keep = (CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let headers = HeaderMap::from_iter([challenge, keep]);
        Sealed { status, headers, body: json!(body).to_string().into_bytes() }
    }
}

struct Site {
    world: Arc<World>,
    walks: Walks,
    doors: Doors,
}

fn site() -> Site {
    site_with(&Trouble::Never)
}

fn site_with(trouble: &Trouble) -> Site {
    let promises =
        Promises { idempotent_seconds: None, cancel_seconds: 0, visibility_lag_seconds: 0 };
    let still = Box::new(Still::default());
    let world = World::new(Box::new(EveryFate::default()), still, promises);
    let x402 = Arc::new(Paper(world.till(TenderKind::X402), trouble.clone()));
    let walks = Walks::new();
    let page = publish::everything(&premises(), 0).unwrap().paywall;
    let desk = Arc::new(world.desk());
    let mpp: Arc<dyn Envelope> = Arc::new(Paper(world.till(TenderKind::Mpp), trouble.clone()));
    let mpp = Some(mpp);
    let sending = Sending { desk, x402, mpp, money: Money::Play, nodes: BTreeMap::new() };
    let doors = Doors::new(
        Some(sending),
        page,
        walks.clone(),
        crate::card_limits(Limits::default()),
        Mode::Live,
    );
    Site { world, walks, doors }
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

fn coin(site: &Site) -> (&'static str, String) {
    let deadline = site.world.desk().clock.now().0 + 3_600;
    let payee = *site.world.seller_address.lock().unwrap();
    let promise = Promise { nonce: 7, most: 3_500_000, deadline, payee };
    ("coin", String::from_utf8(promise.credential().0).unwrap())
}

async fn answer(
    site: &Site,
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

async fn serve(site: &Site, request: Request<Body>) -> (Response<()>, Bytes) {
    let counter = site.doors.at(request.uri().path()).unwrap();
    let (parts, body) = counter.clone().serve(request).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (Response::from_parts(parts, ()), body)
}

async fn page(site: &Site, headers: &[(&str, String)]) -> (Response<()>, String) {
    let (response, bytes) = answer(site, X402, Method::POST, headers).await;
    (response, String::from_utf8(bytes.to_vec()).unwrap())
}

async fn ask(site: &Site, method: Method, headers: &[(&str, String)]) -> (Response<()>, Value) {
    ask_at(site, X402, method, headers).await
}

async fn ask_at(
    site: &Site,
    path: &str,
    method: Method,
    headers: &[(&str, String)],
) -> (Response<()>, Value) {
    let (response, bytes) = answer(site, path, method, headers).await;
    (response, serde_json::from_slice(&bytes).unwrap_or_default())
}

#[tokio::test]
async fn a_card_is_asked_for_paid_and_found_again() {
    let site = site();
    let (unpaid, order) = ask(&site, Method::POST, &[]).await;
    assert_eq!(unpaid.status(), StatusCode::PAYMENT_REQUIRED, "{order}");
    assert_eq!(unpaid.headers()[ACCESS_CONTROL_EXPOSE_HEADERS], AT_X402.exposed);
    let (paid, same) = ask(&site, Method::POST, &[coin(&site)]).await;
    assert_eq!((paid.status(), &same), (StatusCode::OK, &order));
    let (again, same) = ask(&site, Method::POST, &[]).await;
    assert_eq!((again.status(), &same), (StatusCode::OK, &order));
    assert_eq!(site.world.chain.lock().unwrap().transfers.len(), 1);
}

#[tokio::test]
async fn the_identifier_of_a_payment_belongs_to_one_card() {
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
async fn a_named_operation_takes_one_card() {
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
    assert!(str::from_utf8(&words).unwrap().starts_with("\"DifferentRequest("), "{words:?}");
}

#[tokio::test]
async fn a_person_gets_a_page_that_nobody_keeps_and_that_repeats_the_request() {
    let site = site();
    let html = (ACCEPT.as_str(), "text/html".to_owned());
    let key = ("idempotency-key", "birthday-of-ada-1".to_owned());
    let (response, page) = page(&site, &[html, key]).await;
    assert_eq!(response.status(), StatusCode::PAYMENT_REQUIRED);
    let headers = response.headers();
    assert_eq!(headers[CONTENT_TYPE], "text/html; charset=utf-8");
    let kept: Vec<_> = headers.get_all(CACHE_CONTROL).iter().collect();
    assert_eq!(kept, ["no-store"]);
    assert_eq!(headers[CONTENT_SECURITY_POLICY], PAGE_POLICY);
    assert!(headers.contains_key(PAYMENT_REQUIRED));
    assert!(page.contains("birthday-of-ada-1") && page.contains("The sea says hello."), "{page}");
    assert!(page.contains("Base") && !page.contains("eip155:137"), "{page}");
}

#[tokio::test]
async fn contradicting_headers_are_named_before_anything_is_read() {
    let site = site();
    let (response, said) = ask(&site, Method::POST, &[coin(&site), coin(&site)]).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert_eq!(said["error"]["code"], "two_coins");
}

#[tokio::test]
async fn a_closing_house_takes_no_money_and_still_tells_the_price() {
    let site = site();
    assert_eq!(site.walks.finish(std::time::Duration::ZERO).await, 0);
    let (paid, _) = ask(&site, Method::POST, &[coin(&site)]).await;
    assert_eq!(paid.status(), StatusCode::SERVICE_UNAVAILABLE);
    let (unpaid, _) = ask(&site, Method::POST, &[]).await;
    assert_eq!(unpaid.status(), StatusCode::PAYMENT_REQUIRED);
    assert!(site.world.chain.lock().unwrap().transfers.is_empty());
}

#[tokio::test]
async fn a_page_may_ask_first_and_other_methods_are_told_what_is_taken() {
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
async fn both_doors_lead_to_one_order_and_one_charge() {
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
async fn mpp_shows_pages_its_headers_and_has_no_page_of_its_own() {
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
async fn mpp_takes_post_and_nothing_else_but_a_browser_that_asks_first() {
    let site = site();
    let asks_first = ("access-control-request-method", "POST".to_owned());
    let (preflight, _) = ask_at(&site, MPP, Method::OPTIONS, &[asks_first]).await;
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
async fn a_body_that_is_no_json_is_turned_away_at_both_doors() {
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
async fn a_body_that_does_not_come_is_given_up() {
    let site = site();
    for path in [X402, MPP] {
        // A body that is announced and never comes.
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
