//! The mailbox page: what a visitor sees.

use serde_json::json;

use crate::provider::ProviderEmulator;
use crate::provider::state::settings::{ProviderSettings, SANDBOX_TOKEN};
use crate::provider::tests::client::*;

#[tokio::test]
async fn an_empty_mailbox_shows_a_command() {
    let provider = open().await;
    let page = get(&provider, "/").await;
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let text = page.text();
    assert!(text.contains("No money moves, no card is mailed."));
    assert!(text.contains(&format!("curl -s {}/api/v2/send/postcard", provider.base_url())));
    assert!(text.contains(SANDBOX_TOKEN));
}

/// The command on the page is not prose: what it sends is taken.
#[tokio::test]
async fn the_command_on_the_empty_page_sends_a_card() {
    let provider = open().await;
    let text = get(&provider, "/").await.text();
    let (_, rest) = text.split_once("-d &#39;").unwrap();
    let (body, _) = rest.split_once("&#39;</code>").unwrap();
    let body = serde_json::from_str(&body.replace("&quot;", "\"")).unwrap();
    assert_eq!(send(&provider, &body).await.status, 200);
    let page = get(&provider, "/").await.text();
    assert!(page.contains("One card so far.") && page.contains("my-first-card"));
}

#[tokio::test]
async fn cards_are_shown_newest_first_with_both_sides_and_their_facts() {
    let provider = open().await;
    let (first, second) = (send_one(&provider, "one").await, send_one(&provider, "two").await);
    let page = get(&provider, "/").await.text();
    let place = |id: u64| page.find(&format!("id=\"card-{id}\"")).unwrap();
    assert!(place(second) < place(first));
    assert_eq!(page.matches("<img ").count(), 4);
    for word in ["In review", "GB", "$1.72", "<code>two</code>"] {
        assert!(page.contains(word), "{word}");
    }
    for source in page.split("<img src=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert_eq!(get(&provider, source).await.status, 200, "{source}");
    }
    provider.advance(3_700);
    assert!(get(&provider, "/").await.text().contains("In transit"));
}

#[tokio::test]
async fn the_page_loads_no_external_resource_and_no_script() {
    let provider = open().await;
    let mut hostile = card("<script>alert(1)</script>\"><img src=x onerror=alert(1)>");
    hostile["message"] = json!("</desc><script>alert(1)</script>");
    send(&provider, &hostile).await;
    let page = get(&provider, "/").await;
    let policy = page.header("content-security-policy").unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'; img-src 'self';"), "{policy}");
    let text = page.text();
    assert!(!text.contains("<script") && !text.contains("<img src=x"));
    assert!(!text.contains("https://") && !text.contains("src=\"http"));
}

#[tokio::test]
async fn the_button_advances_the_clock_by_an_hour() {
    let provider = open().await;
    let origin = "origin: http://127.0.0.1\r\n";
    let pressed =
        call_as(&provider, "POST /let-an-hour-pass", "", origin, &serde_json::Value::Null).await;
    assert_eq!((pressed.status, pressed.header("location")), (303, Some("/")));
    assert!(get(&provider, "/").await.text().contains("an hour ahead"));
}

#[tokio::test]
async fn picture_urls_use_the_public_base_url() {
    let settings = ProviderSettings {
        public_base: Some("https://sandbox.example/".into()),
        ..ProviderSettings::default()
    };
    let provider = ProviderEmulator::open(settings).await.unwrap();
    let mut body = card("x");
    body["preview"] = json!(true);
    let url = send(&provider, &body).await.json()["data"]["previews"][0].clone();
    assert!(url.as_str().unwrap().starts_with("https://sandbox.example/previews/"));
    assert_eq!(provider.mailbox_url(), "https://sandbox.example/");
    assert_eq!(get(&provider, &path(&url)).await.status, 200);
}
