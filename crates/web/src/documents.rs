//! Every answer that is known at start, by its address.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use http::header::{ALLOW, LOCATION};
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::document::{Document, Draft, Keep, Transport};
use crate::negotiate::Face;
use crate::surface::Quota;

#[derive(Debug)]
pub(crate) struct Documents {
    places: HashMap<String, Place>,
}

/// What lies at an address.
#[derive(Debug)]
pub(crate) struct Place {
    lies: Lies<Arc<Document>>,
    pub(crate) quota: Quota,
}

#[derive(Clone, Copy, Debug)]
enum Lies<T> {
    One(T),
    /// A page, whose face the caller chooses.
    Page {
        html: T,
        markdown: T,
    },
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
    pub(crate) fn find(&self, path: &str) -> Option<&Place> {
        self.places.get(path)
    }

    #[cfg(test)]
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.places.keys().map(String::as_str)
    }
}

/// Documents that are written and not yet compressed.
pub(crate) struct Manuscripts {
    transport: Transport,
    drafts: Vec<Draft>,
    /// By their place among the drafts.
    places: HashMap<String, (Lies<usize>, Quota)>,
}

impl Manuscripts {
    pub(crate) fn new(transport: Transport) -> Self {
        Self { transport, drafts: Vec::new(), places: HashMap::new() }
    }

    pub(crate) fn add(&mut self, path: &str, draft: Draft) {
        self.add_counted(path, draft, Quota::Free);
    }

    pub(crate) fn add_counted(&mut self, path: &str, draft: Draft, quota: Quota) {
        let place = self.keep(draft);
        self.put(path, Lies::One(place), quota);
    }

    /// A page at its address and its aliases, and its Markdown at places of its own.
    pub(crate) fn add_page(&mut self, paths: &[&str], twins: &[&str], html: Draft, text: Draft) {
        let (html, markdown) = (self.keep(html), self.keep(text));
        for path in paths {
            self.put(path, Lies::Page { html, markdown }, Quota::Free);
            self.add_detour(path);
        }
        for twin in twins {
            self.put(twin, Lies::One(markdown), Quota::Free);
        }
    }

    /// Compresses everything, on all cores, as the doors wait for it.
    pub(crate) fn print(self) -> Documents {
        let Self { transport, drafts, places } = self;
        let printed: Vec<OnceLock<Arc<Document>>> =
            drafts.iter().map(|_| OnceLock::new()).collect();
        // The largest first, so that nobody is left alone with it at the end.
        let mut order: Vec<usize> = (0..drafts.len()).collect();
        order.sort_by_key(|&place| Reverse(drafts[place].body.len()));
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(&place) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                printed[place].get_or_init(|| Arc::new(drafts[place].finish(transport)));
            }
        };
        thread::scope(|scope| {
            let helpers = thread::available_parallelism().map_or(1, NonZero::get);
            for _ in 1..helpers {
                scope.spawn(work);
            }
            work();
        });
        let document = |place: usize| {
            let document = printed[place].get().expect("every place was taken by somebody");
            document.clone()
        };
        let places = places.into_iter().map(|(path, (lies, quota))| {
            let lies = match lies {
                Lies::One(one) => Lies::One(document(one)),
                Lies::Page { html, markdown } => {
                    Lies::Page { html: document(html), markdown: document(markdown) }
                }
            };
            (path, Place { lies, quota })
        });
        Documents { places: places.collect() }
    }

    /// Who forgets or adds the slash at the end is led to the page.
    fn add_detour(&mut self, path: &str) {
        let other = match path.strip_suffix('/') {
            Some("") => return,
            Some(without) => without.to_owned(),
            None => format!("{path}/"),
        };
        let target = HeaderValue::try_from(path).expect("paths are visible ASCII");
        let empty = Draft::new("text/plain; charset=utf-8", Vec::new(), Keep::AnHour);
        let draft = Draft { status: StatusCode::PERMANENT_REDIRECT, ..empty };
        self.add(&other, draft.with(LOCATION, target));
    }

    fn keep(&mut self, draft: Draft) -> usize {
        self.drafts.push(draft);
        self.drafts.len() - 1
    }

    fn put(&mut self, path: &str, lies: Lies<usize>, quota: Quota) {
        let before = self.places.insert(path.to_owned(), (lies, quota));
        assert!(before.is_none(), "two documents want to lie at {path}");
    }
}

/// The answer to a method that no document takes.
pub(crate) fn only_reading() -> (http::HeaderName, HeaderValue) {
    (ALLOW, HeaderValue::from_static("GET, HEAD, OPTIONS"))
}
