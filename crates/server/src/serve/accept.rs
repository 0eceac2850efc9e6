//! Accepts connections, up to the configured number.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;
use tracing::error;
use web::app::App;

use super::connection::Connections;

/// The pause after the operating system failed to accept a connection, for example because the
/// process has no file descriptors left.
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// Accepts while there are permits. Further connections wait in the backlog of the operating
/// system, which costs nothing, instead of being refused.
pub(super) async fn accept(
    listener: &TcpListener,
    app: App,
    connections: Connections,
    permits: &Arc<Semaphore>,
) -> Infallible {
    let connections = Arc::new(connections);
    loop {
        let permit = take_permit(permits).await;
        let stream = next_stream(listener).await;
        let (connections, app) = (connections.clone(), app.clone());
        tokio::spawn(async move {
            connections.serve(stream, move |request| app.call(request)).await;
            drop(permit);
        });
    }
}

pub(super) async fn take_permit(permits: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    permits.clone().acquire_owned().await.expect("the semaphore is never closed")
}

async fn next_stream(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) if concerns_one_connection(&error) => {}
            Err(error) => {
                error!(kind = ?error.kind(), "cannot accept connections");
                sleep(RETRY_PAUSE).await;
            }
        }
    }
}

fn concerns_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
    )
}
