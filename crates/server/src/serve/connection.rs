//! One caller's connection, which ends when nothing more comes of it.

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

use super::bell::{Bell, Door, Listener};
use super::pulse::{ByTheBell, HEAD_TIME, Life, Pulse, Watcher};
use super::request_body::{self, Asked};
use crate::config::Limits;

/// For the end of an answer, or of the farewell that HTTP/2 prescribes, on a
/// connection where nothing is under way.
const GOODBYE_TIME: Duration = Duration::from_secs(5);

/// Above what the guard accepts, so that the guard can answer in words; beyond
/// it the parser answers with a bare 431.
const HEAD_BUFFER_BYTES: usize = 64 * 1024;

/// Enough for an agent that asks for everything at once.
const STREAMS: u32 = 128;

type BoxError = Box<dyn Error + Send + Sync>;

pub(super) struct Connections {
    http: Builder<TokioExecutor>,
    bell: Arc<Bell>,
    paid_request: Duration,
}

impl Connections {
    pub(super) fn new(limits: &Limits, bell: Arc<Bell>) -> Self {
        let mut http = Builder::new(TokioExecutor::new());
        http.http1()
            // Some callers close their side once they have asked, and one who has paid
            // must hear so. It is also quicker: who listens for a caller's leave while a
            // request is answered needs a new buffer for every request.
            .half_close(true)
            .max_buf_size(HEAD_BUFFER_BYTES);
        http.http2().timer(TokioTimer::new()).max_concurrent_streams(STREAMS);
        Self { http, bell, paid_request: limits.paid_request }
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
        let pulse = Pulse::new();
        let mut http = self.http.clone();
        http.http1().timer(ByTheBell(pulse.clone())).header_read_timeout(HEAD_TIME);
        let mut watcher = Watcher::new(pulse.clone());
        let service = service_fn(move |request: Request<Incoming>| {
            let under_way = pulse.begin();
            let (request, reading) = request_body::watched(request);
            let answer = answer(request);
            async move {
                let mut answer = answer.await?;
                reading.announce(&mut answer);
                drop(under_way);
                Ok::<_, Infallible>(answer)
            }
        });
        let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
        let mut bell = self.bell.listen();
        let last_words = loop {
            match until_rung(connection.as_mut(), &mut bell).await {
                // A connection that broke off concerns only its caller.
                Heard::End => return,
                Heard::Bell(Door::Closed) => break self.paid_request,
                Heard::Bell(Door::Open) if watcher.beat() == Life::Silent => break GOODBYE_TIME,
                Heard::Bell(Door::Open) => {}
            }
        };
        connection.as_mut().graceful_shutdown();
        let farewell = async {
            // A head that is under way has its time, and no more.
            while let Heard::Bell(_) = until_rung(connection.as_mut(), &mut bell).await {
                watcher.beat();
            }
        };
        // Whoever does not take leave in time is left standing.
        let _ = timeout(last_words, farewell).await;
    }
}

/// What comes first on a connection.
enum Heard {
    End,
    Bell(Door),
}

/// Serves a connection until it ends or the bell rings.
async fn until_rung<C: Future>(mut connection: Pin<&mut C>, bell: &mut Listener) -> Heard {
    poll_fn(|context| {
        if connection.as_mut().poll(context).is_ready() {
            return Poll::Ready(Heard::End);
        }
        bell.poll_rung(context).map(Heard::Bell)
    })
    .await
}

#[cfg(test)]
mod tests;
