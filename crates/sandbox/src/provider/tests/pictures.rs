//! Drawings of cards that say anything at all.

use serde_json::json;

use crate::provider::ProviderEmulator;
use crate::provider::tests::client::*;

const HOSTILE: &[&str] = &[
    "<script>alert(1)</script>",
    "</text></svg><svg onload=alert(1)>",
    "\"/><image href=\"https://evil.example/x.png\"/>",
    "]]><!ENTITY x SYSTEM \"file:///etc/passwd\">&x;",
    "<!--",
    "&#60;script&#62;",
    "&amp;lt;",
    "\u{202e}\u{200b}\u{feff}\u{ffff}\u{1}\u{7f}\u{85}",
    "👩\u{200d}👩\u{200d}👧 🏴\u{e0067}\u{e007f}",
    "漢字かな混じり文",
    "שלום <b>עולם</b>",
    "a\u{301}\u{301}\u{301}",
];

async fn drawn(provider: &ProviderEmulator, text: &str) -> [String; 2] {
    let mut body = card("x");
    body["preview"] = json!(true);
    body["message"] = json!(text);
    for field in ["name", "address", "city", "province", "postal_code", "company"] {
        body["recipients"][0][field] = json!(text.chars().take(100).collect::<String>());
    }
    let answer = send(provider, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let previews = answer.json()["data"]["previews"].clone();
    [
        get(provider, &path(&previews[0])).await.text(),
        get(provider, &path(&previews[1])).await.text(),
    ]
}

/// The names of all elements, if every one is closed in its place and every
/// value stands in quotes.
fn elements(svg: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let mut seen = Vec::new();
    let mut rest = svg;
    while let Some((text, after)) = rest.split_once('<') {
        assert!(!text.contains('>'), "a stray bracket in {text}");
        let (tag, after) = after.split_once('>').expect("an end of the tag");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
        } else {
            let name = tag.split([' ', '/']).next().unwrap().to_owned();
            if !tag.ends_with('/') {
                open.push(name.clone());
            }
            for attribute in tag.split('"').step_by(2) {
                assert!(!attribute.contains(" on"), "{tag}");
            }
            seen.push(name);
        }
        rest = after;
    }
    assert!(open.is_empty(), "{open:?} left open");
    seen
}

const ALLOWED: &[&str] = &[
    "svg",
    "title",
    "desc",
    "defs",
    "pattern",
    "path",
    "g",
    "circle",
    "ellipse",
    "text",
    "textPath",
    "tspan",
    "clipPath",
    "linearGradient",
    "stop",
];

#[tokio::test]
async fn text_cannot_inject_markup_into_a_drawing() {
    let provider = open().await;
    for text in HOSTILE {
        for svg in drawn(&provider, &format!("x {text}")).await {
            for name in elements(&svg) {
                assert!(ALLOWED.contains(&name.as_str()), "{name} from {text:?}");
            }
            for address in svg.split("href=\"").skip(1) {
                assert!(address.starts_with('#'), "{text:?}");
            }
            let entities = svg.split('&').skip(1);
            for entity in entities {
                let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
                assert!(known.iter().any(|known| entity.starts_with(known)), "{text:?}");
            }
            let unwritable =
                |letter: char| letter.is_control() && letter != '\n' || letter == '\u{ffff}';
            assert!(!svg.contains(unwritable), "{text:?}");
        }
    }
}

#[tokio::test]
async fn a_drawing_contains_the_message_the_date_and_the_word_sandbox() {
    let provider = open().await;
    let [front, back] = drawn(&provider, "Grüße & Küsse <3").await;
    assert!(back.contains("Grüße &amp; Küsse &lt;3"));
    assert!(back.contains("SANDBOX \u{2022} PREVIEW \u{2022} NOT MAILED"));
    assert!(back.contains("No money moves, no card is mailed."));
    assert!(front.contains("Your picture from images.example.org"));
    assert!(front.contains("This is a sandbox"));
    assert!(!front.contains("sea.jpg"), "the whole address may open a private album");
}

#[tokio::test]
async fn an_unknown_picture_is_not_found_and_a_preview_expires_after_an_hour() {
    let provider = open().await;
    let mut body = card("x");
    body["preview"] = json!(true);
    let url = send(&provider, &body).await.json()["data"]["previews"][1].clone();
    let token = path(&url).split('/').nth(2).unwrap().to_owned();
    assert!(token.len() == 32 && token.chars().all(|letter| letter.is_ascii_hexdigit()));
    let picture = get(&provider, &path(&url)).await;
    assert!(picture.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    for path in
        ["/previews/0/back.svg", &format!("/previews/{token}/side.svg"), "/cards/42001/back.svg"]
    {
        assert_eq!(get(&provider, path).await.status, 404, "{path}");
    }
    // The clock continues meanwhile.
    provider.advance(3_500);
    assert_eq!(get(&provider, &path(&url)).await.status, 200);
    provider.advance(101);
    assert_eq!(get(&provider, &path(&url)).await.status, 404);
}

#[tokio::test]
async fn above_the_limit_the_oldest_previews_are_dropped() {
    let provider = open().await;
    provider.change(|settings| settings.kept_previews = 2);
    let mut body = card("x");
    body["preview"] = json!(true);
    let mut urls = Vec::new();
    for _ in 0..3 {
        urls.push(path(&send(&provider, &body).await.json()["data"]["previews"][0]));
    }
    assert_eq!(get(&provider, &urls[0]).await.status, 404);
    assert_eq!(get(&provider, &urls[2]).await.status, 200);
    assert_ne!(urls[1], urls[2]);
}
