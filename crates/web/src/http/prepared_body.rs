//! Response bodies: prepared bytes in up to three chunks, or a body from the router.

use std::convert::Infallible;
use std::mem::take;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body as AxumBody;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::Either;

/// The body of every response of this crate.
pub type ResponseBody = Either<PreparedBody, AxumBody>;

/// Chunks that were written at start or for this request; shared bytes are not copied.
#[derive(Debug, Default)]
pub struct PreparedBody {
    chunks: [Bytes; 3],
    next: usize,
}

impl PreparedBody {
    pub(crate) fn from_chunks(chunks: [Bytes; 3]) -> Self {
        Self { chunks, next: 0 }
    }

    pub(crate) fn new(body: Bytes) -> Self {
        Self::from_chunks([body, Bytes::new(), Bytes::new()])
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.rest().concat()
    }

    fn rest(&self) -> &[Bytes] {
        self.chunks.get(self.next..).unwrap_or_default()
    }
}

impl From<String> for PreparedBody {
    fn from(text: String) -> Self {
        Self::new(text.into())
    }
}

impl Body for PreparedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let body = self.get_mut();
        while let Some(chunk) = body.chunks.get_mut(body.next) {
            body.next += 1;
            if !chunk.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(take(chunk)))));
            }
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.rest().iter().all(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        let bytes: usize = self.rest().iter().map(Bytes::len).sum();
        u64::try_from(bytes).map_or_else(|_| SizeHint::new(), SizeHint::with_exact)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn the_pieces_come_in_their_sequence_and_empty_ones_not_at_all() {
        for (chunks, frames) in [(["a", "", "c"], 2), (["", "b", ""], 1), (["", "", ""], 0)] {
            let mut body = PreparedBody::from_chunks(chunks.map(Bytes::from));
            let mut sent = Vec::new();
            for left in (0..frames).rev() {
                let length = u64::try_from(chunks.concat().len() - sent.len()).unwrap();
                assert_eq!(body.size_hint().exact(), Some(length));
                assert!(!body.is_end_stream());
                sent.extend(body.frame().await.unwrap().unwrap().into_data().unwrap());
                assert_eq!(body.is_end_stream(), left == 0);
            }
            assert_eq!(String::from_utf8(sent).unwrap(), chunks.concat());
            assert!(body.frame().await.is_none() && body.is_end_stream());
        }
    }
}
