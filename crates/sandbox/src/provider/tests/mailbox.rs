//! The mailbox page: what a visitor sees.

use serde_json::json;

use super::super::PostOffice;
use super::super::settings::{SANDBOX_TOKEN, Settings};
use super::client::*;

#[tokio::test]
async fn an_empty_mailbox_says_what_to_do() {
    let office = open().await;
    let page = get(&office, "/").await;
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let text = page.text();
    assert!(text.contains("No money moves, no card is mailed."));
    assert!(text.contains(&format!("curl -s {}/api/v2/send/postcard", office.base_url())));
    assert!(text.contains(SANDBOX_TOKEN));
}

/// The command on the page is not prose: what it sends is taken.
#[tokio::test]
async fn the_command_on_the_empty_page_sends_a_card() {
    let office = open().await;
    let text = get(&office, "/").await.text();
    let (_, rest) = text.split_once("-d &#39;").unwrap();
    let (body, _) = rest.split_once("&#39;</code>").unwrap();
    let body = serde_json::from_str(&body.replace("&quot;", "\"")).unwrap();
    assert_eq!(send(&office, &body).await.status, 200);
    let page = get(&office, "/").await.text();
    assert!(page.contains("One card so far.") && page.contains("my-first-card"));
}

#[tokio::test]
async fn cards_are_shown_newest_first_with_both_sides_and_their_facts() {
    let office = open().await;
    let (first, second) = (send_one(&office, "one").await, send_one(&office, "two").await);
    let page = get(&office, "/").await.text();
    let place = |id: u64| page.find(&format!("id=\"card-{id}\"")).unwrap();
    assert!(place(second) < place(first));
    assert_eq!(page.matches("<img ").count(), 4);
    for word in ["In review", "GB", "$1.72", "<code>two</code>"] {
        assert!(page.contains(word), "{word}");
    }
    for source in page.split("<img src=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert_eq!(get(&office, source).await.status, 200, "{source}");
    }
    office.advance(3_700);
    assert!(get(&office, "/").await.text().contains("In transit"));
}

#[tokio::test]
async fn the_page_needs_nothing_from_anywhere_and_runs_no_script() {
    let office = open().await;
    let mut hostile = card("<script>alert(1)</script>\"><img src=x onerror=alert(1)>");
    hostile["message"] = json!("</desc><script>alert(1)</script>");
    send(&office, &hostile).await;
    let page = get(&office, "/").await;
    let policy = page.header("content-security-policy").unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'; img-src 'self';"), "{policy}");
    let text = page.text();
    assert!(!text.contains("<script") && !text.contains("<img src=x"));
    assert!(!text.contains("https://") && !text.contains("src=\"http"));
}

#[tokio::test]
async fn the_button_lets_an_hour_pass_for_a_visitor_of_the_page() {
    let office = open().await;
    let origin = "origin: http://127.0.0.1\r\n";
    let pressed =
        call_as(&office, "POST /let-an-hour-pass", "", origin, &serde_json::Value::Null).await;
    assert_eq!((pressed.status, pressed.header("location")), (303, Some("/")));
    assert!(get(&office, "/").await.text().contains("an hour ahead"));
}

#[tokio::test]
async fn pictures_are_named_by_the_public_address_if_there_is_one() {
    let settings =
        Settings { public_base: Some("https://sandbox.example/".into()), ..Settings::default() };
    let office = PostOffice::open(settings).await.unwrap();
    let mut body = card("x");
    body["preview"] = json!(true);
    let url = send(&office, &body).await.json()["data"]["previews"][0].clone();
    assert!(url.as_str().unwrap().starts_with("https://sandbox.example/previews/"));
    assert_eq!(office.mailbox_url(), "https://sandbox.example/");
    assert_eq!(get(&office, &path(&url)).await.status, 200);
}
