//! Kills a process while it writes, and checks that every acknowledged order is there.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use adapters::store::postgres::PostgresStore;
use adapters::store::sqlite::SqliteStore;
use order::model::ids::OrderId;
use order::ports::Store;
use order::testing::contract::samples::NOW;
use rusqlite::Connection;
use tokio::time::timeout;

use crate::postgres_server::Schema;
use crate::test_store::{keyring, runtime, told, worker};

/// Enough to meet every phase of a commit in a test that is run often; the
/// environment may ask for more.
const KILLS: u64 = 20;

#[test]
fn whatever_was_acknowledged_is_there_after_a_kill() {
    let kills = told("PENNYBLACK_KILLS").map_or(KILLS, |count| count.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let (mut acknowledged, mut orphans) = (0, 0);
    for round in 0..kills {
        // A database that has been through several crashes, and a fresh one now and then.
        let path = folder.path().join(format!("orders-{}", round / 10));
        let told = work_and_die(&path, round);
        orphans += runtime().block_on(look(&path, &told));
        acknowledged += told.len();
    }
    println!("{kills} kills, {acknowledged} orders with acknowledged writes, none lost");
    println!("{orphans} of them interrupted, all claimed at once");
    assert!(acknowledged > 0 && orphans > 0);
}

#[test]
fn the_orders_of_a_killed_process_are_claimed_by_another_one_on_postgres_at_its_next_heartbeat() {
    // The server closes the connection of a dead process: its heartbeat need not grow old.
    interrupt_on_postgres("-KILL", Duration::from_secs(6));
}

#[test]
fn the_orders_of_a_suspended_process_are_claimed_on_postgres_when_its_heartbeat_is_10_seconds_old()
{
    interrupt_on_postgres("-STOP", Duration::from_secs(15));
}

fn interrupt_on_postgres(signal: &str, patience: Duration) {
    runtime().block_on(async {
        let schema = Schema::create().await;
        let next = PostgresStore::connect(&schema.url, &keyring(), worker(1)).await.unwrap();
        let mut process = start(&schema.url, 0);
        let mut lines = BufReader::new(process.stdout.take().unwrap());
        for _ in 0..100 {
            lines.read_line(&mut String::new()).unwrap();
        }
        // While it lives nothing of its own is taken from it, however much it has begun.
        assert_eq!(next.claim(worker(1), NOW, NOW.plus(60), 64).await, Ok(Vec::new()));
        let id = process.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        timeout(patience, next.orphaned()).await.expect("its death is seen");
        let claimed = next.claim(worker(1), NOW, NOW.plus(60), 64).await.unwrap();
        assert!(!claimed.is_empty());
        for order in &claimed {
            assert!(order.is_recovered_at_once(), "{order:?}");
            assert_eq!(order.attention().worker, Some(worker(1)));
        }
        process.kill().unwrap();
        process.wait().unwrap();
        next.close().await.unwrap();
        schema.drop().await;
    });
}

/// The version of each order that the process told of before it was killed.
fn work_and_die(path: &Path, round: u64) -> HashMap<OrderId, u64> {
    let mut writer = start(path.to_str().unwrap(), round * 1_000_000);
    let mut lines = BufReader::new(writer.stdout.take().unwrap());
    let mut first = String::new();
    // Some are killed while they open the database, most while they write.
    if !round.is_multiple_of(7) {
        lines.read_line(&mut first).unwrap();
    }
    thread::sleep(random_moment());
    writer.kill().unwrap();
    assert_eq!(writer.wait().unwrap().signal(), Some(9), "it ended by itself");
    let mut told = HashMap::new();
    for line in [Ok(first)].into_iter().chain(lines.lines()) {
        let line = line.unwrap();
        let Some((id, version)) = line.trim().split_once(' ') else { continue };
        told.insert(id.parse().unwrap(), version.parse().unwrap());
    }
    told
}

fn start(place: &str, first: u64) -> Child {
    let program = writer_program();
    let started =
        Command::new(&program).arg(place).arg(first.to_string()).stdout(Stdio::piped()).spawn();
    started.unwrap_or_else(|error| {
        panic!("{error}: build {} with `cargo build -p adapters --examples`", program.display())
    })
}

/// Cargo puts examples beside the folder that this test runs from.
fn writer_program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().and_then(Path::parent).unwrap().join("examples/order_writer")
}

fn random_moment() -> Duration {
    let mut random = [0; 2];
    getrandom::fill(&mut random).unwrap();
    Duration::from_micros(u64::from(u16::from_le_bytes(random)) * 3)
}

/// Says how many orders the process was at when it was killed.
async fn look(path: &Path, told: &HashMap<OrderId, u64>) -> usize {
    let store = SqliteStore::open(path, &keyring()).unwrap();
    for (id, version) in told {
        let found = store.find(*id).await.unwrap();
        let found = found.unwrap_or_else(|| panic!("{id} was acknowledged and is gone"));
        assert!(found.version() >= *version, "{id}: {} < {version}", found.version());
        // A repeated request is answered from this row, and must not be asked to pay again.
        assert_eq!(store.newest(&found.operation().key).await, Ok(Some(found.clone())), "{id}");
        let events = store.events(*id).await.unwrap();
        let versions: Vec<_> = events.iter().map(|event| event.version).collect();
        assert_eq!(versions, (1..=found.version()).collect::<Vec<_>>(), "{id}");
    }
    let mut begun = 0;
    for id in every_id(path) {
        let found = store.find(id).await.unwrap().unwrap();
        begun += usize::from(found.is_recovered_at_once());
        assert_eq!(store.newest(&found.operation().key).await, Ok(Some(found)));
    }
    // None of them is due yet by its time.
    let orphans = store.claim(worker(1), NOW, NOW.plus(60), usize::MAX).await.unwrap();
    assert_eq!(orphans.len(), begun);
    // They are finished, so that the next look counts its own only.
    let finish = "UPDATE orders SET state = 'lapsed' WHERE worker IS NOT NULL";
    Connection::open(path).unwrap().execute(finish, []).unwrap();
    store.close().await.unwrap();
    orphans.len()
}

/// Every id in the file, after SQLite itself has looked through all of it.
pub(crate) fn every_id(path: &Path) -> Vec<OrderId> {
    let database = Connection::open(path).unwrap();
    let check = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
    assert_eq!(database.query_row("PRAGMA integrity_check", [], check).unwrap(), "ok");
    let mut ids = database.prepare("SELECT id FROM orders").unwrap();
    let ids = ids.query_map([], check).unwrap();
    ids.map(|id| id.unwrap().parse().unwrap()).collect()
}
