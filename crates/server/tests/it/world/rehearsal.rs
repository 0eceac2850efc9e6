//! A rehearsal: a post office that outlives the service, and a clock that hurries.

use std::time::SystemTime;

use sandbox::provider::PostOffice;
use sandbox::provider::settings::Settings;
use serde_json::{Value, json};

use super::{JSON, Mailbox, card, preview, speaking};
use crate::house::{House, until};

#[tokio::test(flavor = "multi_thread")]
async fn a_post_office_elsewhere_is_used_in_both_dialects_and_outlives_the_service() {
    let office = PostOffice::open(Settings::default()).await.unwrap();
    let base = office.base_url();
    tokio::task::block_in_place(|| {
        for (visits, dialect) in super::DIALECTS.into_iter().enumerate() {
            let house = House::open(&format!("{}office = \"{base}\"\n", speaking(dialect)));
            assert_eq!(Mailbox::of(&house).0, office.address(), "{}", house.banner);
            assert_eq!(preview(&house, &card()).status, 200, "{dialect}");
            let mut house = house;
            house.signal("TERM");
            assert!(house.wait_for_end().success());
            assert_eq!(office.journal().len(), visits + 1, "{dialect}");
        }
    });
    office.close().await.unwrap();
}

/// Asks for a card under a new identifier, and reads the hour of its first use.
fn order_made_at(house: &House, number: usize) -> u64 {
    let mut card = card();
    card["operation_id"] = json!(format!("a-rehearsal-{number:06}"));
    let asked = house.request("POST /api/x402/postcards", &[JSON], &card.to_string());
    assert_eq!(asked.status, 402, "{}", asked.text());
    let order: Value = asked.json()["public_order_id"].clone();
    let status = house.get(&format!("/api/x402/orders/{}", order.as_str().unwrap())).json();
    hours(status["created_at"].as_str().unwrap())
}

/// The hour of a time such as 2026-11-15T07:30:00Z, within its month.
fn hours(written: &str) -> u64 {
    let number = |place: std::ops::Range<usize>| written[place].parse::<u64>().unwrap();
    24 * number(8..10) + number(11..13)
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the wall's clock is what is compared with")]
fn on_a_hurried_clock_hours_are_over_in_seconds() {
    let begun = SystemTime::now();
    let house = House::open("[sandbox]\nspeed = 3600\n");
    let first = order_made_at(&house, 0);
    let mut number = 0;
    until("another hour has begun", || {
        number += 1;
        (order_made_at(&house, number) != first).then_some(())
    });
    assert!(begun.elapsed().unwrap().as_secs() < 60);
    let log = house.log();
    assert!(log.contains("the clock runs faster"), "{log}");
}
