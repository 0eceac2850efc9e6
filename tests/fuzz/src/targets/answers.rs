//! A server on this machine that answers with what a run scripted, for the clients of other systems.

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use adapters::http::{HostPolicy, HttpClient, HttpUrl};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

/// Separates the answers of one input.
const SEPARATOR: &[u8] = b"\n--\n";

pub(crate) static SERVER: LazyLock<Mutex<AnswerServer>> =
    LazyLock::new(|| Mutex::new(AnswerServer::start()));

pub(crate) struct AnswerServer {
    pub(crate) runtime: Runtime,
    pub(crate) client: HttpClient,
    /// Such as `127.0.0.1:40123`.
    pub(crate) place: String,
    script: Arc<Mutex<Script>>,
}

/// How answers are made from the parts of an input.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// A part is a status of one character and a body.
    #[default]
    Http,
    /// A part is the result of a JSON-RPC call, or after `!` the whole body.
    JsonRpc,
    /// As `JsonRpc`, but a part is bytes: after `r` a result, after `e` a revert; blocks are
    /// good, and a GET or a POST to a gateway gets the bytes too.
    Ens,
}

#[derive(Default)]
struct Script {
    form: Form,
    parts: VecDeque<Vec<u8>>,
    /// Every status and body that was sent.
    sent: Vec<(u16, Vec<u8>)>,
}

pub(crate) fn server() -> MutexGuard<'static, AnswerServer> {
    SERVER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A body as the second reader sees it. Clients skip members that they do not use, also if their
/// bytes are no text; this is mended here. None if it cannot be read then either.
pub(crate) fn lenient_json(body: &[u8]) -> Option<Value> {
    serde_json::from_str(&String::from_utf8_lossy(body)).ok()
}

/// The parts of an input.
pub(crate) fn split(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(data);
    std::iter::from_fn(move || {
        let data = rest?;
        match data.windows(SEPARATOR.len()).position(|part| part == SEPARATOR) {
            Some(end) => {
                rest = Some(&data[end + SEPARATOR.len()..]);
                Some(&data[..end])
            }
            None => rest.take(),
        }
    })
}

impl AnswerServer {
    fn start() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let place = listener.local_addr().expect("its address").to_string();
        let script = Arc::<Mutex<Script>>::default();
        let shared = script.clone();
        runtime.spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(serve(connection, shared.clone()));
            }
        });
        let client = {
            let _entered = runtime.enter();
            HttpClient::new(HostPolicy::Configured).expect("a client")
        };
        Self { runtime, client, place, script }
    }

    pub(crate) fn url(&self) -> HttpUrl {
        HttpUrl::parse(&format!("http://{}", self.place)).expect("a URL")
    }

    /// Runs calls that get these answers, one after the other, and then 500. Returns what was sent.
    pub(crate) fn answering<T>(
        &self,
        form: Form,
        parts: impl Iterator<Item = Vec<u8>>,
        calls: impl Future<Output = T>,
    ) -> (T, Vec<(u16, Vec<u8>)>) {
        *self.script() = Script { form, parts: parts.collect(), sent: Vec::new() };
        let result = self.runtime.block_on(calls);
        (result, std::mem::take(&mut self.script().sent))
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn serve(mut connection: TcpStream, script: Arc<Mutex<Script>>) {
    let mut received = Vec::new();
    while let Some((path, body)) = request(&mut connection, &mut received).await {
        let (status, answer) = {
            let mut script = script.lock().unwrap_or_else(PoisonError::into_inner);
            let (status, answer) = script.answer(&path, &body);
            script.sent.push((status, answer.clone()));
            (status, answer)
        };
        let head = format!(
            "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        if connection.write_all(&[head.as_bytes(), &answer].concat()).await.is_err() {
            return;
        }
    }
}

/// The next request on a connection: its path and its body.
async fn request(connection: &mut TcpStream, received: &mut Vec<u8>) -> Option<(String, Vec<u8>)> {
    let end = loop {
        if let Some(end) = received.windows(4).position(|part| part == b"\r\n\r\n") {
            break end + 4;
        }
        if connection.read_buf(received).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&received[..end]).to_lowercase();
    let length =
        head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
    let length: usize = length.unwrap_or(0);
    while received.len() < end + length {
        if connection.read_buf(received).await.ok()? == 0 {
            return None;
        }
    }
    let path = head.split(' ').nth(1)?.to_owned();
    let body = received[end..end + length].to_vec();
    received.drain(..end + length);
    Some((path, body))
}

impl Script {
    fn answer(&mut self, path: &str, body: &[u8]) -> (u16, Vec<u8>) {
        match self.form {
            Form::Http => match self.parts.pop_front() {
                Some(part) => plain(&part),
                None => (500, Vec::new()),
            },
            Form::JsonRpc | Form::Ens => {
                let asked: Value = serde_json::from_slice(body).unwrap_or_default();
                if path != "/" {
                    return self.gateway();
                }
                self.json_rpc(&asked)
            }
        }
    }

    fn json_rpc(&mut self, asked: &Value) -> (u16, Vec<u8>) {
        if let Value::Array(members) = asked {
            if let Some(whole) = self.whole_body() {
                return whole;
            }
            let answers: Vec<String> = members.iter().map(|member| self.member(member)).collect();
            return (200, format!("[{}]", answers.join(",")).into_bytes());
        }
        let is_fixed = self.fixed(asked).is_some();
        match self.whole_body() {
            Some(whole) if !is_fixed => whole,
            Some(_) | None => (200, self.member(asked).into_bytes()),
        }
    }

    /// After `!` a part is a whole body, with its status.
    fn whole_body(&mut self) -> Option<(u16, Vec<u8>)> {
        let part = self.parts.pop_front_if(|part| part.first() == Some(&b'!'))?;
        Some(plain(&part[1..]))
    }

    /// The answer to one call. The text of a result is not checked: it may be no JSON.
    fn member(&mut self, asked: &Value) -> String {
        let id = &asked["id"];
        if let Some(result) = self.fixed(asked) {
            return format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        }
        let Some(part) = self.parts.pop_front() else {
            return format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32000,"message":"no answer"}}}}"#
            );
        };
        let text = String::from_utf8_lossy(&part);
        match (self.form, text.strip_prefix('?')) {
            (Form::Ens, _) => of_bytes(id, &part),
            (Form::Http | Form::JsonRpc, Some(error)) => {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
            }
            (Form::Http | Form::JsonRpc, None) => {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{text}}}"#)
            }
        }
    }

    /// What is not fuzzed: the id of the chain, and for names the block.
    fn fixed(&self, asked: &Value) -> Option<Value> {
        let hash = |byte: &str| format!("0x{}", byte.repeat(32));
        match asked["method"].as_str()? {
            "eth_chainId" => Some(json!("0x1")),
            "eth_getBlockByNumber" if self.form == Form::Ens => Some(json!({
                "number": "0x3e8", "hash": hash("aa"), "parentHash": hash("ab"), "timestamp": "0x6ab13b80",
            })),
            _ => None,
        }
    }

    fn gateway(&mut self) -> (u16, Vec<u8>) {
        match self.parts.pop_front() {
            Some(part) if part.first() == Some(&b'r') => {
                (200, json!({ "data": evm::hex::encode(&part[1..]) }).to_string().into_bytes())
            }
            Some(part) => plain(&part),
            None => (500, Vec::new()),
        }
    }
}

/// A result or a revert with these bytes.
fn of_bytes(id: &Value, part: &[u8]) -> String {
    let (kind, bytes) = part.split_first().unwrap_or((&b'r', &[]));
    let data = evm::hex::encode(bytes);
    match kind {
        b'e' => format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":3,"message":"reverted","data":"{data}"}}}}"#
        ),
        _ => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"{data}"}}"#),
    }
}

/// The first character is the status.
fn plain(part: &[u8]) -> (u16, Vec<u8>) {
    let Some((first, body)) = part.split_first() else { return (200, Vec::new()) };
    let status = match first {
        b'1' => 401,
        b'3' => 302,
        b'4' => 400,
        b'5' => 500,
        b'6' => 503,
        b'7' => 402,
        b'8' => 403,
        b'9' => 404,
        b'c' => 201,
        b'e' => 204,
        b'k' => 409,
        b'n' => 429,
        b'u' => 422,
        _ => 200,
    };
    let body = if status == 204 { &[][..] } else { body };
    (status, body.to_vec())
}
