//! A timeout that starts no timer for a future that is ready at once.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::error::Elapsed;
use tokio::time::timeout;

/// Nearly every body arrives with its head, and nearly every challenge needs no I/O: they need
/// no timer.
pub(crate) async fn with_timeout<T>(
    time: Duration,
    work: impl Future<Output = T>,
) -> Result<T, Elapsed> {
    let mut work = pin!(work);
    let immediate = poll_fn(|context| Poll::Ready(work.as_mut().poll(context)));
    if let Poll::Ready(done) = immediate.await {
        return Ok(done);
    }
    // Boxed, because few requests need a timer.
    Box::pin(timeout(time, work)).await
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tokio::time::{Instant, sleep};

    use super::*;

    const TIME: Duration = Duration::from_secs(7);

    #[tokio::test(start_paused = true)]
    async fn a_result_before_the_timeout_is_returned_and_a_later_one_is_an_error() {
        let started = Instant::now();
        assert_eq!(with_timeout(TIME, ready(1)).await.ok(), Some(1));
        assert_eq!(started.elapsed(), Duration::ZERO);
        let later = async {
            sleep(TIME / 2).await;
            2
        };
        assert_eq!(with_timeout(TIME, later).await.ok(), Some(2));
        assert_eq!(started.elapsed(), TIME / 2);
        assert!(with_timeout(TIME, pending::<()>()).await.is_err());
        assert_eq!(started.elapsed(), TIME / 2 + TIME);
    }
}
