//! What is wrong with a configuration, and how to fix it.

use std::fmt;

/// One invalid setting. Its text never repeats a value that may hold a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigFault {
    pub key: String,
    pub origin: SettingOrigin,
    pub problem: SettingProblem,
}

/// What is wrong with a value, independent of where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SettingProblem {
    pub message: String,
    pub remedy: String,
}

impl SettingProblem {
    pub(crate) fn new(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { message: message.into(), remedy: remedy.into() }
    }
}

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettingOrigin {
    Default,
    File,
    Environment(&'static str),
    /// A variable with our prefix that is not a setting.
    UnknownVariable,
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingOrigin::Default => write!(f, "default"),
            SettingOrigin::File => write!(f, "file"),
            SettingOrigin::Environment(name) => write!(f, "environment {name}"),
            SettingOrigin::UnknownVariable => write!(f, "environment"),
        }
    }
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SettingProblem { message, remedy } = &self.problem;
        writeln!(f, "  {} ({})", self.key, self.origin)?;
        writeln!(f, "      {message}")?;
        writeln!(f, "      -> {remedy}")
    }
}

/// All faults, with their number as the heading.
pub(crate) fn list(faults: &[ConfigFault]) -> String {
    let heading = match faults.len() {
        1 => "1 configuration error:".to_owned(),
        count => format!("{count} configuration errors:"),
    };
    faults.iter().fold(format!("{heading}\n"), |text, fault| format!("{text}\n{fault}"))
}
