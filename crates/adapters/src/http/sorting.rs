//! What became of a call: an answer, a refusal, or nobody knows.

use std::fmt;

use order::ports::Failure;
use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode, header};
use serde::de::DeserializeOwned;

/// What a server said, whatever it said. It may hold personal data, so only its
/// status prints.
#[derive(Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub content_type: Option<String>,
    pub body: Vec<u8>,
}

/// Why there is no good answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// It certainly did not happen.
    Refused(Why),
    /// It may have happened.
    Lost(Why),
}

/// The class of what went wrong. Nothing that anybody wrote fits in here, so
/// all of it may be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// No connection: the name, the port or the certificate.
    Unconnected,
    /// A stranger's address that leads into a private network.
    NotPublic,
    /// Not a request that can be written.
    Unsendable,
    /// Our own budget for this peer is used up.
    NoBudget,
    TimedOut,
    /// The connection ended, or spoke no HTTP, before the answer was complete.
    Broken,
    TooLarge,
    /// Compressed, although we asked for plain bytes.
    Encoded,
    /// Good, but not in a form that we can read.
    Unreadable,
    Status(u16),
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unconnected => "no connection",
            Self::NotPublic => "not a public address",
            Self::Unsendable => "cannot be written",
            Self::NoBudget => "budget used up",
            Self::TimedOut => "no answer in time",
            Self::Broken => "answer cut off",
            Self::TooLarge => "answer too large",
            Self::Encoded => "answer compressed",
            Self::Unreadable => "answer unreadable",
            Self::Status(status) => return write!(f, "status {status}"),
        })
    }
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => write!(f, "refused: {why}"),
            Self::Lost(why) => write!(f, "lost: {why}"),
        }
    }
}

impl From<Silence> for Failure {
    fn from(silence: Silence) -> Self {
        match silence {
            Silence::Refused(why) => Self::Refused(why.to_string()),
            Silence::Lost(why) => Self::Lost(why.to_string()),
        }
    }
}

impl Answer {
    /// Reads a good answer into the shape that its caller expects. Any other
    /// status, or a body that does not fit, leaves open what has happened.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Silence> {
        if !self.is_good() {
            return Err(self.lost());
        }
        self.body_as().ok_or(Silence::Lost(Why::Unreadable))
    }

    /// Reads the body whatever the status: some refusals explain themselves.
    pub fn body_as<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&self.body).ok()
    }

    /// The header of that name, if it came and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub const fn is_good(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// What an answer means to somebody who knows no better.
    pub const fn lost(&self) -> Silence {
        Silence::Lost(Why::Status(self.status))
    }

    /// For a status that proves that nothing was accepted.
    pub const fn refused(&self) -> Silence {
        Silence::Refused(Why::Status(self.status))
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("status", &self.status).finish_non_exhaustive()
    }
}

/// Sorts an error from before the answer's head.
///
/// Only an error of the connector itself (name, port, handshake) proves that no
/// byte of the request was written. A connection from the pool that turns out
/// to be closed proves nothing: its server may have read the request first.
/// Where the client knows that a request never left its queue, it takes a new
/// connection by itself; that is still one call for the server.
pub(super) fn sort(error: &reqwest::Error) -> Silence {
    if error.is_builder() {
        Silence::Refused(Why::Unsendable)
    } else if error.is_connect() {
        Silence::Refused(Why::Unconnected)
    } else if error.is_timeout() {
        Silence::Lost(Why::TimedOut)
    } else {
        Silence::Lost(Why::Broken)
    }
}

/// Reads the body as far as it is allowed to go. The request was written, so
/// whatever goes wrong now is lost.
pub(super) async fn read(mut response: Response, most: usize) -> Result<Answer, Silence> {
    let status = response.status();
    if response
        .headers()
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .any(|coding| coding != "identity")
    {
        return Err(unless_no(status, Why::Encoded));
    }
    let text = |value: &header::HeaderValue| value.to_str().ok().map(str::to_owned);
    let content_type = response.headers().get(header::CONTENT_TYPE).and_then(text);
    let announced = response.content_length().map(usize::try_from);
    if announced.is_some_and(|length| length.map_or(true, |length| length > most)) {
        return Err(unless_no(status, Why::TooLarge));
    }
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if chunk.len() > most - body.len() => {
                return Err(unless_no(status, Why::TooLarge));
            }
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => {
                let headers = response.headers().clone();
                return Ok(Answer { status: status.as_u16(), headers, content_type, body });
            }
            Err(_) => return Err(unless_no(status, Why::Broken)),
        }
    }
}

/// Where the body cannot be read, a status that is not good says more than the body's fault.
fn unless_no(status: StatusCode, why: Why) -> Silence {
    if status.is_success() {
        Silence::Lost(why)
    } else {
        Silence::Lost(Why::Status(status.as_u16()))
    }
}
