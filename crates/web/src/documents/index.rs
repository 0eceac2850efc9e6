//! All documents by path, and the builder that compresses them.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use http::header::LOCATION;
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use crate::documents::document::{CachePolicy, Document, DocumentBuilder, UrlScheme};
use crate::http::negotiation::Representation;
use crate::http::quota;
use crate::http::request_metrics::RouteHistograms;
use crate::surface::QuotaScope;

#[derive(Debug)]
pub(crate) struct DocumentIndex {
    entries: HashMap<String, IndexEntry>,
}

/// The documents at one path.
#[derive(Debug)]
pub(crate) struct IndexEntry {
    content: EntryContent<Arc<Document>>,
    pub(crate) quota: QuotaScope,
    pub(crate) methods: EntryMethods,
    pub(crate) histograms: RouteHistograms,
}

/// What a path of a document accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryMethods {
    Read,
    /// The router answers POST.
    ReadAndPost,
}

impl EntryMethods {
    /// The value of `Allow`.
    pub(crate) const fn allow(self) -> &'static str {
        match self {
            Self::Read => "GET, HEAD, OPTIONS",
            Self::ReadAndPost => "GET, HEAD, POST, OPTIONS",
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum EntryContent<T> {
    One(T),
    /// A page in two representations; `Accept` selects one.
    Page {
        html: T,
        markdown: T,
    },
}

impl IndexEntry {
    /// Whether the document is the answer to this method. Others are answered by the router.
    pub(crate) fn answers(&self, method: &Method) -> bool {
        match self.methods {
            EntryMethods::Read => true,
            EntryMethods::ReadAndPost => *method != Method::POST,
        }
    }

    pub(crate) fn document(&self, headers: &HeaderMap) -> &Document {
        match &self.content {
            EntryContent::One(document) => document,
            EntryContent::Page { html, markdown } => match Representation::for_page(headers) {
                Representation::Markdown => markdown,
                Representation::Html | Representation::Json => html,
            },
        }
    }
}

impl DocumentIndex {
    pub(crate) fn find(&self, path: &str) -> Option<&IndexEntry> {
        self.entries.get(path)
    }

    #[cfg(test)]
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }
}

/// Documents that are not compressed yet.
pub(crate) struct DocumentIndexBuilder {
    scheme: UrlScheme,
    documents: Vec<DocumentBuilder>,
    /// By their place among the documents.
    entries: HashMap<String, (EntryContent<usize>, QuotaScope)>,
    /// The paths that accept POST beside reading.
    forms: HashSet<String>,
}

impl DocumentIndexBuilder {
    pub(crate) fn new(scheme: UrlScheme) -> Self {
        Self { scheme, documents: Vec::new(), entries: HashMap::new(), forms: HashSet::new() }
    }

    pub(crate) fn add(&mut self, path: &str, document: DocumentBuilder) {
        self.add_with_quota(path, document, QuotaScope::Exempt);
    }

    pub(crate) fn add_with_quota(
        &mut self,
        path: &str,
        mut document: DocumentBuilder,
        quota: QuotaScope,
    ) {
        if quota == QuotaScope::Discovery {
            document.extra_headers.extend(quota::PLACEHOLDERS);
        }
        let position = self.push(document);
        self.insert(path, EntryContent::One(position), quota);
    }

    /// A page at its path and aliases, and its Markdown at paths of its own.
    pub(crate) fn add_page(
        &mut self,
        paths: &[&str],
        markdown_paths: &[&str],
        html: DocumentBuilder,
        text: DocumentBuilder,
    ) {
        let (html, markdown) = (self.push(html), self.push(text));
        for path in paths {
            self.insert(path, EntryContent::Page { html, markdown }, QuotaScope::Exempt);
            self.add_slash_redirect(path);
        }
        for path in markdown_paths {
            self.insert(path, EntryContent::One(markdown), QuotaScope::Exempt);
        }
    }

    /// Leaves POST to the router at this path.
    pub(crate) fn accept_post(&mut self, path: &str) {
        self.forms.insert(path.to_owned());
    }

    /// Compresses everything on all cores, because the start waits for it.
    pub(crate) fn build(self) -> DocumentIndex {
        let Self { scheme, documents, entries, forms } = self;
        let compressed: Vec<OnceLock<Arc<Document>>> =
            documents.iter().map(|_| OnceLock::new()).collect();
        // The largest first, so that no thread starts with it when the others have ended.
        let mut order: Vec<usize> = (0..documents.len()).collect();
        order.sort_by_key(|&position| Reverse(documents[position].body.len()));
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(&position) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                compressed[position].get_or_init(|| Arc::new(documents[position].build(scheme)));
            }
        };
        thread::scope(|scope| {
            let threads = thread::available_parallelism().map_or(1, NonZero::get);
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        let document = |position: usize| {
            let document = compressed[position].get().expect("every position was compressed");
            document.clone()
        };
        let entries = entries.into_iter().map(|(path, (content, quota))| {
            let content = match content {
                EntryContent::One(one) => EntryContent::One(document(one)),
                EntryContent::Page { html, markdown } => {
                    EntryContent::Page { html: document(html), markdown: document(markdown) }
                }
            };
            let histograms = RouteHistograms::new(path.clone());
            let methods = match forms.contains(&path) {
                true => EntryMethods::ReadAndPost,
                false => EntryMethods::Read,
            };
            (path, IndexEntry { content, quota, methods, histograms })
        });
        DocumentIndex { entries: entries.collect() }
    }

    /// Redirects from the path with or without the trailing slash.
    fn add_slash_redirect(&mut self, path: &str) {
        let other = match path.strip_suffix('/') {
            Some("") => return,
            Some(without) => without.to_owned(),
            None => format!("{path}/"),
        };
        let target = HeaderValue::try_from(path).expect("paths are visible ASCII");
        let empty =
            DocumentBuilder::new("text/plain; charset=utf-8", Vec::new(), CachePolicy::OneHour);
        let document = DocumentBuilder { status: StatusCode::PERMANENT_REDIRECT, ..empty };
        self.add(&other, document.with(LOCATION, target));
    }

    fn push(&mut self, document: DocumentBuilder) -> usize {
        self.documents.push(document);
        self.documents.len() - 1
    }

    fn insert(&mut self, path: &str, content: EntryContent<usize>, quota: QuotaScope) {
        let before = self.entries.insert(path.to_owned(), (content, quota));
        assert!(before.is_none(), "two documents have the path {path}");
    }
}
