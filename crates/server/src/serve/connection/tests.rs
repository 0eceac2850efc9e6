//! Callers who dawdle, on a stopped clock and a loopback socket.

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

fn limits() -> Limits {
    Limits {
        discovery_quota: 600,
        request: Duration::from_secs(30),
        paid_request: Duration::from_secs(60),
        body_bytes: 65_536,
        connections: 10,
        provider_calls: std::num::NonZero::<u16>::MIN,
    }
}

/// The first circle has heard the bell by then.
const JUST_RUNG: u64 = 300;

struct Conversation {
    caller: TcpStream,
    bell: Arc<Bell>,
}

impl Conversation {
    async fn begin() -> Self {
        Self::begin_after(JUST_RUNG).await
    }

    /// Begins so many milliseconds after the bell was hung.
    async fn begin_after(pause: u64) -> Self {
        let bell = Arc::new(Bell::default());
        tokio::spawn(bell.clone().ring());
        sleep(Duration::from_millis(pause)).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let caller = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let slow = || async {
            sleep(Duration::from_secs(20)).await;
            "slow"
        };
        let router = Router::new().route("/", get(|| async { "quick" })).route("/slow", get(slow));
        let answer = move |asked: Asked| router.clone().call(asked.map(axum::body::Body::new));
        let connections = Connections::new(&limits(), bell.clone());
        tokio::spawn(async move { connections.converse(stream, answer).await });
        Self { caller, bell }
    }

    async fn say(&mut self, words: &[u8]) {
        self.caller.write_all(words).await.unwrap();
    }

    /// Everything that is heard until the other side hangs up, and after how
    /// many seconds it does.
    async fn hear_all(&mut self) -> (String, u64) {
        let begun = Instant::now();
        let mut heard = Vec::new();
        let hanging_up = timeout(Duration::from_secs(600), self.caller.read_to_end(&mut heard));
        // A reset is a way of hanging up too.
        let _ = hanging_up.await.expect("they hang up some day");
        (String::from_utf8_lossy(&heard).into_owned(), begun.elapsed().as_secs())
    }
}

#[tokio::test(start_paused = true)]
async fn who_never_sends_a_whole_head_is_hung_up_on_after_five_seconds_and_before_eight() {
    for words in [b"".as_slice(), b"GET / HT", b"GET / HTTP/1.1\r\nHost: ", b"PRI * HT"] {
        for (pause, expected) in [(JUST_RUNG, 7), (1_500, 6), (2_700, 5)] {
            let mut conversation = Conversation::begin_after(pause).await;
            conversation.say(words).await;
            let (_, seconds) = conversation.hear_all().await;
            assert_eq!(seconds, expected, "{}", String::from_utf8_lossy(words));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn who_sends_a_head_in_drops_is_hung_up_on_all_the_same() {
    let mut conversation = Conversation::begin().await;
    conversation.say(REQUEST).await;
    conversation.caller.read_exact(&mut [0; 16]).await.unwrap();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(7) {
        conversation.say(b"G").await;
        sleep(Duration::from_millis(500)).await;
    }
    let (rest, _) = conversation.hear_all().await;
    assert!(!rest.contains("400"), "{rest}");
    assert_eq!(begun.elapsed().as_secs(), 7);
}

#[tokio::test(start_paused = true)]
async fn who_opens_http_2_and_asks_nothing_gets_a_goodbye_and_no_more() {
    let mut conversation = Conversation::begin().await;
    conversation.say(&[PREFACE, EMPTY_SETTINGS].concat()).await;
    let (heard, seconds) = conversation.hear_all().await;
    assert!(!heard.is_empty());
    assert_eq!(seconds, 12);
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_kept_alive_for_the_next_request() {
    let mut conversation = Conversation::begin().await;
    for _ in 0..3 {
        conversation.say(REQUEST).await;
        let mut heard = vec![0; 1024];
        let count = conversation.caller.read(&mut heard).await.unwrap();
        assert!(String::from_utf8_lossy(&heard[..count]).ends_with("quick"));
    }
    let (rest, seconds) = conversation.hear_all().await;
    assert_eq!((rest.as_str(), seconds), ("", 7));
}

#[tokio::test(start_paused = true)]
async fn a_slow_answer_is_not_mistaken_for_silence() {
    let mut conversation = Conversation::begin().await;
    conversation.say(b"GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    let (heard, seconds) = conversation.hear_all().await;
    assert!(heard.ends_with("slow"), "{heard}");
    assert_eq!(seconds, 20);
}

#[tokio::test(start_paused = true)]
async fn who_has_nothing_more_to_say_still_hears_the_answer() {
    let mut conversation = Conversation::begin().await;
    conversation.say(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n").await;
    conversation.caller.shutdown().await.unwrap();
    let (heard, seconds) = conversation.hear_all().await;
    assert!(heard.ends_with("slow"), "{heard}");
    assert_eq!(seconds, 20);
}

#[tokio::test(start_paused = true)]
async fn a_closing_door_lets_the_request_under_way_finish() {
    let mut conversation = Conversation::begin().await;
    conversation.say(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n").await;
    sleep(Duration::from_secs(2)).await;
    conversation.bell.close_door();
    let (heard, seconds) = conversation.hear_all().await;
    assert!(heard.ends_with("slow"), "{heard}");
    assert_eq!(seconds, 18);
}

#[tokio::test(start_paused = true)]
async fn a_closing_door_hangs_up_on_who_is_only_kept_alive() {
    let mut conversation = Conversation::begin().await;
    conversation.say(REQUEST).await;
    conversation.caller.read_exact(&mut [0; 16]).await.unwrap();
    conversation.bell.close_door();
    let (_, seconds) = conversation.hear_all().await;
    assert_eq!(seconds, 0);
}

#[tokio::test(start_paused = true)]
async fn a_closing_door_does_not_wait_for_who_never_sends_a_whole_head() {
    let mut conversation = Conversation::begin().await;
    conversation.say(b"GET / HT").await;
    sleep(Duration::from_secs(1)).await;
    conversation.bell.close_door();
    let (_, seconds) = conversation.hear_all().await;
    assert!(seconds < 8, "{seconds}");
}
