//! The one HTTP client for the outside world: every call ends in time, and is sorted.
//!
//! An outcome is an [`Answer`], whatever its status, or a [`Silence`]. The two
//! kinds of silence must never be confused: after a refusal nothing has
//! happened and we may try again, after a lost answer we must first find out.
//! Nobody tries again in here.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, redirect, retry};
use rustls::{ClientConfig, RootCertStore};
use zeroize::Zeroizing;

mod address;
mod guard;
#[cfg(test)]
pub(crate) mod scripted;
mod sorting;
#[cfg(test)]
mod tests;

pub use address::{Address, NotAnAddress};
pub use sorting::{Answer, Silence, Why};

/// A server that has not shaken hands by now is down, and nothing was sent.
const CONNECT_DEADLINE: Duration = Duration::from_secs(5);
const CALL_DEADLINE: Duration = Duration::from_secs(15);
/// Far more than any answer that we read.
const BODY_BYTES_MAX: usize = 256 * 1024;
/// Shorter than servers usually wait, so that we rarely write to a connection
/// that its server is just closing.
const IDLE_DEADLINE: Duration = Duration::from_secs(20);

/// Whom a client may connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The addresses that the operator has written down.
    Configured,
    /// Addresses that strangers choose: by https only, and only where every
    /// answer of the lookup belongs to the open internet.
    PublicOnly,
}

/// Cheap to clone; the clones share their connections.
#[derive(Clone)]
pub struct Client {
    inner: reqwest::Client,
    reach: Reach,
    deadline: Duration,
}

/// No client could be made of our own settings: a defect, not the world's doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoClient;

impl std::error::Error for NoClient {}

impl std::fmt::Display for NoClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(
            "The HTTP client could not be set up; this is a defect of ours, please report it.",
        )
    }
}

impl Client {
    pub fn new(reach: Reach) -> Result<Self, NoClient> {
        // As compiled in: no file and no variable of the machine adds to them.
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        Self::trusting(roots, CONNECT_DEADLINE, reach)
    }

    fn trusting(roots: RootCertStore, deadline: Duration, reach: Reach) -> Result<Self, NoClient> {
        let builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls(roots).map_err(|_| NoClient)?)
            // A redirect would send a recipient's address to a host that nobody chose.
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .no_proxy()
            .connect_timeout(deadline)
            .pool_idle_timeout(IDLE_DEADLINE)
            .user_agent(concat!("pennyblack/", env!("CARGO_PKG_VERSION")));
        let builder = match reach {
            Reach::Configured => builder,
            Reach::PublicOnly => builder.https_only(true).dns_resolver(guard::PublicNames),
        };
        let inner = builder.build().map_err(|_| NoClient)?;
        Ok(Self { inner, reach, deadline: CALL_DEADLINE })
    }

    /// The same client with another deadline for calls that name none.
    #[must_use]
    pub fn answering_within(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Makes a call, once.
    pub async fn send(&self, call: Call) -> Result<Answer, Silence> {
        let peer = call.peer;
        let outcome = self.within_deadline(call).await;
        if let Err(silence) = &outcome {
            tracing::warn!(place = peer, kind = %silence, "A call to the outside failed");
        }
        outcome
    }

    async fn within_deadline(&self, call: Call) -> Result<Answer, Silence> {
        let (deadline, most) = (call.deadline.unwrap_or(self.deadline), call.body_bytes_max);
        match self.reach {
            // The resolver is never asked about an address written in digits.
            Reach::PublicOnly if !guard::may_be_public(call.address.url()) => {
                return Err(Silence::Refused(Why::NotPublic));
            }
            Reach::PublicOnly | Reach::Configured => {}
        }
        let request = self.request(call)?;
        let exchange = async {
            let response = self.inner.execute(request).await.map_err(|e| sorting::sort(&e))?;
            sorting::read(response, most).await
        };
        tokio::time::timeout(deadline, exchange).await.unwrap_or(Err(Silence::Lost(Why::TimedOut)))
    }

    fn request(&self, call: Call) -> Result<reqwest::Request, Silence> {
        let mut request = reqwest::Request::new(call.method, call.address.into_url());
        *request.headers_mut() = call.headers;
        if let Some(words) = call.authorization {
            let mut value =
                HeaderValue::from_str(&words).map_err(|_| Silence::Refused(Why::Unsendable))?;
            value.set_sensitive(true);
            request.headers_mut().insert(header::AUTHORIZATION, value);
        }
        let body = call.body.map_err(|_| Silence::Refused(Why::Unsendable))?;
        *request.body_mut() = body.map(Into::into);
        Ok(request)
    }
}

/// One call, before it is made. It may hold personal data and cannot print itself.
pub struct Call {
    peer: &'static str,
    method: Method,
    address: Address,
    authorization: Option<Zeroizing<String>>,
    headers: HeaderMap,
    body: serde_json::Result<Option<Vec<u8>>>,
    deadline: Option<Duration>,
    body_bytes_max: usize,
}

impl Call {
    /// A question. `peer` is what the log calls the other side.
    pub fn get(peer: &'static str, address: Address) -> Self {
        Self::new(peer, Method::GET, address)
    }

    pub fn put(peer: &'static str, address: Address) -> Self {
        Self::new(peer, Method::PUT, address)
    }

    pub fn delete(peer: &'static str, address: Address) -> Self {
        Self::new(peer, Method::DELETE, address)
    }

    /// Hands in a document.
    pub fn post(peer: &'static str, address: Address, body: &impl serde::Serialize) -> Self {
        let mut call = Self::new(peer, Method::POST, address);
        call.body = serde_json::to_vec(body).map(Some);
        call.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        call
    }

    fn new(peer: &'static str, method: Method, address: Address) -> Self {
        // No coding is asked for, and none is taken: what is small on the wire
        // cannot grow large in memory.
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

/// TLS by ring, and HTTP/2 where it is spoken.
fn tls(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
