//! Health checks, unknown paths, limits, HTTP/2 and the request log.

use crate::fixture::test_app::{TestApp, json};

#[test]
fn it_is_alive_and_ready_and_prints_commands_to_try() {
    let app = TestApp::start("");
    let alive = app.raw_request("GET /healthz");
    assert!(alive.starts_with("HTTP/1.1 200 OK\r\n"), "{alive}");
    assert!(alive.contains("x-content-type-options: nosniff\r\n"), "{alive}");
    assert_eq!(json(&alive)["status"], "alive");
    assert_eq!(json(&app.raw_request("GET /readyz"))["status"], "ready");
    assert!(app.raw_request("HEAD /healthz").ends_with("\r\n\r\n"));

    let banner = &app.banner;
    assert!(banner.contains(&format!("curl -i http://{}/api\n", app.address)), "{banner}");
    assert!(banner.contains("pennyblack simulate --orders 1000\n"), "{banner}");
    assert!(banner.contains("sandbox"), "{banner}");
    assert!(banner.contains("SQLite, ./data/pennyblack.sqlite3\n"), "{banner}");
}

#[test]
fn an_unknown_path_is_404_in_json() {
    let app = TestApp::start("");
    let lost = app.raw_request("GET /no/such/place?of=mine");
    assert!(lost.starts_with("HTTP/1.1 404 "), "{lost}");
    assert!(lost.contains("content-type: application/json\r\n"), "{lost}");
    assert_eq!(json(&lost)["error"]["code"], "not_found");
    assert_eq!(json(&lost)["error"]["retry"], "never");
    assert!(!lost.contains("such"), "the path is not repeated: {lost}");

    let wrong = app.raw_request("DELETE /healthz");
    assert!(wrong.starts_with("HTTP/1.1 405 "), "{wrong}");
    assert!(wrong.contains("allow: GET,HEAD\r\n"), "{wrong}");
    assert_eq!(json(&wrong)["error"]["code"], "method_not_allowed");
}

#[test]
fn request_heads_that_are_too_large_are_refused() {
    let app = TestApp::start("");
    let with = |headers: String| {
        let mut connection = app.connect();
        connection.send(&format!("GET /healthz HTTP/1.1\r\nConnection: close\r\n{headers}\r\n"));
        connection.receive_all()
    };
    let fits = with("Host: x\r\n".to_owned());
    assert!(fits.starts_with("HTTP/1.1 200 "), "{fits}");
    for headers in [
        (0..64).map(|number| format!("x-{number}: 1\r\n")).collect(),
        format!("x: {}\r\n", "v".repeat(17 * 1024)),
    ] {
        let refused = with(headers);
        assert!(refused.starts_with("HTTP/1.1 431 "), "{refused}");
        assert_eq!(json(&refused)["error"]["code"], "headers_too_large");
    }
}

#[test]
fn the_configured_body_limit_applies() {
    let app = TestApp::start("[limits]\nbody_bytes = 20000");
    let mut connection = app.connect();
    connection.send("POST /unknown HTTP/1.1\r\nHost: x\r\nContent-Length: 20001\r\n\r\n");
    let refused = connection.receive_all();
    assert!(refused.starts_with("HTTP/1.1 413 "), "{refused}");
    assert_eq!(json(&refused)["error"]["code"], "body_too_large");
}

#[test]
fn a_response_to_an_unread_body_has_connection_close() {
    let app = TestApp::start("");
    for line in ["POST /api/x402/postcards", "POST /api/mpp/postcards", "POST /mcp", "POST /docs"] {
        let mut connection = app.connect();
        connection.send(&format!("{line} HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n"));
        let refused = connection.receive_all();
        assert!(refused.contains("\r\nconnection: close\r\n"), "{line}: {refused}");
    }
    let mut connection = app.connect();
    for _ in 0..2 {
        let head = "POST /api/x402/postcards HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}";
        connection.send(head);
        let read = connection.receive();
        assert!(read.starts_with("HTTP/1.1 400 "), "{read}");
        assert!(!read.contains("connection: close"), "{read}");
    }
}

#[test]
fn a_request_without_a_body_gets_every_missing_field() {
    let app = TestApp::start("");
    for path in ["/api/x402/postcards", "/api/mpp/postcards", "/api/x402/postcards/preview"] {
        let told = app.raw_request(&format!("POST {path}"));
        assert!(told.starts_with("HTTP/1.1 400 "), "{path}: {told}");
        assert_eq!(json(&told)["error"]["fields"].as_array().unwrap().len(), 8, "{told}");
    }
}

#[test]
fn a_request_is_logged_in_one_line_without_its_path() {
    let app = TestApp::start("[log]\nformat = 'json'");
    let answer = app.raw_request("GET /canary?canary=canary");
    let (_, rest) = answer.split_once("x-request-id: ").unwrap();
    let (id, _) = rest.split_once("\r\n").unwrap();
    let log = app.log();
    assert!(!log.contains("canary"), "{log}");
    let lines: Vec<&str> = log.lines().filter(|line| line.contains(id)).collect();
    assert_eq!(lines.len(), 1, "{log}");
    let line: serde_json::Value = serde_json::from_str(lines[0]).unwrap();
    assert_eq!(line["method"], "GET");
    assert_eq!(line["route"], "(none)");
    assert_eq!(line["status"], 404);
    assert!(line["duration_ms"].is_u64(), "{line}");
}

#[test]
fn http_2_works() {
    let app = TestApp::start("");
    let mut connection = app.connect();
    connection.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    // SETTINGS, empty.
    connection.send_bytes(&[0, 0, 0, 4, 0, 0, 0, 0, 0]);
    // HEADERS on stream 1, ending both: GET, http, a path and an authority.
    connection.send_bytes(&[0, 0, 15, 1, 5, 0, 0, 0, 1, 0x82, 0x86, 0x44, 8]);
    connection.send("/healthz");
    connection.send_bytes(&[0x41, 1, b'x']);
    let mut heard = String::new();
    while !heard.contains(r#"{"status":"alive"}"#) {
        heard.push_str(&connection.receive());
    }
}
