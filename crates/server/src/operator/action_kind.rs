//! The actions of an operator on one order, by name.

/// An action, without what it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ActionKind {
    Resubmit,
    Attach,
    Refund,
    Acknowledge,
    Erase,
    Reveal,
}

impl ActionKind {
    pub(crate) const ALL: [Self; 6] =
        [Self::Resubmit, Self::Attach, Self::Refund, Self::Acknowledge, Self::Erase, Self::Reveal];

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Its name in URLs, in the API and in events.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Resubmit => "resubmit",
            Self::Attach => "attach",
            Self::Refund => "refund",
            Self::Acknowledge => "acknowledge",
            Self::Erase => "erase",
            Self::Reveal => "reveal",
        }
    }
}
