//! The response for unknown paths.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_LANGUAGE;
use http::{HeaderValue, StatusCode};

use crate::documents::document::{CachePolicy, Document, DocumentBuilder, UrlScheme, Vary};
use crate::http::negotiation::Representation;
use crate::http::problem::NOT_FOUND;
use crate::site_facts::SiteFacts;
use crate::surface::ResponseFormat;

/// Below these paths, the response is JSON regardless of `Accept`.
const API_PREFIXES: [&str; 3] = ["/api", "/mcp", "/agent"];

struct NotFoundPages {
    html: Document,
    markdown: Document,
}

/// The routes with a fallback for unknown paths.
pub(crate) fn with_fallback(routes: Router, facts: &SiteFacts, page: String) -> Router {
    let scheme = UrlScheme::of(&facts.base_url);
    let document = |answer: ResponseFormat, text: String| {
        let document = DocumentBuilder::new(answer.media_type(), text, CachePolicy::NoStore);
        let document = DocumentBuilder {
            status: StatusCode::NOT_FOUND,
            vary: Vary::AcceptAndEncoding,
            ..document
        };
        let language = HeaderValue::from_static(facts.catalog.site.default_language().code());
        document.with(CONTENT_LANGUAGE, language).build(scheme)
    };
    let pages = Arc::new(NotFoundPages {
        html: document(ResponseFormat::Html, page),
        markdown: document(ResponseFormat::Markdown, markdown(facts)),
    });
    routes.fallback(move |request: Request| answer(State(pages.clone()), request))
}

async fn answer(State(pages): State<Arc<NotFoundPages>>, request: Request) -> Response {
    let path = request.uri().path();
    let is_api = API_PREFIXES.iter().any(|start| {
        path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    let face = if is_api {
        Representation::Json
    } else {
        Representation::for_not_found(request.headers())
    };
    let document = match face {
        Representation::Json => return NOT_FOUND.into_response(),
        Representation::Html => &pages.html,
        Representation::Markdown => &pages.markdown,
    };
    let sent = document.respond(request.headers());
    (sent.status, sent.headers, sent.body).into_response()
}

fn markdown(facts: &SiteFacts) -> String {
    let link = |name: &str, path: &str| format!("- [{name}]({})", facts.url(path));
    let links = [
        link("The guide for agents", "/llms.txt"),
        link("Every endpoint", "/openapi.json"),
        link("Every page", "/sitemap.xml"),
        link("Home", "/"),
    ];
    format!("# Not found\n\nThis page does not exist. Try one of these:\n\n{}\n", links.join("\n"))
}
