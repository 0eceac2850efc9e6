//! Serves one connection until the client closes it, it is idle for too long or too old, or the server stops.

use std::convert::Infallible;
use std::error::Error;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::idle_timeout::{
    ConnectionActivity, ConnectionState, HEAD_TIMEOUT, IdleTimeout, TickTimer,
};
use super::request_body::{self, IncomingRequest};
use super::ticker::{ServerState, TickSubscription, Ticker};
use crate::config::LimitsConfig;

/// For the end of a response, or the GOAWAY of HTTP/2, on a connection without a request in
/// progress.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Above the limit of the router, so that the router can respond with a body; beyond it hyper
/// responds with a bare 431.
const HEAD_BUFFER_BYTES: usize = 64 * 1024;

/// Enough for an agent that requests all documents at once.
const STREAMS: u32 = 128;

type BoxError = Box<dyn Error + Send + Sync>;

pub(super) struct Connections {
    http: Builder<TokioExecutor>,
    ticker: Arc<Ticker>,
    paid_request: Duration,
}

impl Connections {
    pub(super) fn new(limits: &LimitsConfig, ticker: Arc<Ticker>) -> Self {
        let mut http = Builder::new(TokioExecutor::new());
        http.http1()
            // Some clients close their side after the request, and one that has paid must get
            // its response. It is also faster: without it hyper reads during each request, which
            // takes a new buffer.
            .half_close(true)
            .max_buf_size(HEAD_BUFFER_BYTES);
        http.http2().timer(TokioTimer::new()).max_concurrent_streams(STREAMS);
        Self { http, ticker, paid_request: limits.paid_request }
    }

    /// At an idle timeout and at shutdown, requests in progress are completed first.
    pub(super) async fn serve<A, B>(&self, stream: TcpStream, handle: impl Fn(IncomingRequest) -> A)
    where
        A: Future<Output = Result<Response<B>, Infallible>> + Send + 'static,
        B: Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
    {
        // Responses are small and complete; waiting to fill a packet only delays them. A socket
        // that rejects the option works too.
        let _ = stream.set_nodelay(true);
        let activity = ConnectionActivity::new();
        let mut http = self.http.clone();
        http.http1().timer(TickTimer(activity.clone())).header_read_timeout(HEAD_TIMEOUT);
        let mut idle_timeout = IdleTimeout::new(activity.clone());
        let service = service_fn(move |request: Request<Incoming>| {
            // mutant: leaked-handles
            let in_progress = activity.begin_request(request.version());
            let (request, progress) = request_body::watched(request);
            let response = handle(request);
            async move {
                let mut response = response.await?;
                progress.announce_close(&mut response);
                drop(in_progress);
                Ok::<_, Infallible>(response)
            }
        });
        let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
        let mut ticks = self.ticker.subscribe();
        let close_timeout = loop {
            match until_tick(connection.as_mut(), &mut ticks).await {
                // An error of a connection concerns only its client.
                Event::ConnectionEnd => return,
                Event::Tick(ServerState::ShuttingDown) => break self.paid_request,
                Event::Tick(ServerState::Running) => match idle_timeout.tick() {
                    ConnectionState::Active => {}
                    ConnectionState::Idle => break CLOSE_TIMEOUT,
                    ConnectionState::Old => break self.paid_request,
                },
            }
        };
        connection.as_mut().graceful_shutdown();
        let closing = async {
            // The ticks also drive the timeout of a request head.
            while let Event::Tick(_) = until_tick(connection.as_mut(), &mut ticks).await {
                idle_timeout.tick();
            }
        };
        // After the timeout the connection is dropped.
        let _ = timeout(close_timeout, closing).await;
    }
}

enum Event {
    ConnectionEnd,
    Tick(ServerState),
}

/// Serves a connection until it ends or the next tick.
async fn until_tick<C: Future>(mut connection: Pin<&mut C>, ticks: &mut TickSubscription) -> Event {
    poll_fn(|context| {
        if connection.as_mut().poll(context).is_ready() {
            return Poll::Ready(Event::ConnectionEnd);
        }
        ticks.poll_tick(context).map(Event::Tick)
    })
    .await
}

#[cfg(test)]
mod tests;
