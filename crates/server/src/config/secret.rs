//! Words that must never be printed.

use std::fmt;

use zeroize::Zeroizing;

/// A secret: shown nowhere, wiped from memory when it is dropped.
#[derive(Clone)]
pub(crate) struct Secret(Zeroizing<String>);

impl Secret {
    pub(crate) fn new(words: String) -> Self {
        Self(Zeroizing::new(words))
    }

    /// The words themselves, for the one who needs them to open something.
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
    fn a_secret_does_not_print_itself() {
        let secret = Secret::new("open sesame".to_owned());
        assert_eq!(format!("{secret:?}"), "Secret { .. }");
        assert_eq!(secret.reveal(), "open sesame");
    }
}
