//! A secret value, which is never printed.

use std::fmt;

use zeroize::Zeroizing;

/// Not printed by `Debug`; wiped from memory when it is dropped.
#[derive(Clone)]
pub(crate) struct Secret(Zeroizing<String>);

impl Secret {
    pub(crate) fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// The secret itself, for a call that needs it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_does_not_print_a_secret() {
        let secret = Secret::new("open sesame".to_owned());
        assert_eq!(format!("{secret:?}"), "Secret { .. }");
        assert_eq!(secret.reveal(), "open sesame");
    }
}
