//! All content of the site, loaded and checked at start.

use crate::agents::AgentTexts;
use crate::briefing::Briefing;
use crate::catalog::gallery::GalleryPicture;
use crate::catalog::send::SendTexts;
use crate::client::ClientScript;
use crate::faq::SupportAnswer;
use crate::fault::ContentFault;
use crate::page::Page;
use crate::product::Product;
use crate::site::{Language, SiteInfo};
use crate::snippet::Snippets;
use crate::source::ContentSource;
use std::borrow::Cow;

mod checks;
pub mod gallery;
mod load;
pub mod send;

#[cfg(test)]
pub(crate) mod fixtures;

/// All content. A value of this type has passed all checks.
#[derive(Clone, Debug)]
pub struct Catalog {
    pub site: SiteInfo,
    /// In the order of their file names.
    pub pages: Vec<Page>,
    pub products: Vec<Product>,
    pub answers: Vec<SupportAnswer>,
    pub briefing: Briefing,
    pub agents: AgentTexts,
    pub client: ClientScript,
    pub snippets: Snippets,
    /// The texts of the form and of the order page.
    pub send: SendTexts,
    /// Pictures that the form offers.
    pub gallery: Vec<GalleryPicture>,
    pub(crate) source: ContentSource,
}

impl Catalog {
    /// The page of that name in that language, or else in the default one.
    pub fn page(&self, name: &str, language: Language) -> Option<&Page> {
        let find = |language| {
            self.pages.iter().find(|page| page.name == name && page.language == language)
        };
        find(language).or_else(|| find(self.site.default_language()))
    }

    /// The same page in all its languages, in the order of the site's.
    pub fn siblings(&self, page: &Page) -> Vec<&Page> {
        let languages = self.site.languages.iter();
        let sibling = |language: &Language| {
            self.pages.iter().find(|other| other.name == page.name && other.language == *language)
        };
        languages.filter_map(sibling).collect()
    }

    /// The `hreflang` values and paths of a page, including `x-default`. Empty if the page has
    /// one language.
    pub fn alternates<'a>(&'a self, page: &Page) -> Vec<(&'static str, &'a str)> {
        let siblings = self.siblings(page);
        if siblings.len() < 2 {
            return Vec::new();
        }
        let default = siblings.iter().find(|one| one.language == self.site.default_language());
        let default = default.map(|one| ("x-default", one.front.path.as_str()));
        let each = siblings.iter().map(|one| (one.language.code(), one.front.path.as_str()));
        each.chain(default).collect()
    }

    /// The path of the same page in another language, or the path itself.
    pub(crate) fn path_in<'a>(&'a self, path: &'a str, language: Language) -> &'a str {
        let page = self.pages.iter().find(|page| page.front.path == path);
        let siblings = page.map(|page| self.siblings(page)).unwrap_or_default();
        let sibling = siblings.into_iter().find(|sibling| sibling.language == language);
        sibling.map_or(path, |sibling| &sibling.front.path)
    }

    pub fn product(&self, slug: &str) -> Option<&Product> {
        self.products.iter().find(|product| product.slug == slug)
    }

    /// A file that is served unchanged, such as a stylesheet or an image.
    pub fn asset(&self, file: &str) -> Result<Cow<'static, [u8]>, ContentFault> {
        self.source.bytes(file)
    }
}

#[cfg(test)]
mod tests;
