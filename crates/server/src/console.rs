//! Output to stdout and stderr.

use std::io::{IsTerminal, Write, stderr, stdout};

/// Where output goes: a terminal gets bold text and a progress bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    Terminal,
    Pipe,
}

impl Audience {
    pub(crate) fn of_stdout() -> Self {
        if stdout().is_terminal() { Audience::Terminal } else { Audience::Pipe }
    }

    pub(crate) fn of_stderr() -> Self {
        if stderr().is_terminal() { Audience::Terminal } else { Audience::Pipe }
    }
}

/// Prints to stdout. A closed pipe, as with `head`, is ignored.
pub(crate) fn print(text: &str) {
    let mut stdout = stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

/// Prints to stderr.
pub(crate) fn print_error(text: &str) {
    let _ = stderr().lock().write_all(text.as_bytes());
}
