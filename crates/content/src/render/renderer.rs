//! Templates and texts with their values filled in.

use minijinja::value::Value;
use minijinja::{Environment, UndefinedBehavior, context};

use crate::catalog::Catalog;
use crate::fault::ContentFault;
use crate::site::Language;

/// Values that templates and texts refer to.
#[derive(Clone, Debug)]
pub struct RenderContext {
    /// The public URL of the site, without a trailing slash.
    pub base_url: String,
    /// Paths of the stylesheet and the script.
    pub style: String,
    pub script: String,
    /// Paths of the scripts of the paywall, in loading order.
    pub paywall: Vec<String>,
    /// Paths of the scripts of the form, in loading order.
    pub send_scripts: Vec<String>,
    /// Path of the script of the order page.
    pub order_script: String,
    pub card_limits: CardLimits,
    /// The origin of the gallery, as the postcard provider reaches it.
    pub picture_origin: String,
    /// Every endpoint, as a Markdown table.
    pub endpoint_list: String,
    /// A complete postcard request, as JSON.
    pub example_body: String,
    /// The hash of the command-line client as it is served.
    pub client_sha256: String,
    /// The enabled services, of `preview`, `x402`, `mpp` and `registration`.
    pub open: Vec<&'static str>,
    /// The networks of x402 payments, as a list in English.
    pub networks: String,
    pub money: Money,
}

/// Whether payments are real.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Money {
    Real,
    /// On the chains of the sandbox, which have the ids of real ones.
    Play,
}

/// The longest texts of a card, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardLimits {
    pub message_characters: usize,
    pub line_characters: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageBodies {
    pub html: String,
    pub markdown: String,
}

pub struct Renderer<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) context: RenderContext,
    pub(super) templates: Environment<'static>,
}

impl<'a> Renderer<'a> {
    pub fn new(catalog: &'a Catalog, context: RenderContext) -> Result<Self, ContentFault> {
        let mut templates = Environment::new();
        // A page may leave out optional values.
        templates.set_undefined_behavior(UndefinedBehavior::Chainable);
        for name in catalog.source.names("templates")? {
            let file = format!("templates/{name}");
            let text = catalog.source.text(&file)?;
            templates
                .add_template_owned(name, text)
                .map_err(|error| ContentFault::new(&file, describe(&error)))?;
        }
        Ok(Self { catalog, context, templates })
    }

    /// The URL of a path of this site.
    pub fn absolute(&self, path: &str) -> String {
        format!("{}{path}", self.context.base_url)
    }

    pub(super) fn fill(
        &self,
        file: &str,
        source: &str,
        lists: &Value,
    ) -> Result<String, ContentFault> {
        let mut strict = Environment::new();
        strict.set_undefined_behavior(UndefinedBehavior::Strict);
        let context = context! { ..lists.clone(), ..self.facts() };
        let filled = strict.render_str(source, context);
        filled.map_err(|error| ContentFault::new(file, describe(&error)))
    }

    pub(super) fn template(&self, name: &str, context: Value) -> Result<String, ContentFault> {
        render_template(&self.templates, name, context)
    }

    pub(super) fn list_html(
        &self,
        name: &str,
        language: Language,
        list: Value,
    ) -> Result<String, ContentFault> {
        let words = self.catalog.site.words(language);
        self.template(name, context! { words => words, ..list })
    }
}

pub(super) fn render_template(
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
