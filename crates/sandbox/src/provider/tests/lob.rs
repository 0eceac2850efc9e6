//! The dialect of Lob: keys, metadata filters, deletion until the send date, proofs.

use serde_json::{Value, json};

use crate::provider::ProviderEmulator;
use crate::provider::fault::kind::ProviderFault;
use crate::provider::fault::rule::ProviderFaultRule;
use crate::provider::tests::client::{EmulatedResponse, call_as, get, open, path};

/// `sandbox-token-that-moves-no-money:` in Base64, made elsewhere.
const BASIC: &str = "Basic c2FuZGJveC10b2tlbi10aGF0LW1vdmVzLW5vLW1vbmV5Og==";

async fn call(
    provider: &ProviderEmulator,
    line: &str,
    more: &str,
    body: &Value,
) -> EmulatedResponse {
    call_as(provider, line, BASIC, more, body).await
}

fn card(reference: &str) -> Value {
    json!({
        "to": {
            "name": "Ada Lovelace", "address_line1": "12 St James's Square",
            "address_city": "London", "address_state": "Greater London",
            "address_zip": "SW1Y 4LB", "address_country": "GB",
        },
        "front": "https://images.example.org/sea.jpg",
        "back": "<html><p>The sea says hello.</p></html>",
        "size": "4x6",
        "use_type": "operational",
        "metadata": { "public_order_id": reference },
    })
}

#[tokio::test]
async fn an_idempotency_key_creates_one_card_per_day() {
    let provider = open().await;
    let key = "Idempotency-Key: order-1\r\n";
    let first = call(&provider, "POST /v1/postcards", key, &card("order-1")).await.json();
    assert!(first["id"].as_str().unwrap().starts_with("psc_"));
    assert_eq!(first["object"], "postcard");
    provider.advance(86_000);
    let again = call(&provider, "POST /v1/postcards", key, &card("order-1")).await.json();
    let by_query =
        call(&provider, "POST /v1/postcards?idempotency_key=order-1", "", &card("order-1"))
            .await
            .json();
    assert_eq!((&again["id"], &by_query["id"]), (&first["id"], &first["id"]));
    assert_eq!(provider.report().accepted, 1);
    provider.advance(400);
    let later = call(&provider, "POST /v1/postcards", key, &card("order-1")).await.json();
    assert_ne!(later["id"], first["id"]);
    assert_eq!(provider.report().duplicates["order-1"].len(), 2);
}

#[tokio::test]
async fn a_list_is_filtered_by_metadata_and_paginated_by_cursor() {
    let provider = open().await;
    for reference in ["a", "b", "a", "a"] {
        call(&provider, "POST /v1/postcards", "", &card(reference)).await;
    }
    let list = |query: String| {
        let provider = &provider;
        async move {
            call(provider, &format!("GET /v1/postcards?{query}"), "", &Value::Null).await.json()
        }
    };
    let found = list("metadata[public_order_id]=a&limit=2".into()).await;
    assert_eq!((&found["object"], &found["count"]), (&json!("list"), &json!(2)));
    assert!(found["next_url"].is_string());
    let cursor = found["data"][1]["id"].as_str().unwrap();
    let rest = list(format!("metadata%5Bpublic_order_id%5D=a&after={cursor}")).await;
    assert_eq!((&rest["count"], &rest["next_url"]), (&json!(1), &Value::Null));
    assert_eq!(list("metadata[public_order_id]=c".into()).await["count"], 0);
    assert_eq!(list(String::new()).await["count"], 4);
}

#[tokio::test]
async fn a_card_can_be_deleted_until_its_send_date() {
    let provider = open().await;
    let mut later = card("later");
    later["send_date"] = json!("2099-01-01");
    for (body, deletable) in [(card("soon"), 422), (later, 200)] {
        let made = call(&provider, "POST /v1/postcards", "", &body).await.json();
        let id = made["id"].as_str().unwrap();
        provider.advance(3_600);
        let line = format!("DELETE /v1/postcards/{id}");
        let deleted = call(&provider, &line, "", &Value::Null).await;
        assert_eq!(deleted.status, deletable, "{}", deleted.text());
        let shown =
            call(&provider, &format!("GET /v1/postcards/{id}"), "", &Value::Null).await.json();
        assert_eq!(shown["id"], made["id"]);
        assert_eq!(shown["tracking_events"].as_array().unwrap().is_empty(), deletable == 200);
    }
    let gone = call(&provider, "DELETE /v1/postcards/psc_unknown", "", &Value::Null).await;
    assert_eq!((gone.status, &gone.json()["error"]["status_code"]), (404, &json!(404)));
}

#[tokio::test]
async fn a_proof_returns_pictures_and_mails_nothing() {
    let provider = open().await;
    let request = json!({ "resource_type": "postcard", "resource_parameters": card("x") });
    let proof = call(&provider, "POST /v1/resource_proofs", "", &request).await;
    assert_eq!((proof.status, &proof.json()["status"]), (201, &json!("completed")));
    let picture = get(&provider, &path(&proof.json()["thumbnails"][1]["large"])).await;
    assert!(picture.text().contains("The sea says hello."));
    assert_eq!(provider.report().accepted, 0);
}

#[tokio::test]
async fn faulty_preview_urls_of_a_proof_are_in_the_usual_fields() {
    let provider = open().await;
    let request = json!({ "resource_type": "postcard", "resource_parameters": card("x") });
    for (kind, start) in [
        (ProviderFault::HttpPreviews, "http://pictures.example/"),
        (ProviderFault::PrivatePreviews, "https://10.0.0.7/"),
    ] {
        provider.add_fault(ProviderFaultRule::new(kind).once());
        let proof = call(&provider, "POST /v1/resource_proofs", "", &request).await.json();
        let large = proof["thumbnails"][0]["large"].as_str().unwrap();
        assert!(large.starts_with(start), "{proof}");
    }
    provider.add_fault(ProviderFaultRule::new(ProviderFault::EmptyPreviews).once());
    let proof = call(&provider, "POST /v1/resource_proofs", "", &request).await.json();
    assert_eq!(proof["thumbnails"], json!([]));
}

#[tokio::test]
async fn both_interfaces_share_one_ledger_and_lob_lists_its_own_cards_only() {
    let provider = open().await;
    call(&provider, "POST /v1/postcards", "", &card("from-lob")).await;
    super::client::send_one(&provider, "from-thanks").await;
    let own = call(&provider, "GET /v1/postcards", "", &Value::Null).await.json();
    assert_eq!(own["count"], 1);
    assert_eq!(get(&provider, "/api/v2/orders/list").await.json()["meta"]["total"], 2);
    assert_eq!(provider.report().live, 2);
}

#[tokio::test]
async fn an_invalid_card_and_a_wrong_key_are_refused() {
    let provider = open().await;
    for (field, value) in [
        ("use_type", Value::Null),
        ("to", json!("adr_1")),
        ("front", json!("")),
        ("size", json!("1x1")),
        ("metadata", json!({ "number": 7 })),
        ("send_date", json!("soon")),
    ] {
        let mut body = card("x");
        body[field] = value;
        let answer = call(&provider, "POST /v1/postcards", "", &body).await;
        assert_eq!(answer.status, 422, "{field}");
        assert!(answer.json()["error"]["message"].as_str().unwrap().contains(field), "{field}");
    }
    let stranger = call_as(&provider, "GET /v1/postcards", "Basic eDo=", "", &Value::Null).await;
    assert_eq!(
        (stranger.status, &stranger.json()["error"]["code"]),
        (401, &json!("invalid_api_key"))
    );
    assert_eq!(call(&provider, "PUT /v1/postcards", "", &json!({})).await.status, 405);
    assert_eq!(provider.report().accepted, 0);
}
