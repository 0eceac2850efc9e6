//! Both paid endpoints, which bypass the router and set the common headers themselves.

use crate::fixture::http_client::Reply;
use crate::fixture::sandbox::{JSON, card, code};
use crate::fixture::test_app::TestApp;

const ENDPOINTS: [&str; 2] = ["/api/x402/postcards", "/api/mpp/postcards"];

fn has_common_headers(reply: &Reply) {
    assert_eq!(reply.header("access-control-allow-origin"), "*", "{}", reply.status);
    assert_eq!(reply.header("cache-control"), "no-store", "{}", reply.status);
    assert_eq!(reply.header("x-content-type-options"), "nosniff", "{}", reply.status);
    assert!(!reply.header("x-request-id").is_empty(), "{}", reply.status);
}

#[test]
fn bodies_and_heads_that_are_too_long_get_the_common_errors() {
    let app = TestApp::start("");
    for endpoint in ENDPOINTS {
        let padded = |bytes: usize| {
            let card = card().to_string();
            let space = " ".repeat(bytes - card.len());
            app.request(&format!("POST {endpoint}"), &[JSON], &format!("{card}{space}"))
        };
        let taken = padded(16 * 1024);
        assert_eq!(taken.status, 402, "{endpoint}: {}", taken.text());
        assert!(taken.header("access-control-expose-headers").contains("PAYMENT-REQUIRED"));
        let refused = padded(16 * 1024 + 1);
        assert_eq!(
            (refused.status, code(&refused).as_str()),
            (500, "body_too_large"),
            "{endpoint}"
        );
        let long = "x".repeat(16 * 1024);
        let head = app.request(&format!("POST {endpoint}"), &[("X-Long", &long)], "");
        assert_eq!((head.status, code(&head).as_str()), (431, "headers_too_large"), "{endpoint}");
        for reply in [taken, refused, head] {
            has_common_headers(&reply);
        }
    }
    let log = app.log();
    for endpoint in ENDPOINTS {
        assert!(log.lines().any(|line| line.contains(endpoint) && line.contains("431")), "{log}");
    }
}

#[test]
fn another_method_is_405_and_a_trailing_slash_404() {
    let app = TestApp::start("");
    for endpoint in ENDPOINTS {
        for method in ["GET", "HEAD", "PUT", "DELETE"] {
            let reply = app.request(&format!("{method} {endpoint}"), &[], "");
            assert_eq!((reply.status, reply.header("allow")), (405, "POST"), "{method} {endpoint}");
            assert_eq!(reply.text().is_empty(), method == "HEAD", "{method} {endpoint}");
            has_common_headers(&reply);
        }
        let unknown = app.request(&format!("POST {endpoint}/"), &[JSON], &card().to_string());
        assert_eq!(unknown.status, 404, "{endpoint}/");
    }
}
