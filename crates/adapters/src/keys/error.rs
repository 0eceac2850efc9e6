//! Why there are no keys to work with, and what to do about it.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

#[derive(Debug)]
pub enum KeyError {
    Empty,
    /// A line that is no key. Its text is a secret, so only its number is told.
    Line {
        number: usize,
    },
    Repeated {
        number: usize,
    },
    /// A key that only opens, before the identity key.
    NextBeforeFirst {
        number: usize,
    },
    TooMany,
    /// Others may read the file.
    Exposed {
        path: PathBuf,
        mode: u32,
    },
    File {
        path: PathBuf,
        cause: io::Error,
    },
    NoRandomness,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(
                f,
                "there is no key: give at least one line of 64 hexadecimal digits, for instance \
                 from `openssl rand -hex 32`"
            ),
            Self::Line { number } => {
                write!(f, "line {number} of the keys is not 64 hexadecimal digits")
            }
            Self::Repeated { number } => {
                write!(f, "line {number} of the keys repeats an earlier one: remove it")
            }
            Self::NextBeforeFirst { number } => write!(
                f,
                "line {number} of the keys begins with `next` and is the first key: append such a \
                 line after the others"
            ),
            Self::TooMany => write!(f, "these are too many keys: is this the right file?"),
            Self::Exposed { path, mode } => write!(
                f,
                "others may read the keys (mode {mode:03o}): run `chmod 600 {}`",
                path.display()
            ),
            Self::File { path, cause } => {
                write!(f, "cannot use the key file {}: {cause}", path.display())
            }
            Self::NoRandomness => write!(f, "the operating system gives no random bytes"),
        }
    }
}

impl Error for KeyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::File { cause, .. } => Some(cause),
            Self::Empty
            | Self::Line { .. }
            | Self::Repeated { .. }
            | Self::NextBeforeFirst { .. }
            | Self::TooMany
            | Self::Exposed { .. }
            | Self::NoRandomness => None,
        }
    }
}
