//! The log: on stderr, as text or JSON, of allowed fields alone.

use std::io::stderr;
use std::panic::PanicHookInfo;

use tracing::{Subscriber, error};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{fmt, registry};

use crate::config::Log;
use crate::telemetry::line::AllowedFields;

mod line;

/// Starts the log of this process, and with it a panic hook that fits.
pub(crate) fn start(log: &Log) {
    tracing::subscriber::set_global_default(subscriber(log, stderr))
        .expect("the log is started once, before anything is logged");
    std::panic::set_hook(Box::new(log_panic));
}

fn subscriber<W>(log: &Log, writer: W) -> impl Subscriber + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let lines = fmt::layer().event_format(AllowedFields(log.format)).with_writer(writer);
    registry().with(log.filter.targets()).with(lines)
}

/// Says where, and never what: the words of a panic may quote what a caller sent.
fn log_panic(panic: &PanicHookInfo<'_>) {
    match panic.location() {
        Some(location) => error!(%location, "panicked"),
        None => error!("panicked"),
    }
}

#[cfg(test)]
mod tests;
