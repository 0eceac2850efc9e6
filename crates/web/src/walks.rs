//! Paid walks in tasks of their own, which go on when the caller hangs up.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The walks under way in this process. Clones share one count.
#[derive(Clone)]
pub struct Walks {
    tally: Arc<watch::Sender<Tally>>,
}

/// How many may be under way. They outlive their callers' connections, so nothing else
/// bounds those of somebody who keeps hanging up.
/// Each takes a few kilobytes.
const WALKS_MAX: usize = 32_768;

/// Why the house takes no new walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoWalk {
    Closing,
    Crowded,
}

#[derive(Clone, Copy)]
struct Tally {
    door: Door,
    under_way: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Door {
    Open,
    Closed,
}

impl Walks {
    pub fn new() -> Self {
        let (tally, _) = watch::channel(Tally { door: Door::Open, under_way: 0 });
        Self { tally: Arc::new(tally) }
    }

    /// Starts a walk that nobody but its own end can stop: dropping the handle
    /// leaves it running.
    pub fn start<W>(&self, walk: W) -> Result<JoinHandle<W::Output>, NoWalk>
    where
        W: Future + Send + 'static,
        W::Output: Send + 'static,
    {
        let under_way = self.admit()?;
        Ok(tokio::spawn(async move {
            let _under_way = under_way;
            walk.await
        }))
    }

    /// Closes the door, waits for the walks under way, and says how many are
    /// left when the patience is over.
    pub async fn finish(&self, patience: Duration) -> usize {
        self.tally.send_modify(|tally| tally.door = Door::Closed);
        let mut tally = self.tally.subscribe();
        let all_home = tally.wait_for(|tally| tally.under_way == 0);
        // Whether they came home or the time ran out, the count says it.
        let _ = timeout(patience, all_home).await;
        self.tally.borrow().under_way
    }

    /// Looks at the door and counts in one step, so that no walk slips in
    /// after `finish` has counted none.
    fn admit(&self) -> Result<UnderWay, NoWalk> {
        let mut admitted = Err(NoWalk::Closing);
        self.tally.send_if_modified(|tally| {
            admitted = match tally.door {
                Door::Open if tally.under_way < WALKS_MAX => Ok(()),
                Door::Open => Err(NoWalk::Crowded),
                Door::Closed => Err(NoWalk::Closing),
            };
            tally.under_way += usize::from(admitted.is_ok());
            admitted.is_ok()
        });
        admitted.map(|()| UnderWay(self.clone()))
    }
}

impl Default for Walks {
    fn default() -> Self {
        Self::new()
    }
}

/// One walk in the count, taken out when dropped: at its end, or when it panics.
struct UnderWay(Walks);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.tally.send_modify(|tally| tally.under_way -= 1);
    }
}

#[cfg(test)]
mod tests;
