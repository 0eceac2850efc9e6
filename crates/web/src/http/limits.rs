//! Limits of one request: head size, body size and time.

use std::borrow::Cow;
use std::pin::pin;
use std::time::Duration;

use axum::BoxError;
use axum::body::HttpBody;
use bytes::Bytes;
use http::{HeaderMap, StatusCode, Uri};
use http_body_util::{BodyExt, LengthLimitError, Limited};

use crate::http::problem::{Problem, Retry};
use crate::http::timeout::with_timeout;

/// Large enough for the largest MCP message; a postcard needs a quarter of it.
pub const BODY_BYTES: usize = 64 * 1024;

/// Longer than the slowest regular response, and shorter than the timeout of common proxies.
pub const REQUEST_TIME: Duration = Duration::from_secs(30);

/// 64 KiB in this time is the speed of a slow modem. A slower body occupies a connection on
/// purpose, and is closed within ten seconds.
const BODY_TIME: Duration = Duration::from_secs(9);

/// The two largest payment credentials together stay under half of this.
pub(super) const HEAD_BYTES: usize = 16 * 1024;
const HEADER_COUNT: usize = 64;

/// What `name: value` takes on the wire beyond name and value.
pub(super) const HEADER_PUNCTUATION_BYTES: usize = ": \r\n".len();

/// The limits of one route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLimits {
    pub body_bytes: usize,
    /// The status for a larger body: 413, unless the contract of a route names another.
    pub body_overflow: StatusCode,
    /// The status for a body that does not arrive in time: 408, unless the contract of a route
    /// does not list it.
    pub body_timeout: StatusCode,
    pub request_time: Duration,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            body_bytes: BODY_BYTES,
            body_overflow: StatusCode::PAYLOAD_TOO_LARGE,
            body_timeout: StatusCode::REQUEST_TIMEOUT,
            request_time: REQUEST_TIME,
        }
    }
}

pub(crate) fn check_head(uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    let target = uri.path_and_query().map_or(0, |target| target.as_str().len());
    let bytes: usize = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + HEADER_PUNCTUATION_BYTES)
        .sum();
    if headers.len() > HEADER_COUNT || target + bytes > HEAD_BYTES {
        return Err(Problem {
            status: StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            code: "headers_too_large",
            message: Cow::Borrowed(
                "The request head is too large. The limits are 64 headers and 16 KiB, including \
                 the URL.",
            ),
            retry: Retry::Never,
        });
    }
    Ok(())
}

/// Reads the whole body, up to its size limit and its time limit.
pub(crate) async fn read_body<B>(body: B, limits: RequestLimits) -> Result<Bytes, Problem>
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let announced = body.size_hint().lower();
    if usize::try_from(announced).map_or(true, |announced| announced > limits.body_bytes) {
        return Err(too_large(limits));
    }
    let collected = pin!(collect(Limited::new(body, limits.body_bytes)));
    match with_timeout(BODY_TIME, collected).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(limits)),
        Ok(Err(_)) => Err(unreadable()),
        Err(_) => Err(body_timed_out(limits)),
    }
}

/// Nearly every body comes in one chunk, which is then returned without a copy.
async fn collect<B>(body: Limited<B>) -> Result<Bytes, BoxError>
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let mut body = pin!(body);
    let Some(first) = body.frame().await else { return Ok(Bytes::new()) };
    let first = first?.into_data().unwrap_or_default();
    if body.is_end_stream() {
        return Ok(first);
    }
    let rest = body.collect().await?.to_bytes();
    Ok([first, rest].concat().into())
}

/// Names the limit, because routes and installations have different ones.
pub(super) fn too_large(limits: RequestLimits) -> Problem {
    const KIB: usize = 1024;
    let limit = match limits.body_bytes {
        bytes if bytes.is_multiple_of(KIB) => format!("{} KiB", bytes / KIB),
        bytes => format!("{bytes} bytes"),
    };
    Problem {
        status: limits.body_overflow,
        code: "body_too_large",
        message: Cow::Owned(format!(
            "The body is too large: this endpoint accepts at most {limit}."
        )),
        retry: Retry::Never,
    }
}

fn unreadable() -> Problem {
    Problem {
        status: StatusCode::BAD_REQUEST,
        code: "body_unreadable",
        message: Cow::Borrowed("The body is incomplete, or its transfer coding is invalid."),
        retry: Retry::Never,
    }
}

fn body_timed_out(limits: RequestLimits) -> Problem {
    Problem {
        status: limits.body_timeout,
        code: "body_too_slow",
        message: Cow::Borrowed("The body did not arrive within 9 seconds."),
        retry: Retry::Same,
    }
}

pub(crate) fn request_timed_out() -> Problem {
    Problem {
        status: StatusCode::SERVICE_UNAVAILABLE,
        code: "request_timed_out",
        message: Cow::Borrowed(
            "The request timed out. A payment in progress continues; send the same request again \
             to get its result.",
        ),
        retry: Retry::Same,
    }
}
