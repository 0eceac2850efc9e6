//! Slow and idle clients, on a paused clock and a loopback socket.

use axum::Router;
use axum::routing::get;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};
use tower::Service;

use super::*;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const EMPTY_SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

fn limits() -> LimitsConfig {
    LimitsConfig {
        discovery_quota: 600,
        request: Duration::from_secs(30),
        paid_request: Duration::from_secs(60),
        body_bytes: 65_536,
        connections: 10,
        provider_calls: std::num::NonZero::<u16>::MIN,
    }
}

/// In milliseconds; the first group was woken by then.
const AFTER_FIRST_TICK: u64 = 300;

struct TestConnection {
    client: TcpStream,
    ticker: Arc<Ticker>,
}

impl TestConnection {
    async fn open() -> Self {
        Self::open_after(AFTER_FIRST_TICK).await
    }

    /// Opens so many milliseconds after the ticker was started.
    async fn open_after(pause: u64) -> Self {
        let ticker = Arc::new(Ticker::default());
        tokio::spawn(ticker.clone().run());
        sleep(Duration::from_millis(pause)).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let slow = || async {
            sleep(Duration::from_secs(20)).await;
            "slow"
        };
        let router = Router::new().route("/", get(|| async { "quick" })).route("/slow", get(slow));
        let handle =
            move |request: IncomingRequest| router.clone().call(request.map(axum::body::Body::new));
        let connections = Connections::new(&limits(), ticker.clone());
        tokio::spawn(async move { connections.serve(stream, handle).await });
        Self { client, ticker }
    }

    async fn send(&mut self, bytes: &[u8]) {
        self.client.write_all(bytes).await.unwrap();
    }

    /// Everything that is received until the server closes, and after how many seconds it does.
    async fn receive_all(&mut self) -> (String, u64) {
        let begun = Instant::now();
        let mut received = Vec::new();
        let end = timeout(Duration::from_secs(600), self.client.read_to_end(&mut received));
        // A reset closes the connection too.
        let _ = end.await.expect("the server closes the connection");
        (String::from_utf8_lossy(&received).into_owned(), begun.elapsed().as_secs())
    }
}

#[tokio::test(start_paused = true)]
async fn an_incomplete_head_is_closed_after_five_seconds_and_before_eight() {
    for bytes in [b"".as_slice(), b"GET / HT", b"GET / HTTP/1.1\r\nHost: ", b"PRI * HT"] {
        for (pause, expected) in [(AFTER_FIRST_TICK, 7), (1_500, 6), (2_700, 5)] {
            let mut connection = TestConnection::open_after(pause).await;
            connection.send(bytes).await;
            let (_, seconds) = connection.receive_all().await;
            assert_eq!(seconds, expected, "{}", String::from_utf8_lossy(bytes));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_head_that_arrives_byte_by_byte_is_closed_too() {
    let mut connection = TestConnection::open().await;
    connection.send(REQUEST).await;
    connection.client.read_exact(&mut [0; 16]).await.unwrap();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(7) {
        connection.send(b"G").await;
        sleep(Duration::from_millis(500)).await;
    }
    let (rest, _) = connection.receive_all().await;
    assert!(!rest.contains("400"), "{rest}");
    assert_eq!(begun.elapsed().as_secs(), 7);
}

#[tokio::test(start_paused = true)]
async fn an_http_2_connection_without_a_request_gets_a_goaway() {
    let mut connection = TestConnection::open().await;
    connection.send(&[PREFACE, EMPTY_SETTINGS].concat()).await;
    let (received, seconds) = connection.receive_all().await;
    assert!(!received.is_empty());
    assert_eq!(seconds, 12);
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_kept_alive_for_the_next_request() {
    let mut connection = TestConnection::open().await;
    for _ in 0..3 {
        connection.send(REQUEST).await;
        let mut received = vec![0; 1024];
        let count = connection.client.read(&mut received).await.unwrap();
        assert!(String::from_utf8_lossy(&received[..count]).ends_with("quick"));
    }
    let (rest, seconds) = connection.receive_all().await;
    assert_eq!((rest.as_str(), seconds), ("", 7));
}

#[tokio::test(start_paused = true)]
async fn a_slow_response_is_not_an_idle_connection() {
    let mut connection = TestConnection::open().await;
    connection.send(b"GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    let (received, seconds) = connection.receive_all().await;
    assert!(received.ends_with("slow"), "{received}");
    assert_eq!(seconds, 20);
}

#[tokio::test(start_paused = true)]
async fn a_half_closed_connection_receives_its_response() {
    let mut connection = TestConnection::open().await;
    connection.send(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n").await;
    connection.client.shutdown().await.unwrap();
    let (received, seconds) = connection.receive_all().await;
    assert!(received.ends_with("slow"), "{received}");
    assert_eq!(seconds, 20);
}

#[tokio::test(start_paused = true)]
async fn at_shutdown_a_request_in_progress_is_completed() {
    let mut connection = TestConnection::open().await;
    connection.send(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n").await;
    sleep(Duration::from_secs(2)).await;
    connection.ticker.shut_down();
    let (received, seconds) = connection.receive_all().await;
    assert!(received.ends_with("slow"), "{received}");
    assert_eq!(seconds, 18);
}

#[tokio::test(start_paused = true)]
async fn at_shutdown_an_idle_connection_is_closed_at_once() {
    let mut connection = TestConnection::open().await;
    connection.send(REQUEST).await;
    connection.client.read_exact(&mut [0; 16]).await.unwrap();
    connection.ticker.shut_down();
    let (_, seconds) = connection.receive_all().await;
    assert_eq!(seconds, 0);
}

#[tokio::test(start_paused = true)]
async fn at_shutdown_an_incomplete_head_is_not_waited_for() {
    let mut connection = TestConnection::open().await;
    connection.send(b"GET / HT").await;
    sleep(Duration::from_secs(1)).await;
    connection.ticker.shut_down();
    let (_, seconds) = connection.receive_all().await;
    assert!(seconds < 8, "{seconds}");
}
