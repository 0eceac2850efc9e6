//! Callers who take their time, and callers beyond the last place.

use std::time::Duration;

use crate::house::House;

#[test]
fn a_head_that_does_not_end_is_hung_up_on() {
    let house = House::open("");
    let mut callers: Vec<_> = ["", "GET /heal", "GET /healthz HTTP/1.1\r\nHost: x\r\n", "PRI * HT"]
        .into_iter()
        .map(|words| {
            let mut caller = house.call();
            caller.say(words);
            (words, caller)
        })
        .collect();
    for (words, caller) in &mut callers {
        assert_eq!(caller.hear_all(), "", "{words}");
    }
    assert!(house.ask("GET /healthz").contains("200 OK"));
}

#[test]
fn who_comes_when_all_places_are_taken_waits_for_one() {
    let house = House::open("[limits]\nconnections = 1");
    let mut first = house.call();
    first.say("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(first.hear().starts_with("HTTP/1.1 200 "));
    let mut second = house.call();
    second.say("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert!(second.hears_nothing_for(Duration::from_millis(300)));
    drop(first);
    assert!(second.hear_all().starts_with("HTTP/1.1 200 "));
}
