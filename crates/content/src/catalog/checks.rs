//! Checks across files: no duplicates, no missing translations or images, no broken links.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::Catalog;
use crate::faq;
use crate::fault::ContentFault;
use crate::markdown;
use crate::page::Page;
use crate::product::{self, has_expected_size};
use crate::site;

pub(crate) fn faults(catalog: &Catalog, other_paths: &[&str]) -> Vec<ContentFault> {
    let mut faults = Vec::new();
    faults.extend(languages(catalog));
    faults.extend(repetitions(catalog));
    faults.extend(pictures(catalog));
    faults.extend(links(catalog, other_paths));
    faults
}

/// Every page exists in every language that site.toml lists for it.
fn languages(catalog: &Catalog) -> Vec<ContentFault> {
    let site = &catalog.site;
    let mut faults = Vec::new();
    let names: BTreeSet<&String> =
        catalog.pages.iter().map(|page| &page.name).chain(&site.translated).collect();
    for name in names {
        let expected = if site.translated.contains(name) {
            site.languages.clone()
        } else {
            vec![site.default_language()]
        };
        let written: Vec<_> = catalog.pages.iter().filter(|page| page.name == *name).collect();
        for language in &expected {
            if !written.iter().any(|page| page.language == *language) {
                let file = format!("pages/{name}.{}.md", language.code());
                faults.push(ContentFault::new(&file, "is missing"));
            }
        }
        for page in written.iter().filter(|page| !expected.contains(&page.language)) {
            let message = format!("is not expected: add {name:?} to `translated` in site.toml");
            faults.push(ContentFault::new(&file(page), message));
        }
    }
    faults
}

fn repetitions(catalog: &Catalog) -> Vec<ContentFault> {
    let mut seen = UniqueValues::default();
    for page in &catalog.pages {
        let file = file(page);
        for path in [&page.front.path].into_iter().chain(&page.front.aliases) {
            seen.add(&file, "path", path);
        }
        seen.add(&file, "title", &page.front.title);
        seen.add(&file, "description", &page.front.description);
    }
    for product in &catalog.products {
        seen.add(product::FILE, "slug", &product.slug);
        seen.add(product::FILE, "path", &product.path());
    }
    for answer in &catalog.answers {
        seen.add(faq::FILE, "id", &answer.id);
    }
    seen.faults
}

/// Values that must be unique, with the file that has them first.
#[derive(Default)]
struct UniqueValues {
    first: BTreeMap<(&'static str, String), String>,
    faults: Vec<ContentFault>,
}

impl UniqueValues {
    fn add(&mut self, file: &str, what: &'static str, value: &str) {
        let known = self.first.insert((what, value.to_owned()), file.to_owned());
        if let Some(other) = known {
            let message = format!("{what}: {value:?} is also in {other}");
            self.faults.push(ContentFault::new(file, message));
        }
    }
}

fn pictures(catalog: &Catalog) -> Vec<ContentFault> {
    let mut faults = Vec::new();
    if catalog.products.is_empty() {
        faults.push(ContentFault::new(product::FILE, "name at least one product"));
    }
    for product in &catalog.products {
        let file = product.picture_file();
        match catalog.source.text(&file) {
            Err(fault) => faults.push(fault),
            Ok(picture) if !has_expected_size(&picture) => {
                faults.push(ContentFault::new(&file, "must contain width=\"640\" height=\"480\""));
            }
            Ok(_) => {}
        }
    }
    faults
}

/// Every link to this site has a target.
fn links(catalog: &Catalog, other_paths: &[&str]) -> Vec<ContentFault> {
    let mut paths: BTreeSet<String> = other_paths.iter().map(|&path| path.to_owned()).collect();
    for page in &catalog.pages {
        paths.insert(page.front.path.clone());
        paths.insert(page.markdown_path());
        paths.extend(page.front.aliases.iter().cloned());
    }
    for product in &catalog.products {
        paths.extend([product.path(), product.markdown_path()]);
    }
    let mut faults = Vec::new();
    let mut check = |file: &str, target: &str| {
        let path = target.split(['#', '?']).next().unwrap_or_default();
        let ours = path.starts_with('/');
        if ours && !paths.contains(path) {
            faults
                .push(ContentFault::new(file, format!("links to {target}, which does not exist")));
        }
    };
    for page in &catalog.pages {
        let targets = markdown::links(&page.source);
        for target in targets.iter().chain(page.front.actions.iter().map(|action| &action.href)) {
            check(&file(page), target);
        }
    }
    let products = catalog.products.iter().map(|product| (product::FILE, &product.description));
    let answers = catalog.answers.iter().map(|answer| (faq::FILE, &answer.answer));
    for (file, text) in products.chain(answers) {
        for target in markdown::links(text) {
            check(file, &target);
        }
    }
    for link in catalog.site.links() {
        check(site::FILE, &link.path);
    }
    faults
}

fn file(page: &Page) -> String {
    format!("pages/{}.{}.md", page.name, page.language.code())
}
