//! Personal data of a preview appears in no log line and no file.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::fixture::sandbox::{DIALECTS, ProviderControl, card, preview, with_dialect};
use crate::fixture::test_app::TestApp;

/// One marked word for every field, which can be searched for.
const MARKED: [&str; 7] = [
    "markedpicture",
    "Markedmessage",
    "Markedname",
    "Markedstreet",
    "Markedcity",
    "Markedprovince",
    "Markedcode",
];

/// One fault of each kind: no response, an invalid one, and an error of our account.
const FAULTS: [&str; 9] = [
    "status_before",
    "reset_before",
    "html_after",
    "malformed",
    "truncated",
    "huge",
    "private_previews",
    "unauthorized",
    "rate_limited",
];

fn marked() -> serde_json::Value {
    let [picture, message, name, address, city, province, postal_code] = MARKED;
    json!({
        "front_image_url": format!("https://images.example.org/{picture}.jpg"),
        "message": message,
        "recipient": {
            "name": name, "address": address, "city": city, "province": province,
            "postal_code": postal_code, "country": "GB",
        },
    })
}

/// Everything below a folder, read as bytes and searched.
fn files_with(folder: &Path, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, words));
            continue;
        }
        // A socket has no content.
        if !path.is_file() {
            continue;
        }
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).to_lowercase();
        for word in words.iter().filter(|word| text.contains(&word.to_lowercase())) {
            found.push(format!("{word} in {}", path.display()));
        }
    }
    found
}

#[test]
fn no_log_line_and_no_file_contains_data_of_a_preview() {
    for dialect in DIALECTS {
        let app = TestApp::start_with(&with_dialect(dialect), &[("PENNYBLACK_LOG", "trace")]);
        let provider = ProviderControl::of(&app);
        assert_eq!(preview(&app, &marked()).status, 200);
        for kind in FAULTS {
            provider.add_faults(&json!({ "kind": kind }));
            let reply = preview(&app, &marked());
            provider.clear_faults();
            assert!([502, 503].contains(&reply.status), "{dialect}, {kind}: {}", reply.status);
            let said = reply.text();
            assert!(!MARKED.iter().any(|word| said.contains(word)), "{dialect}, {kind}: {said}");
        }
        // An invalid card whose other fields are marked.
        let mut faulty = marked();
        faulty["recipient"]["country"] = json!("Markedcountry");
        faulty["seller"] = json!("Marked seller");
        let reply = preview(&app, &faulty);
        assert_eq!(reply.status, 400);
        assert!(!reply.text().contains("Marked"), "{}", reply.text());
        let log = app.log();
        let traced = log.lines().filter(|line| line.contains("TRACE")).count();
        assert!(traced > 0, "{dialect}: the log does not contain trace events");
        assert!(log.contains("A provider call failed"), "{dialect}: no fault was logged");
        let words = [&MARKED[..], &["Markedcountry", "Marked seller"]].concat();
        assert_eq!(files_with(app.folder(), &words), Vec::<String>::new(), "{dialect}");
    }
}

#[test]
fn the_search_finds_data_that_was_written() {
    let app = TestApp::start("");
    fs::create_dir(app.folder().join("below")).unwrap();
    fs::write(app.folder().join("below/leak"), card().to_string()).unwrap();
    assert_eq!(files_with(app.folder(), &["ADA LOVELACE", "Charles"]).len(), 1);
}
