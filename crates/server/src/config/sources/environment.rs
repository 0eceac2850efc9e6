//! Environment variables; no other file reads the environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

const PREFIX: &str = "PENNYBLACK_";

/// Our variables as they were when the process started.
pub(crate) struct Environment {
    variables: BTreeMap<String, OsString>,
}

/// The value is not UTF-8.
pub(crate) struct NotText;

/// The variables of a login, the most telling first.
const LOGIN_NAMES: [&str; 3] = ["SUDO_USER", "USER", "LOGNAME"];

pub(crate) fn login_name() -> Option<String> {
    let all: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    let text = |name: &&str| all.get(OsStr::new(*name))?.to_str().map(str::to_owned);
    LOGIN_NAMES.iter().filter_map(text).find(|name| !name.is_empty())
}

impl Environment {
    pub(crate) fn of_process() -> Self {
        Self::new(
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))),
        )
    }

    pub(crate) fn new(variables: impl IntoIterator<Item = (String, OsString)>) -> Self {
        let ours = variables.into_iter().filter(|(name, _)| name.starts_with(PREFIX));
        Self { variables: ours.collect() }
    }

    /// The text of a variable. An empty one counts as absent, because compose files and
    /// shells pass unset variables on as empty.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, NotText> {
        match self.variables.get(name) {
            None => Ok(None),
            Some(value) if value.is_empty() => Ok(None),
            Some(value) => value.to_str().map(Some).ok_or(NotText),
        }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }
}
