//! Answers requests for documents: a lookup, a copy of the headers, and shared bytes.
//!
//! No router, layer or task takes part.

use std::sync::Arc;

use axum::response::IntoResponse;
use bytes::Bytes;
use http::header::ALLOW;
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use http_body_util::Either;
use tokio::time::Instant;

use crate::documents::document::DocumentResponse;
use crate::documents::index::{DocumentIndex, IndexEntry};
use crate::http::cors::CorsPolicy;
use crate::http::limits::check_head;
use crate::http::prepared_body::{PreparedBody, ResponseBody};
use crate::http::problem;
use crate::http::quota::DiscoveryQuota;
use crate::http::request_id::{RequestIds, X_REQUEST_ID};
use crate::http::request_log::method_name;
use crate::surface::QuotaScope;

const METHODS: &str = "GET, HEAD, OPTIONS";

const CORS: CorsPolicy = CorsPolicy {
    allow_methods: METHODS,
    allow_headers: "accept, authorization, content-type, if-none-match, x-service-api-version",
    expose_headers: None,
};

pub(crate) struct DocumentService {
    documents: DocumentIndex,
    quota: Arc<DiscoveryQuota>,
    ids: Arc<RequestIds>,
}

impl DocumentService {
    pub(crate) fn new(
        documents: DocumentIndex,
        quota: Arc<DiscoveryQuota>,
        ids: Arc<RequestIds>,
    ) -> Self {
        Self { documents, quota, ids }
    }

    pub(crate) fn find(&self, path: &str) -> Option<&IndexEntry> {
        self.documents.find(path)
    }

    pub(crate) fn respond<B>(
        &self,
        entry: &IndexEntry,
        request: &Request<B>,
    ) -> Response<ResponseBody> {
        let started = Instant::now();
        let (method, headers) = (request.method(), request.headers());
        let mut response = if let Err(problem) = check_head(request.uri(), headers) {
            problem.into_response().map(Either::Right)
        } else if *method == Method::GET || *method == Method::HEAD {
            match self.read(entry, headers) {
                Ok(document) => document_response(document, method),
                Err(rejection) => rejection.map(Either::Right),
            }
        } else {
            let mut response = match *method {
                Method::OPTIONS => CORS.preflight(),
                _ => problem::METHOD_NOT_ALLOWED.into_response(),
            };
            response.headers_mut().insert(ALLOW, HeaderValue::from_static(entry.methods.allow()));
            response.map(Either::Right)
        };
        let id = self.ids.next();
        response.headers_mut().insert(X_REQUEST_ID, id.header());
        // At debug level, because a line for each document would cost more than the response.
        tracing::debug!(
            target: "request",
            status = response.status().as_u16(),
            request_id = id.as_str(),
            "document served"
        );
        let status = response.status().as_u16();
        entry.histograms.record(method_name(method), status, started.elapsed());
        response
    }

    fn read(
        &self,
        entry: &IndexEntry,
        headers: &HeaderMap,
    ) -> Result<DocumentResponse, Box<axum::response::Response>> {
        match entry.quota {
            QuotaScope::Exempt => Ok(entry.document(headers).respond(headers)),
            QuotaScope::Discovery => {
                let state = self.quota.admit(headers)?;
                let mut response = entry.document(headers).respond(headers);
                self.quota.set_headers(&mut response.headers, state);
                Ok(response)
            }
        }
    }
}

fn document_response(document: DocumentResponse, method: &Method) -> Response<ResponseBody> {
    let body = if *method == Method::HEAD { Bytes::new() } else { document.body };
    let mut response = Response::new(Either::Left(PreparedBody::new(body)));
    *response.status_mut() = document.status;
    *response.headers_mut() = document.headers;
    response
}
