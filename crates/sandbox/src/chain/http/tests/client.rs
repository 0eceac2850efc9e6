//! The smallest HTTP client that can see a connection being cut.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::chain::ChainId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Answer {
        status: u16,
        head: String,
        body: String,
    },
    /// The connection ended without an answer.
    Cut,
}

impl Reply {
    pub(crate) fn json(self) -> Value {
        match self {
            Self::Answer { body, .. } => serde_json::from_str(&body).unwrap(),
            Self::Cut => panic!("there was no answer"),
        }
    }

    pub(crate) fn status(&self) -> u16 {
        match self {
            Self::Answer { status, .. } => *status,
            Self::Cut => panic!("there was no answer"),
        }
    }
}

pub(crate) struct Client(String);

impl Client {
    pub(crate) fn new(origin: &str) -> Self {
        Self(origin.strip_prefix("http://").unwrap().to_owned())
    }

    pub(crate) async fn ask(&self, method: &str, path: &str, body: &str) -> Reply {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: sandbox\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let mut answer = Vec::new();
        let asked = async {
            let mut stream = TcpStream::connect(&self.0).await?;
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(body.as_bytes()).await?;
            stream.read_to_end(&mut answer).await
        };
        if asked.await.is_err() || answer.is_empty() {
            return Reply::Cut;
        }
        let text = String::from_utf8(answer).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Reply::Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> Reply {
        self.ask("POST", path, body).await
    }

    pub(crate) async fn try_call(&self, chain: ChainId, method: &str, params: Value) -> Reply {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.post(&format!("/{}", chain.number()), &call.to_string()).await
    }

    pub(crate) async fn call(&self, chain: ChainId, method: &str, params: Value) -> Value {
        self.try_call(chain, method, params).await.json()
    }

    pub(crate) async fn result(&self, chain: ChainId, method: &str, params: Value) -> Value {
        let answer = self.call(chain, method, params).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }
}
