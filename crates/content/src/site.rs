//! Facts about the site that more than one page needs.

use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    pub name: String,
    pub tagline: String,
    /// The languages in which pages may exist; the first is the default.
    pub languages: Vec<Language>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    En,
    De,
    Es,
    It,
}
