//! Answers of Lob.

use std::sync::Arc;

use adapters::provider::lob::{Lob, LobPrices, LobSettings};
use order::model::money::Cents;
use order::testing::contract::samples;
use order::testing::manual_clock::ManualClock;
use zeroize::Zeroizing;

use super::answers::server;
use super::provider::Exchange;

pub(crate) fn run(data: &[u8]) {
    let Some((choice, data)) = super::choice(data) else { return };
    let server = server();
    let settings = LobSettings {
        base: server.url(),
        key: Zeroizing::new("live_key".to_owned()),
        sender: None,
        previews: LobSettings::known_previews(),
        prices: LobPrices { domestic: Cents(100), international: Cents(175) },
        cancel_seconds: 300,
    };
    let provider = Lob::new(settings, server.client.clone(), Arc::new(ManualClock::default()));
    Exchange { server: &server, provider: &provider, data }.run(choice);
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let (order, at) = (samples::paid(1).id, samples::NOW);
    let card = format!(
        r#"{{"id":"psc_7","metadata":{{"public_order_id":"{order}"}},"date_created":"{at}","deleted":false,"tracking_events":[{{"name":"In Transit"}}]}}"#
    );
    let page = format!(
        r#"{{"data":[{card}],"next_url":"https://api.lob.com/v1/postcards?limit=100&after=abc"}}"#
    );
    let proof = r#"{"id":"prf_1","status":"completed","thumbnails":[{"large":"https://lob-assets.com/a.png"}]}"#;
    super::texts(&[
        &format!("G2{proof}"),
        &format!("G2{{\"id\":\"prf_1\",\"status\":\"processing\"}}\n--\n2{proof}"),
        &format!("H2{card}"),
        &format!("H2{}", card.replace(&order.to_string(), &"0".repeat(32))),
        "Hu{\"error\":{\"message\":\"invalid\",\"status_code\":422}}",
        &format!("I2{page}"),
        &format!("J2{card}"),
        "J9{}",
        "K2{\"id\":\"psc_7\",\"deleted\":true}",
        &format!("Ku{{}}\n--\n2{card}"),
        &format!("L2{page}\n--\n2{{\"data\":[],\"next_url\":null}}"),
    ])
}
