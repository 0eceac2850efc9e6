//! The page of an order in every language and status.

use super::*;
use crate::render::tests::{catalog, context};

const STATUSES: [&str; 12] = [
    "unpaid",
    "payment_pending",
    "payment_unconfirmed",
    "paid",
    "submitted",
    "fulfillment_needs_reconciliation",
    "refund_due",
    "mailed",
    "delivered",
    "returned",
    "refunded",
    "expired",
];

fn pages() -> OrderPages {
    let catalog = catalog();
    Renderer::new(&catalog, context()).unwrap().order_pages().unwrap()
}

#[test]
fn every_status_has_its_texts_in_every_language() {
    let (pages, catalog) = (pages(), catalog());
    for language in Language::ALL {
        let texts = catalog.send.texts(language);
        for status in STATUSES {
            let html = pages.write(language, &OrderSummary { status, ..sample() }).unwrap();
            for kind in ["name", "text", "next"] {
                let text = texts.get(&format!("status_{status}_{kind}")).unwrap();
                let start = text.split(['{', '/', '\'']).next().unwrap();
                assert!(html.contains(start), "{} {status} {kind}", language.code());
            }
            assert!(!html.contains("{charge}") && !html.contains("{network}"), "{status}");
            assert!(html.contains(&format!("<html lang=\"{}\">", language.code())));
            assert!(html.contains("<meta name=\"robots\" content=\"noindex\">"));
            assert_eq!(html.matches("<h1").count(), 1);
        }
    }
}

#[test]
fn a_transaction_links_to_an_explorer_if_there_is_one() {
    let mut order = sample();
    order.refund = None;
    let payment = order.payment.as_mut().unwrap();
    payment.transfer.transaction = "0x5c".to_owned();
    let plain = pages().write(Language::En, &order).unwrap();
    assert!(plain.contains("<code class=\"long\">0x5c</code>") && !plain.contains("basescan"));
    let payment = order.payment.as_mut().unwrap();
    let url = "https://basescan.org/tx/0x5c".to_owned();
    payment.transfer.explorer = Some(ExplorerLink { name: "basescan.org", url });
    let linked = pages().write(Language::En, &order).unwrap();
    assert!(linked.contains("basescan.org"));
}

#[test]
fn an_order_that_will_not_change_is_not_polled() {
    let polled = pages().write(Language::En, &sample()).unwrap();
    assert!(polled.contains("data-seconds=\"5\""));
    let order = OrderSummary { poll_seconds: None, ..sample() };
    assert!(!pages().write(Language::En, &order).unwrap().contains("data-seconds"));
}

#[test]
fn an_error_names_its_status_in_the_language_of_the_page() {
    let html = pages().error(Language::De, OrderPageError::UnknownOrder).unwrap();
    assert!(html.contains(">404<") && html.contains("Bestell"), "{html}");
    assert!(html.contains("href=\"?lang=it\""));
}

#[test]
fn a_time_is_shown_without_seconds() {
    let mut order = sample();
    order.payment.as_mut().unwrap().transfer.at = "2026-11-15T09:00:12Z".to_owned();
    let html = pages().write(Language::En, &order).unwrap();
    assert!(html.contains("<time datetime=\"2026-11-15T09:00:12Z\">2026-11-15 09:00 UTC</time>"));
}
