//! Lookups in thanks.io's list, against a scripted server.

use order::testing::contract::samples;

use super::super::scan;
use super::*;

const NOW: &str = r#""2030-03-17T17:46:45.000000Z""#;

/// The calls for lookups while buyers are idle, with those for owed cards reserved.
const LOOKUPS: usize = RATE.calls() - RATE.paid - RATE.reconciler * 2 / 3;

/// A provider for the reconciler with a manual clock.
async fn reconciling(
    replies: impl IntoIterator<Item = Reply>,
) -> (Server, ThanksIo, Arc<ManualClock>) {
    let (server, clock) = (Server::start(replies).await, Arc::new(ManualClock::default()));
    let settings = settings(server.address.clone(), AccountMode::Live);
    let provider = ThanksIo::new(settings, client(), clock.clone()).for_reconciler();
    (server, provider, clock)
}

fn of_ours(id: u64) -> String {
    let ours = format!(r#"{{"public_order_id":"{}","attempt":1}}"#, paid().id);
    listed(id, "Reviewing", &ours, NOW)
}

fn of_others(id: u64) -> String {
    listed(id, "Printed", "null", NOW)
}

#[tokio::test]
async fn one_scan_serves_all_orders_and_continues_where_it_stopped() {
    let last = u64::try_from(2 * LOOKUPS).unwrap() - 1;
    // Orders have descending ids. At the end the first page is read again.
    let pages = (1..last).map(|number| page(last, &[of_others(1_000 - number)]));
    let pages = pages.chain([page(last, &[of_ours(7)]), page(last, &[of_others(999)])]);
    let (server, provider, clock) = reconciling(pages).await;
    let other = samples::paid(8).id;
    let find = |order| provider.find(order, samples::NOW);
    assert!(find(paid().id).await.is_err() && find(other).await.is_err());
    clock.advance(61);
    assert_eq!(find(paid().id).await, Ok(vec![Mailpiece("7".into())]));
    assert_eq!(find(other).await, Ok(Vec::new()));
    assert_eq!(server.heard().len(), 2 * LOOKUPS);
    assert_eq!(list_pages(&server, 2 * LOOKUPS - 2), [last, 1]);
    // A cancelled card is not found again, and after a while the list is read again.
    provider.scan.forget(&Mailpiece("7".into()));
    assert_eq!(find(paid().id).await, Ok(Vec::new()));
    clock.advance(scan::SCAN_SECONDS + 1);
    let _ = find(other).await;
    assert_eq!(list_pages(&server, 2 * LOOKUPS)[..2], [1, 2]);
}

#[tokio::test]
async fn a_card_that_appeared_while_the_scan_was_interrupted_is_found() {
    let last = u64::try_from(LOOKUPS).unwrap() + 1;
    let pages = (1..=last).map(|number| page(last, &[of_others(1_000 - number)]));
    let newest = page(last, &[of_ours(1_001), of_others(1_000), of_others(999)]);
    let (server, provider, clock) = reconciling(pages.chain([newest])).await;
    assert!(provider.find(paid().id, samples::NOW).await.is_err());
    clock.advance(29 * 60);
    let found = provider.find(paid().id, samples::NOW).await;
    assert_eq!(found, Ok(vec![Mailpiece("1001".into())]));
    assert_eq!(list_pages(&server, LOOKUPS), [last, 1]);
}

#[tokio::test]
async fn a_card_that_appeared_since_the_last_answer_is_found_behind_other_new_ones() {
    let pages = [
        page(1, &[of_others(2), of_others(1)]),
        // Both pages are new; the third one reaches a known order.
        page(3, &[of_others(7), of_others(6)]),
        page(3, &[of_others(5), of_ours(4)]),
        page(3, &[of_others(3), of_others(2)]),
        page(3, &[of_others(7), of_others(6)]),
    ];
    let (server, provider, clock) = reconciling(pages).await;
    let find = || provider.find(paid().id, samples::NOW);
    assert_eq!(find().await, Ok(Vec::new()));
    clock.advance(1);
    assert_eq!(find().await, Ok(vec![Mailpiece("4".into())]));
    assert_eq!(list_pages(&server, 1), [1, 2, 3]);
    clock.advance(1);
    assert_eq!(find().await, Ok(vec![Mailpiece("4".into())]));
    assert_eq!(list_pages(&server, 4), [1]);
}

#[tokio::test]
async fn newest_pages_that_did_not_reach_known_orders_are_continued_and_read_again() {
    let pages = [
        page(1, &[of_others(1)]),
        page(2, &[of_others(4), of_others(3)]),
        Reply::json(500, "{}"),
        page(2, &[of_ours(2), of_others(1)]),
        page(2, &[of_ours(5), of_others(4)]),
    ];
    let (server, provider, clock) = reconciling(pages).await;
    let find = || provider.find(paid().id, samples::NOW);
    assert_eq!(find().await, Ok(Vec::new()));
    clock.advance(1);
    assert!(find().await.is_err());
    clock.advance(1);
    assert_eq!(find().await, Ok(vec![Mailpiece("2".into()), Mailpiece("5".into())]));
    assert_eq!(list_pages(&server, 1), [1, 2, 2, 1]);
}

#[tokio::test]
async fn one_reading_of_the_newest_pages_answers_all_lookups_that_wait() {
    let (server, provider, clock) = reconciling([page(1, &[of_others(1)])]).await;
    let find = |seed| provider.find(samples::paid(seed).id, samples::NOW);
    assert_eq!(find(1).await, Ok(Vec::new()));
    clock.advance(1);
    let (first, second, third) = tokio::join!(find(1), find(2), find(3));
    assert!(first.is_ok() && second.is_ok() && third.is_ok());
    assert_eq!(server.heard().len(), 2);
}

/// An order of this number, created this many seconds after the first one.
fn listed_at(id: u64, metadata: &str, seconds: u64) -> String {
    let created = samples::NOW.plus(seconds).to_string();
    listed(id, "Reviewing", metadata, &format!("\"{created}\""))
}

fn our_reference() -> String {
    format!(r#"{{"public_order_id":"{}","attempt":1}}"#, paid().id)
}

fn status(text: &str) -> Reply {
    Reply::good(&format!(r#"{{"data":{{"order":{{"status":"{text}"}}}}}}"#))
}

/// Three pages, the card of ours on the oldest.
fn three_pages() -> [Reply; 3] {
    let other = |id, seconds| listed_at(id, "null", seconds);
    [
        page(3, &[other(60, 5_000), other(50, 4_000)]),
        page(3, &[other(40, 3_000), other(30, 2_000)]),
        page(3, &[listed_at(20, &our_reference(), 1_000), other(10, 0)]),
    ]
}

#[tokio::test]
async fn a_later_scan_ends_where_the_earlier_one_is_complete() {
    // Nothing is new, then two orders; the first page reaches far enough back each time.
    let other = |id, seconds| listed_at(id, "null", seconds);
    let newest = page(4, &[other(80, 7_000), other(70, 6_000), other(60, 5_000), other(50, 4_000)]);
    let pages =
        three_pages().into_iter().chain([three_pages()[0].clone(), status("Printed"), newest]);
    let (server, provider, clock) = reconciling(pages).await;
    let find = || provider.find(paid().id, samples::NOW);
    assert_eq!(find().await, Ok(vec![Mailpiece("20".into())]));
    clock.advance(scan::SCAN_SECONDS + 1);
    assert_eq!(find().await, Ok(vec![Mailpiece("20".into())]));
    assert_eq!(list_pages(&server, 3), [1]);
    assert!(server.heard()[4].contains("/orders/20/track"), "it may have been cancelled since");
    clock.advance(scan::SCAN_SECONDS + 1);
    let _ = find().await;
    assert_eq!(list_pages(&server, 5)[..1], [1]);
}

#[tokio::test]
async fn a_card_that_is_listed_late_below_known_orders_is_found_by_the_next_scan() {
    let other = |id, seconds| listed_at(id, "null", seconds);
    // The list shows order 55 only after it has shown 60, which was created later.
    let late = listed_at(55, &our_reference(), 4_950);
    let pages = [
        page(2, &[other(60, 5_000), other(50, 4_900)]),
        page(2, &[other(40, 3_000), other(30, 2_000)]),
        page(2, &[other(60, 5_000), late]),
        page(2, &[other(50, 4_900), other(40, 3_000)]),
    ];
    let (server, provider, clock) = reconciling(pages).await;
    let find = || provider.find(paid().id, samples::NOW);
    assert_eq!(find().await, Ok(Vec::new()));
    clock.advance(scan::SCAN_SECONDS + 1);
    assert_eq!(find().await, Ok(vec![Mailpiece("55".into())]));
    assert_eq!(list_pages(&server, 2), [1, 2]);
}

#[tokio::test]
async fn a_kept_card_that_was_cancelled_since_is_not_found() {
    for (answer, expected) in [
        (status("Cancelled"), Ok(Vec::new())),
        (Reply::json(404, "{}"), Err(Failure::Lost("answer unreadable".into()))),
        (Reply::good(r#"{"data":{}}"#), Err(Failure::Lost("answer unreadable".into()))),
        (Reply::json(500, "{}"), Err(Failure::Lost("status 500".into()))),
    ] {
        let first = three_pages()[0].clone();
        let pages = three_pages().into_iter().chain([first, answer, three_pages()[2].clone()]);
        let (server, provider, clock) = reconciling(pages).await;
        let find = || provider.find(paid().id, samples::NOW);
        assert!(find().await.is_ok());
        clock.advance(scan::SCAN_SECONDS + 1);
        assert_eq!(find().await, expected);
        assert_eq!(list_pages(&server, 3), [1]);
    }
}

#[tokio::test]
async fn the_whole_list_is_scanned_again_after_a_day() {
    let pages = three_pages().into_iter().chain(three_pages());
    let (server, provider, clock) = reconciling(pages).await;
    let find = || provider.find(paid().id, samples::NOW);
    assert!(find().await.is_ok());
    clock.advance(scan::FULL_SCAN_SECONDS + 1);
    assert_eq!(find().await, Ok(vec![Mailpiece("20".into())]));
    assert_eq!(list_pages(&server, 3), [1, 2, 3]);
}

/// The page numbers among the calls from this one on.
fn list_pages(server: &Server, from: usize) -> Vec<u64> {
    let heard = server.heard();
    let pages = heard[from..].iter().filter_map(|request| request.split_once("&page="));
    pages.map(|(_, rest)| rest.split(' ').next().unwrap().parse().unwrap()).collect()
}

/// An order of the list, with our reference or without.
fn listed(id: u64, status: &str, metadata: &str, created_at: &str) -> String {
    format!(
        r#"{{"id":{id},"status":"{status}","metadata":{metadata},"created_at":{created_at},
            "recipients":[{{"name":"Somebody"}}]}}"#
    )
}

fn page(last: u64, orders: &[String]) -> Reply {
    let data = orders.join(",");
    Reply::good(&format!(r#"{{"data":[{data}],"meta":{{"last_page":{last}}}}}"#))
}

async fn found(replies: Vec<Reply>) -> (Result<Vec<Mailpiece>, Failure>, usize) {
    let (server, provider) = serving(replies).await;
    let found = provider.for_reconciler().find(paid().id, samples::NOW).await;
    (found, server.heard().len())
}

#[tokio::test]
async fn our_cards_are_found_among_other_orders_and_cancelled_ones_are_not() {
    let ours = format!(r#"{{"public_order_id":"{}","attempt":1}}"#, paid().id);
    let now = r#""2030-03-17T17:46:45.000000Z""#;
    let first = page(
        3,
        &[
            listed(9, "Reviewing", "[]", now),
            listed(8, "Cancelled", &ours, now),
            listed(7, "Printed", &ours, now),
            listed(6, "Reviewing", r#"{"public_order_id":5}"#, "null"),
        ],
    );
    // The top order has moved down, and the next one is ours too.
    let second = page(
        3,
        &[listed(7, "Printed", &ours, now), listed(5, "Reviewing", &ours, "\"1 second ago\"")],
    );
    let third = page(3, &[listed(4, "Reviewing", "null", now)]);
    let (found, asked) = found(vec![first, second, third]).await;
    assert_eq!(found, Ok(vec![Mailpiece("7".into()), Mailpiece("5".into())]));
    assert_eq!(asked, 3);
}

#[tokio::test]
async fn the_search_ends_where_the_list_is_older_than_the_payment() {
    let old = page(900, &[listed(1, "Printed", "null", r#""2030-03-17T16:00:00.000000Z""#)]);
    assert_eq!(found(vec![old]).await, (Ok(vec![]), 1));
    // Without a zone it may be half a day later.
    let unsure = page(900, &[listed(1, "Printed", "null", r#""2030-03-17 16:00:00""#)]);
    let old = page(900, &[listed(1, "Printed", "null", r#""2030-03-17 01:00:00""#)]);
    assert_eq!(found(vec![unsure, old]).await, (Ok(vec![]), 2));
}

#[tokio::test]
async fn a_search_that_does_not_reach_the_end_proves_nothing() {
    let now = r#""2030-03-17T17:46:45.000000Z""#;
    let other = page(900, &[listed(1, "Printed", "null", now)]);
    let (searched, asked) = found(vec![other]).await;
    assert_eq!(searched, Err(Failure::Refused("budget used up".into())));
    assert_eq!(asked, LOOKUPS);
    // An empty list is complete; a body that cannot be parsed proves nothing.
    assert_eq!(found(vec![Reply::good(r#"{"data":[]}"#)]).await, (Ok(vec![]), 1));
    assert!(found(vec![Reply::good(r#"{"data":{}}"#)]).await.0.is_err());
    assert!(found(vec![Reply::json(500, "{}")]).await.0.is_err());
}
