//! The layer that every routed request passes: request id, limits, panics and the log line.
//!
//! One layer of our own instead of a stack of generic ones, as each of those boxes and clones
//! for every request.

use std::borrow::Cow;
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::header::X_CONTENT_TYPE_OPTIONS;
use http::{HeaderMap, HeaderValue, StatusCode};
use tokio::time::timeout;
use tower::{Layer, Service};

use crate::http::limits::{RequestLimits, check_head, read_body, request_timed_out};
use crate::http::problem::{Problem, Retry};
use crate::http::request_id::{RequestId, RequestIds, X_REQUEST_ID};
use crate::http::request_log::RequestLogEntry;

#[derive(Clone)]
pub struct RequestLayer {
    ids: Arc<RequestIds>,
    limits: RequestLimits,
}

impl RequestLayer {
    pub fn new(limits: RequestLimits) -> Self {
        Self { ids: Arc::new(RequestIds::new()), limits }
    }

    /// The source of request ids, for responses that do not pass this layer.
    pub(crate) fn ids(&self) -> &Arc<RequestIds> {
        &self.ids
    }

    /// The same layer with other limits.
    pub fn with(&self, limits: RequestLimits) -> Self {
        Self { limits, ..self.clone() }
    }
}

impl<S> Layer<S> for RequestLayer {
    type Service = RequestLayerService<S>;

    fn layer(&self, inner: S) -> RequestLayerService<S> {
        RequestLayerService { layer: self.clone(), inner }
    }
}

#[derive(Clone)]
pub struct RequestLayerService<S> {
    layer: RequestLayer,
    inner: S,
}

impl<S> Service<Request> for RequestLayerService<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        // The service that was polled ready must be the one that is called; the clone is for
        // the next request.
        let next = self.inner.clone();
        let inner = std::mem::replace(&mut self.inner, next);
        let limits = self.layer.limits;
        let id = self.layer.ids.next();
        Box::pin(async move {
            let mut entry = RequestLogEntry::for_request(id, &request);
            request.extensions_mut().insert(id);
            let response = timeout(limits.request_time, respond(inner, request, limits)).await;
            let mut response = response.unwrap_or_else(|_| request_timed_out().into_response());
            set_common_headers(response.headers_mut(), id);
            entry.set_status(response.status());
            Ok(response)
        })
    }
}

/// Reads the body first, so that no handler can skip the limit or wait for a slow client.
async fn respond<S>(inner: S, request: Request, limits: RequestLimits) -> Response
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    let (parts, body) = request.into_parts();
    if let Err(problem) = check_head(&parts.uri, &parts.headers) {
        return problem.into_response();
    }
    match read_body(body, limits).await {
        Ok(body) => call(inner, Request::from_parts(parts, Body::from(body))).await,
        Err(problem) => problem.into_response(),
    }
}

/// Adds what every response carries.
pub(super) fn set_common_headers(headers: &mut HeaderMap, id: RequestId) {
    headers.insert(X_REQUEST_ID, id.header());
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}

/// A handler that panics costs one 500, not the connection. The panic hook has already logged
/// where it happened.
async fn call<S>(mut inner: S, request: Request) -> Response
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    match catch_panic(async move { inner.call(request).await }).await {
        Some(Ok(response)) => response,
        Some(Err(never)) => match never {},
        None => internal_error().into_response(),
    }
}

/// None if the future panicked.
async fn catch_panic<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    poll_fn(|context| poll_catching_panic(future.as_mut(), context)).await
}

pub(super) fn poll_catching_panic<T>(
    future: Pin<&mut (impl Future<Output = T> + ?Sized)>,
    context: &mut Context<'_>,
) -> Poll<Option<T>> {
    let polled = catch_unwind(AssertUnwindSafe(|| future.poll(context)));
    polled.map_or(Poll::Ready(None), |poll| poll.map(Some))
}

pub(crate) fn internal_error() -> Problem {
    Problem {
        status: StatusCode::INTERNAL_SERVER_ERROR,
        code: "internal_error",
        message: Cow::Borrowed(
            "Internal error. Contact support with the X-Request-Id of this response.",
        ),
        retry: Retry::Same,
    }
}

#[cfg(test)]
mod tests;
