//! Tells the service manager (systemd, `Type=notify`) when the service is ready, stopping and alive.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::interval;
use tracing::warn;

/// Added to the drain's timeout, for closing the store.
const CLOSING: Duration = Duration::from_secs(30);

/// The service manager that started this process, if there is one that wants to be told.
#[derive(Clone)]
pub(super) struct ServiceManager(Option<Arc<Channel>>);

struct Channel {
    socket: UnixDatagram,
    address: SocketAddr,
    /// How long the service manager waits for a sign of life before it restarts the service.
    watchdog: Option<Duration>,
}

impl ServiceManager {
    #[expect(clippy::disallowed_methods, reason = "variables of systemd's protocol, no settings")]
    pub(super) fn of_process() -> Self {
        let watched = std::env::var("WATCHDOG_PID").ok();
        let is_ours = watched.is_none_or(|process| process == std::process::id().to_string());
        let watchdog = std::env::var("WATCHDOG_USEC").ok().filter(|_| is_ours);
        Self::new(std::env::var_os("NOTIFY_SOCKET"), watchdog.as_deref())
    }

    fn new(socket: Option<OsString>, watchdog: Option<&str>) -> Self {
        let Some(name) = socket else { return Self(None) };
        let watchdog = watchdog.and_then(|text| text.parse().ok()).filter(|wait| *wait > 0);
        let watchdog = watchdog.map(Duration::from_micros);
        match open(&name) {
            Ok((socket, address)) => Self(Some(Arc::new(Channel { socket, address, watchdog }))),
            Err(error) => {
                warn!(kind = ?error.kind(), "cannot use the socket of the service manager");
                Self(None)
            }
        }
    }

    /// Requests are accepted. From now on signs of life are sent.
    pub(super) fn ready(&self) {
        self.tell("READY=1");
        if let Some(watchdog) = self.0.as_ref().and_then(|channel| channel.watchdog) {
            let manager = self.clone();
            tokio::spawn(async move {
                // As systemd recommends. A task sends them, so they stop if no task can run.
                let mut signs = interval(watchdog / 2);
                loop {
                    signs.tick().await;
                    manager.tell("WATCHDOG=1");
                }
            });
        }
    }

    /// The shutdown has begun and takes at most this long, also if that is longer than the unit
    /// allows.
    pub(super) fn stopping(&self, drain: Duration) {
        let micros = (drain + CLOSING).as_micros();
        self.tell(&format!("STOPPING=1\nEXTEND_TIMEOUT_USEC={micros}"));
    }

    fn tell(&self, state: &str) {
        let Some(channel) = &self.0 else { return };
        let sent = channel.socket.send_to_addr(state.as_bytes(), &channel.address);
        if let Err(error) = sent {
            warn!(kind = ?error.kind(), "cannot notify the service manager");
        }
    }
}

/// A name that begins with @ is in the abstract namespace of Linux.
fn open(name: &OsStr) -> io::Result<(UnixDatagram, SocketAddr)> {
    let address = match name.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        _ => SocketAddr::from_pathname(name)?,
    };
    let socket = UnixDatagram::unbound()?;
    // A service manager that does not listen must not delay the service.
    socket.set_nonblocking(true)?;
    Ok((socket, address))
}

#[cfg(test)]
mod tests {
    use tokio::net::UnixDatagram as Receiver;
    use tokio::time::Instant;

    use super::*;

    async fn received(receiver: &Receiver) -> String {
        let mut buffer = [0; 256];
        let length = receiver.recv(&mut buffer).await.unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_told_of_the_start_the_stop_and_twice_per_watchdog_period() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let receiver = Receiver::bind(&path).unwrap();
        let manager = ServiceManager::new(Some(path.into()), Some("30000000"));
        manager.ready();
        assert_eq!(received(&receiver).await, "READY=1");
        assert_eq!(received(&receiver).await, "WATCHDOG=1");
        let begun = Instant::now();
        assert_eq!(received(&receiver).await, "WATCHDOG=1");
        assert_eq!(begun.elapsed(), Duration::from_secs(15));
        manager.stopping(Duration::from_secs(60));
        assert_eq!(received(&receiver).await, "STOPPING=1\nEXTEND_TIMEOUT_USEC=90000000");
    }

    #[tokio::test]
    async fn a_name_with_an_at_sign_is_abstract() {
        let name = format!("pennyblack-notify-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let receiver = UnixDatagram::bind_addr(&address).unwrap();
        receiver.set_nonblocking(true).unwrap();
        let receiver = Receiver::from_std(receiver).unwrap();
        ServiceManager::new(Some(format!("@{name}").into()), None).ready();
        assert_eq!(received(&receiver).await, "READY=1");
    }

    #[test]
    fn without_a_service_manager_nothing_is_sent() {
        ServiceManager::new(None, None).stopping(Duration::ZERO);
        let gone = ServiceManager::new(Some("/does/not/exist".into()), None);
        gone.stopping(Duration::ZERO);
    }
}
