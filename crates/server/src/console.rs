//! Words to the person who started us.

use std::io::{IsTerminal, Write, stderr, stdout};

/// Whether somebody is looking at what we say.
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

/// Says it on stdout. A reader who has left, as `head` does, is no fault of ours.
pub(crate) fn say(words: &str) {
    let mut stdout = stdout().lock();
    let _ = stdout.write_all(words.as_bytes()).and_then(|()| stdout.flush());
}

/// Says it on stderr.
pub(crate) fn complain(words: &str) {
    let _ = stderr().lock().write_all(words.as_bytes());
}
