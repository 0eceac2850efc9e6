//! Tracks whether a request body was read completely: otherwise HTTP/1 cannot reuse the connection.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{CONNECTION, HeaderValue};
use hyper::{Request, Response, Version};

pub(super) type IncomingRequest = Request<RequestBody>;

pub(super) struct RequestBody {
    incoming: Incoming,
    /// `None` for an empty body, and in HTTP/2, where each request has its own stream.
    read: Option<Arc<AtomicBool>>,
}

/// Whether the body of a request was read completely by the time of its response.
pub(super) struct ReadProgress(Option<Arc<AtomicBool>>);

pub(super) fn watched(request: Request<Incoming>) -> (IncomingRequest, ReadProgress) {
    let irrelevant = request.body().is_end_stream() || request.version() == Version::HTTP_2;
    let read = (!irrelevant).then(|| Arc::new(AtomicBool::new(false)));
    let progress = ReadProgress(read.clone());
    (request.map(|incoming| RequestBody { incoming, read }), progress)
}

impl ReadProgress {
    /// Adds `Connection: close` if the body was not read: without it a client would send its next
    /// request on a closed connection.
    pub(super) fn announce_close<B>(&self, response: &mut Response<B>) {
        if self.0.as_ref().is_some_and(|read| !read.load(Ordering::Relaxed)) {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
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
