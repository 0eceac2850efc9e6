//! Lists that pages can include, as Markdown and as HTML.

use minijinja::context;
use minijinja::value::Value;

use super::renderer::Renderer;
use crate::faq::SupportAnswer;
use crate::fault::ContentFault;
use crate::markdown;
use crate::product::{Product, Translation};
use crate::site::Language;

/// Replaced by HTML after the Markdown is rendered.
const PRODUCTS_PLACEHOLDER: &str = "<!-- product_list -->";
const ANSWERS_PLACEHOLDER: &str = "<!-- faq_list -->";

impl Renderer<'_> {
    /// The values of the HTML version, with placeholders for lists.
    pub(super) fn placeholders(&self) -> Value {
        context! {
            product_list => PRODUCTS_PLACEHOLDER,
            faq_list => ANSWERS_PLACEHOLDER,
            ..self.plain_lists()
        }
    }

    /// The values of the Markdown version.
    pub(super) fn lists(&self, language: Language) -> Value {
        context! {
            product_list => self.products_as_markdown(language),
            faq_list => self.answers_as_markdown(),
            page_sections => self.page_sections(),
            ..self.plain_lists()
        }
    }

    fn plain_lists(&self) -> Value {
        context! {
            endpoint_list => self.context.endpoint_list,
            page_list => self.pages_as_markdown(),
            example_body => format!("```json\n{}\n```", self.context.example_body),
            snippets => self.catalog.snippets.fenced(&self.context.base_url),
        }
    }

    pub(super) fn place_lists(
        &self,
        html: &str,
        language: Language,
    ) -> Result<String, ContentFault> {
        let mut placed = html.to_owned();
        if html.contains(PRODUCTS_PLACEHOLDER) {
            let products: Vec<Value> =
                self.catalog.products.iter().map(|one| product(one, language)).collect();
            let list = context! { products => products };
            let list = self.list_html("product_list.html", language, list)?;
            placed = placed.replace(PRODUCTS_PLACEHOLDER, &list);
        }
        if html.contains(ANSWERS_PLACEHOLDER) {
            let list = context! { topics => self.topics() };
            let list = self.list_html("faq_list.html", language, list)?;
            placed = placed.replace(ANSWERS_PLACEHOLDER, &list);
        }
        Ok(placed)
    }

    fn products_as_markdown(&self, language: Language) -> String {
        let words = self.catalog.site.words(language);
        let stock = |product: &Product| {
            let key = if product.is_available() { "in_stock" } else { "out_of_stock" };
            words.get(key).cloned().unwrap_or_default()
        };
        let lines: Vec<String> = self
            .catalog
            .products
            .iter()
            .map(|product| {
                let (name, summary) = (&product.name, product.translated(language).summary);
                let (path, price) = (product.path(), product.price_shown(language));
                format!("- [{name}]({path}): {summary} {price}. {}.", stock(product))
            })
            .collect();
        lines.join("\n")
    }

    fn answers_as_markdown(&self) -> String {
        let mut written = String::new();
        for (topic, answers) in topics(&self.catalog.answers) {
            written.push_str(&format!("## {topic}\n\n"));
            for SupportAnswer { question, answer, .. } in answers {
                written.push_str(&format!("### {question}\n\n{}\n\n", answer.trim()));
            }
        }
        written
    }

    fn topics(&self) -> Vec<Value> {
        let topics = topics(&self.catalog.answers).into_iter().map(|(title, answers)| {
            let answers: Vec<Value> = answers
                .into_iter()
                .map(|answer| {
                    let html = markdown::fragment(&answer.answer);
                    context! { id => answer.id, question => answer.question, html => html }
                })
                .collect();
            context! { id => markdown::slug(title), title => title, answers => answers }
        });
        topics.collect()
    }

    fn pages_as_markdown(&self) -> String {
        let pages = self.catalog.pages.iter().map(|page| {
            let front = &page.front;
            format!("- [{}]({}): {}", front.heading, front.path, front.description)
        });
        pages.collect::<Vec<_>>().join("\n")
    }

    /// Links to the Markdown of every page and product, for agents.
    fn page_sections(&self) -> String {
        let line = |name: &str, path: &str, note: &str| {
            format!("- [{name}]({}): {note}", self.absolute(path))
        };
        let default = self.catalog.site.default_language();
        let (own, other): (Vec<_>, Vec<_>) =
            self.catalog.pages.iter().partition(|page| page.language == default);
        let pages = |pages: Vec<&crate::page::Page>| {
            let lines = pages.into_iter().map(|page| {
                line(&page.front.title, &page.markdown_path(), &page.front.description)
            });
            lines.collect::<Vec<_>>().join("\n")
        };
        let products = self.catalog.products.iter().map(|product| {
            let note = format!("{} {} EUR", product.summary, product.price_plain());
            line(&product.name, &product.markdown_path(), &note)
        });
        let products = products.collect::<Vec<_>>().join("\n");
        format!(
            "## Pages\n\n{}\n\n## Other languages\n\n{}\n\n## Shop\n\n{products}",
            pages(own),
            pages(other)
        )
    }
}

/// Topics in the order of their first answers.
pub(super) fn topics(answers: &[SupportAnswer]) -> Vec<(&str, Vec<&SupportAnswer>)> {
    let mut topics: Vec<(&str, Vec<&SupportAnswer>)> = Vec::new();
    for answer in answers {
        match topics.iter_mut().find(|(topic, _)| *topic == answer.topic) {
            Some((_, known)) => known.push(answer),
            None => topics.push((&answer.topic, vec![answer])),
        }
    }
    topics
}

/// A product for templates.
pub(super) fn product(product: &Product, language: Language) -> Value {
    let Translation { kind, summary, picture_alt } = product.translated(language);
    context! {
        slug => product.slug,
        name => product.name,
        kind => kind,
        summary => summary,
        price => product.price_shown(language),
        available => product.is_available(),
        stock => product.stock,
        picture => product.picture_path(),
        picture_alt => picture_alt,
        specification => product.specification,
    }
}

pub(super) fn product_markdown(product: &Product) -> String {
    let Product { name, kind, brand, summary, description, specification, .. } = product;
    let stock = if product.is_available() { "in stock" } else { "out of stock" };
    let rows = specification.iter().map(|line| format!("| {} | {} |", line.name, line.value));
    let rows = rows.collect::<Vec<_>>().join("\n");
    format!(
        "# {name}\n\n{summary}\n\n\
         {kind} by {brand}. {price} EUR including VAT, {stock}. \
         [Request a checkout quote]({checkout}); no funds are captured there.\n\n\
         {text}\n\n## Specification\n\n| | |\n| --- | --- |\n{rows}\n",
        price = product.price_plain(),
        checkout = product.checkout_path(),
        text = description.trim(),
    )
}
