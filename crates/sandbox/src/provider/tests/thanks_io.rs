//! The dialect of thanks.io: shapes, prices, the review hour, the list.

use serde_json::{Value, json};

use crate::provider::state::settings::SandboxAccountMode;
use crate::provider::tests::client::*;

#[tokio::test]
async fn a_card_is_accepted_listed_tracked_and_delivered() {
    let provider = open().await;
    let sent = send(&provider, &card("order-1")).await;
    let order = sent.json();
    assert_eq!(sent.status, 200);
    assert_eq!(sent.header("content-type"), Some("application/json"));
    assert!(order["id"].is_u64());
    assert_eq!(order["status"], "reviewing");
    assert_eq!(order["authorization_total"], 172);
    assert_eq!(order["metadata"], card("order-1")["metadata"]);
    let list = get(&provider, "/api/v2/orders/list").await.json();
    assert_eq!(list["data"][0]["id"], order["id"]);
    assert_eq!(list["data"][0]["status"], "Reviewing");
    assert_eq!(list["data"][0]["cancellable"], true);
    assert_eq!(list["data"][0]["metadata"], order["metadata"]);
    for (seconds, status, stat, item) in [
        (0, "Reviewing", "processing", "Processing"),
        (3_600, "Printed", "printed", "Printed"),
        (60, "Shipped", "in_transit", "In Transit"),
        (120, "Delivered", "delivered", "Delivered"),
    ] {
        provider.advance(seconds);
        let track = get(&provider, &format!("/api/v2/orders/{}/track", order["id"])).await.json();
        assert_eq!(track["data"]["order"]["status"], status);
        assert_eq!(track["data"]["stats"][stat], 1, "{track}");
        let items = get(&provider, &format!("/api/v2/orders/{}/items", order["id"])).await.json();
        assert_eq!(items["data"][0]["status"], item);
        assert_eq!(items["data"][0]["delivery_date"].is_string(), item == "Delivered");
        assert_eq!(items["meta"]["total"], 1);
    }
}

#[tokio::test]
async fn an_estimate_is_what_the_same_body_is_charged_and_creates_nothing() {
    let provider = open().await;
    for (country, cents, home) in [("US", 118, 1), ("ca", 149, 0), ("DE", 172, 0), ("AQ", 340, 0)] {
        let mut body = card("order-1");
        body["recipients"][0]["country"] = json!(country);
        let estimate = call(&provider, "POST /api/v2/estimate/postcard", &body).await.json();
        let data = &estimate["data"];
        assert_eq!(data["total_cost_in_cents"], cents, "{country}");
        assert_eq!(data["costs_in_cents"]["grand_total"], cents);
        assert_eq!(data["total_cost"], format!("${}.{:02}", cents / 100, cents % 100));
        assert_eq!(data["recipients"]["united_states"], home);
        assert_eq!(data["test_mode"], false);
        assert_eq!(provider.report().accepted, 0);
    }
    let mut body = card("order-1");
    body["recipients"][0]["country"] = json!("AQ");
    assert_eq!(send(&provider, &body).await.json()["authorization_total"], 340);
}

#[tokio::test]
async fn a_preview_creates_nothing_and_shows_both_sides() {
    let provider = open().await;
    let mut body = card("order-1");
    body["preview"] = json!(true);
    let answer = send(&provider, &body).await.json();
    assert_eq!((&answer["success"], &answer["code"]), (&json!(true), &json!(200)));
    let previews = answer["data"]["previews"].as_array().unwrap();
    assert_eq!(previews.len(), 2);
    for url in previews {
        let picture = get(&provider, &path(url)).await;
        assert_eq!(picture.status, 200);
        assert_eq!(picture.header("content-type"), Some("image/svg+xml"));
    }
    assert_eq!(provider.report().accepted, 0);
}

#[tokio::test]
async fn send_and_estimate_report_all_invalid_fields_alike() {
    let provider = open().await;
    let mut body = card("x");
    body["size"] = json!("9x9");
    body["front_image_url"] = json!("ftp://x");
    body["message"] = json!(7);
    body["metadata"] = json!({ "long": "x".repeat(8_200) });
    body["recipients"][0]["city"] = json!(" ");
    body["recipients"][0]["country"] = json!("ZZ");
    for door in ["POST /api/v2/send/postcard", "POST /api/v2/estimate/postcard"] {
        let answer = call(&provider, door, &body).await;
        assert_eq!(answer.status, 422);
        let errors = answer.json()["errors"].as_object().unwrap().clone();
        let named: Vec<&str> = errors.keys().map(String::as_str).collect();
        assert_eq!(
            named,
            [
                "front_image_url",
                "message",
                "metadata",
                "recipients.0.city",
                "recipients.0.country",
                "size"
            ]
        );
        assert_eq!(
            errors["recipients.0.city"],
            json!(["The recipients.0.city field is required."])
        );
    }
    for recipients in [json!([]), json!(null), json!("x"), json!([{}, {}])] {
        let mut body = card("x");
        body["recipients"] = recipients;
        let answer = send(&provider, &body).await;
        assert_eq!(answer.status, 422);
        assert!(answer.json()["errors"]["recipients"].is_array());
    }
    assert_eq!(provider.report().accepted, 0);
}

#[tokio::test]
async fn metadata_of_exactly_8192_bytes_comes_back_unchanged() {
    let provider = open().await;
    let mut body = card("x");
    let frame = json!({ "public_order_id": "x", "pad": "" }).to_string().len();
    body["metadata"] = json!({ "public_order_id": "x", "pad": "y".repeat(8_192 - frame) });
    let answer = send(&provider, &body).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["metadata"], body["metadata"]);
    body["metadata"] = json!({ "public_order_id": "x", "pad": "y".repeat(8_193 - frame) });
    assert_eq!(send(&provider, &body).await.status, 422);
}

#[tokio::test]
async fn calls_without_a_token_and_unknown_calls_are_refused() {
    let provider = open().await;
    for authorization in ["Bearer wrong", "", "Basic x"] {
        let answer =
            call_as(&provider, "POST /api/v2/send/postcard", authorization, "", &card("x")).await;
        assert_eq!(answer.status, 401);
        assert_eq!(answer.json(), json!({ "message": "Unauthenticated." }));
    }
    assert_eq!(get(&provider, "/api/v2/orders/7/track").await.status, 404);
    assert_eq!(get(&provider, "/api/v2/orders/seven/track").await.status, 404);
    assert_eq!(get(&provider, "/api/v2/nothing").await.status, 404);
    assert_eq!(get(&provider, "/api/v2/send/postcard").await.status, 405);
    assert_eq!(call(&provider, "POST /api/v2/orders/1/replay", &Value::Null).await.status, 404);
    let mut stream =
        sent(&provider, "POST /api/v2/send/postcard", &bearer(), "", "{nonsense").await;
    assert_eq!(read(&all_of(&mut stream).await.0).status, 400);
    assert_eq!(provider.report().accepted, 0);
}

#[tokio::test]
async fn a_card_can_be_cancelled_for_an_hour_and_no_second_longer() {
    let provider = open().await;
    let (early, late) = (send_one(&provider, "early").await, send_one(&provider, "late").await);
    provider.advance(3_500);
    let answer = call(&provider, &format!("PUT /api/v2/orders/{early}/cancel"), &Value::Null).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["order"]["status"], "cancelled");
    assert_eq!(answer.json()["order"]["grand_total"], 0);
    let again = call(&provider, &format!("PUT /api/v2/orders/{early}/cancel"), &Value::Null).await;
    assert_eq!(again.status, 400);
    provider.advance(100);
    let answer = call(&provider, &format!("PUT /api/v2/orders/{late}/cancel"), &Value::Null).await;
    assert_eq!(answer.status, 400);
    assert_eq!(call(&provider, "PUT /api/v2/orders/1/cancel", &Value::Null).await.status, 404);
    let report = provider.report();
    assert_eq!((report.accepted, report.live, report.cancelled), (2, 1, 1));
}

#[tokio::test]
async fn the_list_is_newest_first_paginated_and_can_lag() {
    let provider = open().await;
    let mut ids = Vec::new();
    for number in 0..7 {
        ids.push(send_one(&provider, &format!("order-{number}")).await);
    }
    ids.reverse();
    let mut seen = Vec::new();
    for page in 1..=3 {
        let list = get(&provider, &format!("/api/v2/orders/list?items_per_page=3&page={page}"))
            .await
            .json();
        seen.extend(
            list["data"].as_array().unwrap().iter().map(|order| order["id"].as_u64().unwrap()),
        );
        assert_eq!((&list["meta"]["last_page"], &list["meta"]["total"]), (&json!(3), &json!(7)));
        assert_eq!(list["links"]["next"].is_null(), page == 3);
        assert_eq!(list["links"]["prev"].is_null(), page == 1);
    }
    assert_eq!(seen, ids);
    for query in ["items_per_page=0", "items_per_page=101", "page=0", "page=x"] {
        assert_eq!(get(&provider, &format!("/api/v2/orders/list?{query}")).await.status, 422);
    }
    provider.change(|settings| settings.list_lag_seconds = 90);
    let hidden = send_one(&provider, "hidden").await;
    assert_eq!(get(&provider, "/api/v2/orders/list").await.json()["data"][0]["id"], ids[0]);
    provider.advance(90);
    assert_eq!(get(&provider, "/api/v2/orders/list").await.json()["data"][0]["id"], hidden);
}

#[tokio::test]
async fn in_test_mode_every_order_is_cancelled_at_once() {
    let provider = open().await;
    provider.change(|settings| settings.account = SandboxAccountMode::Testing);
    let estimate = call(&provider, "POST /api/v2/estimate/postcard", &card("x")).await.json();
    assert_eq!(estimate["data"]["test_mode"], true);
    assert_eq!(send(&provider, &card("x")).await.json()["status"], "cancelled");
    assert_eq!(provider.report().live, 0);
}

#[tokio::test]
async fn the_ledger_keeps_the_last_cards_and_counts_dropped_ones() {
    let provider = open().await;
    provider.change(|settings| settings.kept_cards = 3);
    for number in 0..5 {
        send_one(&provider, &format!("order-{number}")).await;
    }
    let list = get(&provider, "/api/v2/orders/list").await.json();
    assert_eq!(list["meta"]["total"], 3);
    let report = provider.report();
    assert_eq!((report.accepted, report.forgotten, report.live), (5, 2, 3));
}
