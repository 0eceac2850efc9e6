//! How many orders a second the stores take, beside what the disk itself can do.

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(rounds::run());
}

mod rounds {
    //! The rounds, interleaved so that a busy minute of the machine meets all of them.

    use std::fs::{File, OpenOptions};
    use std::io::Write;
    use std::path::Path;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::{Duration, Instant};

    use adapters::keys::Keyring;
    use adapters::store::postgres::PostgresStore;
    use adapters::store::sqlite::SqliteStore;
    use order::lifecycle::event::Actor;
    use order::lifecycle::{Offered, Order, Stored};
    use order::model::ids::{OperationKey, OrderId, WorkerId};
    use order::ports::Store;
    use order::testing::contract::samples::{begun, named, offer};

    const ROUND: Duration = Duration::from_millis(1_500);
    const ROUNDS: usize = 5;
    const CALLERS: [usize; 3] = [1, 16, 128];
    /// Above what the fastest store takes in one round.
    const SAMPLES: u64 = 60_000;

    static SEED: AtomicU64 = AtomicU64::new(0);

    pub(crate) async fn run() {
        let folder = tempfile::tempdir_in(".").expect("a folder on the disk of the workspace");
        let keyring = Keyring::from_text(&"42".repeat(32)).expect("a key");
        let path = folder.path().join("orders");
        let sqlite = Arc::new(SqliteStore::open(&path, &keyring).expect("a database"));
        let store: Arc<dyn Store> = sqlite.clone();
        let mut table = Table::default();
        for _ in 0..ROUNDS {
            table.add("bare fdatasync, one caller", disk(&folder.path().join("probe")));
            measure(&mut table, "SQLite", &store).await;
        }
        sqlite.close().await.expect("a clean end");
        if let Some(url) = address() {
            let url = own_schema(&url).await;
            let worker = WorkerId::from_bytes([1; 16]);
            let postgres = PostgresStore::connect(&url, &keyring, worker).await;
            let postgres = postgres.expect("a server");
            let postgres = Arc::new(postgres);
            let store: Arc<dyn Store> = postgres.clone();
            for _ in 0..ROUNDS {
                measure(&mut table, "PostgreSQL", &store).await;
            }
            postgres.close().await.expect("a clean end");
        }
        table.print();
    }

    /// An empty place in the server that is given; the next run empties it again.
    async fn own_schema(server: &str) -> String {
        let (client, connection) =
            tokio_postgres::connect(server, tokio_postgres::NoTls).await.expect("a server");
        tokio::spawn(connection);
        let empty = "DROP SCHEMA IF EXISTS store_bench CASCADE; CREATE SCHEMA store_bench";
        client.batch_execute(empty).await.expect("an empty schema");
        let between = if server.contains('?') { '&' } else { '?' };
        format!("{server}{between}options=-csearch_path%3Dstore_bench")
    }

    async fn measure(table: &mut Table, name: &str, store: &Arc<dyn Store>) {
        for callers in CALLERS {
            let orders = fresh(|seed| Stored::from(begun(offer(seed), seed)));
            let rate = crowd(store, callers, orders, begin).await;
            table.add(&format!("{name}: begin settlement, {callers} callers"), rate);
        }
        let rate = crowd(store, 128, fresh(|seed| offer(seed).operation.key), miss).await;
        table.add(&format!("{name}: read for an unpaid request, 128 callers"), rate);
        let rate = crowd(store, 128, fresh(named), make).await;
        table.add(&format!("{name}: new identifiers, 128 callers"), rate);
        let known: Vec<_> = fresh(named).into_iter().take(1_000).collect();
        for offer in &known {
            make(Arc::clone(store), offer.clone()).await;
        }
        let ids: Vec<_> = known.iter().map(|offer| offer.id).collect();
        let rate = crowd(store, 128, ids.into_iter().cycle(), look).await;
        table.add(&format!("{name}: read an order, 128 callers"), rate);
    }

    /// More orders than a round can use, made before the clock runs.
    fn fresh<T>(make: impl Fn(u64) -> T) -> Vec<T> {
        let first = SEED.fetch_add(SAMPLES, Ordering::Relaxed);
        (first..first + SAMPLES).map(make).collect()
    }

    async fn begin(store: Arc<dyn Store>, next: Stored) {
        store.record(&next, &Actor::Checkout).await.expect("a durable write");
    }

    async fn miss(store: Arc<dyn Store>, unknown: OperationKey) {
        assert!(store.newest(&unknown).await.expect("an answer").is_none());
    }

    async fn make(store: Arc<dyn Store>, fresh: Order<Offered>) {
        let none = store.newest(&fresh.operation.key).await.expect("an answer");
        assert!(none.is_none());
        // A full queue asks for a moment's patience.
        while store.offer(fresh.clone()).await.is_err() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    async fn look(store: Arc<dyn Store>, known: OrderId) {
        assert!(store.find(known).await.expect("an answer").is_some());
    }

    /// Calls a second, of so many callers who each wait for their answer.
    async fn crowd<T, I, F>(
        store: &Arc<dyn Store>,
        callers: usize,
        subjects: I,
        call: fn(Arc<dyn Store>, T) -> F,
    ) -> u64
    where
        T: Send + 'static,
        I: IntoIterator<Item = T>,
        I::IntoIter: Send + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let subjects = Arc::new(Mutex::new(subjects.into_iter()));
        let start = now();
        let call = move |store: Arc<dyn Store>, subjects: Arc<Mutex<I::IntoIter>>| async move {
            let mut calls = 0;
            while start.elapsed() < ROUND {
                let next = subjects.lock().expect("no caller panics").next();
                let Some(subject) = next else { break };
                call(Arc::clone(&store), subject).await;
                calls += 1;
            }
            calls
        };
        let tasks: Vec<_> = (0..callers)
            .map(|_| tokio::spawn(call(Arc::clone(store), Arc::clone(&subjects))))
            .collect();
        let mut calls = 0;
        for task in tasks {
            calls += task.await.expect("no caller panics");
        }
        per_second(calls, start.elapsed())
    }

    /// What the disk can do: append a page, wait until it is there.
    fn disk(path: &Path) -> u64 {
        let mut file: File =
            OpenOptions::new().create(true).append(true).open(path).expect("a file");
        let (start, mut calls) = (now(), 0);
        while start.elapsed() < ROUND {
            file.write_all(&[7; 4_096]).expect("room on the disk");
            file.sync_data().expect("a working disk");
            calls += 1;
        }
        per_second(calls, start.elapsed())
    }

    fn per_second(calls: u64, took: Duration) -> u64 {
        let took = u64::try_from(took.as_millis()).expect("a short time");
        calls * 1_000 / took.max(1)
    }

    #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
    fn now() -> Instant {
        Instant::now()
    }

    #[expect(clippy::disallowed_methods, reason = "a benchmark may be told where PostgreSQL is")]
    fn address() -> Option<String> {
        std::env::var("DATABASE_URL").ok()
    }

    /// What was measured, in the sequence in which it first was.
    #[derive(Default)]
    struct Table {
        lines: Vec<(String, Vec<u64>)>,
    }

    impl Table {
        fn add(&mut self, name: &str, rate: u64) {
            match self.lines.iter_mut().find(|(line, _)| line == name) {
                Some((_, rates)) => rates.push(rate),
                None => self.lines.push((name.to_owned(), vec![rate])),
            }
        }

        #[expect(clippy::print_stdout, reason = "this is what a benchmark is run for")]
        fn print(mut self) {
            println!("{:<50} {:>9} {:>9} {:>9}", "a second", "median", "lowest", "highest");
            for (name, rates) in &mut self.lines {
                rates.sort_unstable();
                let (low, high) = (rates[0], rates[rates.len() - 1]);
                println!("{name:<50} {:>9} {low:>9} {high:>9}", rates[rates.len() / 2]);
            }
        }
    }
}
