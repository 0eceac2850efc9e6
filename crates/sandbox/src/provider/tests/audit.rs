//! What an auditor reads: the report and the journal.

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::super::card::Fate;
use super::super::fault::kind::Kind;
use super::super::fault::operation::Operation;
use super::super::fault::rule::Rule;
use super::super::secret::hex;
use super::client::*;

#[tokio::test]
async fn a_card_is_lost_until_a_list_shows_it() {
    let office = open().await;
    office.add_fault(Rule::new(Kind::ResetAfter).once());
    let mut stream =
        sent(&office, "POST /api/v2/send/postcard", &bearer(), "", &card("a").to_string()).await;
    assert!(all_of(&mut stream).await.1.is_err());
    let lost = office.report().lost;
    assert_eq!(lost.len(), 1);
    office.add_fault(Rule::new(Kind::Malformed).on(Operation::List).once());
    get(&office, "/api/v2/orders/list").await;
    assert_eq!(office.report().lost, lost, "nobody can read that list");
    get(&office, "/api/v2/orders/list").await;
    assert!(office.report().lost.is_empty());
}

#[tokio::test]
async fn doubles_orphans_and_missing_cards_are_told_apart() {
    let office = open().await;
    let mut nameless = card("x");
    nameless["metadata"] = Value::Null;
    let orphan = send(&office, &nameless).await.json()["id"].as_u64().unwrap();
    let first = send_one(&office, "double").await;
    let second = send_one(&office, "double").await;
    let cancelled = send_one(&office, "cancelled").await;
    let failed = send_one(&office, "failed").await;
    call(&office, &format!("PUT /api/v2/orders/{cancelled}/cancel"), &Value::Null).await;
    office.set_fate(failed, Fate::Fails).unwrap();
    assert!(office.set_fate(1, Fate::Fails).is_err());
    office.advance(3_600);
    let expected = ["double", "cancelled", "failed", "never"].map(str::to_owned);
    let report = office.report_on(&expected);
    assert_eq!((report.accepted, report.live), (5, 3));
    assert_eq!((report.cancelled, report.undelivered), (1, 1));
    assert_eq!(report.orphans, [orphan]);
    assert_eq!(report.double_mailings["double"], [second, first]);
    assert_eq!(report.missing, ["cancelled", "failed", "never"]);
}

#[tokio::test]
async fn a_cancelled_double_is_no_double_mailing() {
    let office = open().await;
    let spare = send_one(&office, "double").await;
    send_one(&office, "double").await;
    call(&office, &format!("PUT /api/v2/orders/{spare}/cancel"), &Value::Null).await;
    office.advance(3_600);
    let report = office.report();
    assert_eq!((report.duplicates.len(), report.double_mailings.len()), (1, 0));
}

#[tokio::test]
async fn the_post_can_fail_and_return_a_card() {
    let office = open().await;
    for (fate, status, stat) in [
        (Fate::Fails, "Failed", "failed"),
        (Fate::Returns, "Returned to Sender", "returned_to_sender"),
    ] {
        let id = send_one(&office, "x").await;
        office.set_fate(id, fate).unwrap();
        office.advance(4_000);
        let item =
            get(&office, &format!("/api/v2/orders/{id}/items")).await.json()["data"][0].clone();
        assert_eq!(item["status"], status);
        assert!(item["failure"].is_string());
        let track = get(&office, &format!("/api/v2/orders/{id}/track")).await.json();
        assert_eq!(track["data"]["stats"][stat], 1);
    }
}

#[tokio::test]
async fn the_journal_knows_hashes_and_never_words() {
    let office = open().await;
    office.add_fault(Rule::new(Kind::TotalDrift).once());
    let id = send_one(&office, "order-1").await;
    get(&office, "/api/v2/nothing").await;
    call_as(&office, "GET /api/v2/orders/list", "Bearer no", "", &Value::Null).await;
    let lines = office.journal();
    let seen: Vec<_> = lines.iter().map(|line| (line.operation, line.status, line.fault)).collect();
    assert_eq!(
        seen,
        [
            (Some(Operation::Send), Some(200), Some(Kind::TotalDrift)),
            (None, Some(404), None),
            (None, Some(401), None),
        ]
    );
    assert_eq!(lines[0].cards, [id]);
    assert_eq!(lines[0].body_sha256, hex(&Sha256::digest(card("order-1").to_string())));
    let written = format!("{lines:?} {}", get(&office, "/__sandbox/journal").await.text());
    for word in ["sea", "Ada", "James", "London", "SW1Y"] {
        assert!(!written.contains(word), "{word}");
    }
    office.change(|settings| settings.kept_journal_lines = 2);
    get(&office, "/api/v2/nothing").await;
    assert_eq!(office.journal().iter().map(|line| line.number).collect::<Vec<_>>(), [3, 4]);
}
