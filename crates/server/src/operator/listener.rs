//! The listeners of the operator's interface: a Unix socket in the data folder, and loopback.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::Router;
use axum::serve::Listener;
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tracing::warn;

use crate::config::OperatorListen;

const SOCKET: &str = "operator.sock";
const OWNER_ONLY: u32 = 0o600;
const OWNER_ONLY_FOLDER: u32 = 0o700;
/// The longest path that the operating system binds a socket to.
const SOCKET_PATH_BYTES_MAX: usize = 107;
/// After the service has drained, requests of operators may take this much longer.
const FINISH_TIME: Duration = Duration::from_secs(5);

/// Where the socket is, for the service and for its commands.
pub(crate) fn socket_path(data: &Path) -> PathBuf {
    data.join(SOCKET)
}

/// Bound listeners that do not serve yet.
pub(crate) struct OperatorListeners {
    socket: UnixListener,
    path: PathBuf,
    loopback: Option<TcpListener>,
    /// The loopback listener's address.
    pub(crate) bound: Option<SocketAddr>,
}

/// The running listeners. Dropping them ends them.
pub(crate) struct OperatorServer {
    stop: watch::Sender<()>,
    tasks: Vec<JoinHandle<()>>,
    /// Removed when this is dropped.
    _socket: OwnSocket,
}

/// The socket's file, by its inode: another process may have replaced it.
struct OwnSocket {
    path: PathBuf,
    inode: Option<u64>,
}

impl OperatorListeners {
    /// The error text contains the cause and the remedy.
    pub(crate) async fn bind(data: &Path, listen: Option<OperatorListen>) -> Result<Self, String> {
        let path = socket_path(data);
        let cannot_create = |error: io::Error| {
            format!(
                "the operator's socket {} cannot be created: {error}. Set server.data to a folder of a local file system.",
                path.display()
            )
        };
        check_length(&path).map_err(cannot_create)?;
        if is_in_use(&path).await.map_err(cannot_create)? {
            return Err(format!(
                "another process uses this data folder: it listens at {}. Stop it, or set server.data to a folder of its own for each process.",
                path.display()
            ));
        }
        let socket = bind_socket(data, &path).map_err(cannot_create)?;
        let loopback = match listen {
            Some(listen) => Some(bind_loopback(listen).await?),
            None => None,
        };
        let bound = loopback.as_ref().and_then(|listener| listener.local_addr().ok());
        Ok(Self { socket, path, loopback, bound })
    }

    /// Serves the two, each with its own checks of who may call.
    pub(crate) fn serve(
        self,
        stop: watch::Sender<()>,
        at_socket: Router,
        at_loopback: Router,
    ) -> OperatorServer {
        let inode = fs::metadata(&self.path).ok().map(|file| file.ino());
        let socket = OwnSocket { path: self.path, inode };
        let mut tasks = vec![tokio::spawn(run(self.socket, at_socket, stop.subscribe()))];
        let loopback = self.loopback.map(|listener| run(listener, at_loopback, stop.subscribe()));
        tasks.extend(loopback.map(tokio::spawn));
        OperatorServer { stop, tasks, _socket: socket }
    }
}

async fn run<L>(listener: L, router: Router, mut stopped: watch::Receiver<()>)
where
    L: Listener,
    L::Addr: std::fmt::Debug,
{
    let stopped = async move {
        // An error means that the sender is gone, which is a stop too.
        let _ = stopped.changed().await;
    };
    let served = axum::serve(listener, router).with_graceful_shutdown(stopped).await;
    if let Err(error) = served {
        warn!(kind = ?error.kind(), "a listener of the operator's interface has ended");
    }
}

impl OperatorServer {
    /// Accepts no further connections, and ends requests that wait for events.
    pub(crate) fn stop(&self) {
        // It fails only if no task is left.
        let _ = self.stop.send(());
    }

    /// Waits for the requests in progress, and removes the socket.
    pub(crate) async fn finish(mut self) {
        for task in &mut self.tasks {
            if timeout(FINISH_TIME, task).await.is_err() {
                warn!("a request of an operator was still running at the end of the shutdown");
            }
        }
    }
}

impl Drop for OperatorServer {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Drop for OwnSocket {
    fn drop(&mut self) {
        let now = fs::metadata(&self.path).ok().map(|file| file.ino());
        if now.is_some() && now == self.inode {
            // A socket without a listener is replaced at the next start.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn check_length(path: &Path) -> io::Result<()> {
    let length = path.as_os_str().len();
    if length > SOCKET_PATH_BYTES_MAX {
        let text = format!("the path has {length} bytes, and {SOCKET_PATH_BYTES_MAX} are allowed");
        return Err(io::Error::new(ErrorKind::InvalidFilename, text));
    }
    Ok(())
}

/// Whether a process listens at the socket. The second of two processes with one data folder
/// would take the socket of the first.
async fn is_in_use(path: &Path) -> io::Result<bool> {
    let Err(error) = UnixStream::connect(path).await else { return Ok(true) };
    let kind = error.kind();
    // No socket, or one that a process left behind.
    if [ErrorKind::NotFound, ErrorKind::ConnectionRefused].contains(&kind) {
        return Ok(false);
    }
    // That process has too many connections.
    if kind == ErrorKind::WouldBlock { Ok(true) } else { Err(error) }
}

/// Binds in a folder that only we can open, and moves the socket to its place when its mode is
/// set: before, the mode depends on the umask. A socket of an earlier process is replaced.
fn bind_socket(data: &Path, path: &Path) -> io::Result<UnixListener> {
    let folder = data.join(format!(".op{}", std::process::id()));
    let draft = folder.join("s");
    // Left behind by a process of the same number that was killed.
    let _ = fs::remove_file(&draft);
    let _ = fs::remove_dir(&folder);
    DirBuilder::new().mode(OWNER_ONLY_FOLDER).create(&folder)?;
    let bound = UnixListener::bind(&draft).and_then(|listener| {
        fs::set_permissions(&draft, Permissions::from_mode(OWNER_ONLY))?;
        fs::rename(&draft, path)?;
        Ok(listener)
    });
    let _ = fs::remove_file(&draft);
    let _ = fs::remove_dir(&folder);
    bound
}

async fn bind_loopback(listen: OperatorListen) -> Result<TcpListener, String> {
    let address = listen.address();
    match (TcpListener::bind(address).await, listen) {
        (Ok(listener), _) => Ok(listener),
        (Err(error), OperatorListen::Default(_)) if error.kind() == ErrorKind::AddrInUse => {
            let free = TcpListener::bind(SocketAddr::new(address.ip(), 0)).await;
            free.map_err(|error| cannot_listen(address, &error))
        }
        (Err(error), OperatorListen::Default(_) | OperatorListen::Configured(_)) => {
            Err(cannot_listen(address, &error))
        }
    }
}

fn cannot_listen(address: SocketAddr, error: &io::Error) -> String {
    format!(
        "the operator's interface cannot listen on {address}: {error}. Set another operator.listen, or \"off\"."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[tokio::test]
    async fn the_socket_replaces_a_stale_one_and_only_its_owner_can_connect() {
        let folder = tempfile::tempdir().unwrap();
        let path = socket_path(folder.path());
        for _ in 0..2 {
            let listeners = OperatorListeners::bind(folder.path(), None).await.unwrap();
            assert_eq!(mode(&path), 0o600);
            assert_eq!(listeners.bound, None);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
        }
    }

    #[tokio::test]
    async fn the_socket_of_a_running_process_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = socket_path(folder.path());
        let first = OperatorListeners::bind(folder.path(), None).await.unwrap();
        let inode = fs::metadata(&path).unwrap().ino();
        let error = OperatorListeners::bind(folder.path(), None).await.err().unwrap();
        assert!(error.contains("another process uses this data folder"), "{error}");
        assert!(error.contains("set server.data to a folder of its own for each"), "{error}");
        assert_eq!(fs::metadata(&path).unwrap().ino(), inode);
        drop(first);
        OperatorListeners::bind(folder.path(), None).await.unwrap();
    }

    #[tokio::test]
    async fn a_process_removes_its_own_socket_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = socket_path(folder.path());
        let serve = async || {
            let listeners = OperatorListeners::bind(folder.path(), None).await.unwrap();
            listeners.serve(watch::channel(()).0, Router::new(), Router::new())
        };
        let first = serve().await;
        // A process that begins when this one has stopped listening, and has not ended yet.
        fs::rename(&path, folder.path().join("earlier.sock")).unwrap();
        let second = serve().await;
        drop(first);
        assert!(path.exists(), "it is the second one's");
        second.stop();
        second.finish().await;
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_port_that_is_taken_is_an_error_unless_it_is_the_default() {
        let folder = tempfile::tempdir().unwrap();
        let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = taken.local_addr().unwrap();
        let listen = Some(OperatorListen::Configured(address));
        let error = OperatorListeners::bind(folder.path(), listen).await.err().unwrap();
        assert!(error.contains("operator.listen"), "{error}");
        let listen = Some(OperatorListen::Default(address));
        let bound = OperatorListeners::bind(folder.path(), listen).await.unwrap().bound.unwrap();
        assert_ne!(bound.port(), address.port());
    }

    #[tokio::test]
    async fn a_path_that_is_too_long_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let long = folder.path().join("x".repeat(120));
        fs::create_dir(&long).unwrap();
        let error = OperatorListeners::bind(&long, None).await.err().unwrap();
        assert!(error.contains("107 are allowed"), "{error}");
    }
}
