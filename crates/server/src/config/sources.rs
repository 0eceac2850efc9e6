//! Everything that file and environment say, before anybody judges it.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::config::environment::Environment;
use crate::config::fault::{Fault, Origin, Wrong};
use crate::config::nearest::nearest;
use crate::config::settings::{CONFIG_FILE, CONFIG_FILE_VARIABLE, Kind, SETTINGS, Setting, Source};

/// Two slips of the finger. Kubernetes gives every container variables such as
/// `PENNYBLACK_SERVICE_HOST`; they are further away and must not stop the start.
const MOST_EDITS_IN_A_VARIABLE: usize = 2;
const MOST_EDITS_IN_A_KEY: usize = 3;

pub(crate) struct Sources {
    /// The file that was read, if there was one.
    pub file: Option<PathBuf>,
    told: BTreeMap<&'static str, Told>,
    pub faults: Vec<Fault>,
}

/// What somebody said about one setting; the text of a list has commas.
#[derive(Clone)]
pub(crate) struct Told {
    pub origin: Origin,
    pub text: Result<String, Wrong>,
}

impl Sources {
    /// Reads the file named on the command line, else the one named in the
    /// environment, else the usual one if it is there.
    pub(crate) fn gather(named: Option<&Path>, environment: &Environment) -> Self {
        let mut sources = Self { file: None, told: BTreeMap::new(), faults: Vec::new() };
        sources.read_file(named, environment);
        sources.read_environment(environment);
        sources
    }

    pub(crate) fn told(&self, setting: &Setting) -> Option<&Told> {
        self.told.get(setting.key)
    }

    fn read_file(&mut self, named: Option<&Path>, environment: &Environment) {
        let variable = Origin::Environment(CONFIG_FILE_VARIABLE);
        let named = match (named, environment.text(CONFIG_FILE_VARIABLE)) {
            (Some(path), _) => Some(path.to_owned()),
            (None, Ok(path)) => path.map(PathBuf::from),
            (None, Err(_)) => return self.fault("--config", variable, not_text()),
        };
        let path = named.clone().unwrap_or_else(|| PathBuf::from(CONFIG_FILE));
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound && named.is_none() => return,
            Err(error) => {
                let problem = format!("cannot read {}: {error}", path.display());
                let remedy = "Name a file that exists, by --config or PENNYBLACK_CONFIG.";
                return self.fault("--config", Origin::File, Wrong::new(problem, remedy));
            }
        };
        match text.parse::<toml::Table>() {
            Ok(table) => self.read_table("", table),
            Err(error) => self.fault("--config", Origin::File, syntax(&path, &text, &error)),
        }
        self.file = Some(path);
    }

    fn read_table(&mut self, prefix: &str, table: toml::Table) {
        for (name, value) in table {
            let key = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
            match (SETTINGS.iter().find(|setting| setting.key == key), value) {
                (None, toml::Value::Table(section)) => self.read_table(&key, section),
                (None, _) => self.fault(&key, Origin::File, unknown_key(&key)),
                (Some(setting), value) => match setting.source {
                    Source::Environment(variable) => {
                        self.fault(&key, Origin::File, not_in_a_file(variable));
                    }
                    Source::File | Source::FileOrEnvironment(_) => {
                        let told =
                            Told { origin: Origin::File, text: text_of(setting.kind, value) };
                        self.told.insert(setting.key, told);
                    }
                },
            }
        }
    }

    fn read_environment(&mut self, environment: &Environment) {
        for setting in SETTINGS {
            let Some(name) = setting.variable() else { continue };
            let text = match environment.text(name) {
                Ok(None) => continue,
                Ok(Some(text)) => Ok(text.to_owned()),
                Err(_) => Err(not_text()),
            };
            self.told.insert(setting.key, Told { origin: Origin::Environment(name), text });
        }
        let known = || variables().chain([CONFIG_FILE_VARIABLE]);
        for name in environment.names().filter(|name| known().all(|known| known != *name)) {
            if let Some(meant) = nearest(name, known(), MOST_EDITS_IN_A_VARIABLE) {
                let wrong = Wrong::new(
                    format!("unknown variable `{name}`, did you mean `{meant}`?"),
                    "Rename it or unset it.",
                );
                self.fault(name, Origin::UnknownVariable, wrong);
            }
        }
    }

    fn fault(&mut self, key: &str, origin: Origin, wrong: Wrong) {
        self.faults.push(Fault { key: key.to_owned(), origin, wrong });
    }
}

fn variables() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().filter_map(|setting| setting.variable())
}

fn text_of(kind: Kind, value: toml::Value) -> Result<String, Wrong> {
    let (wanted, sample) = match kind {
        Kind::Text => ("a text", "\"like this\""),
        Kind::Number => ("a whole number", "600"),
        Kind::List => ("a list of texts", "[\"one\", \"two\"]"),
    };
    let misfit = || Wrong::new(format!("is not {wanted}"), format!("Write it like {sample}."));
    match (kind, value) {
        (Kind::Text, toml::Value::String(text)) => Ok(text),
        (Kind::Number, toml::Value::Integer(number)) => Ok(number.to_string()),
        (Kind::List, toml::Value::Array(items)) => items
            .iter()
            .map(|item| item.as_str().ok_or_else(misfit))
            .collect::<Result<Vec<_>, _>>()
            .map(|items| items.join(",")),
        (Kind::Text | Kind::Number | Kind::List, _) => Err(misfit()),
    }
}

fn unknown_key(key: &str) -> Wrong {
    let keys = || SETTINGS.iter().map(|setting| setting.key);
    // The right name in the wrong section is as near as a slip of the finger.
    let name = key.rsplit('.').next().unwrap_or(key);
    let elsewhere = SETTINGS.iter().find(|setting| setting.place().1 == name);
    let meant =
        nearest(key, keys(), MOST_EDITS_IN_A_KEY).or_else(|| elsewhere.map(|setting| setting.key));
    match meant {
        Some(meant) => Wrong::new(
            format!("unknown key `{key}`, did you mean `{meant}`?"),
            "Rename it or take it out.",
        ),
        None => Wrong::new(
            format!("unknown key `{key}`"),
            "Take it out; `pennyblack check --example` prints every key there is.",
        ),
    }
}

fn not_in_a_file(variable: &str) -> Wrong {
    Wrong::new(
        "is a secret and does not belong in the file",
        format!("Take it out, change it where it was used, and set {variable} instead."),
    )
}

fn not_text() -> Wrong {
    Wrong::new("is not UTF-8 text", "Set it to plain text.")
}

/// The parser's own report quotes the line, which may hold a password, so only
/// its message and the number of the line are taken.
fn syntax(path: &Path, text: &str, error: &toml::de::Error) -> Wrong {
    let start = error.span().map_or(0, |span| span.start);
    let line = 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
    Wrong::new(
        format!("{} is not TOML: line {line}: {}", path.display(), error.message()),
        "Mend that line; `pennyblack check --example` prints a file to compare with.",
    )
}
