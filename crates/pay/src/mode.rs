//! Whether what is asked for is real money, as every challenge says.

/// What a payment is worth. The sandbox's chains bear the numbers and contracts of real ones,
/// so nothing else in an offer tells the two apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Live,
    Sandbox,
}

impl Mode {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Sandbox => "sandbox",
        }
    }

    /// Marks the `extra` of an offer that is of the sandbox.
    pub(crate) fn mark(self, mut offer: serde_json::Value) -> serde_json::Value {
        match self {
            Self::Live => {}
            Self::Sandbox => offer["extra"]["mode"] = self.word().into(),
        }
        offer
    }
}
