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
        quoted: None,
        networks: &[BASE],
        challenge,
        request: UnpaidRequest {
            path: "/api/x402/postcards",
            body,
            idempotency_key: None,
            quote_id: None,
        },
        money: Money::Real,
    }
}

fn written(catalog: &Catalog, paywall: &Paywall<'_>) -> String {
    written_in(Language::En, catalog, paywall)
}

fn written_in(language: Language, catalog: &Catalog, paywall: &Paywall<'_>) -> String {
    let renderer = Renderer::new(catalog, context()).unwrap();
    renderer.paywall().unwrap().write(language, paywall).unwrap()
}

/// The data as a browser passes it to the script.
fn script_data(html: &str) -> Json {
    json_element(html, "paywall-data")
}

fn json_element(html: &str, id: &str) -> Json {
    let begin = format!("<script type=\"application/json\" id=\"{id}\">");
    let (_, rest) = html.split_once(&begin).unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

#[test]
fn the_page_shows_price_payee_and_order() {
    let html = written(&catalog(), &paywall("{}", "{}"));
    for word in ["3.50", ORDER, "Base", PAYEE, ASSET, "/assets/wallet.js", "/assets/paywall.js"] {
        assert!(html.contains(word), "{word}");
    }
    assert!(html.contains(&format!("href=\"/orders/{ORDER}?lang=en\"")));
    assert_eq!(html.matches("<h1").count(), 1);
    assert!(!html.contains("{{") && !html.contains("style=\""));
}

#[test]
fn every_language_has_its_own_page_without_open_placeholders() {
    let catalog = catalog();
    let mut seen = Vec::new();
    for language in Language::ALL {
        let html = written_in(language, &catalog, &paywall("{}", "{}"));
        assert!(html.contains(&format!("<html lang=\"{}\">", language.code())));
        let (page, _) = html.split_once("<script").unwrap();
        let (_, body) = html.split_once("<body").unwrap();
        let open = format!("{page}{body}");
        assert!(!open.contains('{') && !open.contains("%7B"), "{}", language.code());
        let most = amount(language, "3.50");
        assert!(body.contains(&most), "{most}");
        let heading = body.split("<h1 id=\"head-title\">").nth(1).unwrap();
        seen.push(heading.split('<').next().unwrap().to_owned());
        let texts = json_element(&html, "paywall-texts");
        assert_eq!(texts["reasons"]["contract_wallet_not_deployed"], "smart_undeployed");
        assert!(texts["words"]["say_sign"].as_str().is_some_and(|text| text.contains("{network}")));
    }
    seen.dedup();
    assert_eq!(seen.len(), 4, "{seen:?}");
}

#[test]
fn a_quote_is_shown_with_the_maximum() {
    let catalog = catalog();
    let quoted = Paywall { quoted: Some("2.42"), ..paywall("{}", "{}") };
    let html = written_in(Language::It, &catalog, &quoted);
    let (_, body) = html.split_once("<body").unwrap();
    assert!(body.contains(">2,42 USDC</h2>") && body.contains("3,50"), "{body}");
    assert!(!written(&catalog, &paywall("{}", "{}")).contains("2.42"));
}

#[test]
fn only_the_sandbox_says_that_payments_are_not_real() {
    let (catalog, real) = (catalog(), paywall("{}", "{}"));
    let play = Paywall { money: Money::Play, ..real };
    let says = |html: &str| html.split_once("<body").unwrap().1.contains("holds real money");
    assert!(says(&written(&catalog, &play)));
    assert!(!says(&written(&catalog, &real)));
}

#[test]
fn the_script_gets_the_request_byte_for_byte() {
    let body = json!({ "message": HOSTILE }).to_string();
    for body in [body.as_str(), HOSTILE, "", "{\r\n\t\"a\" : 1e3}\n"] {
        let asked = paywall("{\"x402Version\":2}", body);
        let key = UnpaidRequest {
            idempotency_key: Some("a-key-of-16-chars"),
            quote_id: Some("00ff"),
            ..asked.request
        };
        let node = PayableNetwork { node: Some("http://127.0.0.1:1/8453?a=1&b=<2>"), ..BASE };
        let paywall = Paywall { request: key, networks: &[node], quoted: Some("2.42"), ..asked };
        let html = written_in(Language::De, &catalog(), &paywall);
        let expected = json!({
            "language": "de",
            "decimal_sign": ",",
            "form_path": "/de/send",
            "order": ORDER,
            "quoted": "2.42",
            "challenge": { "x402Version": 2 },
            "networks": [{ "network": "eip155:8453", "name": "Base", "node": node.node }],
            "request": {
                "path": "/api/x402/postcards", "body": body,
                "idempotency_key": "a-key-of-16-chars", "quote_id": "00ff",
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
    renderer.templates.add_template(TEMPLATE, "one\n{{ order|no_such_filter }}").unwrap();
    let fault = renderer.paywall().err().unwrap();
    assert!(fault.to_string().starts_with("templates/paywall.html: unknown filter"), "{fault}");
}

fn asset(catalog: &Catalog, file: &str) -> String {
    String::from_utf8(catalog.asset(file).unwrap().into_owned()).unwrap()
}

#[test]
fn every_text_of_the_template_is_filled_in() {
    let catalog = catalog();
    let template = asset(&catalog, &format!("templates/{TEMPLATE}"));
    let texts = PageTexts::new(catalog.send.texts(Language::En));
    let (plain, linked) = (texts.filled(&[]), texts.linked(&[]));
    let name = |rest: &str| rest.split([' ', '|', '}']).next().unwrap().to_owned();
    let named: Vec<String> = template.split("{{ t.").skip(1).map(name).collect();
    assert!(named.len() > 30, "{named:?}");
    for key in named {
        assert!(plain.contains_key(&key), "{key}");
    }
    for key in template.split("{{ html.").skip(1).map(name) {
        assert!(linked.contains_key(key.as_str()), "{key}");
    }
}

#[test]
fn every_text_of_the_scripts_is_in_the_page_and_none_is_in_the_scripts() {
    let catalog = catalog();
    let texts = json_element(&written(&catalog, &paywall("{}", "{}")), "paywall-texts");
    let words = texts["words"].as_object().unwrap();
    let begins = ["payment_", "card_link", "step_", "say_", "smart_", "refusal_", "outcome_"];
    let mut named = 0;
    for script in ["wallet", "signed_payment", "payment_view", "paywall"] {
        let source = asset(&catalog, &format!("assets/{script}.js"));
        let is_comment = |line: &str| ["//", "/*", "* "].iter().any(|mark| line.starts_with(mark));
        let code: Vec<&str> = source.lines().filter(|line| !is_comment(line.trim())).collect();
        for literal in code.join("\n").split('"').skip(1).step_by(2) {
            let sentence = literal.contains(' ') && literal.ends_with(['.', '?', '!']);
            assert!(!sentence, "{script}.js says {literal:?}");
            if begins.iter().any(|begin| literal.starts_with(begin)) {
                assert!(words.contains_key(literal), "{script}.js names {literal}");
                named += 1;
            }
        }
    }
    assert!(named > 50, "{named} texts are named");
}
