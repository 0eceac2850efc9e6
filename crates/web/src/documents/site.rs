//! Renders every document that does not change while the process runs.

use content::fault::ContentFault;
use content::render::{
    CardFormPages, CardLimits, Money, OrderPages, PaywallPage, RenderContext, Renderer,
};
use order::model::card::{ADDRESS_CHARACTERS_MAX, MESSAGE_CHARACTERS_MAX};
use order::model::ids::Timestamp;
use pay::mode::PaymentMode;

use crate::discovery::crawlers::full_text;
use crate::discovery::{client, openapi};
use crate::documents::document::{CachePolicy, DocumentBuilder, UrlScheme};
use crate::documents::index::{DocumentIndex, DocumentIndexBuilder};
use crate::documents::{machine_readable, pages};
use crate::mcp::public_content::PublicPage;
use crate::site_facts::SiteFacts;
use crate::surface::{Endpoint, ResponseFormat};

/// The site's facts and the documents that are rendered from them.
pub struct Site {
    pub(crate) facts: SiteFacts,
    pub(crate) documents: DocumentIndex,
    /// The HTML page for unknown paths.
    pub(crate) not_found_page: String,
    /// Every page and product as Markdown.
    pub(crate) pages: Vec<PublicPage>,
    /// The HTML template of a payment challenge.
    pub(crate) paywall: PaywallPage,
    /// The HTML template of the form.
    pub(crate) card_form: CardFormPages,
    /// The HTML template of an order.
    pub(crate) order_pages: OrderPages,
}

impl Site {
    /// Uses all cores for a moment. The validity of some documents starts at `started_at`.
    pub fn render(facts: SiteFacts, started_at: Timestamp) -> Result<Self, ContentFault> {
        let mut documents = DocumentIndexBuilder::new(UrlScheme::of(&facts.base_url));
        let css = "text/css; charset=utf-8";
        let style = pages::add_asset(&facts, &mut documents, "style", "css", css)?;
        let mut script = |name| {
            let media_type = "text/javascript; charset=utf-8";
            pages::add_asset(&facts, &mut documents, name, "js", media_type)
        };
        let webmcp = script("webmcp")?;
        let paywall = ["wallet", "signed_payment", "payment_view", "paywall"];
        let paywall = paywall.into_iter().map(&mut script).collect::<Result<Vec<_>, _>>()?;
        let (send_scripts, order_script) = (vec![script("send")?], script("order")?);
        let client = client::document(&facts);
        let example = openapi::example_body();
        let context = RenderContext {
            base_url: facts.base_url.clone(),
            style,
            script: webmcp,
            paywall,
            send_scripts,
            order_script,
            card_limits: CardLimits {
                message_characters: MESSAGE_CHARACTERS_MAX,
                line_characters: ADDRESS_CHARACTERS_MAX,
            },
            picture_origin: facts.picture_origin().to_owned(),
            endpoint_list: endpoint_list(&facts),
            example_body: serde_json::to_string_pretty(&example)
                .expect("a JSON value can be serialized"),
            client_sha256: client.sha256.clone(),
            open: facts.enabled.iter().map(|service| service.name()).collect(),
            networks: one_of(&facts.caip2_networks()),
            money: match facts.mode {
                PaymentMode::Live => Money::Real,
                PaymentMode::Sandbox => Money::Play,
            },
        };
        let renderer = Renderer::new(&facts.catalog, context)?;
        pages::add_images(&facts, &mut documents)?;
        let pages = pages::add_pages(&facts, &renderer, &mut documents)?;
        machine_readable::add_agent_documents(&facts, &renderer, &mut documents)?;
        machine_readable::add_client(&mut documents, client);
        machine_readable::add_discovery(&facts, &mut documents, started_at);
        let texts = pages.iter().map(|page| (facts.url(&page.path), page.markdown.clone()));
        let text = full_text::document(&texts.collect::<Vec<_>>());
        let plain = ResponseFormat::Plain.media_type();
        let text = DocumentBuilder::new(plain, text, CachePolicy::OneHour);
        documents.add("/llms-full.txt", text);
        let (not_found_page, paywall) = (renderer.not_found()?, renderer.paywall()?);
        let (card_form, order_pages) = (renderer.card_form()?, renderer.order_pages()?);
        drop(renderer);
        let documents = documents.build();
        Ok(Self { facts, documents, not_found_page, pages, paywall, card_form, order_pages })
    }
}

/// A list as English text: "a, b or c".
fn one_of(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

/// Every endpoint as a Markdown table.
fn endpoint_list(facts: &SiteFacts) -> String {
    let head = "| Method | Path | What it does | Answers |\n| --- | --- | --- | --- |";
    let row = |endpoint: &Endpoint| {
        let Endpoint { method, path, summary, statuses, .. } = endpoint;
        let statuses: Vec<String> = statuses.iter().map(u16::to_string).collect();
        format!("| {} | `{path}` | {summary} | {} |", method.name(), statuses.join(", "))
    };
    let rows: Vec<String> = facts.endpoints().map(row).collect();
    format!("{head}\n{}", rows.join("\n"))
}

#[cfg(test)]
mod tests;
