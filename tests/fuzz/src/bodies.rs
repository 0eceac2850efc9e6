//! Mutated bodies through the router in this process and over sockets to a service, and spellings of
//! private addresses. The tests include short runs; `tests/fuzz/run` makes long ones.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::targets::{card_body, image_url};

/// How many to send, and the seed.
const COUNT: &str = "PENNYBLACK_FUZZ_COUNT";
const SEED: &str = "PENNYBLACK_FUZZ_SEED";
const COUNT_DEFAULT: u64 = 2_000;
/// From so many on the machine is expected to be quiet, and latency is checked.
const COUNT_TIMED: u64 = 100_000;
const LATENCY_MAX: Duration = Duration::from_millis(5);

#[expect(
    clippy::disallowed_methods,
    reason = "the length of a test run is not a setting of the service"
)]
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn number(name: &str, otherwise: u64) -> u64 {
    setting(name).map_or(otherwise, |text| text.parse().expect("a number"))
}

/// The splitmix64 generator.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.bits() >> 32).expect("32 bits fit") % limit.max(1)
    }
}

/// Texts that have broken parsers.
const FRAGMENTS: [&str; 14] = [
    "{",
    "}",
    "[",
    "\"",
    "\\",
    "\\ud800",
    "null",
    "1e999",
    "\u{0}",
    "\u{feff}",
    "\"message\":1,",
    "https://10.0.0.1/",
    "\u{202e}",
    "\"recipient\":{},",
];

/// A body of the corpus with up to four changes.
fn mutated(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut body = corpus[random.below(corpus.len())].clone();
    for _ in 0..random.below(5) {
        let at = random.below(body.len() + 1);
        match random.below(6) {
            0 if at < body.len() => body[at] ^= 1 << random.below(8),
            1 => body.truncate(at),
            2 => body.insert(at, random.bits().to_be_bytes()[0]),
            3 => {
                let end = (at + random.below(12)).min(body.len());
                body.drain(at..end);
            }
            4 => {
                let other = &corpus[random.below(corpus.len())];
                let start = random.below(other.len());
                let end = (start + random.below(80)).min(other.len());
                body.splice(at..at, other[start..end].iter().copied());
            }
            _ => {
                let fragment = FRAGMENTS[random.below(FRAGMENTS.len())];
                body.splice(at..at, fragment.bytes());
            }
        }
    }
    body
}

struct Latencies(Vec<Duration>);

impl Latencies {
    fn p99(&mut self) -> Duration {
        self.0.sort();
        self.0[self.0.len() * 99 / 100]
    }

    #[expect(clippy::print_stdout, reason = "the figures of a test run")]
    fn report(&mut self, what: &str, seed: u64, statuses: &BTreeMap<u16, u64>) {
        let (count, p99) = (self.0.len(), self.p99());
        println!("figures: {count} {what}, statuses {statuses:?}, p99 {p99:?}; seed {seed}");
        let is_timed = u64::try_from(count).is_ok_and(|count| count >= COUNT_TIMED);
        assert!(!is_timed || p99 < LATENCY_MAX, "p99 {p99:?}");
    }
}

#[expect(clippy::disallowed_methods, reason = "latency is measured, not decided by")]
fn now() -> Instant {
    Instant::now()
}

/// Prints how far a long run is.
#[expect(clippy::print_stdout, reason = "the progress of a test run")]
fn progress(number: u64, count: u64) {
    if count >= COUNT_TIMED && number.is_multiple_of(count / 20) {
        println!("{number} of {count}");
    }
}

/// A body without the byte that chooses its endpoint in the fuzz target.
fn corpus() -> Vec<Vec<u8>> {
    card_body::seeds().into_iter().map(|seed| seed[1..].to_vec()).collect()
}

#[test]
fn mutated_bodies_get_only_statuses_of_the_contract() {
    let (count, seed) = (number(COUNT, COUNT_DEFAULT), number(SEED, 1_840));
    let (mut random, corpus) = (Random(seed), corpus());
    let (mut latencies, mut statuses) = (Latencies(Vec::new()), BTreeMap::new());
    for number in 0..count {
        progress(number, count);
        let body = mutated(&mut random, &corpus);
        let endpoint = card_body::ENDPOINTS[random.below(3)];
        let started = now();
        let status = card_body::post_and_check(endpoint, &body);
        latencies.0.push(started.elapsed());
        *statuses.entry(status).or_default() += 1;
    }
    assert!([400, 402, 500].iter().all(|status| statuses.contains_key(status)), "{statuses:?}");
    latencies.report("bodies through the router", seed, &statuses);
}

/// A service on the sandbox, in a process of its own, which ends with this value.
struct Service {
    process: Child,
    address: SocketAddr,
    _folder: TempDir,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn start_service() -> Service {
    let folder = TempDir::new().expect("a folder");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    drop(listener);
    let settings = folder.path().join("pennyblack.toml");
    let data = folder.path().join("data");
    let text = format!("[server]\nlisten = \"{address}\"\ndata = \"{}\"\n", data.display());
    fs::write(&settings, text).expect("the settings");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pennyblack"));
    command.arg("--config").arg(&settings).stdout(Stdio::null()).stderr(Stdio::null());
    let mut service =
        Service { process: command.spawn().expect("the service"), address, _folder: folder };
    while TcpStream::connect(address).is_err() {
        let ended = service.process.try_wait().expect("its state");
        assert!(ended.is_none(), "the service ended: {ended:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    service
}

#[test]
fn mutated_bodies_over_sockets_get_only_statuses_of_the_contract() {
    let (count, seed) = (number(COUNT, COUNT_DEFAULT), number(SEED, 1_840));
    let service = start_service();
    let (mut random, corpus) = (Random(seed), corpus());
    let (mut latencies, mut statuses) = (Latencies(Vec::new()), BTreeMap::new());
    let mut connection = TcpStream::connect(service.address).expect("a connection");
    connection.set_nodelay(true).expect("an option");
    for number in 0..count {
        progress(number, count);
        let body = mutated(&mut random, &corpus);
        let (path, allowed) = card_body::ENDPOINTS[random.below(3)];
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            service.address,
            body.len()
        );
        let started = now();
        connection.write_all(&[head.as_bytes(), &body].concat()).expect("an open connection");
        let (status, answer) = read_response(&mut connection);
        latencies.0.push(started.elapsed());
        *statuses.entry(status).or_default() += 1;
        let json = serde_json::from_slice::<serde_json::Value>(&answer);
        let shown = body.escape_ascii();
        assert!(allowed.contains(&status) && json.is_ok(), "{status} at {path} to {shown}");
    }
    latencies.report("bodies over sockets", seed, &statuses);
}

/// The status and the body, which has a length.
fn read_response(connection: &mut TcpStream) -> (u16, Vec<u8>) {
    let mut received = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        if let Some(end) = received.windows(4).position(|part| part == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&received[..end]).to_lowercase();
            let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
            let length: usize = length.and_then(|length| length.parse().ok()).expect("a length");
            if received.len() >= end + 4 + length {
                let status = head.split(' ').nth(1).and_then(|text| text.parse().ok());
                return (status.expect("a status"), received[end + 4..].to_vec());
            }
        }
        let read = connection.read(&mut buffer).expect("an answer");
        assert!(
            read > 0,
            "the connection was closed after {:?}",
            String::from_utf8_lossy(&received)
        );
        received.extend(&buffer[..read]);
    }
}

#[test]
fn no_spelling_of_a_private_address_passes() {
    let (count, seed) = (number(COUNT, 10 * COUNT_DEFAULT), number(SEED, 1_840));
    let mut random = Random(seed);
    for number in 0..count {
        progress(number, count);
        let bytes = [random.bits().to_be_bytes(), random.bits().to_be_bytes()].concat();
        image_url::check_spelling(&bytes);
        image_url::check_addresses(&bytes);
    }
    println!("figures: {count} spellings of private addresses, 0 accepted; seed {seed}");
}
