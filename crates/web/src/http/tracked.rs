//! The same as the layer for endpoints that are served before the router, with one box for the
//! whole response.

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::response::IntoResponse;
use http::{Method, Request, Response};
use http_body_util::Either;

use crate::http::layer::{internal_error, poll_catching_panic, set_common_headers};
use crate::http::limits::check_head;
use crate::http::prepared_body::{PreparedBody, ResponseBody};
use crate::http::problem::Problem;
use crate::http::request_id::{RequestId, RequestIds};
use crate::http::request_log::RequestLogEntry;
use crate::http::request_metrics::RouteHistograms;

/// A response that an endpoint is computing.
pub(crate) type ResponseFuture = Pin<Box<dyn Future<Output = Response<ResponseBody>> + Send>>;

/// A response future with its request id and its log entry.
pub struct TrackedResponse {
    response: ResponseFuture,
    id: RequestId,
    entry: RequestLogEntry,
    method_is_head: bool,
}

impl TrackedResponse {
    /// Starts one request of an endpoint that limits its own time and reads the body with
    /// `read_body`.
    pub(crate) fn start<B>(
        ids: &RequestIds,
        route: &Arc<RouteHistograms>,
        request: Request<B>,
        respond: impl FnOnce(Request<B>) -> ResponseFuture,
    ) -> Self {
        let id = ids.next();
        let entry = RequestLogEntry::for_route(id, request.method(), route);
        let method_is_head = *request.method() == Method::HEAD;
        let response = match check_head(request.uri(), request.headers()) {
            Ok(()) => respond(request),
            Err(too_large) => Box::pin(ready(problem_response(too_large))),
        };
        Self { response, id, entry, method_is_head }
    }
}

impl Future for TrackedResponse {
    type Output = Response<ResponseBody>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let response = ready!(poll_catching_panic(self.response.as_mut(), context));
        let mut response = response.unwrap_or_else(|| problem_response(internal_error()));
        if self.method_is_head {
            // HTTP/2 would send it.
            *response.body_mut() = Either::Left(PreparedBody::default());
        }
        set_common_headers(response.headers_mut(), self.id);
        self.entry.set_status(response.status());
        Poll::Ready(response)
    }
}

fn problem_response(problem: Problem) -> Response<ResponseBody> {
    problem.into_response().map(Either::Right)
}
