//! Every answer that is known at start, by its address.

use std::collections::HashMap;
use std::sync::Arc;

use http::header::{ALLOW, LOCATION};
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::document::{Document, Draft, Keep, Transport};
use crate::negotiate::Face;
use crate::surface::Quota;

/// What lies at an address.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) lies: Lies,
    pub(crate) quota: Quota,
}

#[derive(Clone, Debug)]
pub(crate) enum Lies {
    One(Arc<Document>),
    /// A page, whose face the caller chooses.
    Page {
        html: Arc<Document>,
        markdown: Arc<Document>,
    },
}

#[derive(Debug)]
pub(crate) struct Documents {
    places: HashMap<String, Place>,
    pub(crate) transport: Transport,
}

impl Place {
    pub(crate) fn document(&self, asked: &HeaderMap) -> &Document {
        match &self.lies {
            Lies::One(document) => document,
            Lies::Page { html, markdown } => match Face::of_page(asked) {
                Face::Markdown => markdown,
                Face::Html | Face::Json => html,
            },
        }
    }
}

impl Documents {
    pub(crate) fn new(transport: Transport) -> Self {
        Self { places: HashMap::new(), transport }
    }

    pub(crate) fn find(&self, path: &str) -> Option<&Place> {
        self.places.get(path)
    }

    #[cfg(test)]
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.places.keys().map(String::as_str)
    }

    pub(crate) fn add(&mut self, path: &str, draft: Draft) {
        self.add_counted(path, draft, Quota::Free);
    }

    pub(crate) fn add_counted(&mut self, path: &str, draft: Draft, quota: Quota) {
        let document = Arc::new(draft.finish(self.transport));
        self.put(path, Place { lies: Lies::One(document), quota });
    }

    /// A page at its address and its aliases, and its Markdown at places of its own.
    pub(crate) fn add_page(&mut self, paths: &[&str], twins: &[&str], html: Draft, text: Draft) {
        let lies = Lies::Page {
            html: Arc::new(html.finish(self.transport)),
            markdown: Arc::new(text.finish(self.transport)),
        };
        for path in paths {
            self.put(path, Place { lies: lies.clone(), quota: Quota::Free });
        }
        let Lies::Page { markdown, .. } = lies else { return };
        for twin in twins {
            self.put(twin, Place { lies: Lies::One(markdown.clone()), quota: Quota::Free });
        }
        for path in paths {
            self.add_detour(path);
        }
    }

    /// Who forgets or adds the slash at the end is led to the page.
    fn add_detour(&mut self, path: &str) {
        let other = match path.strip_suffix('/') {
            Some("") => return,
            Some(without) => without.to_owned(),
            None => format!("{path}/"),
        };
        let target = HeaderValue::try_from(path).expect("paths are visible ASCII");
        let draft = Draft { status: StatusCode::PERMANENT_REDIRECT, ..empty() };
        self.add(&other, draft.with(LOCATION, target));
    }

    fn put(&mut self, path: &str, place: Place) {
        let before = self.places.insert(path.to_owned(), place);
        assert!(before.is_none(), "two documents want to lie at {path}");
    }
}

/// The answer to a method that no document takes.
pub(crate) fn only_reading() -> (http::HeaderName, HeaderValue) {
    (ALLOW, HeaderValue::from_static("GET, HEAD, OPTIONS"))
}

fn empty() -> Draft {
    Draft::new("text/plain; charset=utf-8", Vec::new(), Keep::AnHour)
}
