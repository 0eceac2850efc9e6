//! What is wrong with a configuration, in words that say what to do about it.

use std::fmt;

/// One thing to mend. Its words never repeat a value that may hold a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub key: String,
    pub origin: Origin,
    pub wrong: Wrong,
}

/// What is wrong with a value, before anybody knows where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub problem: String,
    pub remedy: String,
}

impl Wrong {
    pub(crate) fn new(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: remedy.into() }
    }
}

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    File,
    Environment(&'static str),
    /// A variable of ours that nobody knows.
    UnknownVariable,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => write!(f, "default"),
            Origin::File => write!(f, "file"),
            Origin::Environment(name) => write!(f, "environment {name}"),
            Origin::UnknownVariable => write!(f, "environment"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Wrong { problem, remedy } = &self.wrong;
        writeln!(f, "  {} ({})", self.key, self.origin)?;
        writeln!(f, "      {problem}")?;
        writeln!(f, "      -> {remedy}")
    }
}
