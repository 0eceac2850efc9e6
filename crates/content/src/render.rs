//! The two faces of a page: HTML for people, Markdown for whoever asks for it.

use minijinja::value::Value;
use minijinja::{Environment, UndefinedBehavior, context};

use crate::catalog::Catalog;
use crate::fault::ContentFault;
use crate::markdown::{self, Text};
use crate::page::Page;
use crate::product::Product;
use crate::site::Language;

mod lists;
mod paywall;
mod surroundings;

pub use paywall::{Money, Payable, Paywall, PaywallPage, Unpaid};

/// What the house adds to the words.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The public address of the site, without a slash at its end.
    pub base_url: String,
    /// Where the stylesheet and the script lie.
    pub style: String,
    pub script: String,
    /// Where the scripts lie that pay, in the sequence in which they are read.
    pub paywall: Vec<String>,
    /// Every endpoint, as a Markdown table.
    pub endpoint_list: String,
    /// A complete postcard request, as JSON.
    pub example_body: String,
    /// The hash of the command-line client as it is handed out.
    pub client_sha256: String,
    /// What can be had here now: `preview`, `x402`, `mpp` and `registration`, as far as the
    /// configuration opens them.
    pub open: Vec<&'static str>,
    /// The networks on which x402 is paid, as a choice in words.
    pub networks: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faces {
    pub html: String,
    pub markdown: String,
}

pub struct Renderer<'a> {
    catalog: &'a Catalog,
    frame: Frame,
    templates: Environment<'static>,
}

impl<'a> Renderer<'a> {
    pub fn new(catalog: &'a Catalog, frame: Frame) -> Result<Self, ContentFault> {
        let mut templates = Environment::new();
        // A page may leave out what not all pages have; a word that nobody
        // knows is a mistake.
        templates.set_undefined_behavior(UndefinedBehavior::Chainable);
        for name in catalog.source.names("templates")? {
            let file = format!("templates/{name}");
            let text = catalog.source.text(&file)?;
            templates
                .add_template_owned(name, text)
                .map_err(|error| ContentFault::new(&file, describe(&error)))?;
        }
        Ok(Self { catalog, frame, templates })
    }

    /// `json_ld` is what search engines are told beside the text.
    pub fn page(&self, page: &Page, json_ld: &[String]) -> Result<Faces, ContentFault> {
        let file = format!("pages/{}.{}.md", page.name, page.language.code());
        let front = &page.front;
        let for_people = self.fill(&file, &page.source, &self.placeholders())?;
        let Text { html, contents } = markdown::page(&for_people);
        let body = self.place_lists(&html, page.language)?;
        let about = context! {
            language => page.language.code(),
            title => front.title,
            description => front.description,
            heading => front.heading,
            lead => front.lead,
            updated => front.updated,
            actions => front.actions,
            canonical => self.absolute(&front.path),
            markdown => page.markdown_path(),
            alternates => self.alternates(page),
            json_ld => json_ld,
            contents => contents,
            body => body,
        };
        let around = self.surroundings(page.language, &front.path, self.tongues(Some(page)));
        let html = self.template(front.kind.template(), context! { page => about, ..around })?;
        let text = self.fill(&file, &page.source, &self.lists(page.language))?;
        let (heading, lead, text) = (&front.heading, &front.lead, text.trim());
        let notices: String =
            self.notices(page.language).iter().map(|notice| format!("> {notice}\n\n")).collect();
        let markdown = format!("# {heading}\n\n{lead}\n\n{notices}{text}\n");
        Ok(Faces { html, markdown })
    }

    pub fn product(&self, product: &Product, json_ld: &[String]) -> Result<Faces, ContentFault> {
        let language = self.catalog.site.default_language();
        let title = format!("{} | {}", product.name, self.catalog.site.name);
        let about = context! {
            language => language.code(),
            title => title,
            description => product.summary,
            canonical => self.absolute(&product.path()),
            markdown => product.markdown_path(),
            og_type => "product",
            json_ld => json_ld,
        };
        let shown = context! {
            body => markdown::fragment(&product.description),
            checkout => product.checkout_path(),
            ..lists::product(product, language)
        };
        let around = self.surroundings(language, "/shop", self.tongues(None));
        let context = context! { page => about, product => shown, ..around };
        let html = self.template("product.html", context)?;
        Ok(Faces { html, markdown: lists::product_markdown(product) })
    }

    /// What a person meets at an address where nothing is.
    pub fn not_found(&self) -> Result<String, ContentFault> {
        let language = self.catalog.site.default_language();
        let words = self.catalog.site.words(language);
        let about = context! {
            language => language.code(),
            title => words.get("not_found_title"),
            noindex => true,
        };
        let around = self.surroundings(language, "", self.tongues(None));
        self.template("not_found.html", context! { page => about, ..around })
    }

    /// A text for agents, with its marks filled in.
    pub fn text(&self, file: &str, source: &str) -> Result<String, ContentFault> {
        let lists = self.lists(self.catalog.site.default_language());
        self.fill(file, source, &lists).map(|text| format!("{}\n", text.trim_end()))
    }

    pub fn absolute(&self, path: &str) -> String {
        format!("{}{path}", self.frame.base_url)
    }

    fn fill(&self, file: &str, source: &str, lists: &Value) -> Result<String, ContentFault> {
        let mut strict = Environment::new();
        strict.set_undefined_behavior(UndefinedBehavior::Strict);
        let context = context! { ..lists.clone(), ..self.facts() };
        let filled = strict.render_str(source, context);
        filled.map_err(|error| ContentFault::new(file, describe(&error)))
    }

    fn template(&self, name: &str, context: Value) -> Result<String, ContentFault> {
        rendered(&self.templates, name, context)
    }

    fn placed(&self, name: &str, language: Language, list: Value) -> Result<String, ContentFault> {
        let words = self.catalog.site.words(language);
        self.template(name, context! { words => words, ..list })
    }
}

fn rendered(
    templates: &Environment<'_>,
    name: &str,
    context: Value,
) -> Result<String, ContentFault> {
    let rendered = templates.get_template(name).and_then(|found| found.render(context));
    rendered.map_err(|error| ContentFault::new(&format!("templates/{name}"), describe(&error)))
}

fn describe(error: &minijinja::Error) -> String {
    let line = error.line().map_or_else(String::new, |line| format!(" in line {line}"));
    let detail = error.detail().map_or_else(String::new, |detail| format!(": {detail}"));
    format!("{}{detail}{line}", error.kind())
}

#[cfg(test)]
mod tests;
