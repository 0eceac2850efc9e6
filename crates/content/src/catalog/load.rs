//! Loads the catalog from the binary or from a folder.

use std::path::Path;

use crate::agents::AgentTexts;
use crate::briefing::{self, Briefing};
use crate::catalog::gallery::GalleryPicture;
use crate::catalog::send::SendTexts;
use crate::catalog::{Catalog, checks};
use crate::client::ClientScript;
use crate::faq::{self, SupportAnswer};
use crate::fault::ContentFault;
use crate::page::Page;
use crate::product::{self, Product};
use crate::site::{self, SiteInfo};
use crate::snippet::Snippets;
use crate::source::ContentSource;

const PAGES: &str = "pages";

impl Catalog {
    /// The content in the binary. `other_paths` are valid link targets that are not pages.
    pub fn built_in(other_paths: &[&str]) -> Result<Self, Vec<ContentFault>> {
        Self::read(ContentSource::BuiltIn, other_paths)
    }

    /// The content of a folder, which replaces the built-in content.
    pub fn from_folder(folder: &Path, other_paths: &[&str]) -> Result<Self, Vec<ContentFault>> {
        Self::read(ContentSource::Folder(folder.to_owned()), other_paths)
    }

    /// Reads as much as possible, so that all faults are reported together.
    fn read(source: ContentSource, other_paths: &[&str]) -> Result<Self, Vec<ContentFault>> {
        let mut faults = Vec::new();
        let site = source.text(site::FILE).map_err(|fault| vec![fault]);
        let site = collect(site.and_then(|text| SiteInfo::read(&text)), &mut faults);
        let pages = collect(pages(&source), &mut faults);
        let one = |fault| vec![fault];
        let products = source.text(product::FILE).and_then(|text| Product::read_all(&text));
        let products = collect(products.map_err(one), &mut faults);
        let answers = source.text(faq::FILE).and_then(|text| SupportAnswer::read_all(&text));
        let answers = collect(answers.map_err(one), &mut faults);
        let briefing = source.text(briefing::FILE).and_then(|text| Briefing::read(&text));
        let briefing = collect(briefing.map_err(one), &mut faults);
        let agents = collect(AgentTexts::read(&source), &mut faults);
        let client = collect(ClientScript::read(&source).map_err(one), &mut faults);
        let snippets = collect(Snippets::read(&source), &mut faults);
        let send = collect(SendTexts::read(&source), &mut faults);
        let gallery = collect(GalleryPicture::read_all(&source), &mut faults);
        let (Some(site), Some(pages), Some(products)) = (site, pages, products) else {
            return Err(faults);
        };
        let (Some(answers), Some(briefing), Some(agents)) = (answers, briefing, agents) else {
            return Err(faults);
        };
        let (Some(client), Some(snippets)) = (client, snippets) else {
            return Err(faults);
        };
        let (Some(send), Some(gallery)) = (send, gallery) else {
            return Err(faults);
        };
        let catalog = Self {
            site,
            pages,
            products,
            answers,
            briefing,
            agents,
            client,
            snippets,
            send,
            gallery,
            source,
        };
        faults.extend(checks::faults(&catalog, other_paths));
        if faults.is_empty() { Ok(catalog) } else { Err(faults) }
    }
}

fn collect<T>(read: Result<T, Vec<ContentFault>>, faults: &mut Vec<ContentFault>) -> Option<T> {
    read.map_err(|more| faults.extend(more)).ok()
}

fn pages(source: &ContentSource) -> Result<Vec<Page>, Vec<ContentFault>> {
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
