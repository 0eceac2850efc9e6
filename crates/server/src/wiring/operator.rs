//! Builds what the operator's interface works with.

use std::sync::Arc;

use order::operator::OperatorActions;
use order::ports::{Clock, Provider};
use order::tender::Tenders;
use tokio::sync::watch;
use web::task_tracker::TaskTracker;

use crate::config::Config;
use crate::operator::state::{MetricsText, OperatorState};
use crate::operator::token::OperatorSessions;
use crate::wiring::external_services::ExternalServices;
use crate::wiring::no_provider::NoProvider;
use crate::wiring::storage::{OpenStore, Storage};
use crate::wiring::{self, PaymentHandlers, transfers};

/// The parts of the service that operators see and use.
pub(crate) struct OperatorParts<'a> {
    pub(crate) storage: &'a Storage,
    pub(crate) services: &'a ExternalServices,
    pub(crate) payments: Option<&'a PaymentHandlers>,
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) tasks: TaskTracker,
    pub(crate) metrics: MetricsText,
    pub(crate) stopping: watch::Receiver<()>,
}

/// Also without a provider or payments, because earlier orders may need a person. The error
/// text contains the cause and the remedy.
pub(crate) fn state(config: &Config, parts: OperatorParts<'_>) -> Result<OperatorState, String> {
    let OperatorParts { storage, services, payments, clock, tasks, metrics, stopping } = parts;
    let sessions = OperatorSessions::open(&config.server.data)?;
    let provider: Arc<dyn Provider> = match &services.provider {
        // A person waits for the answer, and acts far more rarely than the reconciler.
        Some(handles) => handles.reconciler.clone(),
        None => Arc::new(NoProvider),
    };
    let tenders = payments.map(|payments| Tenders(payments.evidence_tenders.0.clone()));
    let tenders = tenders.unwrap_or_else(|| Tenders(Vec::new()));
    let writer = wiring::writer(storage, clock, &provider);
    let transfers = transfers::transfers(config, services);
    let sqlite = match &storage.store {
        OpenStore::Sqlite(store) => Some(store.clone()),
        OpenStore::Postgres(_) => None,
    };
    Ok(OperatorState {
        actions: Arc::new(OperatorActions { writer, tenders, transfers }),
        store: storage.store.port(),
        clock: clock.clone(),
        names: services.names.clone(),
        sellers: wiring::sellers(config),
        settler: services.settlers.account,
        sqlite,
        metrics,
        sessions,
        tasks,
        stopping,
    })
}
