//! The guard at the doors beside the router: no layer, and one box for the whole answer.

use std::future::{Future, ready};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::response::IntoResponse;
use http::{Method, Request, Response};
use http_body_util::Either;

use super::journal::Entry;
use super::{Guard, internal, measure_head, polled, sign};
use crate::front::FrontBody;
use crate::known::Known;
use crate::problem::Problem;
use crate::request_id::RequestId;

/// An answer that a door is making.
pub(crate) type Making = Pin<Box<dyn Future<Output = Response<FrontBody>> + Send>>;

/// A request that is being answered, and the guard beside it.
pub struct Watched {
    answer: Making,
    id: RequestId,
    entry: Entry,
    only_head: bool,
}

impl Guard {
    /// Watches over one request for a door that sees to its own time: it reads the body
    /// by `read_body`.
    pub(crate) fn watch<B>(
        &self,
        route: &'static str,
        request: Request<B>,
        answer: impl FnOnce(Request<B>) -> Making,
    ) -> Watched {
        let id = self.ids.next();
        let entry = Entry::at(id, request.method(), route);
        let only_head = *request.method() == Method::HEAD;
        let answer = match measure_head(request.uri(), request.headers()) {
            Ok(()) => answer(request),
            Err(too_large) => Box::pin(ready(problem(too_large))),
        };
        Watched { answer, id, entry, only_head }
    }
}

impl Future for Watched {
    type Output = Response<FrontBody>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answered = ready!(polled(self.answer.as_mut(), context));
        let mut response = answered.unwrap_or_else(|| problem(internal()));
        if self.only_head {
            // HTTP/2 would send it.
            *response.body_mut() = Either::Left(Known::default());
        }
        sign(response.headers_mut(), self.id);
        self.entry.answered(response.status());
        Poll::Ready(response)
    }
}

fn problem(problem: Problem) -> Response<FrontBody> {
    problem.into_response().map(Either::Right)
}
