//! Everything that the site says, loaded and checked at start.

use std::path::Path;

use crate::agents::ForAgents;
use crate::briefing::{self, Briefing};
use crate::checks;
use crate::client::Client;
use crate::faq::{self, Answer};
use crate::fault::ContentFault;
use crate::page::Page;
use crate::product::{self, Product};
use crate::site::{self, Language, Site};
use crate::snippet::Snippets;
use crate::source::Source;

const PAGES: &str = "pages";

/// All words of the site. Whoever holds one need not check it again.
#[derive(Clone, Debug)]
pub struct Catalog {
    pub site: Site,
    /// In the sequence of their file names.
    pub pages: Vec<Page>,
    pub products: Vec<Product>,
    pub answers: Vec<Answer>,
    pub briefing: Briefing,
    pub agents: ForAgents,
    pub client: Client,
    pub snippets: Snippets,
    pub(crate) source: Source,
}

impl Catalog {
    /// What is built into the binary. `elsewhere` names the addresses that the
    /// words may link to and that are no pages.
    pub fn built_in(elsewhere: &[&str]) -> Result<Self, Vec<ContentFault>> {
        Self::read(Source::BuiltIn, elsewhere)
    }

    /// A folder that replaces what is built in.
    pub fn from_folder(folder: &Path, elsewhere: &[&str]) -> Result<Self, Vec<ContentFault>> {
        Self::read(Source::Folder(folder.to_owned()), elsewhere)
    }

    /// The page of that name in that language, or else in the default one.
    pub fn page(&self, name: &str, language: Language) -> Option<&Page> {
        let find = |language| {
            self.pages.iter().find(|page| page.name == name && page.language == language)
        };
        find(language).or_else(|| find(self.site.default_language()))
    }

    /// The same page in all its languages, in the sequence of the site's.
    pub fn siblings(&self, page: &Page) -> Vec<&Page> {
        let languages = self.site.languages.iter();
        let sibling = |language: &Language| {
            self.pages.iter().find(|other| other.name == page.name && other.language == *language)
        };
        languages.filter_map(sibling).collect()
    }

    /// The same page in all its languages as `hreflang` names them, with the
    /// default one for everybody else; none if there is but one.
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

    pub fn product(&self, slug: &str) -> Option<&Product> {
        self.products.iter().find(|product| product.slug == slug)
    }

    /// A file that is served as it is: a stylesheet, a picture.
    pub fn asset(&self, file: &str) -> Result<Vec<u8>, ContentFault> {
        self.source.bytes(file)
    }

    /// Reads as much as can be read, so that all faults are told at once.
    fn read(source: Source, elsewhere: &[&str]) -> Result<Self, Vec<ContentFault>> {
        let mut faults = Vec::new();
        let site = source.text(site::FILE).map_err(|fault| vec![fault]);
        let site = keep(site.and_then(|text| Site::read(&text)), &mut faults);
        let pages = keep(pages(&source), &mut faults);
        let one = |fault| vec![fault];
        let products = source.text(product::FILE).and_then(|text| Product::read_all(&text));
        let products = keep(products.map_err(one), &mut faults);
        let answers = source.text(faq::FILE).and_then(|text| Answer::read_all(&text));
        let answers = keep(answers.map_err(one), &mut faults);
        let briefing = source.text(briefing::FILE).and_then(|text| Briefing::read(&text));
        let briefing = keep(briefing.map_err(one), &mut faults);
        let agents = keep(ForAgents::read(&source), &mut faults);
        let client = keep(Client::read(&source).map_err(one), &mut faults);
        let snippets = keep(Snippets::read(&source), &mut faults);
        let (Some(site), Some(pages), Some(products)) = (site, pages, products) else {
            return Err(faults);
        };
        let (Some(answers), Some(briefing), Some(agents)) = (answers, briefing, agents) else {
            return Err(faults);
        };
        let (Some(client), Some(snippets)) = (client, snippets) else {
            return Err(faults);
        };
        let catalog =
            Self { site, pages, products, answers, briefing, agents, client, snippets, source };
        faults.extend(checks::faults(&catalog, elsewhere));
        if faults.is_empty() { Ok(catalog) } else { Err(faults) }
    }
}

fn keep<T>(read: Result<T, Vec<ContentFault>>, faults: &mut Vec<ContentFault>) -> Option<T> {
    read.map_err(|more| faults.extend(more)).ok()
}

fn pages(source: &Source) -> Result<Vec<Page>, Vec<ContentFault>> {
    let names = source.names(PAGES).map_err(|fault| vec![fault])?;
    let (mut pages, mut faults) = (Vec::new(), Vec::new());
    for name in names {
        let file = format!("{PAGES}/{name}");
        match source.text(&file).and_then(|text| Page::read(&file, &text)) {
            Ok(page) => pages.push(page),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(pages) } else { Err(faults) }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::ELSEWHERE as ELSEWHERE_IN_TESTS;
