//! Faults in the values of an answer that is otherwise well.

use serde_json::{Value, json};

use super::super::PostOffice;
use super::super::fault::kind::Kind;
use super::super::fault::operation::Operation;
use super::super::fault::rule::Rule;
use super::client::*;

async fn previews(office: &PostOffice, kind: Kind) -> Value {
    office.add_fault(Rule::new(kind).once());
    let mut body = card("x");
    body["preview"] = json!(true);
    let answer = send(office, &body).await;
    assert_eq!(answer.status, 200);
    answer.json()["data"].clone()
}

#[tokio::test]
async fn previews_are_missing_empty_no_list_open_or_private() {
    let office = open().await;
    assert_eq!(previews(&office, Kind::MissingPreviews).await.get("previews"), None);
    assert_eq!(previews(&office, Kind::EmptyPreviews).await["previews"], json!([]));
    assert!(previews(&office, Kind::NotListPreviews).await["previews"].is_object());
    let open = previews(&office, Kind::HttpPreviews).await["previews"].clone();
    assert!(open[0].as_str().unwrap().starts_with("http://pictures.example/"));
    let private = previews(&office, Kind::PrivatePreviews).await["previews"].clone();
    assert!(private[0].as_str().unwrap().starts_with("https://10."));
    assert!(private[1].as_str().unwrap().starts_with("https://[fd"));
}

#[tokio::test]
async fn totals_are_missing_or_of_any_wrong_kind_in_estimates_and_in_orders() {
    let office = open().await;
    for (kind, text) in [
        (Kind::MissingTotal, None),
        (Kind::StringTotal, Some("\"172\"")),
        (Kind::FloatTotal, Some("172.5")),
        (Kind::NegativeTotal, Some("-172")),
        (Kind::ZeroTotal, Some("0")),
        (Kind::OverflowTotal, Some("18446744073709551616")),
        (Kind::HugeTotal, Some("29000")),
        (Kind::TotalDrift, Some("179")),
    ] {
        for (operation, line, name) in [
            (Operation::Estimate, "POST /api/v2/estimate/postcard", "total_cost_in_cents"),
            (Operation::Send, "POST /api/v2/send/postcard", "authorization_total"),
        ] {
            office.add_fault(Rule::new(kind).on(operation).once());
            let answer = call(&office, line, &card("x")).await;
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
    assert_eq!(office.report().accepted, 8);
    assert_eq!(
        get(&office, "/api/v2/orders/list").await.json()["data"][0]["authorization_total"],
        172
    );
}

#[tokio::test]
async fn one_request_makes_two_cards() {
    let office = open().await;
    office.add_fault(Rule::new(Kind::DuplicateAccept).once());
    let id = send_one(&office, "twice").await;
    assert_eq!(office.report().duplicates["twice"], [id + 1, id]);
    assert!(office.report().double_mailings.is_empty());
    assert_eq!(office.report().lost, [id + 1]);
    office.advance(3_600);
    assert_eq!(office.report().double_mailings["twice"], [id + 1, id]);
}

#[tokio::test]
async fn a_card_hides_from_lists_and_lists_come_empty() {
    let office = open().await;
    office.add_fault(Rule::new(Kind::ListLag).seconds(45).once());
    let id = send_one(&office, "hidden").await;
    let list = || async { get(&office, "/api/v2/orders/list").await.json()["data"].clone() };
    assert_eq!(list().await, json!([]));
    office.advance(45);
    assert_eq!(list().await[0]["id"], id);
    office.add_fault(Rule::new(Kind::ListEmpty).once());
    assert_eq!(list().await, json!([]));
    assert_eq!(list().await[0]["id"], id);
}
