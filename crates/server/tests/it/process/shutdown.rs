//! Graceful shutdown, and a port that is in use.

use std::net::TcpListener;
use std::time::Duration;

use crate::fixture::test_app::{RawConnection, TestApp, run};

/// A request that is in progress until its body is complete.
fn begin_request(app: &TestApp) -> RawConnection {
    let mut connection = app.connect();
    connection.send("POST /unknown HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n");
    connection.send("Content-Length: 5\r\n\r\n");
    // The service asks for the body, so it has received the request.
    assert!(connection.receive().starts_with("HTTP/1.1 100 Continue"));
    connection.send("he");
    connection
}

#[test]
fn at_sigterm_requests_in_progress_complete_and_new_connections_are_refused() {
    let mut app = TestApp::start("");
    let mut connection = begin_request(&app);
    app.signal("TERM");
    app.wait_until_connections_are_refused();
    assert!(app.is_running());
    connection.send("llo");
    let answer = connection.receive_all();
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    assert!(app.wait_for_exit().success());
    assert!(app.log().contains("shutdown complete"), "{}", app.log());
}

#[test]
fn without_requests_the_shutdown_is_immediate() {
    for signal in ["TERM", "INT"] {
        let mut app = TestApp::start("");
        // An idle keep-alive connection does not delay it.
        let mut idle = app.connect();
        idle.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(idle.receive().starts_with("HTTP/1.1 200 "));
        app.signal(signal);
        // Less than the 5 seconds after which an idle connection is closed anyway.
        idle.set_timeout(Duration::from_secs(3));
        assert_eq!(idle.receive_all(), "");
        assert!(app.wait_for_exit().success());
        assert!(app.log().contains(&format!("signal=SIG{signal}")), "{}", app.log());
    }
}

#[test]
fn a_second_signal_ends_the_process_at_once() {
    let mut app = TestApp::start("");
    let _caller = begin_request(&app);
    app.signal("TERM");
    app.wait_until_connections_are_refused();
    assert!(app.is_running());
    app.signal("INT");
    assert_eq!(app.wait_for_exit().code(), Some(1));
    assert!(app.log().contains("interrupted by a second signal"), "{}", app.log());
}

#[test]
fn a_slow_client_does_not_delay_the_shutdown_beyond_the_timeout() {
    let mut app = TestApp::start("[limits]\nrequest_seconds = 1\npaid_request_seconds = 5");
    let mut connection = begin_request(&app);
    app.signal("TERM");
    let answer = connection.receive_all();
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(app.wait_for_exit().success());
}

#[test]
fn a_port_that_is_in_use_is_explained() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let output = run(&["serve"], "", &[("PENNYBLACK_LISTEN", &address.to_string())]);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains(&format!("Cannot listen on {address}.")), "{message}");
    assert!(message.contains("PENNYBLACK_LISTEN="), "{message}");
    assert!(output.stdout.is_empty());
}
