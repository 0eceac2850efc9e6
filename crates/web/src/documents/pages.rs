//! Adds pages, products and their assets to the index.

use std::borrow::Cow;

use bytes::Bytes;
use content::catalog::gallery::GalleryPicture;
use content::fault::ContentFault;
use content::page::{Page, PageKind};
use content::product::Product;
use content::render::{PageBodies, Renderer};
use content::site::Language;
use http::header::{CONTENT_LANGUAGE, LINK};
use http::{HeaderName, HeaderValue};
use sha2::{Digest, Sha256};

use crate::discovery::crawlers::json_ld;
use crate::discovery::links;
use crate::documents::document::{CachePolicy, DocumentBuilder, Vary};
use crate::documents::index::DocumentIndexBuilder;
use crate::mcp::public_content::PublicPage;
use crate::site_facts::SiteFacts;
use crate::surface::ResponseFormat;

const MARKDOWN_TOKENS: HeaderName = HeaderName::from_static("x-markdown-tokens");
/// A common estimate for English text.
const CHARACTERS_PER_TOKEN: usize = 4;

/// The `Link` header of every page.
const DISCOVERY_LINKS: &str = "</.well-known/api-catalog>; rel=\"api-catalog\"; \
    type=\"application/linkset+json\", </openapi.json>; rel=\"service-desc\"; \
    type=\"application/json\", </docs>; rel=\"service-doc\"; type=\"text/html\", </llms.txt>; \
    rel=\"describedby\"; type=\"text/markdown\", </sitemap.xml>; rel=\"sitemap\", \
    </.well-known/ai-catalog.json>; rel=\"ai-catalog\"";

/// Pictures at fixed paths. Browsers request the first and the third without a link to them.
pub(super) const RASTER_IMAGES: [(&str, &str); 5] = [
    ("/favicon.ico", "image/vnd.microsoft.icon"),
    (links::PNG_ICON_PATH, "image/png"),
    ("/apple-touch-icon.png", "image/png"),
    ("/icon-512.png", "image/png"),
    ("/og.png", "image/png"),
];

/// Adds an asset under a path that contains a hash of its bytes, so that caches may keep it
/// for ever.
pub(super) fn add_asset(
    facts: &SiteFacts,
    documents: &mut DocumentIndexBuilder,
    name: &str,
    extension: &str,
    media_type: &'static str,
) -> Result<String, ContentFault> {
    let bytes = asset(facts, &format!("assets/{name}.{extension}"))?;
    let digest = Sha256::digest(&bytes);
    let digest: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let path = format!("/assets/{name}.{digest}.{extension}");
    documents.add(&path, DocumentBuilder::new(media_type, bytes, CachePolicy::Immutable));
    Ok(path)
}

/// The bytes of an asset. Those in the binary are not copied.
fn asset(facts: &SiteFacts, file: &str) -> Result<Bytes, ContentFault> {
    Ok(match facts.catalog.asset(file)? {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => Bytes::from(bytes),
    })
}

pub(super) fn add_images(
    facts: &SiteFacts,
    documents: &mut DocumentIndexBuilder,
) -> Result<(), ContentFault> {
    let catalog = &facts.catalog;
    let svg = "image/svg+xml";
    let icon = asset(facts, "assets/favicon.svg")?;
    documents.add("/favicon.svg", DocumentBuilder::new(svg, icon, CachePolicy::OneHour));
    for (path, media_type) in RASTER_IMAGES {
        let image = asset(facts, &format!("assets{path}"))?;
        documents.add(path, DocumentBuilder::new(media_type, image, CachePolicy::OneHour));
    }
    for (file, path) in catalog.gallery.iter().flat_map(GalleryPicture::files) {
        let kind = if file.ends_with(".webp") { "image/webp" } else { "image/jpeg" };
        let image = asset(facts, &file)?;
        documents.add(&path, DocumentBuilder::new(kind, image, CachePolicy::OneHour));
    }
    for product in &catalog.products {
        let image = asset(facts, &product.picture_file())?;
        documents
            .add(&product.picture_path(), DocumentBuilder::new(svg, image, CachePolicy::OneHour));
    }
    Ok(())
}

/// Adds every page and product, and returns their Markdown.
pub(super) fn add_pages(
    facts: &SiteFacts,
    renderer: &Renderer<'_>,
    documents: &mut DocumentIndexBuilder,
) -> Result<Vec<PublicPage>, ContentFault> {
    let mut texts = Vec::new();
    for page in &facts.catalog.pages {
        let bodies = renderer.page(page, &page_json_ld(facts, page))?;
        let front = &page.front;
        let mut paths = vec![front.path.as_str()];
        paths.extend(front.aliases.iter().map(String::as_str));
        texts.push(PublicPage {
            path: front.path.clone(),
            title: front.title.clone(),
            description: front.description.clone(),
            language: page.language,
            markdown: bodies.markdown.clone(),
        });
        let markdown_path = page.markdown_path();
        add_page(
            facts,
            documents,
            PagePaths { paths: &paths, markdown_path },
            page.language,
            bodies,
        );
        if front.kind == PageKind::Send {
            documents.accept_post(&front.path);
        }
    }
    for product in &facts.catalog.products {
        let path = product.path();
        let bodies = renderer.product(product, &product_json_ld(facts, product))?;
        texts.push(PublicPage {
            path: path.clone(),
            title: product.name.clone(),
            description: product.summary.clone(),
            language: facts.catalog.site.default_language(),
            markdown: bodies.markdown.clone(),
        });
        let paths = PagePaths { paths: &[&path], markdown_path: product.markdown_path() };
        add_page(facts, documents, paths, facts.catalog.site.default_language(), bodies);
    }
    Ok(texts)
}

/// Where a page is served: the canonical path first, then its aliases.
struct PagePaths<'a> {
    paths: &'a [&'a str],
    markdown_path: String,
}

fn add_page(
    facts: &SiteFacts,
    documents: &mut DocumentIndexBuilder,
    PagePaths { paths, markdown_path }: PagePaths<'_>,
    language: Language,
    bodies: PageBodies,
) {
    let language = HeaderValue::from_static(language.code());
    let canonical = paths.first().copied().unwrap_or_default();
    let link = |text: String| (LINK, HeaderValue::try_from(text).expect("paths are visible ASCII"));
    let (name, alternate_link) = link(format!(
        "{DISCOVERY_LINKS}, <{markdown_path}>; rel=\"alternate\"; type=\"text/markdown\""
    ));
    let html = DocumentBuilder::new(
        ResponseFormat::Html.media_type(),
        bodies.html,
        CachePolicy::FiveMinutes,
    );
    let html = DocumentBuilder { vary: Vary::AcceptAndEncoding, ..html }
        .with(name, alternate_link)
        .with(CONTENT_LANGUAGE, language.clone());
    let tokens = bodies.markdown.chars().count() / CHARACTERS_PER_TOKEN;
    let (name, canonical_link) = link(format!("<{}>; rel=\"canonical\"", facts.url(canonical)));
    let text = DocumentBuilder::new(
        ResponseFormat::Markdown.media_type(),
        bodies.markdown,
        CachePolicy::FiveMinutes,
    );
    let text = DocumentBuilder { vary: Vary::AcceptAndEncoding, ..text }
        .with(name, canonical_link)
        .with(MARKDOWN_TOKENS, HeaderValue::from(tokens))
        .with(CONTENT_LANGUAGE, language);
    let short = format!("{}.md", canonical.trim_end_matches('/'));
    let markdown_paths: Vec<&str> = match short.as_str() {
        ".md" => vec![markdown_path.as_str()],
        short => vec![markdown_path.as_str(), short],
    };
    documents.add_page(paths, &markdown_paths, html, text);
}

/// The structured data of a page, for search engines.
fn page_json_ld(facts: &SiteFacts, page: &Page) -> Vec<String> {
    let mut json_ld_texts = Vec::new();
    match page.name.as_str() {
        "home" => json_ld_texts.extend([json_ld::organization(facts), json_ld::website(facts)]),
        name => {
            let front = &page.front;
            let trail = [(facts.catalog.site.name.as_str(), "/"), (&front.heading, &front.path)];
            json_ld_texts.push(json_ld::breadcrumbs(facts, &trail));
            if name == "support" {
                json_ld_texts.push(json_ld::faq(facts));
            }
        }
    }
    json_ld_texts
}

fn product_json_ld(facts: &SiteFacts, product: &Product) -> Vec<String> {
    let path = product.path();
    let site = facts.catalog.site.name.as_str();
    let trail = [(site, "/"), ("Shop", "/shop"), (product.name.as_str(), path.as_str())];
    vec![json_ld::product(facts, product), json_ld::breadcrumbs(facts, &trail)]
}
