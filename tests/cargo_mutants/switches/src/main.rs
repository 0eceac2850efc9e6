//! Writes all mutants of some files into their source, each behind a switch, so that one build tries all of them.
//!
//!   switches TREE MUTANTS SWITCHED
//!
//! MUTANTS is the list of `cargo mutants --list --json`; a mutant's number is its place in it, from 1. The files below
//! TREE are rewritten: where the function `crate::mutant_is` returns true for a number, that mutant is active.
//! SWITCHED gets a JSON object: for each number the file and the byte range of what was written for it. Mutants of
//! constants and of struct fields cannot be switched; they are left out. So are those that are `null` in the list.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::{env, fs};

use serde_json::{Value, json};

mod edit;
mod places;

use edit::{Edit, Mutant};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [tree, list, switched] = arguments.as_slice() else {
        return Err("usage: switches TREE MUTANTS SWITCHED".into());
    };
    let tree = Path::new(tree);
    let list: Vec<Value> = serde_json::from_str(&fs::read_to_string(list)?)?;
    let mut by_file: BTreeMap<&str, Vec<(u32, &Value)>> = BTreeMap::new();
    for (number, mutant) in (1..).zip(&list) {
        if let Some(file) = mutant["file"].as_str() {
            by_file.entry(file).or_default().push((number, mutant));
        }
    }
    let mut ranges = serde_json::Map::new();
    for (file, mutants) in by_file {
        let path = tree.join(file);
        let source = fs::read_to_string(&path)?;
        let text = Text::new(&source);
        let edits = edits(&source, &text, &mutants).map_err(|why| format!("{file}: {why}"))?;
        let (written, of_file) = edit::apply(&source, edits);
        fs::write(&path, written)?;
        for (number, range) in of_file {
            ranges.insert(number.to_string(), json!([file, range.start, range.end]));
        }
    }
    fs::write(switched, serde_json::to_string(&ranges)?)?;
    Ok(())
}

/// Byte offsets of lines and columns.
struct Text<'a> {
    lines: Vec<(usize, &'a str)>,
}

impl<'a> Text<'a> {
    fn new(source: &'a str) -> Self {
        let mut start = 0;
        let lines = source.split_inclusive('\n').map(|line| {
            let place = start;
            start += line.len();
            (place, line)
        });
        Self { lines: lines.collect() }
    }

    /// The offset of a column, counted in characters from 0, in a line, counted from 1.
    fn offset(&self, line: usize, column: usize) -> usize {
        let (start, line) = self.lines[line - 1];
        start + line.chars().take(column).map(char::len_utf8).sum::<usize>()
    }
}

fn edits(source: &str, text: &Text<'_>, mutants: &[(u32, &Value)]) -> Result<Vec<Edit>, String> {
    let file = syn::parse_file(source).map_err(|why| why.to_string())?;
    let places = places::find(&file, text);
    let mut edits: BTreeMap<(usize, usize, bool), Edit> = BTreeMap::new();
    for (number, mutant) in mutants {
        let point = |name: &str| {
            let number = mutant["span"]["start"][name].as_u64();
            number.and_then(|number| usize::try_from(number).ok())
        };
        let (Some(line), Some(column)) = (point("line"), point("column")) else {
            return Err(format!("mutant {number} has no place"));
        };
        let genre = mutant["genre"].as_str().unwrap_or_default();
        // An arm that is deleted is one that never matches.
        let replacement = if genre == "MatchArm" {
            "false"
        } else {
            mutant["replacement"].as_str().unwrap_or_default()
        };
        if let Some(edit) = places.edit(genre, text.offset(line, column - 1)) {
            let mutant = Mutant { number: *number, replacement: replacement.to_owned() };
            edits.entry(edit.key()).or_insert(edit).mutants.push(mutant);
        }
    }
    Ok(edits.into_values().collect())
}
