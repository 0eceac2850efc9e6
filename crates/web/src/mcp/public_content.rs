//! The data of the MCP server: public content, and no order, payment or network.

use content::catalog::Catalog;
use content::site::Language;

use crate::site_facts::SiteFacts;

pub(crate) struct PublicContent {
    pub(crate) facts: SiteFacts,
    /// Every page and product as Markdown.
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

impl PublicContent {
    pub(crate) fn catalog(&self) -> &Catalog {
        &self.facts.catalog
    }
}
