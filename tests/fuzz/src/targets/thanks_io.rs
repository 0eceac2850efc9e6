//! Answers of thanks.io.

use std::sync::Arc;

use adapters::provider::thanks_io::{ThanksIo, ThanksIoSettings};
use adapters::provider::{AccountMode, ReturnAddress};
use order::testing::contract::samples;
use order::testing::manual_clock::ManualClock;
use zeroize::Zeroizing;

use super::answers::server;
use super::provider::Exchange;

pub(crate) fn run(data: &[u8]) {
    let Some((choice, data)) = super::choice(data) else { return };
    let server = server();
    let settings = ThanksIoSettings {
        base: server.url(),
        token: Zeroizing::new("token".to_owned()),
        sender: ReturnAddress::default(),
        previews: ThanksIoSettings::known_previews(),
        mode: AccountMode::Live,
    };
    let provider = ThanksIo::new(settings, server.client.clone(), Arc::new(ManualClock::default()));
    Exchange { server: &server, provider: &provider, data }.run(choice);
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let (order, at) = (samples::paid(1).id, samples::NOW);
    let listed = format!(
        r#"{{"id":7,"status":"Reviewing","metadata":{{"public_order_id":"{order}"}},"created_at":"{at}","authorization_total":175}}"#
    );
    let page = format!(r#"{{"data":[{listed}],"meta":{{"last_page":2}}}}"#);
    super::texts(&[
        r#"F2{"data":{"total_cost_in_cents":175,"test_mode":false,"covered_by_balance":true}}"#,
        r#"F2{"data":{"total_cost_in_cents":175,"test_mode":true}}"#,
        r#"G2{"data":{"previews":["https://cdn.thanks.io/a.png","https://s3.amazonaws.com/cdn.thanks.io/b.png"]}}"#,
        &format!("Hc{listed}"),
        &format!("Hc{}", listed.replace(&order.to_string(), &"0".repeat(32))),
        "Hu{\"message\":\"The given data was invalid.\"}",
        &format!("I2{page}\n--\n2{{\"data\":[]}}\n--\n2{page}"),
        r#"J2{"data":[{"status":"In Transit"}]}"#,
        "J2{\"data\":[{\"status\":\"Processing\"}]}\n--\n2{\"data\":{\"order\":{\"status\":\"cancelled\"}}}",
        "J9{}",
        "K2{\"id\":7}",
        "K4{}\n--\n2{\"data\":{\"order\":{\"status\":\"Canceled\"}}}",
        &format!("L2{page}\n--\n2{{\"data\":[]}}"),
    ])
}
