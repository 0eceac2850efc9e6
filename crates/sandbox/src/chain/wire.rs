//! Connections that can be cut in the middle of an answer.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::Router;
use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The scissors of one connection: cut, and nothing is written to it any more.
#[derive(Clone, Default)]
pub(super) struct Scissors(Arc<AtomicBool>);

impl Scissors {
    pub(super) fn cut(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(super) struct Wires(pub(super) TcpListener);

pub(super) struct Wire {
    stream: TcpStream,
    scissors: Scissors,
}

impl Listener for Wires {
    type Io = Wire;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Wire, SocketAddr) {
        let (stream, peer) = Listener::accept(&mut self.0).await;
        (Wire { stream, scissors: Scissors::default() }, peer)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl Connected<IncomingStream<'_, Wires>> for Scissors {
    fn connect_info(stream: IncomingStream<'_, Wires>) -> Self {
        stream.io().scissors.clone()
    }
}

/// Serves until the channel says otherwise.
pub(super) async fn serve(wires: Wires, router: Router, mut closed: watch::Receiver<()>) {
    let service = router.into_make_service_with_connect_info::<Scissors>();
    let until = async move {
        let _ = closed.changed().await;
    };
    // It ends when told to, and accepting never fails for good.
    let _ = axum::serve(wires, service).with_graceful_shutdown(until).await;
}

impl Wire {
    /// Cut, the other side sees a reset and not a quiet end.
    fn check(&self) -> io::Result<()> {
        if self.scissors.0.load(Ordering::Relaxed) {
            self.stream.set_zero_linger()?;
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(())
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
