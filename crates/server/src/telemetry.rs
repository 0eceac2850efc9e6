//! The log on stderr, as text or JSON, with allowed fields only.

use std::io::stderr;
use std::panic::PanicHookInfo;

use tracing::{Subscriber, error};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{fmt, registry};

use crate::config::LogConfig;
use crate::telemetry::line::AllowedFields;

mod line;

/// Starts the log of this process, and logs panics.
pub(crate) fn start(log: &LogConfig) {
    tracing::subscriber::set_global_default(subscriber(log, stderr))
        .expect("the log is started once, before the first event");
    std::panic::set_hook(Box::new(log_panic));
}

fn subscriber<W>(log: &LogConfig, writer: W) -> impl Subscriber + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let lines = fmt::layer().event_format(AllowedFields(log.format)).with_writer(writer);
    registry().with(log.filter.targets()).with(lines)
}

/// Logs the location only: the message of a panic may contain data of a request.
fn log_panic(panic: &PanicHookInfo<'_>) {
    match panic.location() {
        Some(location) => error!(%location, "panicked"),
        None => error!("panicked"),
    }
}

#[cfg(test)]
mod tests;
