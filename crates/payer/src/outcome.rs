//! How a payment ended, in words and as an exit code.

/// Every outcome, with the text for the person who pays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaymentOutcome {
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

impl PaymentOutcome {
    /// The exit code of the command.
    pub const fn code(&self) -> u8 {
        match self {
            Self::Paid(_) => 0,
            Self::Refused(_) => 1,
            Self::Unusable(_) => 2,
            Self::Later(_) => 3,
            Self::AllowanceNeeded(_) => 4,
            Self::Owed(_) => 5,
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Paid(text)
            | Self::Refused(text)
            | Self::Unusable(text)
            | Self::Later(text)
            | Self::AllowanceNeeded(text)
            | Self::Owed(text) => text,
        }
    }
}
