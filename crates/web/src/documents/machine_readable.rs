//! Adds the discovery documents, the texts for agents and the client to the index.

use content::fault::ContentFault;
use content::render::Renderer;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, CONTENT_DISPOSITION, LINK,
};
use http::{HeaderName, HeaderValue, StatusCode};
use order::model::ids::Timestamp;
use serde_json::Value;

use crate::discovery::agents::{agent_card, agent_skills, ai_catalog, mcp_card, oauth};
use crate::discovery::client::{self, ClientDownload};
use crate::discovery::crawlers::{robots, security, sitemap};
use crate::discovery::shop::quote::{self, ShopQuote};
use crate::discovery::shop::{commerce, feed};
use crate::discovery::{api_catalog, invest, links, openapi, service_catalog};
use crate::documents::document::{CachePolicy, DocumentBuilder};
use crate::documents::http_date;
use crate::documents::index::DocumentIndexBuilder;
use crate::site_facts::SiteFacts;
use crate::surface::{Deprecation, Endpoint, QuotaScope, ResponseFormat, SURFACE};

pub(crate) const PAYMENT_REQUIRED: HeaderName = HeaderName::from_static("payment-required");
/// `security.txt` must expire in less than a year.
const SECURITY_SECONDS: u64 = 300 * 86_400;

pub(super) fn add_agent_documents(
    facts: &SiteFacts,
    renderer: &Renderer<'_>,
    documents: &mut DocumentIndexBuilder,
) -> Result<(), ContentFault> {
    let agents = &facts.catalog.agents;
    let markdown = |text: String| {
        DocumentBuilder::new(ResponseFormat::Markdown.media_type(), text, CachePolicy::OneHour)
    };
    documents.add("/auth.md", markdown(renderer.text("agents/auth.md", &agents.auth)?));
    documents.add("/llms.txt", markdown(renderer.text("agents/llms.txt", &agents.guide)?));
    let mut texts = Vec::new();
    for skill in facts.skills() {
        let file = format!("agents/skills/{}/SKILL.md", skill.name);
        let text = renderer.text(&file, &skill.text)?;
        documents.add(&skill.path(), markdown(text.clone()));
        texts.push((skill.name.clone(), text));
    }
    let index = agent_skills::document(facts, &texts);
    documents.add("/.well-known/agent-skills/index.json", json(&index, CachePolicy::OneHour));
    Ok(())
}

/// Both revalidate, so that no cache serves a hash that does not match its file.
pub(super) fn add_client(documents: &mut DocumentIndexBuilder, client: ClientDownload) {
    let ClientDownload { text, hash_file, .. } = client;
    let disposition = format!("attachment; filename=\"{}\"", client::file_name());
    let disposition = HeaderValue::try_from(disposition).expect("a path is visible ASCII");
    let program =
        DocumentBuilder::new(ResponseFormat::Script.media_type(), text, CachePolicy::Revalidate);
    let program = program.with(CONTENT_DISPOSITION, disposition);
    add_endpoint(documents, links::CLIENT.path, program);
    let hash = DocumentBuilder::new(
        ResponseFormat::Plain.media_type(),
        hash_file,
        CachePolicy::Revalidate,
    );
    add_endpoint(documents, links::CLIENT_HASH.path, hash);
}

pub(super) fn add_discovery(
    facts: &SiteFacts,
    documents: &mut DocumentIndexBuilder,
    started_at: Timestamp,
) {
    for (path, value) in [
        ("/openapi.json", openapi::document(facts)),
        ("/api/x402", service_catalog::document(facts)),
        ("/shop/feed.json", feed::document(facts)),
        ("/.well-known/agent-card.json", agent_card::document(facts)),
        ("/server.json", mcp_card::server_json(facts)),
        ("/.well-known/agentic-commerce.json", commerce::document(facts)),
        ("/invest/index.json", invest::document(facts)),
        ("/.well-known/oauth-protected-resource", oauth::protected_resource(facts)),
        ("/.well-known/oauth-protected-resource/mcp", oauth::mcp_resource(facts)),
        ("/.well-known/oauth-authorization-server", oauth::authorization_server(facts)),
        ("/.well-known/ai-catalog.json", ai_catalog::document(facts)),
    ] {
        add_endpoint(documents, path, json(&value, CachePolicy::OneHour));
    }
    for endpoint in [links::MCP_CARD, links::MCP_CARD_AT_SERVER] {
        add_endpoint(documents, endpoint.path, mcp_server_card(facts, endpoint));
    }
    let link = format!("<{}>; rel=\"api-catalog\"", facts.url("/.well-known/api-catalog"));
    let link = HeaderValue::try_from(link).expect("a URL is visible ASCII");
    let linkset =
        serde_json::to_vec(&api_catalog::document(facts)).expect("a JSON value can be serialized");
    let linkset =
        DocumentBuilder::new(ResponseFormat::Linkset.media_type(), linkset, CachePolicy::OneHour);
    add_endpoint(documents, "/.well-known/api-catalog", linkset.with(LINK, link));
    let expires = started_at.plus(SECURITY_SECONDS).to_string();
    for (path, format, text) in [
        ("/robots.txt", ResponseFormat::Plain, robots::document(facts)),
        ("/sitemap.xml", ResponseFormat::Xml, sitemap::document(facts)),
        ("/.well-known/security.txt", ResponseFormat::Plain, security::document(facts, &expires)),
    ] {
        add_endpoint(
            documents,
            path,
            DocumentBuilder::new(format.media_type(), text, CachePolicy::OneHour),
        );
    }
    if let Some(quote) = quote::discovery(facts) {
        add_endpoint(documents, "/api", quote_document(quote));
    }
}

/// With the headers that the specification of server cards requires.
fn mcp_server_card(facts: &SiteFacts, endpoint: Endpoint) -> DocumentBuilder {
    let bytes = mcp_card::document(facts).to_string();
    let headers = HeaderValue::from_static("Content-Type, If-None-Match");
    DocumentBuilder::new(endpoint.format.media_type(), bytes, CachePolicy::OneHour)
        .with(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET"))
        .with(ACCESS_CONTROL_ALLOW_HEADERS, headers)
}

/// A 402 response with the quote in header and body.
pub(crate) fn quote_document(quote: ShopQuote) -> DocumentBuilder {
    let header = HeaderValue::try_from(quote.header).expect("base64 is visible ASCII");
    let document = json(&quote.body, CachePolicy::NoStore).with(PAYMENT_REQUIRED, header);
    DocumentBuilder { status: StatusCode::PAYMENT_REQUIRED, ..document }
}

/// Adds a document with the quota and the deprecation that the endpoint list gives it.
fn add_endpoint(documents: &mut DocumentIndexBuilder, path: &str, document: DocumentBuilder) {
    let endpoint = SURFACE.iter().find(|endpoint| endpoint.path == path);
    let endpoint = endpoint.expect("a test compares the endpoint list with the documents");
    let document = match endpoint.deprecation {
        None => document,
        Some(deprecation) => with_deprecation(document, deprecation),
    };
    let document = match (endpoint.quota, document.cache) {
        (QuotaScope::Exempt, _) | (QuotaScope::Discovery, CachePolicy::NoStore) => document,
        (QuotaScope::Discovery, _) => {
            DocumentBuilder { cache: CachePolicy::Revalidate, ..document }
        }
    };
    documents.add_with_quota(path, document, endpoint.quota);
}

/// RFC 9745 and RFC 8594.
pub(super) fn with_deprecation(
    document: DocumentBuilder,
    deprecation: Deprecation,
) -> DocumentBuilder {
    let Deprecation { deprecated_at, sunset_at } = deprecation;
    let value = |text: String| HeaderValue::try_from(text).expect("a date is visible ASCII");
    document
        .with(HeaderName::from_static("deprecation"), value(format!("@{deprecated_at}")))
        .with(HeaderName::from_static("sunset"), value(http_date::http_date(Timestamp(sunset_at))))
}

fn json(value: &Value, cache: CachePolicy) -> DocumentBuilder {
    let bytes = serde_json::to_vec(value).expect("a JSON value can be serialized");
    DocumentBuilder::new(ResponseFormat::Json.media_type(), bytes, cache)
}
