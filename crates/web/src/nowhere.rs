//! What is said where nothing is, in the words that the caller reads.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;

use crate::document::{Document, Draft, Keep, Transport, Vary};
use crate::negotiate::Face;
use crate::premises::Premises;
use crate::problem::NOT_FOUND;
use crate::surface::Answer;

/// Below these, callers are programs whatever they accept.
const MACHINES: [&str; 3] = ["/api", "/mcp", "/agent"];

struct Nowhere {
    html: Document,
    markdown: Document,
}

/// The routes with a helpful end to every wrong way.
pub(crate) fn behind(routes: Router, premises: &Premises, page: String) -> Router {
    let transport = Transport::of(&premises.base_url);
    let document = |answer: Answer, text: String| {
        let draft = Draft::new(answer.media_type(), text, Keep::Never);
        let draft = Draft { status: StatusCode::NOT_FOUND, vary: Vary::FaceAndCoding, ..draft };
        draft.finish(transport)
    };
    let nowhere = Arc::new(Nowhere {
        html: document(Answer::Html, page),
        markdown: document(Answer::Markdown, markdown(premises)),
    });
    routes.fallback(move |request: Request| answer(State(nowhere.clone()), request))
}

async fn answer(State(nowhere): State<Arc<Nowhere>>, request: Request) -> Response {
    let path = request.uri().path();
    let machine = MACHINES.iter().any(|start| {
        path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    let face = if machine { Face::Json } else { Face::of_nothing(request.headers()) };
    let document = match face {
        Face::Json => return NOT_FOUND.into_response(),
        Face::Html => &nowhere.html,
        Face::Markdown => &nowhere.markdown,
    };
    let sent = document.send(request.headers());
    (sent.status, sent.headers, sent.body).into_response()
}

fn markdown(premises: &Premises) -> String {
    let link = |name: &str, path: &str| format!("- [{name}]({})", premises.url(path));
    let links = [
        link("The guide for agents", "/llms.txt"),
        link("Every endpoint", "/openapi.json"),
        link("Every page", "/sitemap.xml"),
        link("The front door", "/"),
    ];
    format!(
        "# Not found\n\nNothing lives at this address. Try one of these:\n\n{}\n",
        links.join("\n")
    )
}
