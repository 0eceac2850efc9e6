//! What an auditor reads: the report and the journal.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::provider::fault::kind::ProviderFault;
use crate::provider::fault::operation::ProviderOperation;
use crate::provider::fault::rule::ProviderFaultRule;
use crate::provider::state::card::DeliveryOutcome;
use crate::provider::state::secret::hex;
use crate::provider::tests::client::*;

#[tokio::test]
async fn a_card_is_lost_until_a_list_shows_it() {
    let provider = open().await;
    provider.add_fault(ProviderFaultRule::new(ProviderFault::ResetAfter).once());
    let mut stream =
        sent(&provider, "POST /api/v2/send/postcard", &bearer(), "", &card("a").to_string()).await;
    assert!(all_of(&mut stream).await.1.is_err());
    let lost = provider.report().lost;
    assert_eq!(lost.len(), 1);
    provider.add_fault(
        ProviderFaultRule::new(ProviderFault::Malformed).on(ProviderOperation::List).once(),
    );
    get(&provider, "/api/v2/orders/list").await;
    assert_eq!(provider.report().lost, lost, "the list is unreadable");
    get(&provider, "/api/v2/orders/list").await;
    assert!(provider.report().lost.is_empty());
}

#[tokio::test]
async fn the_report_distinguishes_duplicates_orphans_and_missing_cards() {
    let provider = open().await;
    let mut nameless = card("x");
    nameless["metadata"] = Value::Null;
    let orphan = send(&provider, &nameless).await.json()["id"].as_u64().unwrap();
    let first = send_one(&provider, "double").await;
    let second = send_one(&provider, "double").await;
    let cancelled = send_one(&provider, "cancelled").await;
    let failed = send_one(&provider, "failed").await;
    call(&provider, &format!("PUT /api/v2/orders/{cancelled}/cancel"), &Value::Null).await;
    provider.set_outcome(failed, DeliveryOutcome::Fails).unwrap();
    assert!(provider.set_outcome(1, DeliveryOutcome::Fails).is_err());
    provider.advance(3_600);
    let expected = ["double", "cancelled", "failed", "never"].map(str::to_owned);
    let report = provider.report_on(&expected);
    assert_eq!((report.accepted, report.live), (5, 3));
    assert_eq!((report.cancelled, report.undelivered), (1, 1));
    assert_eq!(report.orphans, [orphan]);
    assert_eq!(report.double_mailings["double"], [second, first]);
    assert_eq!(report.missing, ["cancelled", "failed", "never"]);
}

#[tokio::test]
async fn a_cancelled_duplicate_is_not_a_double_mailing() {
    let provider = open().await;
    let spare = send_one(&provider, "double").await;
    send_one(&provider, "double").await;
    call(&provider, &format!("PUT /api/v2/orders/{spare}/cancel"), &Value::Null).await;
    provider.advance(3_600);
    let report = provider.report();
    assert_eq!((report.duplicates.len(), report.double_mailings.len()), (1, 0));
}

#[tokio::test]
async fn a_card_can_fail_or_be_returned() {
    let provider = open().await;
    for (outcome, status, stat) in [
        (DeliveryOutcome::Fails, "Failed", "failed"),
        (DeliveryOutcome::Returns, "Returned to Sender", "returned_to_sender"),
    ] {
        let id = send_one(&provider, "x").await;
        provider.set_outcome(id, outcome).unwrap();
        provider.advance(4_000);
        let item =
            get(&provider, &format!("/api/v2/orders/{id}/items")).await.json()["data"][0].clone();
        assert_eq!(item["status"], status);
        assert!(item["failure"].is_string());
        let track = get(&provider, &format!("/api/v2/orders/{id}/track")).await.json();
        assert_eq!(track["data"]["stats"][stat], 1);
    }
}

#[tokio::test]
async fn the_journal_contains_hashes_and_no_bodies() {
    let provider = open().await;
    provider.add_fault(ProviderFaultRule::new(ProviderFault::TotalDrift).once());
    let id = send_one(&provider, "order-1").await;
    get(&provider, "/api/v2/nothing").await;
    call_as(&provider, "GET /api/v2/orders/list", "Bearer no", "", &Value::Null).await;
    let lines = provider.journal();
    let seen: Vec<_> = lines.iter().map(|line| (line.operation, line.status, line.fault)).collect();
    assert_eq!(
        seen,
        [
            (Some(ProviderOperation::Send), Some(200), Some(ProviderFault::TotalDrift)),
            (None, Some(404), None),
            (None, Some(401), None),
        ]
    );
    assert_eq!(lines[0].cards, [id]);
    assert_eq!(lines[0].body_sha256, hex(&Sha256::digest(card("order-1").to_string())));
    let written = format!("{lines:?} {}", get(&provider, "/__sandbox/journal").await.text());
    for word in ["sea", "Ada", "James", "London", "SW1Y"] {
        assert!(!written.contains(word), "{word}");
    }
    provider.change(|settings| settings.kept_journal_lines = 2);
    get(&provider, "/api/v2/nothing").await;
    assert_eq!(provider.journal().iter().map(|line| line.number).collect::<Vec<_>>(), [3, 4]);
}
