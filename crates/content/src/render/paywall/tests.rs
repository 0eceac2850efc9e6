//! The text of the paywall and the data for its script.

use serde_json::{Value as Json, json};

use super::*;
use crate::catalog::Catalog;
use crate::render::tests::{catalog, context};

const ORDER: &str = "9f2c1e7ab04d4d6c8a53f0e1d2b7c694";
const PAYEE: &str = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";
const ASSET: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const BASE: PayableNetwork<'static> =
    PayableNetwork { name: "Base", caip2: "eip155:8453", payee: PAYEE, asset: ASSET, node: None };

/// Text that could end a script, a string, an attribute or a comment.
const HOSTILE: &str = "</script><script>alert(1)</script><!--<script>-->]]>'\"\\\u{2028}\u{2029}\
    \u{0}\u{7f}\u{85}\r\n\t&lt;&#60;<img src=x onerror=alert(1)>{{ 4711 * 1009 }}{% raw %}😀é";

fn paywall<'a>(challenge: &'a str, body: &'a str) -> Paywall<'a> {
    Paywall {
        order: ORDER,
        maximum: "3.50",
        networks: &[BASE],
        challenge,
        request: UnpaidRequest { path: "/api/x402/postcards", body, idempotency_key: None },
        money: Money::Real,
    }
}

fn written(catalog: &Catalog, paywall: &Paywall<'_>) -> String {
    let renderer = Renderer::new(catalog, context()).unwrap();
    renderer.paywall().unwrap().write(paywall).unwrap()
}

/// The data as a browser passes it to the script.
fn script_data(html: &str) -> Json {
    let begin = "<script type=\"application/json\" id=\"paywall-data\">";
    let (_, rest) = html.split_once(begin).unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

#[test]
fn the_page_shows_price_payee_and_order() {
    let html = written(&catalog(), &paywall("{}", "{}"));
    for word in ["3.50", ORDER, "Base", PAYEE, ASSET, "/assets/wallet.js", "/assets/paywall.js"] {
        assert!(html.contains(word), "{word}");
    }
    assert!(html.contains(&format!("href=\"/api/x402/orders/{ORDER}\"")));
    assert_eq!(html.matches("<h1").count(), 1);
    assert!(!html.contains("{{") && !html.contains("style=\""));
}

#[test]
fn only_the_sandbox_says_that_payments_are_not_real() {
    let (catalog, real) = (catalog(), paywall("{}", "{}"));
    let play = Paywall { money: Money::Play, ..real };
    assert!(written(&catalog, &play).contains("sandbox"));
    assert!(!written(&catalog, &real).contains("sandbox"));
}

#[test]
fn the_script_gets_the_request_byte_for_byte() {
    let body = json!({ "message": HOSTILE }).to_string();
    for body in [body.as_str(), HOSTILE, "", "{\r\n\t\"a\" : 1e3}\n"] {
        let asked = paywall("{\"x402Version\":2}", body);
        let key = UnpaidRequest { idempotency_key: Some("a-key-of-16-chars"), ..asked.request };
        let node = PayableNetwork { node: Some("http://127.0.0.1:1/8453?a=1&b=<2>"), ..BASE };
        let html = written(&catalog(), &Paywall { request: key, networks: &[node], ..asked });
        let expected = json!({
            "order": ORDER,
            "challenge": { "x402Version": 2 },
            "networks": [{ "network": "eip155:8453", "name": "Base", "node": node.node }],
            "request": {
                "path": "/api/x402/postcards", "body": body,
                "idempotency_key": "a-key-of-16-chars",
            },
        });
        assert_eq!(script_data(&html), expected, "{body:?}");
    }
}

#[test]
fn the_callers_text_never_becomes_markup() {
    let challenge = json!({ "resource": { "description": HOSTILE } }).to_string();
    let quiet = written(&catalog(), &paywall("{}", "{}"));
    let hostile = Paywall { order: HOSTILE, ..paywall(&challenge, HOSTILE) };
    let named =
        PayableNetwork { name: HOSTILE, caip2: HOSTILE, payee: HOSTILE, asset: HOSTILE, ..BASE };
    let html = written(&catalog(), &Paywall { networks: &[named], maximum: HOSTILE, ..hostile });
    for mark in ["<script", "</script", "<img", "<!--", "-->"] {
        assert_eq!(html.matches(mark).count(), quiet.matches(mark).count(), "{mark}");
    }
    assert!(!html.contains("4753399"), "the caller's words were taken for a template");
    assert_eq!(script_data(&html)["challenge"]["resource"]["description"], HOSTILE);
}

#[test]
fn a_broken_template_is_found_at_start() {
    let catalog = catalog();
    let mut renderer = Renderer::new(&catalog, context()).unwrap();
    renderer.templates.add_template(TEMPLATE, "one\n{{ most|no_such_filter }}").unwrap();
    let fault = renderer.paywall().err().unwrap();
    assert!(fault.to_string().starts_with("templates/paywall.html: unknown filter"), "{fault}");
}
