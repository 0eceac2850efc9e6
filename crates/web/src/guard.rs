//! The one layer that every request passes: its name, its limits and its line in the log.
//!
//! One layer of our own instead of a stack of generic ones, as each of those
//! boxes and clones for every request.

use std::borrow::Cow;
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::X_CONTENT_TYPE_OPTIONS;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::time::timeout;
use tower::{Layer, Service};

use crate::guard::journal::Entry;
use crate::patience::within;
use crate::problem::{Problem, Retry};
use crate::request_id::{RequestId, RequestIds};

mod journal;
mod watch;

pub(crate) use watch::Making;
pub use watch::Watched;

/// Room for the largest MCP message; a postcard needs a quarter of it.
pub const BODY_BYTES: usize = 64 * 1024;

/// Long enough for the slowest honest answer, short enough that a stuck one is
/// given back before a proxy in front of us gives up on its own.
pub const REQUEST_TIME: Duration = Duration::from_secs(30);

/// 64 KiB in this time is a slow modem; anything slower holds a place on purpose.
const BODY_TIME: Duration = Duration::from_secs(10);

/// The two largest payment credentials together stay under half of this.
const HEAD_BYTES: usize = 16 * 1024;
const HEADER_COUNT: usize = 64;

/// What `name: value` costs on the wire beyond its two words.
const HEADER_PUNCTUATION_BYTES: usize = ": \r\n".len();

pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What one request may cost us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub body_bytes: usize,
    /// The answer to a larger body: 413, unless a route's contract names another.
    pub body_overflow: StatusCode,
    /// The answer to a body that does not arrive in time: 408, unless a route's contract has
    /// no such answer.
    pub body_timeout: StatusCode,
    pub request_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: BODY_BYTES,
            body_overflow: StatusCode::PAYLOAD_TOO_LARGE,
            body_timeout: StatusCode::REQUEST_TIMEOUT,
            request_time: REQUEST_TIME,
        }
    }
}

#[derive(Clone)]
pub struct Guard {
    ids: Arc<RequestIds>,
    limits: Limits,
}

impl Guard {
    pub fn new(limits: Limits) -> Self {
        Self { ids: Arc::new(RequestIds::new()), limits }
    }

    /// Who names the requests, for those that need no guard.
    pub(crate) fn ids(&self) -> Arc<RequestIds> {
        self.ids.clone()
    }

    /// The same guard with other limits.
    pub fn with(&self, limits: Limits) -> Self {
        Self { limits, ..self.clone() }
    }
}

impl<S> Layer<S> for Guard {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded { guard: self.clone(), inner }
    }
}

#[derive(Clone)]
pub struct Guarded<S> {
    guard: Guard,
    inner: S,
}

impl<S> Service<Request> for Guarded<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        // The service that was found ready is the one to call; the next request
        // gets the clone.
        let next = self.inner.clone();
        let inner = std::mem::replace(&mut self.inner, next);
        let limits = self.guard.limits;
        let id = self.guard.ids.next();
        Box::pin(async move {
            let mut entry = Entry::open(id, &request);
            request.extensions_mut().insert(id);
            let answered = timeout(limits.request_time, admit(inner, request, limits)).await;
            let mut response = answered.unwrap_or_else(|_| too_slow().into_response());
            sign(response.headers_mut(), id);
            entry.answered(response.status());
            Ok(response)
        })
    }
}

/// The body is read first, so that no handler can forget the limit or wait for a
/// caller who dawdles.
async fn admit<S>(inner: S, request: Request, limits: Limits) -> Response
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    let (parts, body) = request.into_parts();
    if let Err(problem) = measure_head(&parts.uri, &parts.headers) {
        return problem.into_response();
    }
    match read_body(body, limits).await {
        Ok(body) => answer(inner, Request::from_parts(parts, Body::from(body))).await,
        Err(problem) => problem.into_response(),
    }
}

/// What every answer carries.
fn sign(headers: &mut HeaderMap, id: RequestId) {
    headers.insert(X_REQUEST_ID, id.header());
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}

pub(crate) fn measure_head(uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
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
                "A request may carry 64 headers and 16 KiB of them, its address included.",
            ),
            retry: Retry::Never,
        });
    }
    Ok(())
}

/// Reads the whole body, up to its limit and for a limited time.
pub(crate) async fn read_body<B>(body: B, limits: Limits) -> Result<Bytes, Problem>
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
    let whole = pin!(whole(Limited::new(body, limits.body_bytes)));
    match within(BODY_TIME, whole).await {
        Ok(Ok(whole)) => Ok(whole),
        Ok(Err(fault)) if fault.is::<LengthLimitError>() => Err(too_large(limits)),
        Ok(Err(_)) => Err(broken_off()),
        Err(_) => Err(dawdling(limits)),
    }
}

/// Nearly every body comes in one piece, which is then handed on as it lies.
async fn whole<B>(body: Limited<B>) -> Result<Bytes, BoxError>
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

/// A handler that panics costs its caller one 500, not the connection. The
/// panic hook has already written where it happened.
async fn answer<S>(mut inner: S, request: Request) -> Response
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    match caught(async move { inner.call(request).await }).await {
        Some(Ok(response)) => response,
        Some(Err(never)) => match never {},
        None => internal().into_response(),
    }
}

/// None if it panicked on its way.
async fn caught<T>(answer: impl Future<Output = T>) -> Option<T> {
    let mut answer = pin!(answer);
    poll_fn(|context| polled(answer.as_mut(), context)).await
}

fn polled<T>(
    answer: Pin<&mut (impl Future<Output = T> + ?Sized)>,
    context: &mut Context<'_>,
) -> Poll<Option<T>> {
    let polled = catch_unwind(AssertUnwindSafe(|| answer.poll(context)));
    polled.map_or(Poll::Ready(None), |poll| poll.map(Some))
}

/// Says the limit that was passed, as routes and installations have different ones.
fn too_large(limits: Limits) -> Problem {
    const KIB: usize = 1024;
    let most = match limits.body_bytes {
        bytes if bytes.is_multiple_of(KIB) => format!("{} KiB", bytes / KIB),
        bytes => format!("{bytes} bytes"),
    };
    Problem {
        status: limits.body_overflow,
        code: "body_too_large",
        message: Cow::Owned(format!("The body is too large: this endpoint takes at most {most}.")),
        retry: Retry::Never,
    }
}

fn broken_off() -> Problem {
    Problem {
        status: StatusCode::BAD_REQUEST,
        code: "body_unreadable",
        message: Cow::Borrowed("The body broke off or its transfer coding is wrong."),
        retry: Retry::Never,
    }
}

fn dawdling(limits: Limits) -> Problem {
    Problem {
        status: limits.body_timeout,
        code: "body_too_slow",
        message: Cow::Borrowed("The body did not arrive within 10 seconds."),
        retry: Retry::Same,
    }
}

pub(crate) fn too_slow() -> Problem {
    Problem {
        status: StatusCode::SERVICE_UNAVAILABLE,
        code: "request_timed_out",
        message: Cow::Borrowed(
            "The answer took too long and was given up. A payment under way goes on; \
             the same request finds its result.",
        ),
        retry: Retry::Same,
    }
}

fn internal() -> Problem {
    Problem {
        status: StatusCode::INTERNAL_SERVER_ERROR,
        code: "internal_error",
        message: Cow::Borrowed(
            "Something broke on our side. X-Request-Id names this request in our log.",
        ),
        retry: Retry::Same,
    }
}

#[cfg(test)]
mod tests;
