//! Writes every document that is known at start, once.

use content::fault::ContentFault;
use content::page::Page;
use content::product::Product;
use content::render::{Faces, Frame, PaywallPage, Renderer};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, CONTENT_DISPOSITION, LINK,
};
use http::{HeaderName, HeaderValue, StatusCode};
use order::model::ids::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::date;
use crate::discovery::client::Client;
use crate::discovery::quote::{self, Quote};
use crate::discovery::{
    agent_card, agent_skills, ai_catalog, api_catalog, client, commerce, feed, full_text, invest,
    json_ld, mcp_card, oauth, openapi, places, robots, security, service_catalog, sitemap,
};
use crate::document::{Draft, Keep, Transport, Vary};
use crate::documents::{Documents, Manuscripts};
use crate::mcp::library::PublicPage;
use crate::premises::Premises;
use crate::surface::{Answer, Endpoint, Quota, Retiring, SURFACE};

pub(crate) const PAYMENT_REQUIRED: HeaderName = HeaderName::from_static("payment-required");
const MARKDOWN_TOKENS: HeaderName = HeaderName::from_static("x-markdown-tokens");
/// What language models make of English, as far as anybody can say beforehand.
const LETTERS_IN_A_TOKEN: usize = 4;
/// `security.txt` must expire in less than a year.
const SECURITY_SECONDS: u64 = 300 * 86_400;

/// Where machines should look next, said on every page.
const SIGNPOSTS: &str = "</.well-known/api-catalog>; rel=\"api-catalog\"; \
    type=\"application/linkset+json\", </openapi.json>; rel=\"service-desc\"; \
    type=\"application/json\", </docs>; rel=\"service-doc\"; type=\"text/html\", </llms.txt>; \
    rel=\"describedby\"; type=\"text/markdown\", </sitemap.xml>; rel=\"sitemap\", \
    </.well-known/ai-catalog.json>; rel=\"ai-catalog\"";

/// Everything that is put on show.
pub(crate) struct Published {
    pub(crate) documents: Documents,
    /// What a person meets where nothing is.
    pub(crate) not_found: String,
    /// Every page and product as Markdown.
    pub(crate) pages: Vec<PublicPage>,
    /// What a person meets at a price tag.
    pub(crate) paywall: PaywallPage,
}

pub(crate) fn everything(premises: &Premises, now: u64) -> Result<Published, ContentFault> {
    let mut documents = Manuscripts::new(Transport::of(&premises.base_url));
    let style = asset(premises, &mut documents, "style", "css", "text/css; charset=utf-8")?;
    let mut script =
        |name| asset(premises, &mut documents, name, "js", "text/javascript; charset=utf-8");
    let (webmcp, paywall) = (script("webmcp")?, vec![script("wallet")?, script("paywall")?]);
    let client = client::document(premises);
    let example = openapi::example_body();
    let frame = Frame {
        base_url: premises.base_url.clone(),
        style,
        script: webmcp,
        paywall,
        endpoint_list: endpoint_list(premises),
        example_body: serde_json::to_string_pretty(&example).expect("a value is writable"),
        client_sha256: client.sha256.clone(),
        open: premises.open.iter().map(|service| service.word()).collect(),
        networks: one_of(&premises.caip2_networks()),
    };
    let renderer = Renderer::new(&premises.catalog, frame)?;
    pictures(premises, &mut documents)?;
    let pages = pages(premises, &renderer, &mut documents)?;
    for_agents(premises, &renderer, &mut documents)?;
    download(&mut documents, client);
    discovery(premises, &mut documents, now);
    let texts = pages.iter().map(|page| (premises.url(&page.path), page.markdown.clone()));
    let text = full_text::document(&texts.collect::<Vec<_>>());
    documents.add("/llms-full.txt", Draft::new(Answer::Plain.media_type(), text, Keep::AnHour));
    let (not_found, paywall) = (renderer.not_found()?, renderer.paywall()?);
    Ok(Published { documents: documents.print(), not_found, pages, paywall })
}

/// Served under a name that changes with its bytes, so that it may be kept for ever.
fn asset(
    premises: &Premises,
    documents: &mut Manuscripts,
    name: &str,
    ending: &str,
    media_type: &'static str,
) -> Result<String, ContentFault> {
    let bytes = premises.catalog.asset(&format!("assets/{name}.{ending}"))?;
    let digest = Sha256::digest(&bytes);
    let digest: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let path = format!("/assets/{name}.{digest}.{ending}");
    documents.add(&path, Draft::new(media_type, bytes, Keep::ForEver));
    Ok(path)
}

fn pictures(premises: &Premises, documents: &mut Manuscripts) -> Result<(), ContentFault> {
    let catalog = &premises.catalog;
    let (svg, png) = ("image/svg+xml", "image/png");
    let icon = catalog.asset("assets/favicon.svg")?;
    documents.add("/favicon.svg", Draft::new(svg, icon, Keep::AnHour));
    documents.add("/og.png", Draft::new(png, catalog.asset("assets/og.png")?, Keep::AnHour));
    for product in &catalog.products {
        let picture = catalog.asset(&product.picture_file())?;
        documents.add(&product.picture_path(), Draft::new(svg, picture, Keep::AnHour));
    }
    Ok(())
}

/// Returns what each says as Markdown.
fn pages(
    premises: &Premises,
    renderer: &Renderer<'_>,
    documents: &mut Manuscripts,
) -> Result<Vec<PublicPage>, ContentFault> {
    let mut texts = Vec::new();
    for page in &premises.catalog.pages {
        let faces = renderer.page(page, &told_about(premises, page))?;
        let front = &page.front;
        let mut paths = vec![front.path.as_str()];
        paths.extend(front.aliases.iter().map(String::as_str));
        texts.push(PublicPage {
            path: front.path.clone(),
            title: front.title.clone(),
            description: front.description.clone(),
            language: page.language,
            markdown: faces.markdown.clone(),
        });
        show(premises, documents, &paths, &page.markdown_path(), faces);
    }
    for product in &premises.catalog.products {
        let path = product.path();
        let faces = renderer.product(product, &told_about_product(premises, product))?;
        texts.push(PublicPage {
            path: path.clone(),
            title: product.name.clone(),
            description: product.summary.clone(),
            language: premises.catalog.site.default_language(),
            markdown: faces.markdown.clone(),
        });
        show(premises, documents, &[&path], &product.markdown_path(), faces);
    }
    Ok(texts)
}

fn show(
    premises: &Premises,
    documents: &mut Manuscripts,
    paths: &[&str],
    twin: &str,
    faces: Faces,
) {
    let canonical = paths.first().copied().unwrap_or_default();
    let link = |text: String| (LINK, HeaderValue::try_from(text).expect("paths are visible ASCII"));
    let (name, twin_link) =
        link(format!("{SIGNPOSTS}, <{twin}>; rel=\"alternate\"; type=\"text/markdown\""));
    let html = Draft::new(Answer::Html.media_type(), faces.html, Keep::FiveMinutes);
    let html = Draft { vary: Vary::FaceAndCoding, ..html }.with(name, twin_link);
    let tokens = faces.markdown.chars().count() / LETTERS_IN_A_TOKEN;
    let (name, canonical_link) = link(format!("<{}>; rel=\"canonical\"", premises.url(canonical)));
    let text = Draft::new(Answer::Markdown.media_type(), faces.markdown, Keep::FiveMinutes);
    let text = Draft { vary: Vary::FaceAndCoding, ..text }
        .with(name, canonical_link)
        .with(MARKDOWN_TOKENS, HeaderValue::from(tokens));
    let short = format!("{}.md", canonical.trim_end_matches('/'));
    let twins: Vec<&str> = match short.as_str() {
        ".md" => vec![twin],
        short => vec![twin, short],
    };
    documents.add_page(paths, &twins, html, text);
}

/// What search engines are told about a page.
fn told_about(premises: &Premises, page: &Page) -> Vec<String> {
    let mut told = Vec::new();
    match page.name.as_str() {
        "home" => told.extend([json_ld::organization(premises), json_ld::website(premises)]),
        name => {
            let front = &page.front;
            let way = [(premises.catalog.site.name.as_str(), "/"), (&front.heading, &front.path)];
            told.push(json_ld::breadcrumbs(premises, &way));
            if name == "support" {
                told.push(json_ld::faq(premises));
            }
        }
    }
    told
}

fn told_about_product(premises: &Premises, product: &Product) -> Vec<String> {
    let path = product.path();
    let site = premises.catalog.site.name.as_str();
    let way = [(site, "/"), ("Shop", "/shop"), (product.name.as_str(), path.as_str())];
    vec![json_ld::product(premises, product), json_ld::breadcrumbs(premises, &way)]
}

fn for_agents(
    premises: &Premises,
    renderer: &Renderer<'_>,
    documents: &mut Manuscripts,
) -> Result<(), ContentFault> {
    let agents = &premises.catalog.agents;
    let markdown = |text: String| Draft::new(Answer::Markdown.media_type(), text, Keep::AnHour);
    documents.add("/auth.md", markdown(renderer.text("agents/auth.md", &agents.auth)?));
    documents.add("/llms.txt", markdown(renderer.text("agents/llms.txt", &agents.guide)?));
    let mut texts = Vec::new();
    for skill in premises.skills() {
        let file = format!("agents/skills/{}/SKILL.md", skill.name);
        let text = renderer.text(&file, &skill.text)?;
        documents.add(&skill.path(), markdown(text.clone()));
        texts.push((skill.name.clone(), text));
    }
    let index = agent_skills::document(premises, &texts);
    documents.add("/.well-known/agent-skills/index.json", json(&index, Keep::AnHour));
    Ok(())
}

/// Nobody may keep one of the two and fetch the other anew: a hash that does
/// not fit its file frightens people.
fn download(documents: &mut Manuscripts, client: Client) {
    let Client { text, hash_file, .. } = client;
    let disposition = format!("attachment; filename=\"{}\"", client::file_name());
    let disposition = HeaderValue::try_from(disposition).expect("a path is visible ASCII");
    let program = Draft::new(Answer::Script.media_type(), text, Keep::AskFirst);
    let program = program.with(CONTENT_DISPOSITION, disposition);
    add_listed(documents, places::CLIENT.path, program);
    let hash = Draft::new(Answer::Plain.media_type(), hash_file, Keep::AskFirst);
    add_listed(documents, places::CLIENT_HASH.path, hash);
}

fn discovery(premises: &Premises, documents: &mut Manuscripts, now: u64) {
    for (path, value) in [
        ("/openapi.json", openapi::document(premises)),
        ("/api/x402", service_catalog::document(premises)),
        ("/shop/feed.json", feed::document(premises)),
        ("/.well-known/agent-card.json", agent_card::document(premises)),
        ("/server.json", mcp_card::server_json(premises)),
        ("/.well-known/agentic-commerce.json", commerce::document(premises)),
        ("/invest/index.json", invest::document(premises)),
        ("/.well-known/oauth-protected-resource", oauth::protected_resource(premises)),
        ("/.well-known/oauth-authorization-server", oauth::authorization_server(premises)),
        ("/.well-known/ai-catalog.json", ai_catalog::document(premises)),
    ] {
        add_listed(documents, path, json(&value, Keep::AnHour));
    }
    for place in [places::MCP_CARD, places::MCP_CARD_BESIDE] {
        add_listed(documents, place.path, card(premises, place));
    }
    let link = format!("<{}>; rel=\"api-catalog\"", premises.url("/.well-known/api-catalog"));
    let link = HeaderValue::try_from(link).expect("an address is visible ASCII");
    let linkset = serde_json::to_vec(&api_catalog::document(premises)).expect("writable");
    let linkset = Draft::new(Answer::Linkset.media_type(), linkset, Keep::AnHour);
    add_listed(documents, "/.well-known/api-catalog", linkset.with(LINK, link));
    let expires = Timestamp(now).plus(SECURITY_SECONDS).to_string();
    for (path, media_type, text) in [
        ("/robots.txt", Answer::Plain, robots::document(premises)),
        ("/sitemap.xml", Answer::Xml, sitemap::document(premises)),
        ("/.well-known/security.txt", Answer::Plain, security::document(premises, &expires)),
    ] {
        add_listed(documents, path, Draft::new(media_type.media_type(), text, Keep::AnHour));
    }
    if let Some(quote) = quote::discovery(premises) {
        add_listed(documents, "/api", challenge(quote));
    }
}

/// With the headers that the card's own specification demands.
fn card(premises: &Premises, place: Endpoint) -> Draft {
    let bytes = mcp_card::document(premises).to_string();
    let headers = HeaderValue::from_static("Content-Type, If-None-Match");
    Draft::new(place.answer.media_type(), bytes, Keep::AnHour)
        .with(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET"))
        .with(ACCESS_CONTROL_ALLOW_HEADERS, headers)
}

/// A price tag: 402, with the challenge in header and body.
pub(crate) fn challenge(quote: Quote) -> Draft {
    let header = HeaderValue::try_from(quote.header).expect("base64 is visible ASCII");
    let draft = json(&quote.body, Keep::Never).with(PAYMENT_REQUIRED, header);
    Draft { status: StatusCode::PAYMENT_REQUIRED, ..draft }
}

/// As the surface has it: counted or not, and with notice if it is to go.
fn add_listed(documents: &mut Manuscripts, path: &str, draft: Draft) {
    let endpoint = SURFACE.iter().find(|endpoint| endpoint.path == path);
    let endpoint = endpoint.expect("a test holds the surface against the documents");
    let draft = match endpoint.retiring {
        None => draft,
        Some(retiring) => notice(draft, retiring),
    };
    let draft = match (endpoint.quota, draft.keep) {
        (Quota::Free, _) | (Quota::Discovery, Keep::Never) => draft,
        (Quota::Discovery, _) => Draft { keep: Keep::AskFirst, ..draft },
    };
    documents.add_counted(path, draft, endpoint.quota);
}

/// RFC 9745 and RFC 8594.
fn notice(draft: Draft, retiring: Retiring) -> Draft {
    let Retiring { deprecated_at, sunset_at } = retiring;
    let value = |text: String| HeaderValue::try_from(text).expect("a date is visible ASCII");
    draft
        .with(HeaderName::from_static("deprecation"), value(format!("@{deprecated_at}")))
        .with(HeaderName::from_static("sunset"), value(date::http_date(Timestamp(sunset_at))))
}

fn json(value: &Value, keep: Keep) -> Draft {
    let bytes = serde_json::to_vec(value).expect("a value is writable");
    Draft::new(Answer::Json.media_type(), bytes, keep)
}

/// A choice in words: "a, b or c".
fn one_of(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

/// Every endpoint as a Markdown table.
fn endpoint_list(premises: &Premises) -> String {
    let head = "| Method | Path | What it does | Answers |\n| --- | --- | --- | --- |";
    let row = |endpoint: &Endpoint| {
        let Endpoint { verb, path, says, statuses, .. } = endpoint;
        let statuses: Vec<String> = statuses.iter().map(u16::to_string).collect();
        format!("| {} | `{path}` | {says} | {} |", verb.name(), statuses.join(", "))
    };
    let rows: Vec<String> = premises.surface().map(row).collect();
    format!("{head}\n{}", rows.join("\n"))
}

#[cfg(test)]
mod tests;
