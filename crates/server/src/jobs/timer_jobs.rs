//! The background jobs that run on a timer.

use std::sync::Arc;

use order::ports::Clock;
use tokio::task::JoinHandle;

use crate::jobs::expiry_job;
use crate::jobs::metrics_job::MetricsJob;
use crate::metrics::MetricsHandle;
use crate::wiring::external_services::ExternalServices;
use crate::wiring::storage::Storage;

/// The jobs that can be ended at any time.
pub(crate) struct TimerJobs([JoinHandle<()>; 2]);

impl TimerJobs {
    pub(crate) fn start(
        metrics: &MetricsHandle,
        storage: &Storage,
        services: &ExternalServices,
        clock: &Arc<dyn Clock>,
    ) -> Self {
        let metrics = MetricsJob {
            metrics: metrics.clone(),
            provider_budget: services.provider.as_ref().map(|provider| provider.budget.clone()),
            store: storage.store.port(),
            clock: clock.clone(),
        };
        let expiry = tokio::spawn(expiry_job::run(storage.store.port(), clock.clone()));
        Self([expiry, tokio::spawn(metrics.run())])
    }

    pub(crate) fn abort(&self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}
