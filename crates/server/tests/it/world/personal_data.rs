//! Whose card was looked at is nobody's business: no log line and no file of ours says it.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::{DIALECTS, Mailbox, card, preview, speaking};
use crate::house::House;

/// One word in every field, each of which can be found wherever it went.
const MARKED: [&str; 7] = [
    "markedpicture",
    "Markedmessage",
    "Markedname",
    "Markedstreet",
    "Markedcity",
    "Markedprovince",
    "Markedcode",
];

/// One of each way to fail: no answer, a bad one, ours, and none at all.
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
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).to_lowercase();
        for word in words.iter().filter(|word| text.contains(&word.to_lowercase())) {
            found.push(format!("{word} in {}", path.display()));
        }
    }
    found
}

#[test]
fn no_log_line_and_no_file_has_a_word_of_a_preview() {
    for dialect in DIALECTS {
        let house = House::open_with(&speaking(dialect), &[("PENNYBLACK_LOG", "trace")]);
        let mailbox = Mailbox::of(&house);
        assert_eq!(preview(&house, &marked()).status, 200);
        for kind in FAULTS {
            mailbox.arm(&json!({ "kind": kind }));
            let reply = preview(&house, &marked());
            mailbox.disarm();
            assert!([502, 503].contains(&reply.status), "{dialect}, {kind}: {}", reply.status);
            let said = reply.text();
            assert!(!MARKED.iter().any(|word| said.contains(word)), "{dialect}, {kind}: {said}");
        }
        // A faulty card whose other fields are marked.
        let mut faulty = marked();
        faulty["recipient"]["country"] = json!("Markedcountry");
        faulty["seller"] = json!("Marked seller");
        let reply = preview(&house, &faulty);
        assert_eq!(reply.status, 400);
        assert!(!reply.text().contains("Marked"), "{}", reply.text());
        let log = house.log();
        let traced = log.lines().filter(|line| line.contains("TRACE")).count();
        assert!(traced > 0, "{dialect}: the log does not speak of everything");
        assert!(log.contains("A provider gave no good answer"), "{dialect}: faults were not met");
        let words = [&MARKED[..], &["Markedcountry", "Marked seller"]].concat();
        assert_eq!(files_with(house.folder(), &words), Vec::<String>::new(), "{dialect}");
    }
}

/// The search above finds what is there.
#[test]
fn a_word_that_was_written_down_is_found() {
    let house = House::open("");
    fs::create_dir(house.folder().join("below")).unwrap();
    fs::write(house.folder().join("below/leak"), card().to_string()).unwrap();
    assert_eq!(files_with(house.folder(), &["ADA LOVELACE", "Charles"]).len(), 1);
}
