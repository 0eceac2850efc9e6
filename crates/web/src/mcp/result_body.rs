//! Serialized results; only the id is added for each request.

use bytes::Bytes;
use serde_json::{Value, json};

use super::protocol_version::ProtocolVersion;
use crate::http::prepared_body::PreparedBody;

/// The content changes with releases only; five minutes as for pages.
const TIME_TO_LIVE_MILLISECONDS: u64 = 300_000;
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// A JSON object without its closing brace, because each protocol version adds its own members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResultBody {
    text: Bytes,
    cache: CacheScope,
}

/// Whether clients may cache a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CacheScope {
    Public,
    NotCached,
}

impl ResultBody {
    /// An object.
    pub(super) fn new(result: &Value, cache: CacheScope) -> Self {
        let mut text = result.to_string();
        text.pop();
        Self { text: text.into(), cache }
    }

    /// The result of a tool, as structured content and as the same text.
    pub(super) fn tool_result(content: &str) -> Self {
        let quoted = Value::from(content);
        let text = format!(
            r#"{{"content":[{{"type":"text","text":{quoted}}}],"structuredContent":{content},"isError":false"#
        );
        Self { text: text.into(), cache: CacheScope::NotCached }
    }

    /// An error that a model can correct.
    pub(super) fn tool_error(message: &str) -> Self {
        let result = json!({ "content": [{ "type": "text", "text": message }], "isError": true });
        Self::new(&result, CacheScope::NotCached)
    }
}

/// The closing members of results.
#[derive(Debug)]
pub(super) struct ResultEndings {
    legacy: Bytes,
    modern: Bytes,
    modern_cached: Bytes,
}

impl ResultEndings {
    /// `server` is the server info that every result of the modern version contains.
    pub(super) fn new(server: &Value) -> Self {
        let meta = json!({ SERVER_KEY: server });
        let ending = |hints: &str| format!(r#","resultType":"complete"{hints},"_meta":{meta}}}}}"#);
        let hints = format!(r#","ttlMs":{TIME_TO_LIVE_MILLISECONDS},"cacheScope":"public""#);
        Self {
            legacy: Bytes::from_static(b"}}"),
            modern: ending("").into(),
            modern_cached: ending(&hints).into(),
        }
    }

    fn of(&self, version: ProtocolVersion, cache: CacheScope) -> &Bytes {
        match (version, cache) {
            (ProtocolVersion::Legacy, CacheScope::Public | CacheScope::NotCached) => &self.legacy,
            (ProtocolVersion::Modern, CacheScope::NotCached) => &self.modern,
            (ProtocolVersion::Modern, CacheScope::Public) => &self.modern_cached,
        }
    }

    /// The body of a response.
    pub(super) fn body(
        &self,
        version: ProtocolVersion,
        id: &str,
        result: &ResultBody,
    ) -> PreparedBody {
        let head = [r#"{"jsonrpc":"2.0","id":"#, id, r#","result":"#].concat();
        PreparedBody::from_chunks([
            head.into(),
            result.text.clone(),
            self.of(version, result.cache).clone(),
        ])
    }
}
