//! Checks that every field that the sources log is allowed.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::line::{ALLOWED, OUR_TARGETS};

const MACROS: [&str; 6] = ["error!(", "warn!(", "info!(", "debug!(", "trace!(", "event!("];

/// A field that is not allowed would be dropped without notice.
#[test]
fn every_logged_field_is_allowed() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut sources = Vec::new();
    for folder in fs::read_dir(crates).unwrap() {
        collect(&folder.unwrap().path().join("src"), &mut sources);
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
    assert!(seen > 30, "only {seen} fields were found");
}

/// The messages of a crate that is missing would be dropped without notice.
#[test]
fn every_crate_may_print_its_messages() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut seen = 0;
    for folder in fs::read_dir(crates).unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        // The binary has a name of its own.
        let target = if name == "server" { "pennyblack" } else { name.as_str() };
        assert!(OUR_TARGETS.contains(&target), "`OUR_TARGETS` does not list `{target}`");
        seen += 1;
    }
    assert_eq!(seen, 9);
}

#[test]
fn fields_are_found_in_every_syntax() {
    let source = r#"
        warn!(target: "request", %network, order.id = %id(1, "x"), kind = ?why, count, "text {a}", a = 1);
        // info!(commented, "out");
        tracing::info!(
            place = "a, \"b\" (",
            column,
        );
        compile_error!(nothing);
        info!("only text, {}", no_field(x));
        event!(Level::INFO, lapsed);
    "#;
    let found = logged(source);
    assert_eq!(
        found,
        ["network", "order.id", "kind", "count", "place", "column", "lapsed"].map(str::to_owned)
    );
}

/// The source files below, without tests, which may log any field.
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

/// The arguments up to the closing parenthesis, split at the commas of the outermost level.
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

/// Fields come before the message; what follows are the arguments of its format string.
fn fields(arguments: Vec<String>) -> impl Iterator<Item = String> {
    let trimmed = arguments.into_iter().map(|argument| argument.trim().to_owned());
    trimmed.take_while(|argument| !argument.starts_with('"')).filter_map(|argument| {
        let name = argument.split('=').next().unwrap_or_default();
        let name = name.trim().trim_start_matches(['%', '?']);
        // Neither `target: "request"` nor `Level::INFO` is a field.
        (!name.is_empty() && !name.contains(':')).then(|| name.to_owned())
    })
}
