//! All that the MCP tools may know: public words, and no order, payment or network.

use content::catalog::Catalog;
use content::site::Language;

use crate::premises::Premises;

pub(crate) struct Library {
    pub(crate) premises: Premises,
    /// Every page and product, as whoever asks for Markdown reads it.
    pub(crate) pages: Vec<PublicPage>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PublicPage {
    pub(crate) path: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) language: Language,
    pub(crate) markdown: String,
}

impl Library {
    pub(crate) fn catalog(&self) -> &Catalog {
        &self.premises.catalog
    }
}
