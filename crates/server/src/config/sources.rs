//! The raw settings of the file and the environment, before they are parsed.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::config::fault::{ConfigFault, SettingOrigin, SettingProblem};
use crate::config::settings::definition::{Setting, SettingSource, ValueType};
use crate::config::settings::{CONFIG_FILE, CONFIG_FILE_VARIABLE, SETTINGS};
use crate::config::sources::environment::Environment;
use crate::config::sources::nearest_name::nearest_name;

pub(crate) mod environment;
mod nearest_name;

/// Small enough to catch typing errors only. Kubernetes sets variables such as
/// `PENNYBLACK_SERVICE_HOST` in every container, which must not prevent a start.
const VARIABLE_EDITS_MAX: usize = 2;
const KEY_EDITS_MAX: usize = 3;

pub(crate) struct SettingSources {
    /// The file that was read, if there was one.
    pub file: Option<PathBuf>,
    raw: BTreeMap<&'static str, RawSetting>,
    pub faults: Vec<ConfigFault>,
}

/// One setting as it was written; the text of a list has commas.
#[derive(Clone)]
pub(crate) struct RawSetting {
    pub origin: SettingOrigin,
    pub text: Result<String, SettingProblem>,
}

impl SettingSources {
    /// Reads the file named on the command line, else the one named in the
    /// environment, else the default one if it exists.
    pub(crate) fn gather(named: Option<&Path>, environment: &Environment) -> Self {
        let mut sources = Self { file: None, raw: BTreeMap::new(), faults: Vec::new() };
        sources.read_file(named, environment);
        sources.read_environment(environment);
        sources
    }

    pub(crate) fn raw(&self, setting: &Setting) -> Option<&RawSetting> {
        self.raw.get(setting.key)
    }

    fn read_file(&mut self, named: Option<&Path>, environment: &Environment) {
        let variable = SettingOrigin::Environment(CONFIG_FILE_VARIABLE);
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
                let remedy = "Name an existing file with --config or PENNYBLACK_CONFIG.";
                return self.fault(
                    "--config",
                    SettingOrigin::File,
                    SettingProblem::new(problem, remedy),
                );
            }
        };
        match text.parse::<toml::Table>() {
            Ok(table) => self.read_table("", table),
            Err(error) => self.fault("--config", SettingOrigin::File, syntax(&path, &text, &error)),
        }
        self.file = Some(path);
    }

    fn read_table(&mut self, prefix: &str, table: toml::Table) {
        for (name, value) in table {
            let key = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
            match (SETTINGS.iter().find(|setting| setting.key == key), value) {
                (None, toml::Value::Table(section)) => self.read_table(&key, section),
                (None, _) => self.fault(&key, SettingOrigin::File, unknown_key(&key)),
                (Some(setting), value) => match setting.source {
                    SettingSource::Environment(variable) => {
                        self.fault(&key, SettingOrigin::File, not_in_a_file(variable));
                    }
                    SettingSource::File | SettingSource::FileOrEnvironment(_) => {
                        let raw = RawSetting {
                            origin: SettingOrigin::File,
                            text: text_of(setting.value_type, value),
                        };
                        self.raw.insert(setting.key, raw);
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
            self.raw
                .insert(setting.key, RawSetting { origin: SettingOrigin::Environment(name), text });
        }
        let known = || variables().chain([CONFIG_FILE_VARIABLE]);
        for name in environment.names().filter(|name| known().all(|known| known != *name)) {
            if let Some(meant) = nearest_name(name, known(), VARIABLE_EDITS_MAX) {
                let problem = SettingProblem::new(
                    format!("unknown variable `{name}`, did you mean `{meant}`?"),
                    "Rename or unset it.",
                );
                self.fault(name, SettingOrigin::UnknownVariable, problem);
            }
        }
    }

    fn fault(&mut self, key: &str, origin: SettingOrigin, problem: SettingProblem) {
        self.faults.push(ConfigFault { key: key.to_owned(), origin, problem });
    }
}

fn variables() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().filter_map(|setting| setting.variable())
}

fn text_of(value_type: ValueType, value: toml::Value) -> Result<String, SettingProblem> {
    let (wanted, sample) = match value_type {
        ValueType::Text => ("a text", "\"like this\""),
        ValueType::Number => ("a whole number", "600"),
        ValueType::List => ("a list of texts", "[\"one\", \"two\"]"),
    };
    let mismatch =
        || SettingProblem::new(format!("is not {wanted}"), format!("Write it like {sample}."));
    match (value_type, value) {
        (ValueType::Text, toml::Value::String(text)) => Ok(text),
        (ValueType::Number, toml::Value::Integer(number)) => Ok(number.to_string()),
        (ValueType::List, toml::Value::Array(items)) => items
            .iter()
            .map(|item| item.as_str().ok_or_else(mismatch))
            .collect::<Result<Vec<_>, _>>()
            .map(|items| items.join(",")),
        (ValueType::Text | ValueType::Number | ValueType::List, _) => Err(mismatch()),
    }
}

fn unknown_key(key: &str) -> SettingProblem {
    let keys = || SETTINGS.iter().map(|setting| setting.key);
    // The right name in the wrong section is a likely mistake too.
    let name = key.rsplit('.').next().unwrap_or(key);
    let elsewhere = SETTINGS.iter().find(|setting| setting.section_and_name().1 == name);
    let meant =
        nearest_name(key, keys(), KEY_EDITS_MAX).or_else(|| elsewhere.map(|setting| setting.key));
    match meant {
        Some(meant) => SettingProblem::new(
            format!("unknown key `{key}`, did you mean `{meant}`?"),
            "Rename or remove it.",
        ),
        None => SettingProblem::new(
            format!("unknown key `{key}`"),
            "Remove it; `pennyblack check --example` prints every key.",
        ),
    }
}

fn not_in_a_file(variable: &str) -> SettingProblem {
    SettingProblem::new(
        "is a secret and must not be in the file",
        format!("Remove it, replace the secret, and set {variable} instead."),
    )
}

fn not_text() -> SettingProblem {
    SettingProblem::new("is not UTF-8 text", "Set it to UTF-8 text.")
}

/// The parser's report quotes the line, which may hold a password, so only its message and
/// the line number are used.
fn syntax(path: &Path, text: &str, error: &toml::de::Error) -> SettingProblem {
    let start = error.span().map_or(0, |span| span.start);
    let line = 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
    SettingProblem::new(
        format!("{} is not TOML: line {line}: {}", path.display(), error.message()),
        "Fix that line; `pennyblack check --example` prints a valid file.",
    )
}
