//! One caller's connection, which ends when nothing more comes of it.

use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::config::Limits;

/// A head fits in one packet or a few; who needs longer than this is holding a
/// place on purpose. On HTTP/1 it also ends connections that are kept alive
/// and not used.
const HEAD_TIME: Duration = Duration::from_secs(5);

/// How long nothing may begin on a connection that has been useful, which is
/// what an HTTP/2 client or a slow reader gets.
const IDLE_TIME: Duration = Duration::from_secs(30);

/// For the end of an answer, or of the farewell that HTTP/2 prescribes, on a
/// connection where nothing is under way.
const GOODBYE_TIME: Duration = Duration::from_secs(5);

/// Above what the guard accepts, so that the guard can answer in words; beyond
/// it the parser answers with a bare 431.
const HEAD_BUFFER_BYTES: usize = 64 * 1024;

/// Enough for an agent that asks for everything at once.
const STREAMS: u32 = 128;

/// What a caller sends.
pub(super) type Asked = Request<Incoming>;
type BoxError = Box<dyn Error + Send + Sync>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    Open,
    Closed,
}

pub(super) struct Connections {
    http: Builder<TokioExecutor>,
    door: watch::Receiver<Door>,
    paid_request: Duration,
}

impl Connections {
    pub(super) fn new(limits: &Limits, door: watch::Receiver<Door>) -> Self {
        let mut http = Builder::new(TokioExecutor::new());
        http.http1()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            // Some callers close their side once they have asked, and one who has paid
            // must hear so. It is also quicker: who listens for a caller's leave while a
            // request is answered needs a new buffer for every request.
            .half_close(true)
            .max_buf_size(HEAD_BUFFER_BYTES);
        http.http2().timer(TokioTimer::new()).max_concurrent_streams(STREAMS);
        Self { http, door, paid_request: limits.paid_request }
    }

    /// Serves one caller until they leave, fall silent, or the door closes; in
    /// the latter two cases what is under way is finished first.
    pub(super) async fn converse<A, B>(&self, stream: TcpStream, answer: impl Fn(Asked) -> A)
    where
        A: Future<Output = Result<Response<B>, Infallible>> + Send + 'static,
        B: Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
    {
        // Answers are small and whole; waiting to fill a packet only delays them.
        // A socket that refuses the wish serves all the same.
        let _ = stream.set_nodelay(true);
        let pulse = Arc::new(Pulse::default());
        let beat = pulse.clone();
        let service = service_fn(move |request: Asked| {
            let under_way = beat.begin();
            let answer = answer(request);
            async move {
                let answer = answer.await;
                drop(under_way);
                answer
            }
        });
        let mut connection = pin!(self.http.serve_connection(TokioIo::new(stream), service));
        let mut door = self.door.clone();
        let last_words = tokio::select! {
            // A connection that broke off concerns nobody but its caller.
            _ = connection.as_mut() => return,
            () = pulse.stopped() => GOODBYE_TIME,
            _ = door.wait_for(|door| *door == Door::Closed) => self.paid_request,
        };
        connection.as_mut().graceful_shutdown();
        // Whoever does not take leave in time is left standing.
        let _ = timeout(last_words, connection).await;
    }
}

/// What happens on a connection, counted and not timed: a request costs two
/// additions, and only the watcher asks the clock.
#[derive(Default)]
struct Pulse {
    begun: AtomicU64,
    ended: AtomicU64,
}

impl Pulse {
    fn begin(self: &Arc<Self>) -> UnderWay {
        self.begun.fetch_add(1, Ordering::Relaxed);
        UnderWay(self.clone())
    }

    /// Comes back when a whole spell has passed in which nothing was under way
    /// and nothing began. The first spell is short: it also covers the bytes
    /// by which HTTP/2 is told from HTTP/1, for which the parser has no timer.
    async fn stopped(&self) {
        let mut seen = 0;
        let mut spell = HEAD_TIME;
        loop {
            sleep(spell).await;
            let begun = self.begun.load(Ordering::Relaxed);
            if begun == seen && self.ended.load(Ordering::Relaxed) == begun {
                return;
            }
            seen = begun;
            spell = IDLE_TIME;
        }
    }
}

/// One request under way, until dropped: answered, or given up by its caller.
struct UnderWay(Arc<Pulse>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
