//! Slow clients, and clients beyond the connection limit.

use std::time::Duration;

use crate::fixture::test_app::TestApp;

#[test]
fn a_connection_with_an_incomplete_head_is_closed() {
    let app = TestApp::start("");
    let mut connections: Vec<_> =
        ["", "GET /heal", "GET /healthz HTTP/1.1\r\nHost: x\r\n", "PRI * HT"]
            .into_iter()
            .map(|words| {
                let mut connection = app.connect();
                connection.send(words);
                (words, connection)
            })
            .collect();
    for (words, connection) in &mut connections {
        assert_eq!(connection.receive_all(), "", "{words}");
    }
    assert!(app.raw_request("GET /healthz").contains("200 OK"));
}

#[test]
fn a_client_beyond_the_connection_limit_waits() {
    let app = TestApp::start("[limits]\nconnections = 1");
    let mut first = app.connect();
    first.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(first.receive().starts_with("HTTP/1.1 200 "));
    let mut second = app.connect();
    second.send("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert!(second.receives_nothing_for(Duration::from_millis(300)));
    drop(first);
    assert!(second.receive_all().starts_with("HTTP/1.1 200 "));
}
