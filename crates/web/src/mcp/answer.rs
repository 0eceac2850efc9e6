//! Results as they go out: written once, and only the id is put in for each request.

use bytes::Bytes;
use serde_json::{Value, json};

use super::era::Era;
use crate::known::Known;

/// Words change with a release only; five minutes is how long a page is kept.
const TIME_TO_LIVE_MILLISECONDS: u64 = 300_000;
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// A result without its last brace, as each era has its own last words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    text: Bytes,
    kept: Kept,
}

/// Whether others may keep a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    Yes,
    No,
}

impl Said {
    /// An object.
    pub(super) fn new(result: &Value, kept: Kept) -> Self {
        let mut text = result.to_string();
        text.pop();
        Self { text: text.into(), kept }
    }

    /// What a tool found, for programs and, as the same text, for models.
    pub(super) fn found(content: &str) -> Self {
        let quoted = Value::from(content);
        let text = format!(
            r#"{{"content":[{{"type":"text","text":{quoted}}}],"structuredContent":{content},"isError":false"#
        );
        Self { text: text.into(), kept: Kept::No }
    }

    /// What a model can mend.
    pub(super) fn failed(words: &str) -> Self {
        let result = json!({ "content": [{ "type": "text", "text": words }], "isError": true });
        Self::new(&result, Kept::No)
    }
}

/// The last words of results.
#[derive(Debug)]
pub(super) struct Endings {
    legacy: Bytes,
    modern: Bytes,
    modern_kept: Bytes,
}

impl Endings {
    /// `server` is who speaks, which every result of the modern era says.
    pub(super) fn new(server: &Value) -> Self {
        let meta = json!({ SERVER_KEY: server });
        let ending = |hints: &str| format!(r#","resultType":"complete"{hints},"_meta":{meta}}}}}"#);
        let hints = format!(r#","ttlMs":{TIME_TO_LIVE_MILLISECONDS},"cacheScope":"public""#);
        Self {
            legacy: Bytes::from_static(b"}}"),
            modern: ending("").into(),
            modern_kept: ending(&hints).into(),
        }
    }

    fn of(&self, era: Era, kept: Kept) -> &Bytes {
        match (era, kept) {
            (Era::Legacy, Kept::Yes | Kept::No) => &self.legacy,
            (Era::Modern, Kept::No) => &self.modern,
            (Era::Modern, Kept::Yes) => &self.modern_kept,
        }
    }

    /// The whole body of an answer.
    pub(super) fn body(&self, era: Era, id: &str, said: &Said) -> Known {
        let head = [r#"{"jsonrpc":"2.0","id":"#, id, r#","result":"#].concat();
        Known::of([head.into(), said.text.clone(), self.of(era, said.kept).clone()])
    }
}
