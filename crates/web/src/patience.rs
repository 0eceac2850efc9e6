//! Waiting for a limited time, without a timer for what is there at once.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::error::Elapsed;
use tokio::time::timeout;

/// Waits for something, but no longer than this. Nearly every body has come with its
/// head, and nearly every challenge is made of memory: they need no timer.
pub(crate) async fn within<T>(time: Duration, work: impl Future<Output = T>) -> Result<T, Elapsed> {
    let mut work = pin!(work);
    let at_once = poll_fn(|context| Poll::Ready(work.as_mut().poll(context)));
    if let Poll::Ready(done) = at_once.await {
        return Ok(done);
    }
    // In a box, as few need one.
    Box::pin(timeout(time, work)).await
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tokio::time::{Instant, sleep};

    use super::*;

    const TIME: Duration = Duration::from_secs(7);

    #[tokio::test(start_paused = true)]
    async fn what_is_there_or_comes_in_time_is_taken_and_the_rest_given_up() {
        let begun = Instant::now();
        assert_eq!(within(TIME, ready(1)).await.ok(), Some(1));
        assert_eq!(begun.elapsed(), Duration::ZERO);
        let later = async {
            sleep(TIME / 2).await;
            2
        };
        assert_eq!(within(TIME, later).await.ok(), Some(2));
        assert_eq!(begun.elapsed(), TIME / 2);
        assert!(within(TIME, pending::<()>()).await.is_err());
        assert_eq!(begun.elapsed(), TIME / 2 + TIME);
    }
}
