//! A scripted HTTP server for tests, which records its requests.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::HttpUrl;

/// A listener on a free port, and its URL.
pub(crate) async fn listen() -> (TcpListener, HttpUrl) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    (listener, HttpUrl::parse(&address).unwrap())
}

/// Reads one request; none if the client has closed the connection.
pub(crate) async fn hear(socket: &mut TcpStream) -> Option<String> {
    let mut heard = Vec::new();
    loop {
        let mut piece = [0; 4096];
        match socket.read(&mut piece).await {
            Ok(0) | Err(_) => return None,
            Ok(length) => heard.extend_from_slice(&piece[..length]),
        }
        let text = String::from_utf8_lossy(&heard);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                return Some(text.into_owned());
            }
        }
    }
}

/// The reply to one request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Sends these bytes and keeps the connection open.
    Raw(String),
    /// Sends these bytes and closes the connection.
    Last(String),
    /// Sends nothing.
    Nothing,
}

impl Reply {
    pub(crate) fn json(status: u16, body: &str) -> Self {
        let length = body.len();
        let head = "content-type: application/json";
        Self::Raw(format!(
            "HTTP/1.1 {status} X\r\n{head}\r\ncontent-length: {length}\r\n\r\n{body}"
        ))
    }

    pub(crate) fn good(body: &str) -> Self {
        Self::json(200, body)
    }
}

/// The requests so far, and the replies to come.
#[derive(Default)]
struct Script {
    heard: Vec<String>,
    replies: Vec<Reply>,
}

pub(crate) struct Server {
    pub(crate) address: HttpUrl,
    script: Arc<Mutex<Script>>,
}

impl Server {
    /// Sends these replies in turn, then repeats the last one.
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let (listener, address) = listen().await;
        let replies = replies.into_iter().collect();
        let script = Arc::new(Mutex::new(Script { heard: Vec::new(), replies }));
        let book = script.clone();
        tokio::spawn(async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(socket, book.clone()));
            }
        });
        Self { address, script }
    }

    /// The requests so far, as raw text.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.script.lock().unwrap().heard.clone()
    }
}

async fn serve(mut socket: TcpStream, script: Arc<Mutex<Script>>) {
    while let Some(request) = hear(&mut socket).await {
        let reply = {
            let mut script = script.lock().unwrap();
            script.heard.push(request);
            if script.replies.len() > 1 {
                script.replies.remove(0)
            } else {
                script.replies[0].clone()
            }
        };
        let words = match &reply {
            Reply::Raw(words) | Reply::Last(words) => words.as_str(),
            Reply::Nothing => "",
        };
        if socket.write_all(words.as_bytes()).await.is_err() || matches!(reply, Reply::Last(_)) {
            return;
        }
    }
}
