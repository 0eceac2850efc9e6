//! The body of a request, which knows whether all of it was read: HTTP/1 cannot go on behind the rest.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{CONNECTION, HeaderValue};
use hyper::{Request, Response, Version};

/// What a caller sends.
pub(super) type Asked = Request<RequestBody>;

pub(super) struct RequestBody {
    incoming: Incoming,
    /// Absent where there is nothing to read, and in HTTP/2, where a request ends alone.
    read: Option<Arc<AtomicBool>>,
}

/// Whether the body of a request was read to its end, asked when its answer is ready.
pub(super) struct Reading(Option<Arc<AtomicBool>>);

pub(super) fn watched(request: Request<Incoming>) -> (Asked, Reading) {
    let nothing_follows = request.body().is_end_stream() || request.version() == Version::HTTP_2;
    let read = (!nothing_follows).then(|| Arc::new(AtomicBool::new(false)));
    let reading = Reading(read.clone());
    (request.map(|incoming| RequestBody { incoming, read }), reading)
}

impl Reading {
    /// Says in the answer that the connection ends with it, if it does: without that word a
    /// client that keeps connections would send its next request into a closed one.
    pub(super) fn announce<B>(&self, answer: &mut Response<B>) {
        if self.0.as_ref().is_some_and(|read| !read.load(Ordering::Relaxed)) {
            answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.incoming).poll_frame(context);
        let ended = matches!(frame, Poll::Ready(None)) || self.incoming.is_end_stream();
        if ended && let Some(read) = &self.read {
            read.store(true, Ordering::Relaxed);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}
