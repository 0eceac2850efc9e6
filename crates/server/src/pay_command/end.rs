//! How a payment ended, as words and as an exit code.

use std::process::ExitCode;

use crate::console;

/// Every end, with what is to be said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Paid, now or earlier, and the card is with the provider.
    Paid(String),
    /// Nothing moved, and repeating will not help.
    Refused(String),
    /// A file or an argument is wrong; nothing was signed.
    Unusable(String),
    /// Not known yet, or not now. The same command again is safe.
    Later(String),
    /// Permit2 may not move the payer's USDC yet. Nothing moved.
    AllowanceNeeded(String),
    /// Paid, but it is not certain yet that the card is with the provider.
    Owed(String),
}

impl End {
    pub(super) const fn code(&self) -> u8 {
        match self {
            Self::Paid(_) => 0,
            Self::Refused(_) => 1,
            Self::Unusable(_) => 2,
            Self::Later(_) => 3,
            Self::AllowanceNeeded(_) => 4,
            Self::Owed(_) => 5,
        }
    }

    pub(super) fn words(&self) -> &str {
        match self {
            Self::Paid(words)
            | Self::Refused(words)
            | Self::Unusable(words)
            | Self::Later(words)
            | Self::AllowanceNeeded(words)
            | Self::Owed(words) => words,
        }
    }

    /// Good news on stdout, everything else on stderr.
    pub(super) fn tell(&self) -> ExitCode {
        match self {
            Self::Paid(_) | Self::Owed(_) => console::say(self.words()),
            Self::Refused(_) | Self::Unusable(_) | Self::Later(_) | Self::AllowanceNeeded(_) => {
                console::complain(self.words())
            }
        }
        ExitCode::from(self.code())
    }
}
