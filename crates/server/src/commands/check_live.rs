//! `pennyblack check --live`: whether nodes, facilitator, provider, names, clock and store work now.
//!
//! It only reads: no transaction is sent and no card is submitted. Of the configured URLs only the
//! hosts are printed, because the rest may hold a key.

use std::process::ExitCode;
use std::sync::Arc;

use adapters::clock::SystemClock;
use adapters::http::{HostPolicy, HttpClient};
use order::ports::Clock;
use tokio::runtime::Builder;

use crate::config::Config;
use crate::console;
use crate::wiring::sandbox_world;

mod chain_node;
mod facilitator;
mod gas;
mod names;
mod nodes;
mod provider;
mod report;
mod store;

use report::LiveCheck;

/// How the result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LiveReportFormat {
    Table,
    Json,
}

/// The exit code is 1 if any check failed.
pub(crate) fn run(config: &Config, format: LiveReportFormat) -> ExitCode {
    let runtime = Builder::new_current_thread().enable_all().build();
    let checks = match runtime {
        Ok(runtime) => runtime.block_on(all(config)),
        Err(error) => vec![LiveCheck::fail("process", error, "Free memory or file handles.")],
    };
    console::print(&match format {
        LiveReportFormat::Table => report::table(&checks),
        LiveReportFormat::Json => format!("{:#}\n", report::json(&checks)),
    });
    if report::is_failed(&checks) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

async fn all(config: &Config) -> Vec<LiveCheck> {
    let client = match HttpClient::new(HostPolicy::Configured) {
        Ok(client) => client,
        Err(error) => return vec![LiveCheck::fail("process", error, "Report this bug.")],
    };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let sandbox = sandbox_world::running(config);
    let mut checks = nodes::check(config, &sandbox, &client, clock.as_ref()).await;
    checks.extend(facilitator::check(config, &client, &clock).await);
    checks.extend(provider::check(config, &sandbox, &client, &clock).await);
    checks.extend(names::check(config, &sandbox, &client, &clock).await);
    checks.extend(store::check(&config.server.store).await);
    checks
}
