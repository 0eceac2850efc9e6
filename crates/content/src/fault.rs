//! A mistake in a content file.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentFault {
    pub file: String,
    pub message: String,
}

impl ContentFault {
    pub(crate) fn new(file: &str, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), message: message.into() }
    }
}

impl fmt::Display for ContentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.message)
    }
}
