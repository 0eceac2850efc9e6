//! Whether payments are of real money, as every challenge states.

/// Whether payments are of real money. The chains of the sandbox have the ids and contracts of
/// real ones, so nothing else in a challenge shows the difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PaymentMode {
    #[default]
    Live,
    Sandbox,
}

impl PaymentMode {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Sandbox => "sandbox",
        }
    }

    /// Adds the mode to the `extra` of a payment requirement in the sandbox.
    pub(crate) fn mark(self, mut requirement: serde_json::Value) -> serde_json::Value {
        match self {
            Self::Live => {}
            Self::Sandbox => requirement["extra"]["mode"] = self.as_str().into(),
        }
        requirement
    }
}
