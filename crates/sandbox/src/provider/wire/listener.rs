//! A listener whose connections can be taken out of the HTTP library's hands.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::plan::Plan;

/// A machine that is out of sockets for a moment is asked again after this.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

pub(crate) struct Door {
    listener: TcpListener,
    closing: watch::Receiver<()>,
}

/// A connection. Once a plan lies on its wire, the socket leaves with the plan
/// at the first byte that the library would have written.
pub(crate) struct Socket {
    stream: Option<TcpStream>,
    wire: Wire,
    closing: watch::Receiver<()>,
}

/// Where a handler lays the plan for its own connection.
#[derive(Clone, Default)]
pub(crate) struct Wire(Arc<Mutex<Option<Plan>>>);

impl Door {
    pub(crate) const fn new(listener: TcpListener, closing: watch::Receiver<()>) -> Self {
        Self { listener, closing }
    }
}

impl Wire {
    pub(crate) fn lay(&self, plan: Plan) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(plan);
    }

    fn take(&self) -> Option<Plan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Listener for Door {
    type Io = Socket;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Socket, SocketAddr) {
        loop {
            if let Ok((stream, address)) = self.listener.accept().await {
                // Small answers shall not wait for one another; if it cannot be
                // set, they are only slower.
                let _ = stream.set_nodelay(true);
                let closing = self.closing.clone();
                return (Socket { stream: Some(stream), wire: Wire::default(), closing }, address);
            }
            tokio::time::sleep(ACCEPT_PAUSE).await;
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Connected<IncomingStream<'_, Door>> for Wire {
    fn connect_info(stream: IncomingStream<'_, Door>) -> Self {
        stream.io().wire.clone()
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Some(stream) => Pin::new(stream).poll_read(context, buffer),
            None => Poll::Ready(Ok(())),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Some(plan) = self.wire.take()
            && let Some(stream) = self.stream.take()
        {
            tokio::spawn(plan.play(stream, self.closing.clone()));
        }
        match &mut self.stream {
            Some(stream) => Pin::new(stream).poll_write(context, bytes),
            None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Some(stream) => Pin::new(stream).poll_flush(context),
            None => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Some(stream) => Pin::new(stream).poll_shutdown(context),
            None => Poll::Ready(Ok(())),
        }
    }
}
