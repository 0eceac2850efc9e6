//! The form over the fakes of the order crate.

use axum::body::{Body, to_bytes};
use http::Request;
use http::header::{CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_SECURITY_POLICY};
use order::checkout::Checkout;
use order::checkout::preview::Previews;
use order::model::country::CountryCode;
use order::model::ids::Timestamp;
use order::model::mail::Promises;
use order::model::money::Price;
use order::testing::fakes::fault_schedule::ExhaustiveFaults;
use order::testing::fakes::manual_time::ManualTime;
use order::testing::fakes::world::FakeWorld;
use pay::mode::PaymentMode;
use tower::ServiceExt;

use super::*;
use crate::discovery::fixtures::site_facts;
use crate::documents::site::Site;
use crate::http::limits::RequestLimits;
use crate::task_tracker::TaskTracker;

const CARD: &str = "picture=own&front_image_url=https%3A%2F%2Fimages.example.org%2Fsea.jpg\
                    &message=Dear+Ada%2C%0D%0Athe+sea+says+hello.&name=Ada+Lovelace\
                    &address=12+St+James%27s+Square&city=London&province=&postal_code=SW1Y+4LB\
                    &country=GB";

fn site() -> Router {
    site_with(|world| {
        let Checkout { sellers, identity, .. } = world.process().checkout;
        let prices = vec![(TenderKind::X402, Price::UpTo(CEILING))];
        let (provider, names, clock) = (world.clone(), world.clone(), world);
        let previews = Previews { provider, names, sellers, identity, clock, prices };
        Some(PreviewState::new(previews))
    })
}

fn site_with(previews: impl FnOnce(Arc<FakeWorld>) -> Option<Arc<PreviewState>>) -> Router {
    let promises =
        Promises { idempotent_seconds: None, cancel_seconds: 0, visibility_lag_seconds: 0 };
    let still = Box::new(ManualTime::default());
    let world = FakeWorld::new(Box::new(ExhaustiveFaults::default()), still, promises);
    let Site { card_form, paywall, .. } =
        Site::render(site_facts(), Timestamp(1_794_700_800)).unwrap();
    let (tasks, limits) = (TaskTracker::new(), RequestLimits::default());
    let [payment, _] = PaidEndpoint::both(None, paywall, &tasks, limits, PaymentMode::Live);
    routes(SendState {
        pages: card_form,
        previews: previews(world),
        payment,
        gallery: vec![GalleryUrl {
            name: "harbour".to_owned(),
            url: "https://shop.example.org/gallery/harbour.png".to_owned(),
        }],
        scheme: UrlScheme::Https,
    })
}

async fn submit(site: &Router, path: &str, body: &str) -> (Response, String) {
    let request = Request::builder().method("POST").uri(path);
    let request = request.body(Body::from(body.to_owned())).unwrap();
    let mut response = site.clone().oneshot(request).await.unwrap();
    let body = to_bytes(std::mem::take(response.body_mut()), 1 << 20).await.unwrap();
    (response, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn a_valid_card_gets_its_preview_its_price_and_the_way_to_pay() {
    let (response, html) = submit(&site(), "/send", &format!("{CARD}&step=preview")).await;
    assert_eq!(response.status(), StatusCode::OK, "{html}");
    assert_eq!(response.headers()[CACHE_CONTROL], "no-store");
    for part in [
        "id=\"proof\"",
        "2.42 USDC",
        "name=\"quote_id\"",
        "value=\"pay\"",
        "the sea says hello.",
        "Ada Lovelace",
    ] {
        assert!(html.contains(part), "{part}");
    }
    let policy = response.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.contains("img-src 'self' data: https://"), "{policy}");
}

#[tokio::test]
async fn faulty_fields_are_400_with_every_value_kept_in_the_language_of_the_path() {
    let faulty = CARD.replace("city=London", "city=+").replace("country=GB", "country=XX");
    for (path, language, text) in [
        ("/send", "en", "Choose the country from the list."),
        ("/de/send", "de", "aus der Liste"),
        ("/es/send", "es", "de la lista"),
        ("/it/send", "it", "dall’elenco"),
    ] {
        let (response, html) = submit(&site(), path, &faulty).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        assert_eq!(response.headers()[CONTENT_LANGUAGE], language);
        assert_eq!(response.headers()[CACHE_CONTROL], "no-store");
        assert!(html.contains(text), "{path}");
        for kept in ["value=\"Ada Lovelace\"", "the sea says hello."] {
            assert!(html.contains(kept), "{kept}");
        }
        assert!(html.contains("id=\"city-fault\"") && html.contains("id=\"country-fault\""));
        assert!(!html.contains("id=\"name-fault\"") && !html.contains("id=\"proof\""));
    }
}

#[tokio::test]
async fn a_value_that_is_far_too_long_is_repeated_in_part() {
    let (_, empty) = submit(&site(), "/send", "").await;
    let long = "%2F".repeat(10_000);
    let fields = ["front_image_url", "message", "name", "address", "city", "province"];
    let body = fields.map(|field| format!("{field}={long}")).join("&");
    let (response, html) = submit(&site(), "/send", &body).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let repeated = html.matches("&#x2f;").count() - empty.matches("&#x2f;").count();
    assert!((fields.len()..=fields.len() * 2_000).contains(&repeated), "{repeated}");
}

#[tokio::test]
async fn an_empty_form_names_every_field() {
    let (response, html) = submit(&site(), "/send", "").await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    for field in ["front_image_url", "message", "name", "address", "city", "postal_code", "country"]
    {
        assert!(html.contains(&format!("<li><a href=\"#{field}\">")), "{field}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_previews_applies_and_faulty_cards_do_not_count() {
    let site = site();
    for _ in 0..15 {
        assert_eq!(submit(&site, "/send", "").await.0.status(), 400);
        assert_eq!(submit(&site, "/de/send", CARD).await.0.status(), 200);
    }
    let (response, html) = submit(&site, "/send", CARD).await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(response.headers()[RETRY_AFTER], "60");
    assert!(
        html.contains("Too many previews at once. Try again in 60 seconds.")
            && html.contains("Ada Lovelace")
    );
}

#[tokio::test]
async fn without_a_provider_or_payments_the_form_says_so_and_keeps_the_card() {
    let site = site_with(|_| None);
    for (step, text) in
        [("preview", "Previews are not available"), ("pay", "Cards cannot be ordered here")]
    {
        let (response, html) = submit(&site, "/send", &format!("{CARD}&step={step}")).await;
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE, "{step}");
        assert!(html.contains(&format!("tabindex=\"-1\">{text}")), "{step}");
        assert!(html.contains("Ada Lovelace"));
    }
}

#[test]
fn every_text_that_is_named_exists_and_no_text_about_a_payment_denies_it() {
    let order = OrderId::from_bytes([7; 16]);
    let texts = site_facts().catalog.send;
    let field = |code, field| shown(&CardWarning { code, field, message: String::new() });
    let warnings = WarningCode::ALL.map(|code| field(code, "recipient.name"));
    assert_ne!(field(WarningCode::TextTooLong, "message"), warnings[0]);
    let in_play = [
        Refusal::PaymentInPlay(order),
        Refusal::PaymentUnconfirmed(order),
        Refusal::InProgress(order),
        Refusal::SubmissionUnresolved(order),
    ];
    let unknown = [Refusal::StoreBusy, Refusal::Internal, Refusal::NameServiceFailed];
    let unknown = unknown.iter().map(notice_text);
    let notices: Vec<&str> = in_play.iter().map(notice_text).chain(unknown).collect();
    for language in Language::ALL {
        let texts = texts.texts(language);
        for key in warnings.iter().flatten().chain(&notices) {
            assert!(texts.contains_key(*key), "{key} in {}", language.code());
        }
    }
    for key in notices {
        let text = &texts.texts(Language::En)[key];
        assert!(!text.contains("othing") && !text.contains("not charged"), "{text}");
    }
}

#[test]
fn the_card_of_the_form_is_the_request_of_the_api() {
    let gallery =
        [GalleryUrl { name: "harbour".to_owned(), url: "https://a.example/h".to_owned() }];
    let written = WrittenCard::read(CARD.as_bytes(), &gallery);
    let json: serde_json::Value = serde_json::from_slice(&written.json()).unwrap();
    assert_eq!(json["front_image_url"], "https://images.example.org/sea.jpg");
    assert_eq!(json["message"], "Dear Ada,\nthe sea says hello.");
    assert_eq!(json["recipient"]["province"], "London", "a country without provinces");
    let chosen = CARD.replace("picture=own", "picture=harbour");
    let written = WrittenCard::read(chosen.as_bytes(), &gallery);
    let json: serde_json::Value = serde_json::from_slice(&written.json()).unwrap();
    assert_eq!(json["front_image_url"], "https://a.example/h");
    assert_eq!(written.form().values.front_image_url, "https://images.example.org/sea.jpg");
}

#[test]
fn a_fault_is_described_by_its_cause() {
    let long = "x".repeat(101);
    for (field, value, expected) in [
        ("recipient.name", "", ("name", "error_name_missing")),
        ("recipient.city", &long, ("city", "error_city_too_long")),
        ("recipient.address", "a%07b", ("address", "error_line_characters")),
        ("message", "a%07b", ("message", "error_message_characters")),
    ] {
        let name = expected.0;
        let written = WrittenCard::read(format!("{name}={value}").as_bytes(), &[]);
        let fault = written.fault(field);
        assert_eq!((fault.field, fault.text.as_str()), expected);
    }
    let texts = site_facts().catalog.send;
    for (url, text) in [
        ("", "error_picture_missing"),
        ("sea.jpg", "error_picture_not_url"),
        ("http://images.example.org/", "error_picture_not_https"),
        ("https://a:b@images.example.org/", "error_picture_login"),
        ("https://images.example.org:8443/", "error_picture_port"),
        ("https://192.0.2.1/", "error_picture_numeric"),
        ("https://images.local/", "error_picture_private"),
        ("https://images.example.org./", "error_picture_host"),
    ] {
        let body = format!("front_image_url={url}");
        let fault = WrittenCard::read(body.as_bytes(), &[]).fault("front_image_url");
        assert_eq!(fault.text, text, "{url}");
        assert!(texts.texts(Language::En).contains_key(text), "{text}");
    }
}

#[test]
fn the_form_names_every_country_of_a_card() {
    let letters = 'A'..='Z';
    let codes =
        letters.clone().flat_map(|first| letters.clone().map(move |second| [first, second]));
    let codes = codes.map(String::from_iter).filter(|code| CountryCode::parse(code).is_ok());
    let codes: Vec<String> = codes.collect();
    for language in Language::ALL {
        let facts = site_facts();
        let named = facts.catalog.send.countries(language).iter();
        let mut named: Vec<String> = named.map(|country| country.code.clone()).collect();
        named.sort_unstable();
        assert_eq!(named, codes, "{}", language.code());
    }
}
