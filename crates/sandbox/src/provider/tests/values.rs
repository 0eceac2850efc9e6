//! Faults in the values of an answer that is otherwise well.

use serde_json::{Value, json};

use crate::provider::ProviderEmulator;
use crate::provider::fault::kind::ProviderFault;
use crate::provider::fault::operation::ProviderOperation;
use crate::provider::fault::rule::ProviderFaultRule;
use crate::provider::tests::client::*;

async fn previews(provider: &ProviderEmulator, kind: ProviderFault) -> Value {
    provider.add_fault(ProviderFaultRule::new(kind).once());
    let mut body = card("x");
    body["preview"] = json!(true);
    let answer = send(provider, &body).await;
    assert_eq!(answer.status, 200);
    answer.json()["data"].clone()
}

#[tokio::test]
async fn preview_urls_can_be_missing_empty_not_a_list_http_or_private() {
    let provider = open().await;
    assert_eq!(previews(&provider, ProviderFault::MissingPreviews).await.get("previews"), None);
    assert_eq!(previews(&provider, ProviderFault::EmptyPreviews).await["previews"], json!([]));
    assert!(previews(&provider, ProviderFault::NotListPreviews).await["previews"].is_object());
    let open = previews(&provider, ProviderFault::HttpPreviews).await["previews"].clone();
    assert!(open[0].as_str().unwrap().starts_with("http://pictures.example/"));
    let private = previews(&provider, ProviderFault::PrivatePreviews).await["previews"].clone();
    assert!(private[0].as_str().unwrap().starts_with("https://10."));
    assert!(private[1].as_str().unwrap().starts_with("https://[fd"));
}

#[tokio::test]
async fn totals_can_be_missing_or_invalid_in_estimates_and_orders() {
    let provider = open().await;
    for (kind, text) in [
        (ProviderFault::MissingTotal, None),
        (ProviderFault::StringTotal, Some("\"172\"")),
        (ProviderFault::FloatTotal, Some("172.5")),
        (ProviderFault::NegativeTotal, Some("-172")),
        (ProviderFault::ZeroTotal, Some("0")),
        (ProviderFault::OverflowTotal, Some("18446744073709551616")),
        (ProviderFault::HugeTotal, Some("29000")),
        (ProviderFault::TotalDrift, Some("179")),
    ] {
        for (operation, line, name) in [
            (ProviderOperation::Estimate, "POST /api/v2/estimate/postcard", "total_cost_in_cents"),
            (ProviderOperation::Send, "POST /api/v2/send/postcard", "authorization_total"),
        ] {
            provider.add_fault(ProviderFaultRule::new(kind).on(operation).once());
            let answer = call(&provider, line, &card("x")).await;
            assert_eq!(answer.status, 200);
            let written = answer.text();
            match text {
                Some(text) => {
                    let wanted = [format!("\"{name}\":{text},"), format!("\"{name}\":{text}}}")];
                    assert!(wanted.iter().any(|wanted| written.contains(wanted)), "{written}");
                }
                None => assert!(!written.contains(name), "{written}"),
            }
        }
    }
    // The card was accepted under its own price, whatever the answer said.
    assert_eq!(provider.report().accepted, 8);
    assert_eq!(
        get(&provider, "/api/v2/orders/list").await.json()["data"][0]["authorization_total"],
        172
    );
}

#[tokio::test]
async fn one_request_makes_two_cards() {
    let provider = open().await;
    provider.add_fault(ProviderFaultRule::new(ProviderFault::DuplicateAccept).once());
    let id = send_one(&provider, "twice").await;
    assert_eq!(provider.report().duplicates["twice"], [id + 1, id]);
    assert!(provider.report().double_mailings.is_empty());
    assert_eq!(provider.report().lost, [id + 1]);
    provider.advance(3_600);
    assert_eq!(provider.report().double_mailings["twice"], [id + 1, id]);
}

#[tokio::test]
async fn a_card_can_be_absent_from_lists_and_lists_can_be_empty() {
    let provider = open().await;
    provider.add_fault(ProviderFaultRule::new(ProviderFault::ListLag).seconds(45).once());
    let id = send_one(&provider, "hidden").await;
    let list = || async { get(&provider, "/api/v2/orders/list").await.json()["data"].clone() };
    assert_eq!(list().await, json!([]));
    provider.advance(45);
    assert_eq!(list().await[0]["id"], id);
    provider.add_fault(ProviderFaultRule::new(ProviderFault::ListEmpty).once());
    assert_eq!(list().await, json!([]));
    assert_eq!(list().await[0]["id"], id);
}
