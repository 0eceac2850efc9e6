//! The modules of one crate: what each declares, imports and re-exports.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Tokens, is_name};

/// The names from the root of the crate, as in `crate::a::b`.
pub(crate) type Path = Vec<String>;

/// A path as it is written in a module.
#[derive(Clone, Debug)]
pub(crate) struct Mention {
    pub module: Path,
    pub path: Path,
    /// The name that a `use` gives it; `*` for a glob; none for a path in an expression.
    pub import: Option<String>,
    pub reexport: bool,
    pub line: usize,
}

/// A type that is visible outside of its module.
#[derive(Clone, Debug)]
pub(crate) struct PublicType {
    pub name: String,
    pub line: usize,
}

/// What one file says.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub mentions: Vec<Mention>,
    /// Modules with a body in this file, the file's own among them.
    pub modules: BTreeSet<Path>,
    /// Items by module, so that a glob can be followed.
    pub items: BTreeMap<Path, BTreeSet<String>>,
    pub types: Vec<PublicType>,
    pub test_modules: Vec<String>,
}

/// Reads the file of this module.
pub(crate) fn read(module: &Path, source: &str) -> Reading {
    let tokens = Tokens::of(source);
    let mut reader = Reader {
        tokens: &tokens,
        at: 0,
        braces: Vec::new(),
        module: module.clone(),
        reading: Reading { test_modules: tokens.test_modules.clone(), ..Reading::default() },
    };
    reader.reading.modules.insert(module.clone());
    while reader.at < tokens.all.len() {
        reader.step();
    }
    reader.reading
}

struct Reader<'a> {
    tokens: &'a Tokens,
    at: usize,
    /// For every open brace, whether it opened a module.
    braces: Vec<bool>,
    module: Path,
    reading: Reading,
}

impl Reader<'_> {
    fn text(&self, offset: usize) -> &str {
        self.tokens.text(self.at + offset)
    }

    fn line(&self) -> usize {
        self.tokens.all.get(self.at).map_or(0, |token| token.line)
    }

    fn step(&mut self) {
        match self.text(0) {
            "{" => self.braces.push(false),
            "}" => self.close(),
            "pub" => return self.visibility(),
            "use" if is_name(self.text(1)) || ["::", "{"].contains(&self.text(1)) => {
                return self.import(false);
            }
            "mod" if self.text(2) == "{" => {
                self.module.push(self.text(1).to_owned());
                self.reading.modules.insert(self.module.clone());
                self.braces.push(true);
                self.at += 2;
            }
            "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union"
                if is_name(self.text(1)) =>
            {
                self.item();
            }
            text if is_name(text) => return self.path(),
            _ => {}
        }
        self.at += 1;
    }

    fn close(&mut self) {
        if self.braces.pop() == Some(true) {
            self.module.pop();
        }
    }

    fn item(&mut self) {
        let name = self.text(1).to_owned();
        self.reading.items.entry(self.module.clone()).or_default().insert(name);
        self.at += 1;
    }

    /// `pub`, `pub(crate)`, `pub(in crate::a)`: the path in it is not a use of that module.
    fn visibility(&mut self) {
        self.at += 1;
        let mut limited = false;
        if self.text(0) == "(" {
            // What only the parent sees is a helper of that folder.
            limited = self.text(1) == "super" || self.text(1) == "self";
            while ![")", ""].contains(&self.text(0)) {
                self.at += 1;
            }
            self.at += 1;
        }
        match self.text(0) {
            "use" => self.import(true),
            "struct" | "enum" | "trait" | "type" | "union" if !limited => {
                let public = PublicType { name: self.text(1).to_owned(), line: self.line() };
                self.reading.types.push(public);
            }
            _ => {}
        }
    }

    /// A path in an expression or a type.
    fn path(&mut self) {
        let (line, start) = (self.line(), self.at);
        let follows_dot = start > 0 && self.tokens.text(start - 1) == ".";
        let follows_path = start > 0 && self.tokens.text(start - 1) == "::";
        let mut path = vec![self.text(0).to_owned()];
        self.at += 1;
        while self.text(0) == "::" && is_name(self.text(1)) {
            path.push(self.text(1).to_owned());
            self.at += 2;
        }
        if path.len() > 1 && !follows_dot && !follows_path {
            self.mention(path, None, false, line);
        }
    }

    fn import(&mut self, reexport: bool) {
        self.at += 1;
        if self.text(0) == "::" {
            // A path to another crate.
            while ![";", ""].contains(&self.text(0)) {
                self.at += 1;
            }
            return;
        }
        self.tree(&Vec::new(), reexport);
    }

    /// One tree of imports, up to the `,`, `}` or `;` after it.
    fn tree(&mut self, prefix: &Path, reexport: bool) {
        let mut path = prefix.clone();
        let line = self.line();
        loop {
            match self.text(0) {
                "{" => {
                    self.at += 1;
                    while !["}", ""].contains(&self.text(0)) {
                        self.tree(&path, reexport);
                        if self.text(0) == "," {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    return;
                }
                "*" => {
                    self.at += 1;
                    return self.mention(path, Some("*".to_owned()), reexport, line);
                }
                "::" => self.at += 1,
                "self" if !path.is_empty() => self.at += 1,
                text if is_name(text) && text != "as" => {
                    path.push(text.to_owned());
                    self.at += 1;
                }
                _ => break,
            }
        }
        let mut name = path.last().cloned().unwrap_or_default();
        if self.text(0) == "as" {
            name = self.text(1).to_owned();
            self.at += 2;
        }
        if path == *prefix && ![",", "}", ";"].contains(&self.text(0)) {
            // Nothing that this reader knows; go on, so that it ends.
            self.at += 1;
        }
        self.mention(path, Some(name), reexport, line);
    }

    fn mention(&mut self, path: Path, import: Option<String>, reexport: bool, line: usize) {
        let module = self.module.clone();
        self.reading.mentions.push(Mention { module, path, import, reexport, line });
    }
}

fn mentions(source: &str) -> Vec<String> {
    read(&vec!["a".to_owned()], source)
        .mentions
        .into_iter()
        .map(|mention| {
            let import = mention.import.map_or(String::new(), |name| format!(" as {name}"));
            format!("{}{import} in {}", mention.path.join("::"), mention.module.join("::"))
        })
        .collect()
}

#[test]
fn grouped_imports_are_taken_apart() {
    let source = "use crate::{a::{self, B as C}, d::*}; use super::e;";
    assert_eq!(
        mentions(source),
        ["crate::a as a in a", "crate::a::B as C in a", "crate::d as * in a", "super::e as e in a"]
    );
}

#[test]
fn paths_in_expressions_are_found_and_methods_are_not() {
    let source = "fn f(x: super::T) { x.collect::<crate::V>(); child::g(); local(); }";
    assert_eq!(mentions(source), ["super::T in a", "crate::V in a", "child::g in a"]);
}

#[test]
fn a_module_in_the_file_has_its_own_path() {
    let source = "mod inner { use super::X; fn f() {} } use super::Y;";
    assert_eq!(mentions(source), ["super::X as X in a::inner", "super::Y as Y in a"]);
}

#[test]
fn the_path_of_a_visibility_is_no_use() {
    assert_eq!(mentions("pub(in crate::store) struct X; pub(crate) fn f() {}"), [""; 0]);
}
