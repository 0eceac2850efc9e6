//! One answer that is known before anybody asks: written, compressed and named once.

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL, CONTENT_ENCODING,
    CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY,
    STRICT_TRANSPORT_SECURITY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use sha2::{Digest, Sha256};

use crate::guard::X_REQUEST_ID;
use crate::negotiate::Coding;
use crate::press;

/// Below this a packet is not full anyway, and the decoder costs more.
const WORTH_COMPRESSING_BYTES: usize = 512;

/// What a script on another site may read beside the body.
pub(crate) const EXPOSED: HeaderValue = HeaderValue::from_static(
    "ETag, Link, RateLimit, RateLimit-Policy, Retry-After, X-Service-API-Version, \
     PAYMENT-REQUIRED, X-Request-Id",
);
pub(crate) const PAGE_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; img-src 'self' data:; style-src 'self'; script-src 'self'; \
     connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);
const DATA_POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
const PERMISSIONS: HeaderValue =
    HeaderValue::from_static("camera=(), geolocation=(), microphone=(), payment=()");
const TWO_YEARS: HeaderValue = HeaderValue::from_static("max-age=63072000; includeSubDomains");

/// How long others may keep an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Its address changes with its bytes.
    ForEver,
    /// Read by many, changed by a new release only.
    AnHour,
    FiveMinutes,
    /// It carries headers of the moment, so ask each time; the body may be spared.
    AskFirst,
    Never,
}

/// What is known about an answer before it is finished.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) status: StatusCode,
    pub(crate) media_type: &'static str,
    pub(crate) body: Vec<u8>,
    pub(crate) keep: Keep,
    pub(crate) vary: Vary,
    pub(crate) more: Vec<(HeaderName, HeaderValue)>,
}

/// Whether the same address has another face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vary {
    Coding,
    FaceAndCoding,
}

/// An answer in all its codings.
#[derive(Debug)]
pub(crate) struct Document {
    status: StatusCode,
    identity: Version,
    gzip: Option<Version>,
    brotli: Option<Version>,
}

#[derive(Debug)]
struct Version {
    /// Complete, with places for what changes with each request.
    headers: HeaderMap,
    etag: HeaderValue,
    body: Bytes,
}

/// What is sent of a document.
pub(crate) struct Sent {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Draft {
    pub(crate) fn new(media_type: &'static str, body: impl Into<Vec<u8>>, keep: Keep) -> Self {
        let (status, vary) = (StatusCode::OK, Vary::Coding);
        Self { status, media_type, body: body.into(), keep, vary, more: Vec::new() }
    }

    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.more.push((name, value));
        self
    }

    pub(crate) fn finish(&self, transport: Transport) -> Document {
        let name = digest(&self.body);
        let headers = self.headers(transport);
        let version = |coding: Option<&'static str>, body: Vec<u8>| {
            let suffix = coding.map_or_else(String::new, |coding| format!("-{coding}"));
            Version::new(headers.clone(), coding, &format!("\"{name}{suffix}\""), body)
        };
        let smaller = |body: Vec<u8>| (body.len() < self.body.len()).then_some(body);
        let worth = self.body.len() >= WORTH_COMPRESSING_BYTES && is_text(self.media_type);
        let gzip = worth.then(|| press::gzip(&self.body)).and_then(smaller);
        let brotli = worth.then(|| press::brotli(&self.body)).and_then(smaller);
        Document {
            status: self.status,
            gzip: gzip.map(|body| version(Some("gzip"), body)),
            brotli: brotli.map(|body| version(Some("br"), body)),
            identity: version(None, self.body.clone()),
        }
    }

    fn headers(&self, transport: Transport) -> HeaderMap {
        let page = self.media_type.starts_with("text/html");
        let vary = match self.vary {
            Vary::Coding => "Accept-Encoding",
            Vary::FaceAndCoding => "Accept, Accept-Encoding",
        };
        let mut headers: HeaderMap = [
            (CONTENT_TYPE, HeaderValue::from_static(self.media_type)),
            (CACHE_CONTROL, HeaderValue::from_static(self.keep.words())),
            (VARY, HeaderValue::from_static(vary)),
            (CONTENT_SECURITY_POLICY, if page { PAGE_POLICY } else { DATA_POLICY }),
            (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
            (REFERRER_POLICY, HeaderValue::from_static("strict-origin-when-cross-origin")),
            (ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*")),
            (ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED),
            // A place to be filled for each request without growing the map.
            (X_REQUEST_ID, HeaderValue::from_static("")),
        ]
        .into_iter()
        .collect();
        if page {
            headers.insert(HeaderName::from_static("permissions-policy"), PERMISSIONS);
            let same = HeaderValue::from_static("same-origin");
            headers.insert(HeaderName::from_static("cross-origin-opener-policy"), same);
        }
        if transport == Transport::Sealed {
            headers.insert(STRICT_TRANSPORT_SECURITY, TWO_YEARS);
        }
        headers.extend(self.more.iter().cloned());
        headers
    }
}

/// Whether the public address is reached by https only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Open,
    Sealed,
}

impl Transport {
    pub(crate) fn of(base_url: &str) -> Self {
        if base_url.starts_with("https://") { Self::Sealed } else { Self::Open }
    }
}

impl Keep {
    const fn words(self) -> &'static str {
        match self {
            Self::ForEver => "public, max-age=31536000, immutable",
            Self::AnHour => "public, max-age=3600",
            Self::FiveMinutes => "public, max-age=300",
            Self::AskFirst => "no-cache",
            Self::Never => "no-store",
        }
    }
}

impl Version {
    fn new(
        mut headers: HeaderMap,
        coding: Option<&'static str>,
        etag: &str,
        body: Vec<u8>,
    ) -> Self {
        let etag = HeaderValue::try_from(etag).expect("hexadecimal digits are visible ASCII");
        headers.insert(ETAG, etag.clone());
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        if let Some(coding) = coding {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
        }
        Self { headers, etag, body: body.into() }
    }
}

impl Document {
    pub(crate) fn send(&self, asked: &HeaderMap) -> Sent {
        let version = match Coding::of(asked) {
            Coding::Brotli => self.brotli.as_ref(),
            Coding::Gzip => self.gzip.as_ref(),
            Coding::Identity => None,
        };
        let version = version.unwrap_or(&self.identity);
        let mut headers = version.headers.clone();
        if self.status == StatusCode::OK && is_known(asked, &version.etag) {
            // The length is that of a body which is not sent.
            headers.remove(CONTENT_LENGTH);
            return Sent { status: StatusCode::NOT_MODIFIED, headers, body: Bytes::new() };
        }
        Sent { status: self.status, headers, body: version.body.clone() }
    }
}

/// Whether the caller holds this very version. Comparison is weak, as RFC 9110
/// has it for reading.
fn is_known(asked: &HeaderMap, etag: &HeaderValue) -> bool {
    let lines = asked.get_all(IF_NONE_MATCH).into_iter().filter_map(|line| line.to_str().ok());
    let mut tags = lines.flat_map(|line| line.split(',')).map(str::trim);
    tags.any(|tag| {
        tag == "*" || tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == etag.as_bytes()
    })
}

fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || ["json", "xml", "javascript", "svg"].iter().any(|kind| media_type.contains(kind))
}

/// The name of a body in its `ETag`.
pub(crate) fn digest(body: &[u8]) -> String {
    Sha256::digest(body).iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
