//! The fields of a form, and of a query.

use std::collections::BTreeMap;

use url::form_urlencoded;

/// The fields that a browser sent. Empty ones are left out.
pub(super) struct FormFields(BTreeMap<String, String>);

impl FormFields {
    pub(super) fn parse(encoded: &[u8]) -> Self {
        let pairs = form_urlencoded::parse(encoded);
        let trimmed = pairs.map(|(name, value)| (name.into_owned(), value.trim().to_owned()));
        Self(trimmed.filter(|(_, value)| !value.is_empty()).collect())
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded_and_trimmed_and_empty_ones_left_out() {
        let fields = FormFields::parse(b"note=+a%26b%20&version=3&payer=++");
        assert_eq!(fields.get("note"), Some("a&b"));
        assert_eq!(fields.get("version"), Some("3"));
        assert_eq!(fields.get("payer"), None);
    }
}
