//! Every document that the site serves as data: the list of OpenAPI, and what is linked below
//! `/.well-known/`.

use std::collections::BTreeMap;

use super::Snapshots;
use super::recording::body;
use super::service::{Answer, BASE_URL, Service};
use super::variable_values::replaced;

/// Every page in one text, and a program: `content/` has both already.
const WITHOUT_BODY: [&str; 2] = ["/llms-full.txt", "/client/pennyblack.mjs"];
const HEADERS: [&str; 6] = [
    "content-type",
    "cache-control",
    "content-disposition",
    "access-control-allow-origin",
    "link",
    "vary",
];

pub(super) fn record(snapshots: &mut Snapshots) {
    let mut heads = String::new();
    for (path, answer) in documents(&Service::start("")) {
        heads.push_str(&head(&path, &answer));
        if !WITHOUT_BODY.contains(&path.as_str()) {
            let text = replaced(&body(&answer));
            let before = snapshots.insert(file(&path, &answer), format!("{}\n", text.trim_end()));
            assert!(before.is_none(), "two documents in {}", file(&path, &answer));
        }
    }
    snapshots.insert("documents/headers.txt".to_owned(), heads);
}

fn documents(service: &Service) -> BTreeMap<String, Answer> {
    let listed = service.get("/openapi.json").json();
    let paths = listed["paths"].as_object().unwrap().iter();
    let paths = paths.filter(|(path, item)| item.get("get").is_some() && !path.contains('{'));
    let mut next: Vec<String> = paths.map(|(path, _)| path.clone()).collect();
    let mut found = BTreeMap::new();
    while let Some(path) = next.pop() {
        let answer = service.get(&path);
        let is_page = answer.header("content-type").starts_with("text/html");
        // A page as Markdown, and a document that must be asked for something.
        if is_page || path.ends_with("/index.md") || [400, 405].contains(&answer.status) {
            continue;
        }
        next.extend(well_known(&answer.body).filter(|path| !found.contains_key(path)));
        found.insert(path, answer);
    }
    assert!(found.len() > 20, "{:?}", found.keys());
    found
}

fn well_known(text: &str) -> impl Iterator<Item = String> {
    let start = format!("{BASE_URL}/.well-known/");
    let end = |c: char| c.is_whitespace() || "\"'<>)]`,;*".contains(c);
    let links = text.split(&start).skip(1).map(move |after| after.split(end).next().unwrap_or(""));
    let links = links.filter(|link| !link.is_empty());
    links.map(|link| format!("/.well-known/{link}")).collect::<Vec<_>>().into_iter()
}

fn head(path: &str, answer: &Answer) -> String {
    let mut text = format!("{path}\n    {}\n", answer.status);
    for name in HEADERS {
        let value = answer.header(name);
        if !value.is_empty() {
            text.push_str(&format!("    {name}: {value}\n"));
        }
    }
    text
}

/// `/.well-known/agent-card.json` is in `documents/well-known_agent-card.json`.
fn file(path: &str, answer: &Answer) -> String {
    let name = path.trim_start_matches(['/', '.']).replace("/.", "/").replace('/', "_");
    let is_json = answer.header("content-type").contains("json");
    let ending = if is_json && !name.ends_with(".json") { ".json" } else { "" };
    format!("documents/{name}{ending}")
}
