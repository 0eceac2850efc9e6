//! Pages and products as HTML and as Markdown.

use minijinja::context;
use minijinja::value::Value;

use super::lists;
use super::renderer::{PageBodies, Renderer};
use crate::fault::ContentFault;
use crate::markdown::{self, RenderedText};
use crate::page::{Page, PageKind};
use crate::product::Product;

impl Renderer<'_> {
    /// `json_ld` is structured data for search engines.
    pub fn page(&self, page: &Page, json_ld: &[String]) -> Result<PageBodies, ContentFault> {
        let front = &page.front;
        let context = self.page_context(page, json_ld)?;
        let html = self.template(front.kind.template(), context)?;
        let text = self.fill(&file(page), &page.source, &self.lists(page.language))?;
        let (heading, lead, text) = (&front.heading, &front.lead, text.trim());
        let notices: String =
            self.notices(page.language).iter().map(|notice| format!("> {notice}\n\n")).collect();
        let markdown = format!("# {heading}\n\n{lead}\n\n{notices}{text}\n");
        Ok(PageBodies { html, markdown })
    }

    /// The values of the page's template.
    pub(super) fn page_context(
        &self,
        page: &Page,
        json_ld: &[String],
    ) -> Result<Value, ContentFault> {
        let file = file(page);
        let front = &page.front;
        let for_html = self.fill(&file, &page.source, &self.placeholders())?;
        let RenderedText { html, contents } = markdown::page(&for_html);
        let body = self.place_lists(&html, page.language)?;
        let actions = front.actions.iter().map(|action| {
            let href = self.catalog.path_in(&action.href, page.language);
            context! { text => action.text, href }
        });
        let about = context! {
            language => page.language.code(),
            title => front.title,
            description => front.description,
            heading => front.heading,
            lead => front.lead,
            updated => front.updated,
            actions => actions.collect::<Vec<_>>(),
            canonical => self.absolute(&front.path),
            markdown => page.markdown_path(),
            alternates => self.alternates(page),
            json_ld => json_ld,
            contents => contents,
            body => body,
        };
        let layout = self.layout(page.language, &front.path, self.language_links(Some(page)));
        let form = match front.kind {
            PageKind::Send => self.form_context(page),
            PageKind::Landing | PageKind::Prose | PageKind::Legal | PageKind::Docs => context! {},
        };
        let shared = context! { ..layout, ..form };
        Ok(context! { page => about, ..shared })
    }

    pub fn product(
        &self,
        product: &Product,
        json_ld: &[String],
    ) -> Result<PageBodies, ContentFault> {
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
        let product_context = context! {
            body => markdown::fragment(&product.description),
            checkout => product.checkout_path(),
            ..lists::product(product, language)
        };
        let layout = self.layout(language, "/shop", self.language_links(None));
        let context = context! { page => about, product => product_context, ..layout };
        let html = self.template("product.html", context)?;
        Ok(PageBodies { html, markdown: lists::product_markdown(product) })
    }

    /// The HTML page for unknown paths.
    pub fn not_found(&self) -> Result<String, ContentFault> {
        let language = self.catalog.site.default_language();
        let words = self.catalog.site.words(language);
        let about = context! {
            language => language.code(),
            title => words.get("not_found_title"),
            noindex => true,
        };
        let layout = self.layout(language, "", self.language_links(None));
        self.template("not_found.html", context! { page => about, ..layout })
    }

    /// A text for agents, with its placeholders filled in.
    pub fn text(&self, file: &str, source: &str) -> Result<String, ContentFault> {
        let lists = self.lists(self.catalog.site.default_language());
        self.fill(file, source, &lists).map(|text| format!("{}\n", text.trim_end()))
    }
}

fn file(page: &Page) -> String {
    format!("pages/{}.{}.md", page.name, page.language.code())
}
