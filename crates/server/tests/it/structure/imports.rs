//! Which file of a crate uses which, and the cycles among them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::modules::{Mention, Path, Reading, read};

/// How far re-exports are followed.
const REEXPORTS_MAX: usize = 16;

/// The files of one crate and the uses between them.
pub(crate) struct Graph {
    pub files: Vec<String>,
    /// From file to file, with the first place that says so.
    pub edges: BTreeMap<(usize, usize), String>,
}

struct Crate {
    files: Vec<String>,
    readings: Vec<Reading>,
    /// The file that a module's body is in.
    modules: BTreeMap<Path, usize>,
    /// What a module calls by a name of its own, by module and name.
    imports: BTreeMap<(Path, String), Path>,
    reexports: BTreeMap<(Path, String), Path>,
    glob_reexports: BTreeMap<Path, Vec<Path>>,
}

/// The module of a file below `src/`, such as `a/b.rs`.
pub(crate) fn module_of(file: &str) -> Path {
    let mut path: Path = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    let is_root = path.len() == 1 && (path[0] == "lib" || path[0] == "main");
    if is_root || path.last().is_some_and(|last| last == "mod") {
        path.pop();
    }
    path
}

/// The files that are compiled for tests only: declared so, or below such a module.
pub(crate) fn test_files(sources: &[(String, String)]) -> BTreeSet<String> {
    let mut roots = BTreeSet::new();
    for (file, source) in sources {
        let module = module_of(file);
        for name in read(&module, source).test_modules {
            roots.insert([module.as_slice(), &[name]].concat());
        }
    }
    let is_for_tests =
        |module: &Path| (0..=module.len()).any(|length| roots.contains(&module[..length]));
    let files = sources.iter().map(|(file, _)| file);
    files.filter(|file| is_for_tests(&module_of(file))).cloned().collect()
}

/// The graph of the files of one crate, each with its path below `src/`.
pub(crate) fn graph(sources: &[(String, String)]) -> Graph {
    let whole = Crate::read(sources);
    let mut edges = BTreeMap::new();
    for (from, reading) in whole.readings.iter().enumerate() {
        for mention in &reading.mentions {
            let Some(to) = whole.file_of(mention) else { continue };
            if to != from {
                let words = format!("line {}: {}", mention.line, mention.path.join("::"));
                edges.entry((from, to)).or_insert(words);
            }
        }
    }
    Graph { files: whole.files, edges }
}

impl Crate {
    fn read(sources: &[(String, String)]) -> Self {
        let left_out = test_files(sources);
        let mut whole = Self {
            files: Vec::new(),
            readings: Vec::new(),
            modules: BTreeMap::new(),
            imports: BTreeMap::new(),
            reexports: BTreeMap::new(),
            glob_reexports: BTreeMap::new(),
        };
        for (file, source) in sources.iter().filter(|(file, _)| !left_out.contains(file)) {
            let reading = read(&module_of(file), source);
            for module in &reading.modules {
                whole.modules.insert(module.clone(), whole.files.len());
            }
            whole.files.push(file.clone());
            whole.readings.push(reading);
        }
        let mentions: Vec<Mention> =
            whole.readings.iter().flat_map(|reading| reading.mentions.clone()).collect();
        for mention in mentions {
            whole.note_import(mention);
        }
        whole
    }

    fn note_import(&mut self, mention: Mention) {
        let Some(path) = self.absolute(&mention) else { return };
        let Some(name) = mention.import else { return };
        if name == "*" {
            if mention.reexport {
                self.glob_reexports.entry(mention.module).or_default().push(path);
            }
            return;
        }
        let key = (mention.module, name);
        if mention.reexport {
            self.reexports.insert(key.clone(), path.clone());
        }
        self.imports.insert(key, path);
    }

    /// The path from the root of the crate, without `crate`; none if it leads out of it.
    fn absolute(&self, mention: &Mention) -> Option<Path> {
        let (first, rest) = mention.path.split_first()?;
        let mut base = mention.module.clone();
        let mut rest = rest;
        match first.as_str() {
            "crate" => base = Path::new(),
            "self" => {}
            "super" => {
                base.pop()?;
            }
            child => {
                base.push(child.to_owned());
                if !self.modules.contains_key(&base) {
                    return None;
                }
            }
        }
        while let Some((_, after)) = rest.split_first().filter(|(next, _)| *next == "super") {
            base.pop()?;
            rest = after;
        }
        Some([base.as_slice(), rest].concat())
    }

    /// The file that a mention uses. To import a module, to re-export from it or to
    /// declare it is not to use it: what is then named below it is.
    fn file_of(&self, mention: &Mention) -> Option<usize> {
        if mention.reexport {
            return None;
        }
        let path = match self.absolute(mention) {
            Some(path) => path,
            None => self.through_import(mention)?,
        };
        let path = self.definition(&path, 0);
        let is_module = self.modules.contains_key(&path);
        let is_glob = mention.import.as_deref() == Some("*");
        if is_module && !is_glob {
            return None;
        }
        self.modules.get(&path[..self.module_length(&path)]).copied()
    }

    /// `b::C` after `use crate::a::b;`.
    fn through_import(&self, mention: &Mention) -> Option<Path> {
        if mention.import.is_some() {
            return None;
        }
        let (first, rest) = mention.path.split_first()?;
        let path = self.imports.get(&(mention.module.clone(), first.clone()))?;
        let path = self.definition(path, 0);
        // What is below a type is in the type's file, and its import is counted.
        self.modules.contains_key(&path).then(|| [path.as_slice(), rest].concat())
    }

    /// How many names of a path, at most, are a module.
    fn module_length(&self, path: &[String]) -> usize {
        (0..=path.len())
            .rev()
            .find(|length| self.modules.contains_key(&path[..*length]))
            .unwrap_or_default()
    }

    /// The path with re-exports replaced by what they name.
    fn definition(&self, path: &Path, followed: usize) -> Path {
        let length = self.module_length(path);
        let (module, rest) = path.split_at(length);
        let Some((name, below)) = rest.split_first() else { return path.clone() };
        if followed == REEXPORTS_MAX {
            return path.clone();
        }
        if let Some(target) = self.reexports.get(&(module.to_vec(), name.clone())) {
            return self.definition(&[target.as_slice(), below].concat(), followed + 1);
        }
        let globs = self.glob_reexports.get(module).into_iter().flatten();
        for glob in globs {
            if self.has(glob, name) {
                return self.definition(&[glob.as_slice(), rest].concat(), followed + 1);
            }
        }
        path.clone()
    }

    fn has(&self, module: &Path, name: &str) -> bool {
        let named = (module.clone(), name.to_owned());
        let defines =
            |reading: &Reading| reading.items.get(module).is_some_and(|items| items.contains(name));
        self.reexports.contains_key(&named) || self.readings.iter().any(defines)
    }
}

impl Graph {
    /// The shortest cycle through each file that is in one, each cycle once.
    pub(crate) fn cycles(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let mut cycles = Vec::new();
        for start in 0..self.files.len() {
            let Some(mut cycle) = self.shortest_cycle(start) else { continue };
            let first = (0..cycle.len()).min_by_key(|place| cycle[*place]);
            cycle.rotate_left(first.unwrap_or_default());
            if seen.insert(cycle.clone()) {
                cycles.push(self.describe(&cycle));
            }
        }
        cycles
    }

    fn shortest_cycle(&self, start: usize) -> Option<Vec<usize>> {
        let mut came_from = BTreeMap::new();
        let mut next = VecDeque::from([start]);
        while let Some(file) = next.pop_front() {
            for (_, to) in self.edges.range((file, 0)..=(file, usize::MAX)).map(|(edge, _)| edge) {
                if *to == start {
                    let mut cycle = vec![file];
                    while let Some(before) = came_from.get(cycle.last()?) {
                        cycle.push(*before);
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                if !came_from.contains_key(to) {
                    came_from.insert(*to, file);
                    next.push_back(*to);
                }
            }
        }
        None
    }

    fn describe(&self, cycle: &[usize]) -> String {
        let mut lines = Vec::new();
        for (place, from) in cycle.iter().enumerate() {
            let to = cycle[(place + 1) % cycle.len()];
            let (from_file, to_file) = (&self.files[*from], &self.files[to]);
            let words = self.edges.get(&(*from, to)).map_or("", String::as_str);
            lines.push(format!("{from_file} -> {to_file} ({words})"));
        }
        lines.join("\n      ")
    }
}

fn cycles(sources: &[(&str, &str)]) -> Vec<String> {
    let sources: Vec<(String, String)> =
        sources.iter().map(|(file, source)| ((*file).into(), (*source).into())).collect();
    graph(&sources).cycles()
}

#[test]
fn two_files_that_use_each_other_are_a_cycle() {
    let found = cycles(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::B;\npub struct A;"),
        ("b.rs", "pub struct B(super::a::A);"),
    ]);
    let words = "a.rs -> b.rs (line 1: crate::b::B)\n      b.rs -> a.rs (line 1: super::a::A)";
    assert_eq!(found, [words]);
}

#[test]
fn three_files_in_a_ring_are_one_cycle() {
    let found = cycles(&[
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "use crate::{b::B}; pub struct A;"),
        ("b.rs", "use super::c::C; pub struct B;"),
        ("c.rs", "fn f() -> crate::a::A {}"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].matches("->").count(), 3, "{found:?}");
}

#[test]
fn a_parent_that_uses_its_child_must_not_be_used_by_it() {
    for child in ["use super::A;", "use crate::a::A;", "use super::*;", "fn f(_: super::A) {}"] {
        let found = cycles(&[
            ("lib.rs", "mod a;"),
            ("a.rs", "mod b; pub struct A; fn f() { b::g() }"),
            ("a/b.rs", child),
        ]);
        assert_eq!(found.len(), 1, "{child}: {found:?}");
    }
}

#[test]
fn to_declare_or_to_reexport_a_module_is_not_to_use_it() {
    for parent in ["pub mod b; pub struct A;", "mod b; pub use b::B; pub struct A;"] {
        let found = cycles(&[
            ("lib.rs", "mod a;"),
            ("a.rs", parent),
            ("a/b.rs", "use super::A; pub struct B;"),
        ]);
        assert_eq!(found, [""; 0], "{parent}");
    }
}

#[test]
fn an_import_through_a_reexport_is_one_of_the_file_that_defines_it() {
    for parent in ["mod b; mod c; pub use b::B;", "mod b; mod c; pub(crate) use self::b::*;"] {
        let found = cycles(&[
            ("lib.rs", "mod a;"),
            ("a.rs", parent),
            ("a/b.rs", "use super::c::C; pub struct B;"),
            ("a/c.rs", "use crate::a::B; pub struct C;"),
        ]);
        assert_eq!(found.len(), 1, "{parent}: {found:?}");
        assert!(found[0].contains("a/b.rs") && found[0].contains("a/c.rs"), "{found:?}");
    }
}

#[test]
fn a_module_that_is_imported_is_used_where_it_is_named() {
    let found = cycles(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b; fn f() { b::g() }"),
        ("b.rs", "use crate::a; fn g() { a::f() }"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn tests_comments_and_other_crates_make_no_cycle() {
    let found = cycles(&[
        ("lib.rs", "mod a; mod b;"),
        (
            "a.rs",
            "use crate::b::B; #[cfg(test)] mod tests; #[cfg(test)] mod more { use super::*; }",
        ),
        ("a/tests.rs", "use super::*; mod fixture; use fixture::F;"),
        ("a/tests/fixture.rs", "use super::super::A; use super::X;"),
        (
            "b.rs",
            "// crate::a::A\nuse a::A; pub(in crate::a) struct B; const W: &str = \"crate::a::A\";",
        ),
    ]);
    assert_eq!(found, [""; 0]);
}
