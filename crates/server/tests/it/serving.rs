//! An open house: health, answers to the lost, limits and the log.

use crate::house::{House, json};

#[test]
fn it_is_alive_and_ready_and_says_what_to_try() {
    let house = House::open("");
    let alive = house.ask("GET /healthz");
    assert!(alive.starts_with("HTTP/1.1 200 OK\r\n"), "{alive}");
    assert!(alive.contains("x-content-type-options: nosniff\r\n"), "{alive}");
    assert_eq!(json(&alive)["status"], "alive");
    assert_eq!(json(&house.ask("GET /readyz"))["status"], "ready");
    assert!(house.ask("HEAD /healthz").ends_with("\r\n\r\n"));

    let banner = &house.banner;
    assert!(banner.contains(&format!("curl -i http://{}/api\n", house.address)), "{banner}");
    assert!(banner.contains("pennyblack simulate --orders 1000\n"), "{banner}");
    assert!(banner.contains("sandbox"), "{banner}");
    assert!(banner.contains("SQLite, ./data/pennyblack.sqlite3\n"), "{banner}");
}

#[test]
fn a_lost_caller_is_told_in_json() {
    let house = House::open("");
    let lost = house.ask("GET /no/such/place?of=mine");
    assert!(lost.starts_with("HTTP/1.1 404 "), "{lost}");
    assert!(lost.contains("content-type: application/json\r\n"), "{lost}");
    assert_eq!(json(&lost)["error"]["code"], "not_found");
    assert_eq!(json(&lost)["error"]["retry"], "never");
    assert!(!lost.contains("such"), "the address is not repeated: {lost}");

    let wrong = house.ask("DELETE /healthz");
    assert!(wrong.starts_with("HTTP/1.1 405 "), "{wrong}");
    assert!(wrong.contains("allow: GET,HEAD\r\n"), "{wrong}");
    assert_eq!(json(&wrong)["error"]["code"], "method_not_allowed");
}

#[test]
fn heads_that_are_too_large_are_refused() {
    let house = House::open("");
    let with = |headers: String| {
        let mut caller = house.call();
        caller.say(&format!("GET /healthz HTTP/1.1\r\nConnection: close\r\n{headers}\r\n"));
        caller.hear_all()
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
fn the_configured_body_limit_holds() {
    let house = House::open("[limits]\nbody_bytes = 20000");
    let mut caller = house.call();
    caller.say("POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 20001\r\n\r\n");
    let refused = caller.hear_all();
    assert!(refused.starts_with("HTTP/1.1 413 "), "{refused}");
    assert_eq!(json(&refused)["error"]["code"], "body_too_large");
}

#[test]
fn an_answer_that_leaves_a_body_unread_says_that_the_connection_ends() {
    let house = House::open("");
    for line in ["POST /api/x402/postcards", "POST /api/mpp/postcards", "POST /mcp", "POST /docs"] {
        let mut caller = house.call();
        caller.say(&format!("{line} HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n"));
        let refused = caller.hear_all();
        assert!(refused.contains("\r\nconnection: close\r\n"), "{line}: {refused}");
    }
    let mut caller = house.call();
    for _ in 0..2 {
        let head = "POST /api/x402/postcards HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}";
        caller.say(head);
        let read = caller.hear();
        assert!(read.starts_with("HTTP/1.1 400 "), "{read}");
        assert!(!read.contains("connection: close"), "{read}");
    }
}

#[test]
fn a_request_without_a_body_is_told_every_missing_field() {
    let house = House::open("");
    for path in ["/api/x402/postcards", "/api/mpp/postcards", "/api/x402/postcards/preview"] {
        let told = house.ask(&format!("POST {path}"));
        assert!(told.starts_with("HTTP/1.1 400 "), "{path}: {told}");
        assert_eq!(json(&told)["error"]["fields"].as_array().unwrap().len(), 8, "{told}");
    }
}

#[test]
fn a_request_leaves_one_line_in_the_log_without_its_address() {
    let house = House::open("[log]\nformat = 'json'");
    let answer = house.ask("GET /canary?canary=canary");
    let (_, rest) = answer.split_once("x-request-id: ").unwrap();
    let (id, _) = rest.split_once("\r\n").unwrap();
    let log = house.log();
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
fn http_2_is_spoken_too() {
    let house = House::open("");
    let mut caller = house.call();
    caller.say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    // SETTINGS, empty.
    caller.say_bytes(&[0, 0, 0, 4, 0, 0, 0, 0, 0]);
    // HEADERS on stream 1, ending both: GET, http, a path and an authority.
    caller.say_bytes(&[0, 0, 15, 1, 5, 0, 0, 0, 1, 0x82, 0x86, 0x44, 8]);
    caller.say("/healthz");
    caller.say_bytes(&[0x41, 1, b'x']);
    let mut heard = String::new();
    while !heard.contains(r#"{"status":"alive"}"#) {
        heard.push_str(&caller.hear());
    }
}
