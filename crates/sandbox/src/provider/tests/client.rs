//! A raw TCP client that sees every byte, and the calls that most tests make.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::provider::ProviderEmulator;
use crate::provider::state::settings::{ProviderSettings, SANDBOX_TOKEN};

/// Far longer than any answer takes; a test that waits so long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct EmulatedResponse {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl EmulatedResponse {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|fault| panic!("{fault}: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

pub(crate) async fn open() -> ProviderEmulator {
    ProviderEmulator::open(ProviderSettings::default()).await.unwrap()
}

pub(crate) fn bearer() -> String {
    format!("Bearer {SANDBOX_TOKEN}")
}

/// Sends a request and returns the socket that its answer will come on.
pub(crate) async fn sent(
    provider: &ProviderEmulator,
    line: &str,
    authorization: &str,
    more: &str,
    body: &str,
) -> TcpStream {
    let mut stream = TcpStream::connect(provider.address()).await.unwrap();
    let request = format!(
        "{line} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: {authorization}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n{more}\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Every byte until the other side ends, however it ends.
pub(crate) async fn all_of(stream: &mut TcpStream) -> (Vec<u8>, std::io::Result<()>) {
    let mut bytes = Vec::new();
    let ended = timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.expect("an end");
    (bytes, ended.map(|_| ()))
}

pub(crate) fn read(bytes: &[u8]) -> EmulatedResponse {
    let split = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8(bytes[..split].to_vec()).unwrap();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
    EmulatedResponse { status, head, body: bytes[split + 4..].to_vec() }
}

pub(crate) async fn call(
    provider: &ProviderEmulator,
    line: &str,
    body: &Value,
) -> EmulatedResponse {
    call_as(provider, line, &bearer(), "", body).await
}

pub(crate) async fn call_as(
    provider: &ProviderEmulator,
    line: &str,
    authorization: &str,
    more: &str,
    body: &Value,
) -> EmulatedResponse {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let mut stream = sent(provider, line, authorization, more, &body).await;
    let (bytes, ended) = all_of(&mut stream).await;
    ended.unwrap();
    read(&bytes)
}

pub(crate) async fn get(provider: &ProviderEmulator, path: &str) -> EmulatedResponse {
    call(provider, &format!("GET {path}"), &Value::Null).await
}

pub(crate) async fn send(provider: &ProviderEmulator, body: &Value) -> EmulatedResponse {
    call(provider, "POST /api/v2/send/postcard", body).await
}

/// Sends a card and returns its id.
pub(crate) async fn send_one(provider: &ProviderEmulator, reference: &str) -> u64 {
    let answer = send(provider, &card(reference)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["id"].as_u64().unwrap()
}

pub(crate) fn card(reference: &str) -> Value {
    json!({
        "size": "4x6",
        "front_image_url": "https://images.example.org/sea.jpg",
        "message": "The sea says hello.\nSo do I.",
        "recipients": [{
            "name": "Ada Lovelace",
            "address": "12 St James's Square",
            "city": "London",
            "province": "Greater London",
            "postal_code": "SW1Y 4LB",
            "country": "GB",
        }],
        "metadata": { "public_order_id": reference, "attempt": 1 },
    })
}

/// The path of an address of this server.
pub(crate) fn path(url: &Value) -> String {
    let url = url::Url::parse(url.as_str().unwrap()).unwrap();
    url.path().to_owned()
}
