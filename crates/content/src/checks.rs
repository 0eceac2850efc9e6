//! Whether the words fit together: nothing twice, nothing missing, no link into the void.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::Catalog;
use crate::faq;
use crate::fault::ContentFault;
use crate::markdown;
use crate::page::Page;
use crate::product::{self, has_the_right_size};
use crate::site;

pub(crate) fn faults(catalog: &Catalog, elsewhere: &[&str]) -> Vec<ContentFault> {
    let mut faults = Vec::new();
    faults.extend(languages(catalog));
    faults.extend(repetitions(catalog));
    faults.extend(pictures(catalog));
    faults.extend(links(catalog, elsewhere));
    faults
}

/// Every page in every language that it promises.
fn languages(catalog: &Catalog) -> Vec<ContentFault> {
    let site = &catalog.site;
    let mut faults = Vec::new();
    let names: BTreeSet<&String> =
        catalog.pages.iter().map(|page| &page.name).chain(&site.translated).collect();
    for name in names {
        let promised = if site.translated.contains(name) {
            site.languages.clone()
        } else {
            vec![site.default_language()]
        };
        let written: Vec<_> = catalog.pages.iter().filter(|page| page.name == *name).collect();
        for language in &promised {
            if !written.iter().any(|page| page.language == *language) {
                let file = format!("pages/{name}.{}.md", language.code());
                faults.push(ContentFault::new(&file, "is missing"));
            }
        }
        for page in written.iter().filter(|page| !promised.contains(&page.language)) {
            let message = format!("is not promised: name {name:?} in `translated` of site.toml");
            faults.push(ContentFault::new(&file(page), message));
        }
    }
    faults
}

fn repetitions(catalog: &Catalog) -> Vec<ContentFault> {
    let mut seen = Seen::default();
    for page in &catalog.pages {
        let file = file(page);
        for path in [&page.front.path].into_iter().chain(&page.front.aliases) {
            seen.note(&file, "path", path);
        }
        seen.note(&file, "title", &page.front.title);
        seen.note(&file, "description", &page.front.description);
    }
    for product in &catalog.products {
        seen.note(product::FILE, "slug", &product.slug);
        seen.note(product::FILE, "path", &product.path());
    }
    for answer in &catalog.answers {
        seen.note(faq::FILE, "id", &answer.id);
    }
    seen.faults
}

/// What must exist once only, and where it was seen first.
#[derive(Default)]
struct Seen {
    first: BTreeMap<(&'static str, String), String>,
    faults: Vec<ContentFault>,
}

impl Seen {
    fn note(&mut self, file: &str, what: &'static str, value: &str) {
        let known = self.first.insert((what, value.to_owned()), file.to_owned());
        if let Some(other) = known {
            let message = format!("{what}: {value:?} is in {other} already");
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
            Ok(picture) if !has_the_right_size(&picture) => {
                faults.push(ContentFault::new(&file, "must say width=\"640\" height=\"480\""));
            }
            Ok(_) => {}
        }
    }
    faults
}

/// Every link inside points to something that exists.
fn links(catalog: &Catalog, elsewhere: &[&str]) -> Vec<ContentFault> {
    let mut places: BTreeSet<String> = elsewhere.iter().map(|&path| path.to_owned()).collect();
    for page in &catalog.pages {
        places.insert(page.front.path.clone());
        places.insert(page.markdown_path());
        places.extend(page.front.aliases.iter().cloned());
    }
    for product in &catalog.products {
        places.extend([product.path(), product.markdown_path()]);
    }
    let mut faults = Vec::new();
    let mut look = |file: &str, target: &str| {
        let path = target.split(['#', '?']).next().unwrap_or_default();
        let ours = path.starts_with('/');
        if ours && !places.contains(path) {
            faults.push(ContentFault::new(file, format!("links to {target}, which is nowhere")));
        }
    };
    for page in &catalog.pages {
        let targets = markdown::links(&page.source);
        for target in targets.iter().chain(page.front.actions.iter().map(|action| &action.href)) {
            look(&file(page), target);
        }
    }
    let products = catalog.products.iter().map(|product| (product::FILE, &product.description));
    let answers = catalog.answers.iter().map(|answer| (faq::FILE, &answer.answer));
    for (file, text) in products.chain(answers) {
        for target in markdown::links(text) {
            look(file, &target);
        }
    }
    for link in catalog.site.links() {
        look(site::FILE, &link.path);
    }
    faults
}

fn file(page: &Page) -> String {
    format!("pages/{}.{}.md", page.name, page.language.code())
}
