//! A body that is known at once, in up to three pieces which are sent as they lie.

use std::convert::Infallible;
use std::mem::take;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// Written at start or for this caller; what is shared is not copied.
#[derive(Debug, Default)]
pub struct Known {
    pieces: [Bytes; 3],
    next: usize,
}

impl Known {
    pub(crate) fn of(pieces: [Bytes; 3]) -> Self {
        Self { pieces, next: 0 }
    }

    pub(crate) fn whole(body: Bytes) -> Self {
        Self::of([body, Bytes::new(), Bytes::new()])
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.rest().concat()
    }

    fn rest(&self) -> &[Bytes] {
        self.pieces.get(self.next..).unwrap_or_default()
    }
}

impl From<String> for Known {
    fn from(text: String) -> Self {
        Self::whole(text.into())
    }
}

impl Body for Known {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let known = self.get_mut();
        while let Some(piece) = known.pieces.get_mut(known.next) {
            known.next += 1;
            if !piece.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(take(piece)))));
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
        for (pieces, frames) in [(["a", "", "c"], 2), (["", "b", ""], 1), (["", "", ""], 0)] {
            let mut body = Known::of(pieces.map(Bytes::from));
            let mut said = Vec::new();
            for left in (0..frames).rev() {
                let length = u64::try_from(pieces.concat().len() - said.len()).unwrap();
                assert_eq!(body.size_hint().exact(), Some(length));
                assert!(!body.is_end_stream());
                said.extend(body.frame().await.unwrap().unwrap().into_data().unwrap());
                assert_eq!(body.is_end_stream(), left == 0);
            }
            assert_eq!(String::from_utf8(said).unwrap(), pieces.concat());
            assert!(body.frame().await.is_none() && body.is_end_stream());
        }
    }
}
