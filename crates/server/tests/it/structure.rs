//! Checks of the source itself: sizes, opening sentences, import cycles and names.
//!
//! `cargo test -p server --test it structure -- --nocapture` prints all findings. The variable
//! `STRUCTURE_ROOT` names another checkout to read.

#![expect(clippy::print_stdout, reason = "the findings are what one runs it for")]

mod architecture_page;
mod imports;
mod modules;
mod source;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use imports::{graph, module_of, test_files};
use modules::read;

const FILES_IN_FOLDER_MAX: usize = 15;
const LINES_MAX: usize = 400;

/// Files without an opening sentence, with the reason.
const WITHOUT_SENTENCE: &[(&str, &str)] = &[];
/// Type names that may be declared more than once, with the reason.
const SHARED_NAMES: &[(&str, &str)] = &[];

/// The sources of each crate, by the path below its `src/`.
struct Workspace(BTreeMap<String, Vec<(String, String)>>);

impl Workspace {
    #[expect(clippy::disallowed_methods, reason = "no setting of the service: a tool's argument")]
    fn here() -> Self {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        Self::below(&std::env::var_os("STRUCTURE_ROOT").map_or(own, PathBuf::from))
    }

    fn below(root: &Path) -> Self {
        let mut crates = BTreeMap::new();
        for entry in fs::read_dir(root.join("crates")).unwrap() {
            let folder = entry.unwrap().path();
            let name = folder.file_name().unwrap().to_string_lossy().into_owned();
            let mut sources = Vec::new();
            collect(&folder.join("src"), "", &mut sources);
            sources.sort();
            crates.insert(name, sources);
        }
        Self(crates)
    }

    fn made_up(sources: &[(&str, &str)]) -> Self {
        let sources = sources.iter().map(|(file, text)| ((*file).into(), (*text).into()));
        Self([("shop".to_owned(), sources.collect())].into())
    }

    /// Every file with its path from the root of the workspace.
    fn files(&self) -> impl Iterator<Item = (String, &str)> {
        self.0.iter().flat_map(|(name, sources)| {
            sources.iter().map(move |(file, text)| (shown(name, file), text.as_str()))
        })
    }

    fn crowded_folders(&self) -> Vec<String> {
        let mut folders: BTreeMap<String, usize> = BTreeMap::new();
        for (file, _) in self.files() {
            let (folder, _) = file.rsplit_once('/').unwrap();
            *folders.entry(folder.to_owned()).or_default() += 1;
        }
        let crowded = folders.into_iter().filter(|(_, count)| *count > FILES_IN_FOLDER_MAX);
        crowded.map(|(folder, count)| format!("{folder}: {count} files")).collect()
    }

    fn long_files(&self) -> Vec<String> {
        let counted = self.files().map(|(file, text)| (file, text.lines().count()));
        counted
            .filter(|(_, count)| *count > LINES_MAX)
            .map(|(file, count)| format!("{file}: {count} lines"))
            .collect()
    }

    fn files_without_sentence(&self, except: &[(&str, &str)]) -> Vec<String> {
        self.files()
            .filter(|(_, text)| !opens_with_sentence(text))
            .map(|(file, _)| file)
            .filter(|file| !except.iter().any(|(name, _)| name == file))
            .collect()
    }

    fn import_cycles(&self) -> Vec<String> {
        let (mut files, mut edges, mut cycles) = (0, 0, Vec::new());
        for (name, sources) in &self.0 {
            let graph = graph(sources);
            files += graph.files.len();
            edges += graph.edges.len();
            cycles.extend(graph.cycles().into_iter().map(|cycle| format!("{name}: {cycle}")));
        }
        println!("imports: {files} files outside of tests, {edges} edges");
        cycles
    }

    fn shared_names(&self, except: &[(&str, &str)]) -> Vec<String> {
        let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, sources) in &self.0 {
            let for_tests = test_files(sources);
            for (file, text) in sources.iter().filter(|(file, _)| !for_tests.contains(file)) {
                for found in read(&module_of(file), text).types {
                    let place = format!("{}:{}", shown(name, file), found.line);
                    places.entry(found.name).or_default().push(place);
                }
            }
        }
        places.retain(|_, places| places.len() > 1);
        let mut found: Vec<String> = except
            .iter()
            .filter(|(name, _)| places.remove(*name).is_none())
            .map(|(name, _)| format!("{name}: the exception is not needed any more"))
            .collect();
        found.extend(places.into_iter().map(|(name, at)| format!("{name}: {}", at.join(", "))));
        found
    }
}

fn shown(name: &str, file: &str) -> String {
    format!("crates/{name}/src/{file}")
}

fn collect(folder: &Path, prefix: &str, sources: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            collect(&path, &format!("{name}/"), sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
}

/// Whether the first paragraph of the file is a sentence about it.
fn opens_with_sentence(text: &str) -> bool {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let first: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    first.last().is_some_and(|line| line.ends_with(['.', ':']))
}

/// Prints the findings, also those of checks that pass: none.
fn none(check: &str, findings: &[String]) {
    println!("{check}: {}", findings.len());
    for finding in findings {
        println!("    {finding}");
    }
    assert!(findings.is_empty(), "{check}: {}", findings.len());
}

#[test]
fn no_folder_has_more_than_15_files() {
    none("folders with more than 15 files", &Workspace::here().crowded_folders());
}

#[test]
fn no_file_has_more_than_400_lines() {
    none("files with more than 400 lines", &Workspace::here().long_files());
}

#[test]
fn every_file_opens_with_a_sentence() {
    let found = Workspace::here().files_without_sentence(WITHOUT_SENTENCE);
    none("files without an opening sentence", &found);
}

#[test]
fn no_files_import_each_other_in_a_cycle() {
    none("import cycles", &Workspace::here().import_cycles());
}

#[test]
fn no_public_type_name_is_declared_twice() {
    let found = Workspace::here().shared_names(SHARED_NAMES);
    none("type names that are declared more than once", &found);
}

#[test]
fn every_crate_is_read() {
    let workspace = Workspace::here();
    assert!(workspace.0.len() > 5 && workspace.files().count() > 300);
    assert!(workspace.0.values().all(|sources| !sources.is_empty()));
}

#[test]
fn a_folder_with_sixteen_files_is_found() {
    let names: Vec<String> = (0..16).map(|number| format!("a/f{number}.rs")).collect();
    let mut sources: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    assert_eq!(Workspace::made_up(&sources).crowded_folders(), ["crates/shop/src/a: 16 files"]);
    sources.pop();
    assert_eq!(Workspace::made_up(&sources).crowded_folders(), [""; 0]);
}

#[test]
fn a_file_with_401_lines_is_found() {
    let (long, short) = ("\n".repeat(401), "\n".repeat(400));
    let workspace = Workspace::made_up(&[("long.rs", &long), ("short.rs", &short)]);
    assert_eq!(workspace.long_files(), ["crates/shop/src/long.rs: 401 lines"]);
}

#[test]
fn a_file_without_an_opening_sentence_is_found() {
    let workspace = Workspace::made_up(&[
        ("good.rs", "//! What this is\n//! for.\n\nuse x;"),
        ("none.rs", "use x;\n//! Too late."),
        ("cut.rs", "//! No end\n"),
        ("excepted.rs", ""),
    ]);
    let except = [("crates/shop/src/excepted.rs", "made by a program")];
    let found = workspace.files_without_sentence(&except);
    assert_eq!(found, ["crates/shop/src/none.rs", "crates/shop/src/cut.rs"]);
}

#[test]
fn a_public_type_that_is_declared_twice_is_found() {
    let workspace = Workspace::made_up(&[
        ("lib.rs", "mod a; mod b; #[cfg(test)] mod tests;"),
        ("a.rs", "pub struct Answer; struct Own; pub enum Shared {} pub(super) struct Helper;"),
        ("b.rs", "\npub(crate) type Answer = u8; pub struct Own; pub trait Shared {}"),
        ("tests.rs", "pub struct Answer; pub struct Helper;"),
    ]);
    let places = "crates/shop/src/a.rs:1, crates/shop/src/b.rs:2";
    let except = [("Shared", "one is the trait of the other"), ("Gone", "was renamed")];
    let found = workspace.shared_names(&except);
    let not_needed = "Gone: the exception is not needed any more".to_owned();
    assert_eq!(found, [not_needed, format!("Answer: {places}")]);
}
