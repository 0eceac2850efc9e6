//! What the sources of the house log, held against what the log prints.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::line::ALLOWED;

const MACROS: [&str; 6] = ["error!(", "warn!(", "info!(", "debug!(", "trace!(", "event!("];

/// A field that is dropped in silence is missing on the day when somebody needs it.
#[test]
fn every_field_that_we_log_is_printed() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut sources = Vec::new();
    for house in fs::read_dir(crates).unwrap() {
        collect(&house.unwrap().path().join("src"), &mut sources);
    }
    let mut seen = 0;
    for path in sources {
        let source = fs::read_to_string(&path).unwrap();
        for name in logged(&source) {
            let allowed = ALLOWED.contains(&name.as_str());
            assert!(allowed, "{} logs `{name}`, which `ALLOWED` drops", path.display());
            seen += 1;
        }
    }
    assert!(seen > 30, "{seen} fields are too few to be all");
}

#[test]
fn fields_are_found_in_every_way_of_writing_them() {
    let source = r#"
        warn!(target: "request", %network, order.id = %id(1, "x"), kind = ?why, count, "told {a}", a = 1);
        // info!(commented, "out");
        tracing::info!(
            place = "a, \"b\" (",
            column,
        );
        compile_error!(nothing);
        info!("only words, {}", of_no(field));
        event!(Level::INFO, lapsed);
    "#;
    let found = logged(source);
    assert_eq!(
        found,
        ["network", "order.id", "kind", "count", "place", "column", "lapsed"].map(str::to_owned)
    );
}

/// The sources below, without tests, which may log whatever they like.
fn collect(folder: &Path, sources: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.file_stem().is_some_and(|name| name == "tests") {
            continue;
        }
        if path.is_dir() {
            collect(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push(path);
        }
    }
}

/// The names of all fields in the calls of tracing's macros.
fn logged(source: &str) -> Vec<String> {
    let (source, _) = source.split_once("#[cfg(test)]\nmod tests {").unwrap_or((source, ""));
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let source: String = source.lines().filter(is_code).map(|line| format!("{line}\n")).collect();
    let mut calls = Vec::new();
    for name in MACROS {
        for (place, _) in source.match_indices(name) {
            if !source[..place].ends_with(|letter: char| letter == '_' || letter.is_alphanumeric())
            {
                calls.push((place, arguments(&source[place + name.len()..])));
            }
        }
    }
    calls.sort();
    calls.into_iter().flat_map(|(_, arguments)| fields(arguments)).collect()
}

/// Everything up to the parenthesis that closes, split where a comma is on its own level.
fn arguments(text: &str) -> Vec<String> {
    let (mut arguments, mut depth) = (vec![String::new()], 0);
    let (mut within_text, mut escaped) = (false, false);
    for letter in text.chars() {
        if within_text {
            within_text = escaped || letter != '"';
            escaped = !escaped && letter == '\\';
        } else {
            match letter {
                '"' => within_text = true,
                '(' | '[' | '{' => depth += 1,
                ')' if depth == 0 => break,
                ')' | ']' | '}' => depth -= 1,
                ',' if depth == 0 => {
                    arguments.push(String::new());
                    continue;
                }
                _ => {}
            }
        }
        arguments.last_mut().unwrap().push(letter);
    }
    arguments
}

/// The fields stand before the words; what follows those goes into them.
fn fields(arguments: Vec<String>) -> impl Iterator<Item = String> {
    let trimmed = arguments.into_iter().map(|argument| argument.trim().to_owned());
    trimmed.take_while(|argument| !argument.starts_with('"')).filter_map(|argument| {
        let name = argument.split('=').next().unwrap_or_default();
        let name = name.trim().trim_start_matches(['%', '?']);
        // Neither `target: "request"` nor `Level::INFO` is a field.
        (!name.is_empty() && !name.contains(':')).then(|| name.to_owned())
    })
}
