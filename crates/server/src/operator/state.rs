//! What the operator's interface works with, shared by the JSON API and the console.

use std::sync::Arc;

use adapters::store::sqlite::SqliteStore;
use order::model::chain::EvmAddress;
use order::model::seller::Sellers;
use order::operator::OperatorActions;
use order::ports::{Clock, NameService, Store};
use tokio::sync::watch;
use web::task_tracker::TaskTracker;

use crate::operator::token::OperatorSessions;

/// Renders the metrics.
pub(crate) type MetricsText = Box<dyn Fn() -> String + Send + Sync>;

/// Everything that the operator's interface needs. It decides nothing by itself: orders are
/// read from the store and changed by `actions`.
pub(crate) struct OperatorState {
    pub(crate) actions: Arc<OperatorActions>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) names: Arc<dyn NameService>,
    pub(crate) sellers: Sellers,
    /// The account of our own settler, which pays gas.
    pub(crate) settler: Option<EvmAddress>,
    /// The store, if it is an SQLite file, for backups.
    pub(crate) sqlite: Option<Arc<SqliteStore>>,
    pub(crate) metrics: MetricsText,
    pub(crate) sessions: OperatorSessions,
    /// Where actions run, beside paid requests: a shutdown waits for them.
    pub(crate) tasks: TaskTracker,
    /// Changes when the service shuts down, so that requests that wait end.
    pub(crate) stopping: watch::Receiver<()>,
}
