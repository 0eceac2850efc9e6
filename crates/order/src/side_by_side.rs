//! Several things at once and no more than so many, without a runtime of their own.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// Does all of them, the next one as soon as there is a place. Who waits for
/// somebody keeps one place, and not everybody.
pub(crate) async fn side_by_side<const PLACES: usize, F: Future<Output = ()>>(
    all: impl IntoIterator<Item = F>,
) {
    const { assert!(PLACES > 0, "without a place nothing is ever done") };
    let mut rest = all.into_iter();
    let mut begun: Vec<Pin<Box<F>>> = Vec::new();
    poll_fn(move |context| {
        loop {
            begun.retain_mut(|one| one.as_mut().poll(context).is_pending());
            let free = PLACES - begun.len();
            let before = begun.len();
            begun.extend(rest.by_ref().take(free).map(Box::pin));
            if begun.len() == before {
                break;
            }
        }
        if begun.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::future::pending;
    use std::task::{Context, Waker};

    use super::*;

    fn poll(work: Pin<&mut impl Future<Output = ()>>) -> Poll<()> {
        work.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn all_are_done_in_their_sequence_when_nobody_waits() {
        let done = RefCell::new(Vec::new());
        let work = (0..5).map(|number| {
            let done = &done;
            async move { done.borrow_mut().push(number) }
        });
        let work = std::pin::pin!(side_by_side::<2, _>(work));
        assert_eq!(poll(work), Poll::Ready(()));
        assert_eq!(*done.borrow(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn one_that_never_ends_keeps_one_place_and_two_keep_all() {
        for (stuck, reached) in [(1, 5), (2, 0)] {
            let done = Cell::new(0);
            let work = (0..stuck + 5).map(|number| {
                let done = &done;
                async move {
                    if number < stuck {
                        pending::<()>().await;
                    }
                    done.set(done.get() + 1);
                }
            });
            let work = std::pin::pin!(side_by_side::<2, _>(work));
            assert_eq!(poll(work), Poll::Pending);
            assert_eq!(done.get(), reached, "{stuck} stuck");
        }
    }

    #[test]
    fn no_more_are_under_way_than_there_are_places() {
        let (now, most) = (Cell::new(0), Cell::new(0));
        let work = (0..9).map(|_| {
            let (now, most) = (&now, &most);
            async move {
                now.set(now.get() + 1);
                most.set(most.get().max(now.get()));
                let mut first = true;
                poll_fn(
                    |_| if std::mem::take(&mut first) { Poll::Pending } else { Poll::Ready(()) },
                )
                .await;
                now.set(now.get() - 1);
            }
        });
        let mut work = std::pin::pin!(side_by_side::<2, _>(work));
        let polls = (1..20).find(|_| poll(work.as_mut()).is_ready());
        assert!(polls.is_some());
        assert_eq!((most.get(), now.get()), (2, 0));
    }
}
