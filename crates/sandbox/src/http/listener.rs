//! A listener whose connections a handler can take over from the HTTP library.

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

use crate::http::raw_response::RawResponse;

/// Pause after a failed accept, for example without free sockets.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

pub(crate) struct InterceptListener {
    listener: TcpListener,
    closing: watch::Receiver<()>,
}

/// A connection. If a handler has set a raw response, it takes the socket at the first byte
/// that the HTTP library would write.
pub(crate) struct InterceptedStream {
    stream: Option<TcpStream>,
    raw: ResponseOverride,
    closing: watch::Receiver<()>,
}

/// Where a handler sets the raw response of its connection.
#[derive(Clone, Default)]
pub(crate) struct ResponseOverride(Arc<Mutex<Option<RawResponse>>>);

impl InterceptListener {
    pub(crate) const fn new(listener: TcpListener, closing: watch::Receiver<()>) -> Self {
        Self { listener, closing }
    }
}

impl ResponseOverride {
    pub(crate) fn send(&self, plan: RawResponse) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(plan);
    }

    fn take(&self) -> Option<RawResponse> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Listener for InterceptListener {
    type Io = InterceptedStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (InterceptedStream, SocketAddr) {
        loop {
            if let Ok((stream, address)) = self.listener.accept().await {
                // Without delay for small responses; if it cannot be set, they are only
                // slower.
                let _ = stream.set_nodelay(true);
                let closing = self.closing.clone();
                return (
                    InterceptedStream {
                        stream: Some(stream),
                        raw: ResponseOverride::default(),
                        closing,
                    },
                    address,
                );
            }
            tokio::time::sleep(ACCEPT_PAUSE).await;
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Connected<IncomingStream<'_, InterceptListener>> for ResponseOverride {
    fn connect_info(stream: IncomingStream<'_, InterceptListener>) -> Self {
        stream.io().raw.clone()
    }
}

impl AsyncRead for InterceptedStream {
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

impl AsyncWrite for InterceptedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Some(plan) = self.raw.take()
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
