//! A facilitator that no longer responds when the service restarts.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::json;
use tempfile::TempDir;

use crate::fixture::sandbox::{JSON, card};
use crate::fixture::test_app::{TestApp, until};

/// Responds to every request with a list until it is silenced, then closes every connection.
fn facilitator(silenced: Arc<AtomicBool>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let kind = json!({ "x402Version": 2, "scheme": "upto", "network": "eip155:8453",
        "extra": { "facilitatorAddress": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8" } });
    let list = json!({ "kinds": [kind] }).to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            if silenced.load(Ordering::SeqCst) {
                continue;
            }
            let _ = stream.read(&mut [0; 4096]);
            let length = list.len();
            let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json";
            let _ = write!(stream, "{head}\r\ncontent-length: {length}\r\n\r\n{list}");
        }
    });
    url
}

#[test]
fn payment_is_open_after_a_restart_while_the_facilitator_does_not_answer() {
    let silenced = Arc::new(AtomicBool::new(false));
    let url = facilitator(silenced.clone());
    let toml = format!(
        "[payments]\nkind = \"facilitator\"\nfacilitator = \"{url}\"\nrpc = \
         [\"base=http://127.0.0.1:1\"]\n[sandbox]\nmixed = \"yes\"\n"
    );
    let data = TempDir::new().unwrap();
    let variables = [("PENNYBLACK_DATA", data.path().to_str().unwrap())];
    let challenge = |app: &TestApp| {
        app.request("POST /api/x402/postcards", &[JSON], &card().to_string()).status
    };
    let app = TestApp::start_with(&toml, &variables);
    until("the facilitator's list is known", || (challenge(&app) == 402).then_some(()));
    let file = data.path().join("facilitator-supported.json");
    until("the list is saved", || file.exists().then_some(()));
    drop(app);
    silenced.store(true, Ordering::SeqCst);
    let restarted = TestApp::start_with(&toml, &variables);
    assert_eq!(challenge(&restarted), 402);
}
