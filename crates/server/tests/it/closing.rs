//! The end of the day, and the port that is taken.

use std::net::TcpListener;
use std::time::Duration;

use crate::house::{Caller, House, run};

/// A request that is under way until its body is complete.
fn begin_request(house: &House) -> Caller {
    let mut caller = house.call();
    caller.say("POST /nowhere HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n");
    caller.say("Content-Length: 5\r\n\r\n");
    // The house asks for the body, so it has the request.
    assert!(caller.hear().starts_with("HTTP/1.1 100 Continue"));
    caller.say("he");
    caller
}

#[test]
fn a_terminated_house_finishes_what_is_under_way_and_takes_nobody_new() {
    let mut house = House::open("");
    let mut caller = begin_request(&house);
    house.signal("TERM");
    house.wait_until_it_takes_nobody();
    assert!(house.is_running());
    caller.say("llo");
    let answer = caller.hear_all();
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    assert!(house.wait_for_end().success());
    assert!(house.log().contains("nobody was left"), "{}", house.log());
}

#[test]
fn a_house_without_callers_ends_at_once() {
    for signal in ["TERM", "INT"] {
        let mut house = House::open("");
        // A connection that is only kept alive does not hold it up.
        let mut idle = house.call();
        idle.say("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(idle.hear().starts_with("HTTP/1.1 200 "));
        house.signal(signal);
        // Sooner than the 5 seconds after which it would be hung up on anyway.
        idle.hurry(Duration::from_secs(3));
        assert_eq!(idle.hear_all(), "");
        assert!(house.wait_for_end().success());
        assert!(house.log().contains(&format!("signal=SIG{signal}")), "{}", house.log());
    }
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let mut house = House::open("");
    let _caller = begin_request(&house);
    house.signal("TERM");
    house.wait_until_it_takes_nobody();
    assert!(house.is_running());
    house.signal("INT");
    assert_eq!(house.wait_for_end().code(), Some(1));
    assert!(house.log().contains("ended at once"), "{}", house.log());
}

#[test]
fn a_caller_who_dawdles_does_not_keep_the_house_open() {
    let mut house = House::open("[limits]\nrequest_seconds = 1\npaid_request_seconds = 5");
    let mut caller = begin_request(&house);
    house.signal("TERM");
    let answer = caller.hear_all();
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(house.wait_for_end().success());
}

#[test]
fn a_port_that_is_taken_is_explained() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let output = run(&["serve"], "", &[("PENNYBLACK_LISTEN", &address.to_string())]);
    assert_eq!(output.status.code(), Some(1));
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.contains(&format!("Cannot listen on {address}.")), "{words}");
    assert!(words.contains("PENNYBLACK_LISTEN="), "{words}");
    assert!(output.stdout.is_empty());
}
