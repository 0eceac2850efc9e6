//! One JSON-RPC 2.0 message, and what can be wrong with it.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::given::{self, Given, Members, Unreadable};
use crate::problem::Retry;

pub(super) const PARSE_ERROR: i64 = -32_700;
pub(super) const INVALID_REQUEST: i64 = -32_600;
pub(super) const METHOD_NOT_FOUND: i64 = -32_601;
pub(super) const INVALID_PARAMS: i64 = -32_602;
pub(super) const INTERNAL_ERROR: i64 = -32_603;
pub(super) const RESOURCE_NOT_FOUND: i64 = -32_002;
pub(super) const HEADER_MISMATCH: i64 = -32_020;
pub(super) const UNSUPPORTED_VERSION: i64 = -32_022;

/// A body as far as it could be read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Read<'a> {
    /// As it was written, since it goes back byte for byte; none if there is none to go back.
    pub(super) id: Option<&'a str>,
    pub(super) message: Result<Message<'a>, Fault>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Message<'a> {
    Request {
        method: Cow<'a, str>,
        params: Members<'a>,
    },
    Notification,
    /// An answer, which nobody here has asked for.
    Response,
}

/// What is wrong with a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    pub(super) code: i64,
    pub(super) message: Cow<'static, str>,
    pub(super) data: Option<Value>,
    /// What a caller may do next, as in every error of this service.
    pub(super) retry: Retry,
}

impl Fault {
    pub(super) fn new(code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        let retry = if code == INTERNAL_ERROR { Retry::Same } else { Retry::Never };
        Self { code, message: message.into(), data: None, retry }
    }

    /// Under the id of the message, where one was readable.
    pub(super) fn body(&self, id: Option<&str>) -> String {
        let Self { code, message, retry, .. } = self;
        let mut error = json!({ "code": code, "message": message, "retry": retry });
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.unwrap_or("null"))
    }
}

/// What stands in a message beside its id.
#[derive(Default)]
struct Letter<'a> {
    version: Option<Given<'a>>,
    method: Option<Given<'a>>,
    params: Option<Given<'a>>,
    outcome: Option<Given<'a>>,
}

pub(super) fn read(body: &[u8]) -> Read<'_> {
    let members = match given::envelope(body) {
        Ok(members) => members,
        Err(unreadable) => return Read { id: None, message: Err(fault(unreadable)) },
    };
    let id = members.iter().find(|(name, _)| name == "id").map(|(_, raw)| raw.get());
    let readable = id.filter(|id| is_id(id));
    let message = match (id, readable) {
        (Some(_), None) => {
            Err(Fault::new(INVALID_REQUEST, "id: must be a string or a whole number."))
        }
        (None | Some(_), _) => opened(members, readable),
    };
    Read { id: readable, message }
}

fn opened<'a>(
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
    id: Option<&str>,
) -> Result<Message<'a>, Fault> {
    let mut letter = Letter::default();
    for (name, raw) in members {
        let given = Some(Given::read(raw).map_err(fault)?);
        match &*name {
            "jsonrpc" => letter.version = given,
            "method" => letter.method = given,
            "params" => letter.params = given,
            "result" | "error" => letter.outcome = given,
            _ => {}
        }
    }
    if letter.version.as_ref().and_then(Given::text) != Some("2.0") {
        return Err(Fault::new(INVALID_REQUEST, "jsonrpc: must be \"2.0\"."));
    }
    let method = match (letter.method, letter.outcome) {
        (Some(Given::Text(method)), _) => method,
        (None, Some(_)) => return Ok(Message::Response),
        (Some(_) | None, _) => {
            return Err(Fault::new(INVALID_REQUEST, "method: must be a string."));
        }
    };
    let params = match letter.params {
        None => Members::default(),
        Some(Given::Object(params)) => params,
        Some(Given::Null | Given::Whole(_) | Given::Text(_) | Given::Other) => {
            return Err(Fault::new(INVALID_PARAMS, "params: must be an object."));
        }
    };
    Ok(match id {
        Some(_) => Message::Request { method, params },
        None => Message::Notification,
    })
}

fn fault(unreadable: Unreadable) -> Fault {
    match unreadable {
        Unreadable::NoJson => Fault::new(PARSE_ERROR, "The body is no JSON."),
        Unreadable::NotTaken => Fault::new(
            INVALID_REQUEST,
            "Send one JSON-RPC message, as an object; batches are not taken. Say nothing twice in \
             it, and nest it no deeper than 32 levels.",
        ),
    }
}

/// A string that means something, or a whole number however large.
fn is_id(id: &str) -> bool {
    let digits = id.strip_prefix('-').unwrap_or(id);
    let whole = digits.bytes().all(|byte| byte.is_ascii_digit());
    whole || (id.starts_with('"') && serde_json::from_str::<String>(id).is_ok())
}
