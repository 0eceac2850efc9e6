//! The HTTP client for all calls to other systems: every call has a deadline and a size limit.
//!
//! A call ends with an [`HttpResponse`] of any status or with a [`CallError`]. After `Refused`
//! nothing has happened and the call may be repeated; after `Lost` it may have happened and must
//! be looked up first. This client never retries.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, redirect, retry};
use rustls::{ClientConfig, RootCertStore};
use tokio::time::Instant;
use zeroize::Zeroizing;

use crate::measurements;

mod outcome;
mod public_dns;
#[cfg(test)]
pub(crate) mod test_server;
#[cfg(test)]
mod tests;
mod url;

pub use outcome::{CallError, CallErrorKind, HttpResponse};
pub use url::{HttpUrl, HttpUrlError};

/// Until the handshake nothing was sent.
const CONNECT_DEADLINE: Duration = Duration::from_secs(5);
const CALL_DEADLINE: Duration = Duration::from_secs(15);
/// Far more than any response that we read.
const BODY_BYTES_MAX: usize = 256 * 1024;
/// Shorter than servers usually wait, so that we rarely write to a connection
/// that its server is just closing.
const IDLE_DEADLINE: Duration = Duration::from_secs(20);

/// Which hosts a client may connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostPolicy {
    /// URLs from the configuration.
    Configured,
    /// URLs from untrusted sources: https only, and only if every address of the host is public.
    PublicOnly,
}

/// Cheap to clone; the clones share their connections.
#[derive(Clone)]
pub struct HttpClient {
    inner: reqwest::Client,
    reach: HostPolicy,
    deadline: Duration,
    last_outcomes: Arc<Mutex<BTreeMap<&'static str, OutsideOutcome>>>,
}

/// How a call ended, without its details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutsideOutcome {
    /// With a response of any status.
    Answered,
    Refused,
    Lost,
}

impl OutsideOutcome {
    const fn of(outcome: &Result<HttpResponse, CallError>) -> Self {
        match outcome {
            Ok(_) => Self::Answered,
            Err(CallError::Refused(_)) => Self::Refused,
            Err(CallError::Lost(_)) => Self::Lost,
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Refused => "refused",
            Self::Lost => "lost",
        }
    }
}

/// The client could not be built from its fixed settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpClientError;

impl std::error::Error for HttpClientError {}

impl std::fmt::Display for HttpClientError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("The HTTP client could not be set up. This is a bug; please report it.")
    }
}

impl HttpClient {
    pub fn new(reach: HostPolicy) -> Result<Self, HttpClientError> {
        // Compiled in: no file and no environment variable adds to them.
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        Self::trusting(roots, CONNECT_DEADLINE, reach)
    }

    fn trusting(
        roots: RootCertStore,
        deadline: Duration,
        reach: HostPolicy,
    ) -> Result<Self, HttpClientError> {
        let builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls(roots).map_err(|_| HttpClientError)?)
            // A redirect would send a recipient's address to an unknown host.
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .no_proxy()
            .connect_timeout(deadline)
            .pool_idle_timeout(IDLE_DEADLINE)
            .user_agent(concat!("pennyblack/", env!("CARGO_PKG_VERSION")));
        let builder = match reach {
            HostPolicy::Configured => builder,
            HostPolicy::PublicOnly => {
                builder.https_only(true).dns_resolver(public_dns::PublicResolver)
            }
        };
        let inner = builder.build().map_err(|_| HttpClientError)?;
        Ok(Self { inner, reach, deadline: CALL_DEADLINE, last_outcomes: Arc::default() })
    }

    /// The same client with another deadline for calls that name none.
    #[must_use]
    pub fn answering_within(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Makes a call, without retries.
    pub async fn send(&self, call: HttpCall) -> Result<HttpResponse, CallError> {
        let peer = call.peer;
        let started = Instant::now();
        let outcome = self.within_deadline(call).await;
        let ended = OutsideOutcome::of(&outcome);
        measurements::count_outside_call(peer, ended.label(), started.elapsed());
        self.last_outcomes.lock().unwrap_or_else(PoisonError::into_inner).insert(peer, ended);
        if let Err(error) = &outcome {
            tracing::warn!(place = peer, kind = %error, "A call to another system failed");
        }
        outcome
    }

    /// The outcome of the last call to this peer by this client or a clone of it.
    pub fn last_outcome(&self, peer: &str) -> Option<OutsideOutcome> {
        let outcomes = self.last_outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        outcomes.get(peer).copied()
    }

    async fn within_deadline(&self, call: HttpCall) -> Result<HttpResponse, CallError> {
        let (deadline, most) = (call.deadline.unwrap_or(self.deadline), call.body_bytes_max);
        match self.reach {
            // The resolver is not called for a literal IP address.
            HostPolicy::PublicOnly if !public_dns::may_be_public(call.address.url()) => {
                return Err(CallError::Refused(CallErrorKind::NotPublic));
            }
            HostPolicy::PublicOnly | HostPolicy::Configured => {}
        }
        let request = self.request(call)?;
        let exchange = async {
            let response = self.inner.execute(request).await.map_err(|e| outcome::classify(&e))?;
            outcome::read(response, most).await
        };
        tokio::time::timeout(deadline, exchange)
            .await
            // mutant: refused-without-proof
            .unwrap_or(Err(CallError::Lost(CallErrorKind::TimedOut)))
    }

    fn request(&self, call: HttpCall) -> Result<reqwest::Request, CallError> {
        let mut request = reqwest::Request::new(call.method, call.address.into_url());
        *request.headers_mut() = call.headers;
        if let Some(words) = call.authorization {
            let mut value = HeaderValue::from_str(&words)
                .map_err(|_| CallError::Refused(CallErrorKind::Unsendable))?;
            value.set_sensitive(true);
            request.headers_mut().insert(header::AUTHORIZATION, value);
        }
        let body = call.body.map_err(|_| CallError::Refused(CallErrorKind::Unsendable))?;
        *request.body_mut() = body.map(Into::into);
        Ok(request)
    }
}

/// A request. It may hold personal data, so it has no `Debug`.
pub struct HttpCall {
    peer: &'static str,
    method: Method,
    address: HttpUrl,
    authorization: Option<Zeroizing<String>>,
    headers: HeaderMap,
    body: serde_json::Result<Option<Vec<u8>>>,
    deadline: Option<Duration>,
    body_bytes_max: usize,
}

impl HttpCall {
    /// `peer` is the name of the other system in the log.
    pub fn get(peer: &'static str, address: HttpUrl) -> Self {
        Self::new(peer, Method::GET, address)
    }

    pub fn put(peer: &'static str, address: HttpUrl) -> Self {
        Self::new(peer, Method::PUT, address)
    }

    pub fn delete(peer: &'static str, address: HttpUrl) -> Self {
        Self::new(peer, Method::DELETE, address)
    }

    /// Sends a JSON body.
    pub fn post(peer: &'static str, address: HttpUrl, body: &impl serde::Serialize) -> Self {
        let mut call = Self::new(peer, Method::POST, address);
        call.body = serde_json::to_vec(body).map(Some);
        call.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        call
    }

    fn new(peer: &'static str, method: Method, address: HttpUrl) -> Self {
        // Compressed responses are not accepted: they could expand beyond the size limit.
        let accept = [
            (header::ACCEPT, HeaderValue::from_static("application/json")),
            (header::ACCEPT_ENCODING, HeaderValue::from_static("identity")),
        ];
        Self {
            peer,
            method,
            address,
            authorization: None,
            headers: accept.into_iter().collect(),
            body: Ok(None),
            deadline: None,
            body_bytes_max: BODY_BYTES_MAX,
        }
    }

    pub const fn peer(&self) -> &'static str {
        self.peer
    }

    /// The whole value of the header, such as `Bearer …`.
    #[must_use]
    pub fn authorized(mut self, words: Zeroizing<String>) -> Self {
        self.authorization = Some(words);
        self
    }

    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: HeaderValue) -> Self {
        self.headers.insert(HeaderName::from_static(name), value);
        self
    }

    #[must_use]
    pub fn within(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    #[must_use]
    pub fn at_most(mut self, body_bytes_max: usize) -> Self {
        self.body_bytes_max = body_bytes_max;
        self
    }
}

/// TLS with ring; HTTP/2 if the server offers it.
fn tls(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
