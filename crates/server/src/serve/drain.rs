//! Waits at shutdown for connections, paid requests and the reconciler, up to a timeout.

use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};
use tracing::{info, warn};
use web::task_tracker::TaskTracker;

use crate::config::LimitsConfig;
use crate::jobs::reconciler_loop::{ReconcilerEnd, ReconcilerLoop};

/// What was still running at the timeout.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unfinished {
    connections: usize,
    /// With the actions of operators.
    paid_requests: usize,
    reconciler: ReconcilerEnd,
}

impl Unfinished {
    pub(super) fn log(&self) {
        let Self { connections, paid_requests, reconciler } = *self;
        if connections == 0 && paid_requests == 0 && reconciler == ReconcilerEnd::Finished {
            info!("shutdown complete");
        } else {
            let reconciler_left = reconciler == ReconcilerEnd::TimedOut;
            warn!(
                connections_left = connections,
                paid_requests_left = paid_requests,
                reconciler_left,
                "shutdown timed out; recovery resumes on restart"
            );
        }
    }
}

/// Waits for connections first, because a request that was already received may still start its
/// paid part, and then for the paid parts and the reconciler. The timeout of a paid request
/// covers all of it.
pub(super) async fn drain(
    limits: &LimitsConfig,
    permits_left: &Semaphore,
    tasks: &TaskTracker,
    reconciler: Option<&mut ReconcilerLoop>,
) -> Unfinished {
    let deadline = Instant::now() + limits.paid_request;
    let all_closed = permits_left.acquire_many(limits.connections);
    let connections = match timeout_at(deadline, all_closed).await {
        Ok(_) => 0,
        Err(_) => permits(limits) - permits_left.available_permits(),
    };
    let paid_requests = tasks.shutdown(deadline.saturating_duration_since(Instant::now())).await;
    let reconciler = match reconciler {
        Some(reconciler) => reconciler.finish(deadline).await,
        None => ReconcilerEnd::Finished,
    };
    Unfinished { connections, paid_requests, reconciler }
}

/// One permit for each connection.
pub(super) fn permits(limits: &LimitsConfig) -> usize {
    usize::try_from(limits.connections).expect("the configuration allows a million at most")
}

#[cfg(test)]
mod tests;
