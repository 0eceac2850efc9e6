//! Opens the operator's interface beside the public listener, and closes it with the service.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::watch;

use crate::config::Config;
use crate::metrics::MetricsHandle;
use crate::operator;
use crate::operator::access::Entrance;
use crate::operator::listener::{OperatorListeners, OperatorServer};
use crate::wiring::operator::OperatorParts;
use crate::wiring::{self, AppParts};

/// The operator's interface, which runs.
pub(crate) struct OperatorInterface {
    server: OperatorServer,
    /// The address of its loopback listener.
    pub(crate) console: Option<SocketAddr>,
}

impl OperatorInterface {
    pub(crate) async fn open(
        config: &Config,
        parts: &AppParts<'_>,
        metrics: MetricsHandle,
    ) -> Result<Self, String> {
        let cannot_start = |cause: String| format!("Cannot start: {cause}\n");
        let (stop, stopping) = watch::channel(());
        let AppParts { storage, services, payments, tasks, clock, .. } = parts;
        let tasks = tasks.clone();
        let (payments, metrics) = (*payments, Box::new(move || metrics.render()));
        let parts = OperatorParts { storage, services, payments, clock, tasks, metrics, stopping };
        let state = wiring::operator::state(config, parts).map_err(cannot_start)?;
        let state = Arc::new(state);
        let listeners = OperatorListeners::bind(&config.server.data, config.operator.listen).await;
        let listeners = listeners.map_err(cannot_start)?;
        let console = listeners.bound;
        let [at_socket, at_loopback] = [Entrance::Socket, Entrance::Loopback]
            .map(|entrance| operator::router(&state, entrance));
        Ok(Self { server: listeners.serve(stop, at_socket, at_loopback), console })
    }

    /// No new request is taken.
    pub(crate) fn stop(&self) {
        self.server.stop();
    }

    /// Waits for the requests in progress.
    pub(crate) async fn finish(self) {
        self.server.finish().await;
    }
}
