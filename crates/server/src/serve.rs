//! Opens the doors, and closes them without leaving anybody halfway.

use std::io;
use std::net::SocketAddr;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use adapters::clock::{HurriedClock, SystemClock};
use order::model::ids::Timestamp;
use order::ports::Clock;
use order::tender::Tenders;
use sandbox::chain::Chains;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Handle};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Duration, Instant, sleep, timeout_at};
use tracing::{error, info, warn};
use web::front::Front;
use web::premises::Premises;
use web::site::Site;
use web::walks::Walks;

use crate::banner::Opened;
use crate::config::values::Shown;
use crate::config::{Config, Limits, Server};
use crate::console::{self, Audience};
use crate::rounds::{Rounds, Unfinished};
use crate::serve::bell::Bell;
use crate::serve::connection::Connections;
use crate::serve::signals::Signals;
use crate::storage::Storage;
use crate::wiring::{Desks, Inside};
use crate::world::{Office, World, signpost};
use crate::{banner, check, open_orders, sweep, wiring, words};

mod bell;
mod complaint;
mod connection;
mod pulse;
mod request_body;
mod signals;

/// How long to leave the system alone when it can give us no connection, as
/// when it has run out of file handles.
const BREATH: Duration = Duration::from_millis(200);

pub(crate) fn run(config: &Config) -> ExitCode {
    let runtime = match Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("Cannot start: {error}\n")),
    };
    let outcome = runtime.block_on(serve(config));
    // What is left over by now must not hold up the exit.
    runtime.shutdown_background();
    match outcome {
        Ok(End::Quiet) => ExitCode::SUCCESS,
        Ok(End::AtOnce) => ExitCode::FAILURE,
        Err(words) => fail(&words),
    }
}

fn fail(words: &str) -> ExitCode {
    console::complain(words);
    ExitCode::FAILURE
}

/// How the day ended.
enum End {
    /// Everybody was served, or had the time that was promised.
    Quiet,
    /// The operator did not want to wait.
    AtOnce,
}

async fn serve(config: &Config) -> Result<End, String> {
    // Before the banner: whoever reads it may stop us at once.
    let mut signals = Signals::listen().map_err(|error| format!("Cannot start: {error}\n"))?;
    let (listener, bound) = bind(config.server.listen)
        .await
        .map_err(|error| complaint::about_listening(config.server.listen, &error))?;
    let catalog =
        words::load(&config.content).map_err(|faults| check::complaint_about_content(&faults))?;
    let clock = clock(config.sandbox.speed);
    let premises = wiring::premises(config, bound, catalog);
    let (storage, site) = prepare(config, premises, clock.now());
    let (storage, site) = (storage?, site?);
    let sweep = tokio::spawn(sweep::run(storage.store.port()));
    let walks = Walks::new();
    let world = World::open(config, &storage.store, clock.clone()).await?;
    let desks = wiring::desks(config, bound, &storage, &world, &clock)?;
    open_orders::warn_at_start(config, storage.store.port().as_ref()).await;
    let mut rounds = wiring::rounds(config, &storage, &world, &clock).map(|desk| {
        let tenders = desks.as_ref().map_or_else(|| Tenders(Vec::new()), Desks::tenders);
        Rounds::start(desk, tenders)
    });
    let inside = Inside {
        site,
        storage: &storage,
        world: &world,
        desks: desks.as_ref(),
        walks: walks.clone(),
        clock,
    };
    let front = web::open(wiring::house(config, bound, inside));
    announce(config, bound, &world);

    let bell = Arc::new(Bell::default());
    let ringing = tokio::spawn(bell.clone().ring());
    let places = Arc::new(Semaphore::new(places_for(&config.limits)));
    let connections = Connections::new(&config.limits, bell.clone());
    let signal = tokio::select! {
        signal = signals.next() => signal,
        never = accept(&listener, front, connections, &places) => match never {},
    };
    // Who comes now is told so at once, and a successor can have the port.
    drop(listener);
    info!(signal, "closing");
    bell.close_door();
    if let Some(rounds) = &rounds {
        rounds.stop();
    }
    let end = tokio::select! {
        left = drain(&config.limits, &places, &walks, rounds.as_mut()) => {
            left.log();
            End::Quiet
        }
        signal = signals.next() => {
            warn!(signal, "ended at once");
            End::AtOnce
        }
    };
    ringing.abort();
    sweep.abort();
    drop(rounds);
    if let Some(chains) = &world.miniature.chains {
        signpost::remove(&config.server.data, &chains.origin());
    }
    world.close().await;
    if storage.store.close().await.is_err() {
        warn!("the store did not close cleanly; recovery runs at the next start");
    }
    Ok(end)
}

fn clock(speed: NonZero<u32>) -> Arc<dyn Clock> {
    if speed == NonZero::<u32>::MIN {
        return Arc::new(SystemClock::start());
    }
    warn!("the clock runs faster than the one on the wall, as sandbox.speed says");
    Arc::new(HurriedClock::start(speed))
}

/// Writes the documents while the store waits for its disk. Nobody is served
/// yet, so this thread may be kept busy.
fn prepare(
    config: &Config,
    premises: Premises,
    now: Timestamp,
) -> (Result<Storage, String>, Result<Site, String>) {
    let runtime = Handle::current();
    thread::scope(|scope| {
        let opening = scope.spawn(move || runtime.block_on(Storage::open(config)));
        let site = Site::write(premises, now);
        let storage = opening.join().expect("opening says what is wrong and does not panic");
        (storage, site.map_err(|fault| check::complaint_about_content(&[fault])))
    })
}

async fn bind(listen: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(listen).await?;
    let bound = listener.local_addr()?;
    Ok((listener, bound))
}

fn announce(config: &Config, bound: SocketAddr, world: &World) {
    let program = std::env::args().next().unwrap_or_else(|| "pennyblack".to_owned());
    let mailbox = world.miniature.post_office.as_ref().map(Office::mailbox_url);
    let chain = world.miniature.chains.as_ref().map(Chains::origin);
    if let Some(chain) = &chain {
        signpost::put(&config.server.data, chain);
    }
    let opened = Opened {
        server: &config.server,
        money: config.paying.money(),
        mail: config.posting.mail(),
        names: &config.names,
        bound,
        program: &program,
        mailbox,
        chain,
    };
    console::say(&banner::text(&opened, Audience::of_stdout()));
    let Server { mode, store, .. } = &config.server;
    info!(listen = %bound, mode = mode.shown(), store = store.kind(), "open");
}

/// Takes callers in while there are places. Those beyond wait in the system's
/// queue, which costs us nothing, instead of being sent away.
async fn accept(
    listener: &TcpListener,
    front: Front,
    connections: Connections,
    places: &Arc<Semaphore>,
) -> std::convert::Infallible {
    let connections = Arc::new(connections);
    loop {
        let place = take_place(places).await;
        let stream = next_caller(listener).await;
        let (connections, front) = (connections.clone(), front.clone());
        tokio::spawn(async move {
            connections.converse(stream, move |asked| front.call(asked)).await;
            drop(place);
        });
    }
}

async fn take_place(places: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    places.clone().acquire_owned().await.expect("nobody closes the semaphore")
}

async fn next_caller(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) if concerns_one_caller(&error) => {}
            Err(error) => {
                error!(kind = ?error.kind(), "cannot accept connections");
                sleep(BREATH).await;
            }
        }
    }
}

fn concerns_one_caller(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
    )
}

/// Who was still there when the time was over.
#[derive(Debug, PartialEq, Eq)]
struct Left {
    connections: usize,
    walks: usize,
    reconciler: Unfinished,
}

impl Left {
    fn log(&self) {
        let Left { connections: connections_left, walks: walks_left, reconciler } = *self;
        if connections_left == 0 && walks_left == 0 && reconciler == Unfinished::No {
            info!("closed, nobody was left");
        } else {
            let reconciler_left = reconciler == Unfinished::Yes;
            warn!(
                connections_left,
                walks_left, reconciler_left, "closed, the next start finds what is left"
            );
        }
    }
}

/// Waits for connections first, as a request that is already here may still
/// start its walk, and then for the walks and the reconciler's round; all within one paid
/// request's time.
async fn drain(
    limits: &Limits,
    places: &Semaphore,
    walks: &Walks,
    rounds: Option<&mut Rounds>,
) -> Left {
    let deadline = Instant::now() + limits.paid_request;
    let all_gone = places.acquire_many(limits.connections);
    let connections = match timeout_at(deadline, all_gone).await {
        Ok(_) => 0,
        Err(_) => places_for(limits) - places.available_permits(),
    };
    let walks = walks.finish(deadline.saturating_duration_since(Instant::now())).await;
    let reconciler = match rounds {
        Some(rounds) => rounds.finish(deadline).await,
        None => Unfinished::No,
    };
    Left { connections, walks, reconciler }
}

fn places_for(limits: &Limits) -> usize {
    usize::try_from(limits.connections).expect("the reader allows a million at most")
}

#[cfg(test)]
mod tests;
