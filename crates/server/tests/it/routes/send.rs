//! `/send` and `/orders/{publicOrderId}`: a person writes a card, sees it, and gets the payment page.

use std::fs;

use crate::fixture::http_client::{Reply, send_request};
use crate::fixture::sandbox::ProviderControl;
use crate::fixture::test_app::TestApp;

const FORMS: [(&str, &str); 4] =
    [("/send", "en"), ("/de/send", "de"), ("/es/send", "es"), ("/it/send", "it")];

/// One marked word for each field.
const CARD: &str = "picture=own&front_image_url=https%3A%2F%2Fimages.example.org%2Fmarkedpicture.jpg\
    &message=Markedmessage%0D%0Atwo+lines&name=Markedname&address=Markedstreet&city=Markedcity\
    &province=&postal_code=SW1Y+4LB&country=GB";

fn submit(app: &TestApp, path: &str, body: &str) -> Reply {
    let headers = [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "text/html")];
    app.request(&format!("POST {path}"), &headers, body)
}

/// The value of an attribute, without the escapes of the template.
fn attribute<'a>(html: &'a str, before: &str) -> Option<(String, &'a str)> {
    let (_, rest) = html.split_once(before)?;
    let (value, rest) = rest.split_once('"')?;
    Some((value.replace("&#x2f;", "/").replace("&amp;", "&"), rest))
}

#[test]
fn the_form_is_a_page_in_four_languages_that_also_accepts_post() {
    let app = TestApp::start("");
    for (path, language) in FORMS {
        let page = app.get(path);
        assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
        let html = page.text();
        assert!(html.contains(&format!("<html lang=\"{language}\">")), "{path}");
        assert_eq!(html.matches("<option value=").count(), 251, "{path}: countries and a prompt");
        let markdown = app.get_with(path, &[("Accept", "text/markdown")]);
        assert!(markdown.text().starts_with("# "), "{path}");
        let other = app.request(&format!("PUT {path}"), &[], "");
        assert_eq!((other.status, other.header("allow")), (405, "GET, HEAD, POST, OPTIONS"));
        assert!(app.get("/sitemap.xml").text().contains(&format!("{path}</loc>")), "{path}");
    }
}

#[test]
fn a_card_is_previewed_by_the_provider_and_then_gets_its_payment_page() {
    let app = TestApp::start("");
    let provider = ProviderControl::of(&app);
    let shown = submit(&app, "/de/send", &format!("{CARD}&step=preview"));
    assert_eq!((shown.status, shown.header("cache-control")), (200, "no-store"));
    let html = shown.text();
    let mut rest = html.split_once("class=\"proof-sides\"").unwrap().1;
    for _ in 0..2 {
        let (url, after) = attribute(rest, "<img src=\"").unwrap();
        rest = after;
        let origin = format!("http://{}", provider.0);
        assert!(shown.header("content-security-policy").contains(&origin), "{url}");
        let path = url.strip_prefix(&origin).unwrap();
        assert_eq!(send_request(provider.0, &format!("GET {path}"), &[], "").status, 200);
    }
    assert_eq!(provider.cards_accepted(), 0);
    let (quote, _) = attribute(&html, "name=\"quote_id\" value=\"").expect("the price has an id");

    let due = submit(&app, "/de/send", &format!("{CARD}&step=pay&quote_id={quote}"));
    assert_eq!((due.status, due.header("content-type")), (402, "text/html; charset=utf-8"));
    assert_eq!((due.header("cache-control"), due.header("content-language")), ("no-store", "de"));
    assert!(due.text().contains("<html lang=\"de\">"));
    let (charge, _) = attribute(&due.text(), "id=\"due-amount\">").unwrap();
    assert!(charge.starts_with("2,"), "{charge}");
    assert!(!due.header("payment-required").is_empty());
    let html = due.text();
    assert!(html.contains("id=\"paywall-data\"") && html.contains("Markedmessage"));
    let (order, _) = attribute(&html, "\"order\":\"").unwrap();
    let page = app.get_with(&format!("/orders/{order}"), &[("Accept-Language", "it")]);
    assert_eq!((page.status, page.header("content-language")), (200, "it"));
    assert!(page.text().contains("data-status=\"unpaid\""), "{}", page.text());
    assert!(!page.text().contains("Marked"));
    assert_eq!(app.get(&format!("/api/x402/orders/{order}")).json()["status"], "unpaid");
}

#[test]
fn the_payment_page_has_the_order_of_the_same_request_to_the_api() {
    let app = TestApp::start("");
    let due = submit(&app, "/send", &format!("{CARD}&step=pay")).text();
    let (order, _) = attribute(&due, "\"order\":\"").unwrap();
    let card = serde_json::json!({
        "front_image_url": "https://images.example.org/markedpicture.jpg",
        "message": "Markedmessage\ntwo lines",
        "recipient": {
            "name": "Markedname", "address": "Markedstreet", "city": "Markedcity",
            "province": "Markedcity", "postal_code": "SW1Y 4LB", "country": "GB",
        },
    });
    let asked = app.request("POST /api/x402/postcards", &[], &card.to_string());
    assert_eq!((asked.status, &asked.json()["public_order_id"]), (402, &order.into()));
}

#[test]
fn a_text_that_is_far_too_long_is_answered_with_the_form() {
    let app = TestApp::start("");
    let long = CARD.replace("Markedmessage", &"x".repeat(50_000));
    let reply = submit(&app, "/send", &long);
    assert_eq!(reply.status, 400);
    assert!(reply.text().contains("id=\"message-fault\""));
    assert_eq!(submit(&app, "/send", &"x".repeat(70_000)).status, 413);
}

#[test]
fn orders_that_do_not_exist_have_pages_too() {
    let app = TestApp::start("");
    for (id, status) in [("0".repeat(32), 404), ("zz".to_owned(), 400)] {
        let page = app.get_with(&format!("/orders/{id}"), &[("Accept-Language", "es")]);
        assert_eq!((page.status, page.header("content-language")), (status, "es"));
        assert!(page.text().contains("name=\"robots\" content=\"noindex\""));
    }
}

#[test]
fn no_log_line_and_no_file_contains_what_was_written() {
    let app = TestApp::start_with("", &[("PENNYBLACK_LOG", "trace")]);
    for body in [
        format!("{CARD}&step=preview"),
        format!("{CARD}&step=pay"),
        CARD.replace("country=GB", "country=Markedcountry"),
    ] {
        submit(&app, "/send", &body);
    }
    let log = app.log();
    assert!(log.contains("/send") && !log.to_lowercase().contains("marked"), "{log}");
    for entry in fs::read_dir(app.folder().join("data")).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).to_lowercase();
            assert!(!text.contains("marked"), "{}", path.display());
        }
    }
}

#[test]
fn a_closed_shop_says_so_and_keeps_the_card() {
    let app = TestApp::start("[provider]\nkind = \"none\"\n[sandbox]\nmixed = \"yes\"\n");
    for step in ["preview", "pay"] {
        let reply = submit(&app, "/it/send", &format!("{CARD}&step={step}"));
        assert_eq!(reply.status, 503, "{step}");
        let html = reply.text();
        assert!(html.contains("id=\"notice\"") && html.contains("Markedname"), "{step}");
    }
}
