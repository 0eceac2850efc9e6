//! Rehearsals: an external provider emulator, and a faster clock.

use std::time::SystemTime;

use sandbox::provider::ProviderEmulator;
use sandbox::provider::fault::operation::ProviderOperation;
use sandbox::provider::state::settings::ProviderSettings;
use serde_json::{Value, json};

use crate::fixture::sandbox::{JSON, ProviderControl, card, preview, with_dialect};
use crate::fixture::test_app::{TestApp, until};

#[tokio::test(flavor = "multi_thread")]
async fn an_external_provider_emulator_works_in_both_dialects_and_outlives_the_service() {
    let provider = ProviderEmulator::open(ProviderSettings::default()).await.unwrap();
    let base = provider.base_url();
    tokio::task::block_in_place(|| {
        for (visits, dialect) in crate::fixture::sandbox::DIALECTS.into_iter().enumerate() {
            let app = TestApp::start(&format!("{}provider = \"{base}\"\n", with_dialect(dialect)));
            assert_eq!(ProviderControl::of(&app).0, provider.address(), "{}", app.banner);
            assert_eq!(preview(&app, &card()).status, 200, "{dialect}");
            let mut app = app;
            app.signal("TERM");
            assert!(app.wait_for_exit().success());
            let calls = provider.journal();
            let previews =
                calls.iter().filter(|call| call.operation == Some(ProviderOperation::Preview));
            assert_eq!(previews.count(), visits + 1, "{dialect}");
        }
    });
    provider.close().await.unwrap();
}

/// Requests a card with a new identifier, and returns the hour of its creation.
fn order_made_at(app: &TestApp, number: usize) -> u64 {
    let mut card = card();
    card["operation_id"] = json!(format!("a-rehearsal-{number:06}"));
    let asked = app.request("POST /api/x402/postcards", &[JSON], &card.to_string());
    assert_eq!(asked.status, 402, "{}", asked.text());
    let order: Value = asked.json()["public_order_id"].clone();
    let status = app.get(&format!("/api/x402/orders/{}", order.as_str().unwrap())).json();
    hours(status["created_at"].as_str().unwrap())
}

/// The hour of a time such as 2026-11-15T07:30:00Z, within its month.
fn hours(written: &str) -> u64 {
    let number = |place: std::ops::Range<usize>| written[place].parse::<u64>().unwrap();
    24 * number(8..10) + number(11..13)
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test compares with real time")]
fn on_a_faster_clock_hours_pass_in_seconds() {
    let begun = SystemTime::now();
    let app = TestApp::start("[sandbox]\nspeed = 3600\n");
    let first = order_made_at(&app, 0);
    let mut number = 0;
    until("another hour has begun", || {
        number += 1;
        (order_made_at(&app, number) != first).then_some(())
    });
    assert!(begun.elapsed().unwrap().as_secs() < 60);
    let log = app.log();
    assert!(log.contains("the clock runs faster"), "{log}");
}
