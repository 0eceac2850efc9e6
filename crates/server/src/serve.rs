//! Serves requests until a signal, and then shuts down gracefully.

use std::io;
use std::net::SocketAddr;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use adapters::clock::{AcceleratedClock, SystemClock};
use order::model::ids::Timestamp;
use order::ports::Clock;
use order::tender::Tenders;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Handle};
use tokio::sync::Semaphore;
use tracing::{info, warn};
use web::app::App;
use web::documents::site::Site;
use web::site_facts::SiteFacts;
use web::task_tracker::TaskTracker;

use crate::config::values::ReportText;
use crate::config::{Config, ServerConfig};
use crate::console::{self, Audience};
use crate::jobs::reconciler_loop::ReconcilerLoop;
use crate::jobs::timer_jobs::TimerJobs;
use crate::metrics;
use crate::serve::banner::BannerFacts;
use crate::serve::connection::Connections;
use crate::serve::notify::ServiceManager;
use crate::serve::operator_interface::OperatorInterface;
use crate::serve::signals::Signals;
use crate::serve::ticker::Ticker;
use crate::wiring::external_services::ExternalServices;
use crate::wiring::storage::Storage;
use crate::wiring::{self, AppParts, PaymentHandlers, catalog, chain_url_file, open_orders};

mod accept;
mod banner;
mod connection;
mod drain;
mod idle_timeout;
mod listen_error;
mod notify;
mod operator_interface;
mod request_body;
mod signals;
mod ticker;

pub(crate) fn run(config: &Config) -> ExitCode {
    let runtime = match Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("Cannot start: {error}\n")),
    };
    let outcome = runtime.block_on(serve(config));
    // Tasks that are still running must not delay the exit.
    runtime.shutdown_background();
    match outcome {
        Ok(Shutdown::Graceful) => ExitCode::SUCCESS,
        Ok(Shutdown::Immediate) => ExitCode::FAILURE,
        Err(message) => fail(&message),
    }
}

fn fail(message: &str) -> ExitCode {
    console::print_error(message);
    ExitCode::FAILURE
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shutdown {
    /// All work ended, or the timeout passed.
    Graceful,
    /// A second signal ended the shutdown.
    Immediate,
}

async fn serve(config: &Config) -> Result<Shutdown, String> {
    // First, because what is counted before is not recorded.
    let metrics = metrics::install();
    // Before the banner: its reader may send a signal at once.
    let mut signals = Signals::listen().map_err(|error| format!("Cannot start: {error}\n"))?;
    let (listener, bound) = bind(config.server.listen)
        .await
        .map_err(|error| listen_error::message(config.server.listen, &error))?;
    let catalog =
        catalog::load(&config.content).map_err(|faults| catalog::error_message(&faults))?;
    let clock = clock(config.sandbox.speed);
    let facts = wiring::site_facts(config, bound, catalog);
    let (storage, site) = open_storage_and_render(config, facts, clock.now());
    let (storage, site) = (storage?, site?);
    let tasks = TaskTracker::new();
    let services = ExternalServices::open(config, &storage.store, clock.clone()).await?;
    let payments = wiring::payment_handlers(config, bound, &storage, &services, &clock)?;
    let mut reconciler = wiring::reconciler(&storage, &services, &clock).map(|reconciler| {
        let tenders = payments.as_ref();
        let tenders = tenders.map_or_else(|| Tenders(Vec::new()), PaymentHandlers::tenders);
        ReconcilerLoop::start(reconciler, tenders)
    });
    let jobs = TimerJobs::start(&metrics, &storage, &services, &clock);
    let parts = AppParts {
        site,
        storage: &storage,
        services: &services,
        payments: payments.as_ref(),
        tasks: tasks.clone(),
        clock,
    };
    let operator = OperatorInterface::open(config, &parts, metrics).await?;
    let app = App::new(wiring::app_state(config, bound, parts));
    let service_manager = announce(config, bound, operator.console, &services);

    let ticker = Arc::new(Ticker::default());
    let ticking = tokio::spawn(ticker.clone().run());
    let permits = Arc::new(Semaphore::new(drain::permits(&config.limits)));
    let connections = Connections::new(&config.limits, ticker.clone());
    // Many orders take seconds to read, and callers do not wait for a warning.
    let warned = open_orders::warn_at_start(config, &storage);
    let accepted = accept::accept(&listener, app, connections, &permits);
    let signal = tokio::select! {
        signal = signals.next() => signal,
        ((), never) = async { tokio::join!(warned, accepted) } => match never {},
    };
    // New connections are refused from here on, and another process can use the port.
    drop(listener);
    info!(signal, "shutting down");
    service_manager.stopping(config.limits.paid_request);
    ticker.shut_down();
    operator.stop();
    if let Some(reconciler) = &reconciler {
        reconciler.stop();
    }
    let shutdown = tokio::select! {
        unfinished = drain::drain(&config.limits, &permits, &tasks, reconciler.as_mut()) => {
            unfinished.log();
            Shutdown::Graceful
        }
        signal = signals.next() => {
            warn!(signal, "shutdown interrupted by a second signal");
            Shutdown::Immediate
        }
    };
    ticking.abort();
    jobs.abort();
    drop(reconciler);
    if shutdown == Shutdown::Graceful {
        operator.finish().await;
    }
    close(config, services, &storage).await;
    Ok(shutdown)
}

async fn close(config: &Config, services: ExternalServices, storage: &Storage) {
    if let Some(chains) = &services.sandbox.chains {
        chain_url_file::remove(&config.server.data, &chains.origin);
    }
    services.close().await;
    if storage.store.close().await.is_err() {
        warn!("the store did not close cleanly; recovery runs at the next start");
    }
}

fn clock(speed: NonZero<u32>) -> Arc<dyn Clock> {
    if speed == NonZero::<u32>::MIN {
        return Arc::new(SystemClock::start());
    }
    warn!("the clock runs faster than real time because of sandbox.speed");
    Arc::new(AcceleratedClock::start(speed))
}

/// Renders the documents while the store waits for its disk. No request is served yet, so this
/// thread may block.
fn open_storage_and_render(
    config: &Config,
    facts: SiteFacts,
    now: Timestamp,
) -> (Result<Storage, String>, Result<Site, String>) {
    let runtime = Handle::current();
    thread::scope(|scope| {
        let opening = scope.spawn(move || runtime.block_on(Storage::open(config)));
        let site = Site::render(facts, now);
        let storage = opening.join().expect("opening returns errors and does not panic");
        (storage, site.map_err(|fault| catalog::error_message(&[fault])))
    })
}

async fn bind(listen: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(listen).await?;
    let bound = listener.local_addr()?;
    Ok((listener, bound))
}

/// Tells the person and the service manager that started this process that it is ready.
fn announce(
    config: &Config,
    bound: SocketAddr,
    console: Option<SocketAddr>,
    services: &ExternalServices,
) -> ServiceManager {
    let program = std::env::args().next().unwrap_or_else(|| "pennyblack".to_owned());
    let sandbox = &services.sandbox;
    let mailbox = sandbox.provider.as_ref().map(|provider| provider.mailbox_url.clone());
    let chain = sandbox.chains.as_ref().map(|chains| chains.origin.clone());
    if let Some(chain) = &chain {
        chain_url_file::write(&config.server.data, chain);
    }
    let facts = BannerFacts {
        server: &config.server,
        money: config.payments.money(),
        mailing: config.provider.mailing(),
        names: &config.names,
        bound,
        console,
        program: &program,
        mailbox,
        chain,
    };
    console::print(&banner::text(&facts, Audience::of_stdout()));
    let ServerConfig { mode, store, .. } = &config.server;
    info!(listen = %bound, mode = mode.report_text(), store = store.kind(), "serving");
    let service_manager = ServiceManager::of_process();
    service_manager.ready();
    service_manager
}
