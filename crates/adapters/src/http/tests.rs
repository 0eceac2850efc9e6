//! The client before real sockets that behave badly.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;

use super::test_server::{hear, listen};
use super::*;

mod measured;
mod tls;

/// For those who never answer.
const SOON: Duration = Duration::from_millis(300);
/// For those who do, on a machine that may be busy with something else.
const PATIENTLY: Duration = Duration::from_secs(60);
const GOOD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{\"id\": 42}";

#[derive(Debug, Deserialize, PartialEq)]
struct Numbered {
    id: u64,
}

/// A server that sends the same bytes to every client, then waits until they disconnect.
async fn serving(words: impl Into<Vec<u8>>) -> HttpUrl {
    let (listener, address) = listen().await;
    let words = words.into();
    tokio::spawn(async move {
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            let words = words.clone();
            tokio::spawn(async move {
                while hear(&mut socket).await.is_some() {
                    socket.write_all(&words).await.unwrap();
                }
            });
        }
    });
    address
}

fn client() -> HttpClient {
    connecting_within(PATIENTLY)
}

fn connecting_within(deadline: Duration) -> HttpClient {
    HttpClient::trusting(RootCertStore::empty(), deadline, HostPolicy::Configured).unwrap()
}

fn order(address: &HttpUrl) -> HttpCall {
    HttpCall::post("test", address.clone(), &BTreeMap::from([("card", 1)]))
}

async fn outcome(address: &HttpUrl) -> Result<HttpResponse, CallError> {
    outcome_within(PATIENTLY, address).await
}

async fn outcome_within(deadline: Duration, address: &HttpUrl) -> Result<HttpResponse, CallError> {
    client().send(order(address).within(deadline).at_most(1_000)).await
}

#[tokio::test]
async fn a_good_answer_is_read_into_its_shape() {
    let answer = outcome(&serving(GOOD).await).await.unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.content_type.as_deref(), Some("application/json"));
    assert_eq!(answer.header("Content-Length"), Some("10"));
    assert_eq!(answer.header("payment-response"), None);
    assert_eq!(answer.read(), Ok(Numbered { id: 42 }));
    assert_eq!(format!("{answer:?}"), "HttpResponse { status: 200, .. }");
}

#[tokio::test]
async fn a_refused_connection_is_refused() {
    let (listener, address) = listen().await;
    drop(listener);
    assert_eq!(outcome(&address).await, Err(CallError::Refused(CallErrorKind::Unconnected)));
}

#[tokio::test]
async fn a_name_that_does_not_exist_is_refused() {
    let nowhere = HttpUrl::parse("https://no-such-host.invalid").unwrap();
    let client = HttpClient::new(HostPolicy::Configured).unwrap();
    assert_eq!(
        client.send(order(&nowhere)).await,
        Err(CallError::Refused(CallErrorKind::Unconnected))
    );
}

#[tokio::test]
async fn garbage_where_tls_should_be_is_refused_before_the_request_is_written() {
    let (listener, address) = listen().await;
    let secure = HttpUrl::parse(&address.to_text().replace("http:", "https:")).unwrap();
    let heard = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut hello = vec![0; 4096];
        let length = socket.read(&mut hello).await.unwrap();
        socket.write_all(b"220 mail.example.org ESMTP\r\n").await.unwrap();
        // What comes after the garbage: an alert at most, never the request.
        let mut rest = Vec::new();
        let _ = socket.read_to_end(&mut rest).await;
        hello.truncate(length);
        [hello, rest].concat()
    });
    assert_eq!(outcome(&secure).await, Err(CallError::Refused(CallErrorKind::Unconnected)));
    let heard = heard.await.unwrap();
    assert!(!String::from_utf8_lossy(&heard).contains("card"));
}

#[tokio::test]
async fn a_handshake_that_never_ends_is_refused() {
    let (listener, address) = listen().await;
    let secure = HttpUrl::parse(&address.to_text().replace("http:", "https:")).unwrap();
    let silent = tokio::spawn(async move { listener.accept().await.unwrap() });
    let said = connecting_within(SOON).send(order(&secure).within(PATIENTLY)).await;
    assert_eq!(said, Err(CallError::Refused(CallErrorKind::Unconnected)));
    drop(silent.await.unwrap());
}

#[tokio::test]
async fn a_connection_that_ends_without_an_answer_is_lost_whether_or_not_it_was_read() {
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        drop(listener.accept().await.unwrap());
        let (mut socket, _) = listener.accept().await.unwrap();
        hear(&mut socket).await.unwrap();
    });
    assert_eq!(outcome(&address).await, Err(CallError::Lost(CallErrorKind::Broken)), "unread");
    assert_eq!(outcome(&address).await, Err(CallError::Lost(CallErrorKind::Broken)), "read");
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_lost() {
    for half in [
        "HTTP/1.1 200 OK\r\ncontent-le",
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{\"id\"",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\na\r\n{\"id\": 42}\r\n",
    ] {
        let (listener, address) = listen().await;
        tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            hear(&mut socket).await.unwrap();
            socket.write_all(half.as_bytes()).await.unwrap();
        });
        assert_eq!(outcome(&address).await, Err(CallError::Lost(CallErrorKind::Broken)), "{half}");
    }
}

#[tokio::test]
async fn an_answer_that_does_not_come_in_time_is_lost() {
    for slow in [
        "",
        "HTTP/1.1 200 OK\r\ncontent-",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{\"id\"",
    ] {
        let error = outcome_within(SOON, &serving(slow).await).await;
        assert_eq!(error, Err(CallError::Lost(CallErrorKind::TimedOut)), "{slow}");
    }
}

#[tokio::test]
async fn an_answer_that_drips_is_lost_at_the_deadline() {
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        hear(&mut socket).await.unwrap();
        socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n").await.unwrap();
        // A byte now and then, so that a limit on idleness alone never strikes.
        while socket.write_all(b" ").await.is_ok() {
            tokio::time::sleep(SOON / 10).await;
        }
    });
    let error = outcome_within(SOON, &address).await;
    assert_eq!(error, Err(CallError::Lost(CallErrorKind::TimedOut)));
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_lost_however_it_is_announced() {
    let body = "x".repeat(1_001);
    for large in [
        format!("HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n{body}"),
        format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3e9\r\n{body}\r\n0\r\n\r\n"),
        "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n[]".to_owned(),
    ] {
        assert_eq!(outcome(&serving(large.clone()).await).await, too_large(), "{large}");
    }
    let most = format!("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{}", "x".repeat(1_000));
    assert_eq!(outcome(&serving(most).await).await.unwrap().body.len(), 1_000);
}

const fn too_large() -> Result<HttpResponse, CallError> {
    Err(CallError::Lost(CallErrorKind::TooLarge))
}

#[tokio::test]
async fn an_answer_that_contradicts_itself_is_lost() {
    for lie in [
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{\"id\": 42}\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{\"id\": 42}\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\ncontent-length: 2\r\n\r\n{\"id\": 42}",
        "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{\"id\": 42}",
        "HTTP/9.9 200 OK\r\n\r\n",
        "<html>not HTTP at all</html>\r\n\r\n",
    ] {
        assert_eq!(
            outcome(&serving(lie).await).await,
            Err(CallError::Lost(CallErrorKind::Broken)),
            "{lie}"
        );
    }
}

#[tokio::test]
async fn a_compressed_answer_is_not_unpacked() {
    let packed = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\n\x1f\x08..";
    assert_eq!(outcome(&serving(packed).await).await, Err(CallError::Lost(CallErrorKind::Encoded)));
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let (elsewhere, target) = listen().await;
    let words =
        format!("HTTP/1.1 307 Go\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n", target.to_text());
    let answer = outcome(&serving(words).await).await.unwrap();
    assert_eq!(answer.status, 307);
    assert_eq!(answer.read::<Numbered>(), Err(CallError::Lost(CallErrorKind::Status(307))));
    let followed = tokio::time::timeout(SOON, elsewhere.accept()).await;
    assert!(followed.is_err(), "the redirect was followed");
}

#[tokio::test]
async fn a_good_status_with_another_body_is_lost() {
    for body in [
        "<html>fine</html>",
        "",
        "[]",
        "{}",
        "{\"id\": \"42\"}",
        "{\"id\": 4.2}",
        "{\"id\": -42}",
        "{\"id\": 1, \"id\": 2}",
        "{\"id\": 42} {}",
        "[42]",
    ] {
        let length = body.len();
        let words = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}");
        let answer = outcome(&serving(words).await).await.unwrap();
        assert_eq!(
            answer.read::<Numbered>(),
            Err(CallError::Lost(CallErrorKind::Unreadable)),
            "{body}"
        );
    }
    let answer =
        |status, body| HttpResponse { status, headers: HeaderMap::new(), content_type: None, body };
    let deep = answer(200, vec![b'['; 100_000]);
    assert_eq!(deep.read::<Numbered>(), Err(CallError::Lost(CallErrorKind::Unreadable)));
    let fault = answer(503, b"{\"id\": 42}".to_vec());
    assert_eq!(fault.read::<Numbered>(), Err(CallError::Lost(CallErrorKind::Status(503))));
}

#[tokio::test]
async fn requests_have_no_unexpected_headers() {
    let (listener, address) = listen().await;
    let heard = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let first = hear(&mut socket).await.unwrap();
        let cookie = GOOD.replace("content-type", "set-cookie: a=b\r\ncontent-type");
        socket.write_all(cookie.as_bytes()).await.unwrap();
        let second = hear(&mut socket).await.unwrap();
        socket.write_all(GOOD.as_bytes()).await.unwrap();
        [first, second]
    });
    let client = client();
    let key = Zeroizing::new("Bearer key".to_owned());
    client.send(order(&address).authorized(key)).await.unwrap();
    client.send(HttpCall::get("test", address.below(&["a"]))).await.unwrap();
    // Both came over one connection: it is used again.
    let [first, second] = heard.await.unwrap();
    assert!(first.contains("authorization: Bearer key\r\n"), "{first}");
    assert!(first.ends_with("\r\n\r\n{\"card\":1}"), "{first}");
    assert!(second.starts_with("GET /a HTTP/1.1\r\n"), "{second}");
    for forbidden in ["cookie", "referer", "authorization", "gzip"] {
        assert!(!second.contains(forbidden), "{second}");
    }
}

#[tokio::test]
async fn a_key_that_cannot_be_written_is_refused() {
    let (_listener, address) = listen().await;
    let call = order(&address).authorized(Zeroizing::new("Bearer a\nb".to_owned()));
    assert_eq!(client().send(call).await, Err(CallError::Refused(CallErrorKind::Unsendable)));
}

/// A kept connection that its server closes just as we write is the one place
/// where clients like to try again by themselves.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_is_sent_twice_over_connections_that_close_at_any_moment() {
    let (listener, address) = listen().await;
    let seen = Arc::new(Mutex::new(BTreeMap::<String, u32>::new()));
    let book = seen.clone();
    tokio::spawn(async move {
        for turn in 0.. {
            let (mut socket, _) = listener.accept().await.unwrap();
            let book = book.clone();
            tokio::spawn(async move {
                for answers in 0.. {
                    let Some(heard) = hear(&mut socket).await else { return };
                    let path = heard.split(' ').nth(1).unwrap().to_owned();
                    *book.lock().unwrap().entry(path).or_default() += 1;
                    if answers == turn % 3 {
                        return;
                    }
                    socket.write_all(GOOD.as_bytes()).await.unwrap();
                    // Closes at once, without a word, after some answers.
                    if turn % 2 == 0 {
                        return;
                    }
                }
            });
        }
    });
    let client = client();
    let (mut answered, mut lost) = (0, 0);
    for number in 0..600 {
        let path = format!("/{number}");
        let sent = client.send(order(&address.below(&[&number.to_string()]))).await;
        let times = seen.lock().unwrap().get(&path).copied().unwrap_or_default();
        assert!(times <= 1, "{path} came {times} times");
        match sent {
            Ok(answer) => {
                answered += 1;
                assert_eq!((answer.status, times), (200, 1));
            }
            Err(CallError::Lost(_)) => lost += 1,
            Err(CallError::Refused(_)) => assert_eq!(times, 0, "{path} was refused and read"),
        }
    }
    assert!(answered > 100 && lost > 100, "{answered} answered, {lost} lost");
}

#[tokio::test]
async fn an_untrusted_url_cannot_reach_a_private_network() {
    let (listener, address) = listen().await;
    let port = address.to_text().trim_end_matches('/').rsplit_once(':').unwrap().1.to_owned();
    let touched = Arc::new(Notify::new());
    let bell = touched.clone();
    tokio::spawn(async move {
        let _ = listener.accept().await;
        bell.notify_one();
    });
    let public =
        HttpClient::trusting(RootCertStore::empty(), PATIENTLY, HostPolicy::PublicOnly).unwrap();
    for (inward, why) in [
        (format!("https://127.0.0.1:{port}"), CallErrorKind::NotPublic),
        (format!("https://2130706433:{port}"), CallErrorKind::NotPublic),
        (format!("https://[::1]:{port}"), CallErrorKind::NotPublic),
        (format!("https://localhost:{port}"), CallErrorKind::Unconnected),
        (format!("http://localhost:{port}"), CallErrorKind::Unsendable),
    ] {
        let call = HttpCall::get("test", HttpUrl::parse(&inward).unwrap());
        assert_eq!(public.send(call).await, Err(CallError::Refused(why)), "{inward}");
    }
    assert!(tokio::time::timeout(SOON, touched.notified()).await.is_err(), "it connected");
}
