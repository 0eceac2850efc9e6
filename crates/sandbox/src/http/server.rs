//! A server on loopback that can be closed.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::http::listener::{InterceptListener, ResponseOverride};

/// Calls take milliseconds. A client that does not finish within this time is cut off.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// A running server. Dropping it closes it too, without waiting.
pub(crate) struct LoopbackServer {
    address: SocketAddr,
    closing: watch::Sender<()>,
    serving: JoinHandle<io::Result<()>>,
}

/// Binds 127.0.0.1 only; port 0 takes any free port.
pub(crate) async fn bind(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await
}

impl LoopbackServer {
    pub(crate) fn start(listener: TcpListener, router: Router) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (closing, mut closed) = watch::channel(());
        let listener = InterceptListener::new(listener, closed.clone());
        let service = router.into_make_service_with_connect_info::<ResponseOverride>();
        let serving = tokio::spawn(async move {
            // An error means that the server was dropped, which closes it too.
            let until_closed = async move {
                let _ = closed.changed().await;
            };
            axum::serve(listener, service).with_graceful_shutdown(until_closed).await
        });
        Ok(Self { address, closing, serving })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of the server, without a slash at the end.
    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Accepts no more calls, lets running calls finish, and ends those that hang.
    pub(crate) async fn close(mut self) -> io::Result<()> {
        self.closing.send_replace(());
        match timeout(CLOSE_TIMEOUT, &mut self.serving).await {
            Ok(served) => served.map_err(io::Error::other)?,
            Err(_) => {
                self.serving.abort();
                Ok(())
            }
        }
    }
}
