//! The paid doors stand beside the router, and keep all of the house's manners by themselves.

use super::{JSON, card, code};
use crate::house::House;
use crate::public::Reply;

const DOORS: [&str; 2] = ["/api/x402/postcards", "/api/mpp/postcards"];

fn has_manners(reply: &Reply) {
    assert_eq!(reply.header("access-control-allow-origin"), "*", "{}", reply.status);
    assert_eq!(reply.header("cache-control"), "no-store", "{}", reply.status);
    assert_eq!(reply.header("x-content-type-options"), "nosniff", "{}", reply.status);
    assert!(!reply.header("x-request-id").is_empty(), "{}", reply.status);
}

#[test]
fn a_card_that_is_too_long_or_has_too_long_a_head_is_answered_as_everywhere() {
    let house = House::open("");
    for door in DOORS {
        let padded = |bytes: usize| {
            let card = card().to_string();
            let space = " ".repeat(bytes - card.len());
            house.request(&format!("POST {door}"), &[JSON], &format!("{card}{space}"))
        };
        let taken = padded(16 * 1024);
        assert_eq!(taken.status, 402, "{door}: {}", taken.text());
        assert!(taken.header("access-control-expose-headers").contains("PAYMENT-REQUIRED"));
        let refused = padded(16 * 1024 + 1);
        assert_eq!((refused.status, code(&refused).as_str()), (500, "body_too_large"), "{door}");
        let long = "x".repeat(16 * 1024);
        let head = house.request(&format!("POST {door}"), &[("X-Long", &long)], "");
        assert_eq!((head.status, code(&head).as_str()), (431, "headers_too_large"), "{door}");
        for reply in [taken, refused, head] {
            has_manners(&reply);
        }
    }
    let log = house.log();
    for door in DOORS {
        assert!(log.lines().any(|line| line.contains(door) && line.contains("431")), "{log}");
    }
}

#[test]
fn another_method_hears_what_is_taken_and_a_slash_too_many_leads_nowhere() {
    let house = House::open("");
    for door in DOORS {
        for method in ["GET", "HEAD", "PUT", "DELETE"] {
            let reply = house.request(&format!("{method} {door}"), &[], "");
            assert_eq!((reply.status, reply.header("allow")), (405, "POST"), "{method} {door}");
            assert_eq!(reply.text().is_empty(), method == "HEAD", "{method} {door}");
            has_manners(&reply);
        }
        let nowhere = house.request(&format!("POST {door}/"), &[JSON], &card().to_string());
        assert_eq!(nowhere.status, 404, "{door}/");
    }
}
