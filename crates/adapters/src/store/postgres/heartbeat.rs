//! The heartbeat of this process, and the orders of processes whose heartbeat has stopped.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use order::model::ids::WorkerId;
use order::ports::StoreError;
use tokio::sync::{Mutex, Notify};
use tokio::task::JoinHandle;

use super::connection::{Server, store_error};
use super::lease;
use super::queries::{self, BEAT, IS_ORPHAN};
use super::session::Session;
use crate::store::undecryptable::Undecryptable;

const INTERVAL: Duration = Duration::from_secs(2);

const FORGET_OLD: &str =
    "DELETE FROM processes WHERE heartbeat_at < now() - interval '1 hour' AND id <> $1";
const END: &str = "DELETE FROM processes WHERE id = $1";

static ANY_ORPHAN: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT EXISTS (SELECT FROM orders WHERE {} AND id <> ALL($2::text[]))", *IS_ORPHAN)
});

pub(super) struct Heartbeat {
    beats: Arc<Beats>,
    task: JoinHandle<()>,
}

struct Beats {
    server: Server,
    session: Arc<Session>,
    worker: Vec<u8>,
    orphaned: Notify,
    undecryptable: Arc<Undecryptable>,
    /// Held during a beat, so that none arrives after the end.
    turn: Mutex<()>,
}

impl Heartbeat {
    /// The first beat was written when the session began.
    pub(super) fn start(
        server: Server,
        session: Arc<Session>,
        worker: WorkerId,
        undecryptable: Arc<Undecryptable>,
    ) -> Self {
        let (worker, orphaned, turn) = (worker.bytes().to_vec(), Notify::new(), Mutex::new(()));
        let beats = Arc::new(Beats { server, session, worker, orphaned, undecryptable, turn });
        let task = tokio::spawn(Arc::clone(&beats).go_on());
        Self { beats, task }
    }

    /// Returns when orders of a dead process have been seen.
    pub(super) async fn orphaned(&self) {
        self.beats.orphaned.notified().await;
    }

    /// This process is dead from now on, and the others see so at once.
    pub(super) async fn end(&self) {
        let _turn = self.beats.turn.lock().await;
        self.task.abort();
        // If the server does not hear it, the heartbeat grows old there.
        let _ = self.beats.server.execute(END, &[&self.beats.worker]).await;
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Beats {
    async fn go_on(self: Arc<Self>) {
        loop {
            {
                let _turn = self.turn.lock().await;
                // What went wrong is in the log, and the next beat comes soon.
                let _ = self.beat().await;
            }
            // Without a connection the other processes take this one for dead.
            let _ = tokio::time::timeout(INTERVAL, self.session.ended()).await;
        }
    }

    async fn write(&self) -> Result<(), tokio_postgres::Error> {
        let client = self.session.client().await?;
        client.execute(BEAT, &[&self.worker]).await?;
        client.execute(lease::BEAT, &[]).await.map(drop)
    }

    async fn beat(&self) -> Result<(), StoreError> {
        self.write().await.map_err(|error| store_error(&error))?;
        self.server.execute(FORGET_OLD, &[&self.worker]).await?;
        let except = self.undecryptable.ids();
        let answer = self.server.all(&ANY_ORPHAN, &[&self.worker, &except]).await?;
        if answer.first().is_some_and(queries::is_true) {
            self.orphaned.notify_one();
        }
        Ok(())
    }
}
