//! One prepared response: complete headers, entity tag, and the body in three codings.

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL, CONTENT_ENCODING,
    CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY,
    STRICT_TRANSPORT_SECURITY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use sha2::{Digest, Sha256};

use crate::http::compression;
use crate::http::cors::DISCOVERY_EXPOSED;
use crate::http::negotiation::ContentCoding;
use crate::http::request_id::X_REQUEST_ID;

/// A smaller body fits one packet anyway, so compression saves nothing.
const COMPRESSION_BYTES_MIN: usize = 512;

pub(crate) const PAGE_CSP: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; img-src 'self' data:; style-src 'self'; script-src 'self'; \
     connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);
const DATA_CSP: HeaderValue =
    HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
pub(super) const PERMISSIONS: HeaderValue =
    HeaderValue::from_static("camera=(), geolocation=(), microphone=(), payment=()");
pub(super) const STRICT_TRANSPORT: HeaderValue =
    HeaderValue::from_static("max-age=63072000; includeSubDomains");

/// How long caches may keep a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CachePolicy {
    /// The path contains a hash of the bytes.
    Immutable,
    /// Changes only with a release.
    OneHour,
    FiveMinutes,
    /// Its headers change with each request; `If-None-Match` saves the body.
    Revalidate,
    NoStore,
}

/// A response that is not compressed yet.
#[derive(Clone, Debug)]
pub(crate) struct DocumentBuilder {
    pub(crate) status: StatusCode,
    pub(crate) media_type: &'static str,
    pub(crate) body: Bytes,
    pub(crate) cache: CachePolicy,
    pub(crate) vary: Vary,
    pub(crate) extra_headers: Vec<(HeaderName, HeaderValue)>,
}

/// The `Vary` header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vary {
    Encoding,
    AcceptAndEncoding,
}

/// A response in all its codings.
#[derive(Debug)]
pub(crate) struct Document {
    status: StatusCode,
    identity: EncodedBody,
    gzip: Option<EncodedBody>,
    brotli: Option<EncodedBody>,
}

#[derive(Debug)]
struct EncodedBody {
    /// Complete, with placeholders for values that change with each request.
    headers: HeaderMap,
    etag: HeaderValue,
    body: Bytes,
}

/// The response to one request.
pub(crate) struct DocumentResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl DocumentBuilder {
    pub(crate) fn new(
        media_type: &'static str,
        body: impl Into<Bytes>,
        cache: CachePolicy,
    ) -> Self {
        let (status, vary) = (StatusCode::OK, Vary::Encoding);
        Self { status, media_type, body: body.into(), cache, vary, extra_headers: Vec::new() }
    }

    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.extra_headers.push((name, value));
        self
    }

    pub(crate) fn build(&self, scheme: UrlScheme) -> Document {
        let hash = digest(&self.body);
        let headers = self.headers(scheme);
        let encoded = |coding: Option<&'static str>, body: Bytes| {
            let suffix = coding.map_or_else(String::new, |coding| format!("-{coding}"));
            EncodedBody::new(headers.clone(), coding, &format!("\"{hash}{suffix}\""), body)
        };
        let smaller = |body: Vec<u8>| (body.len() < self.body.len()).then_some(body);
        let compress = self.body.len() >= COMPRESSION_BYTES_MIN && is_text(self.media_type);
        let gzip = compress.then(|| compression::gzip(&self.body)).and_then(smaller);
        let brotli = compress.then(|| compression::brotli(&self.body)).and_then(smaller);
        Document {
            status: self.status,
            gzip: gzip.map(|body| encoded(Some("gzip"), body.into())),
            brotli: brotli.map(|body| encoded(Some("br"), body.into())),
            identity: encoded(None, self.body.clone()),
        }
    }

    fn headers(&self, scheme: UrlScheme) -> HeaderMap {
        let is_page = self.media_type.starts_with("text/html");
        let vary = match self.vary {
            Vary::Encoding => "Accept-Encoding",
            Vary::AcceptAndEncoding => "Accept, Accept-Encoding",
        };
        let mut headers: HeaderMap = [
            (CONTENT_TYPE, HeaderValue::from_static(self.media_type)),
            (CACHE_CONTROL, HeaderValue::from_static(self.cache.header_value())),
            (VARY, HeaderValue::from_static(vary)),
            (CONTENT_SECURITY_POLICY, if is_page { PAGE_CSP } else { DATA_CSP }),
            (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
            (REFERRER_POLICY, HeaderValue::from_static("strict-origin-when-cross-origin")),
            (ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*")),
            (ACCESS_CONTROL_EXPOSE_HEADERS, DISCOVERY_EXPOSED),
            // A placeholder, so that the map does not grow for each request.
            (X_REQUEST_ID, HeaderValue::from_static("")),
        ]
        .into_iter()
        .collect();
        if is_page {
            headers.insert(HeaderName::from_static("permissions-policy"), PERMISSIONS);
            let same = HeaderValue::from_static("same-origin");
            headers.insert(HeaderName::from_static("cross-origin-opener-policy"), same);
        }
        if scheme == UrlScheme::Https {
            headers.insert(STRICT_TRANSPORT_SECURITY, STRICT_TRANSPORT);
        }
        headers.extend(self.extra_headers.iter().cloned());
        headers
    }
}

/// The scheme of the public URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UrlScheme {
    Http,
    Https,
}

impl UrlScheme {
    pub(crate) fn of(base_url: &str) -> Self {
        if base_url.starts_with("https://") { Self::Https } else { Self::Http }
    }
}

impl CachePolicy {
    const fn header_value(self) -> &'static str {
        match self {
            Self::Immutable => "public, max-age=31536000, immutable",
            Self::OneHour => "public, max-age=3600",
            Self::FiveMinutes => "public, max-age=300",
            Self::Revalidate => "no-cache",
            Self::NoStore => "no-store",
        }
    }
}

impl EncodedBody {
    fn new(mut headers: HeaderMap, coding: Option<&'static str>, etag: &str, body: Bytes) -> Self {
        let etag = HeaderValue::try_from(etag).expect("hexadecimal digits are visible ASCII");
        headers.insert(ETAG, etag.clone());
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        if let Some(coding) = coding {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
        }
        Self { headers, etag, body }
    }
}

impl Document {
    pub(crate) fn respond(&self, request: &HeaderMap) -> DocumentResponse {
        let encoded = match ContentCoding::for_request(request) {
            ContentCoding::Brotli => self.brotli.as_ref(),
            ContentCoding::Gzip => self.gzip.as_ref(),
            ContentCoding::Identity => None,
        };
        let encoded = encoded.unwrap_or(&self.identity);
        let mut headers = encoded.headers.clone();
        if self.status == StatusCode::OK && is_cached_by_client(request, &encoded.etag) {
            // It is the length of a body that is not sent.
            headers.remove(CONTENT_LENGTH);
            return DocumentResponse {
                status: StatusCode::NOT_MODIFIED,
                headers,
                body: Bytes::new(),
            };
        }
        DocumentResponse { status: self.status, headers, body: encoded.body.clone() }
    }
}

/// Whether the client has this body. The comparison is weak, as RFC 9110 requires for GET.
fn is_cached_by_client(request: &HeaderMap, etag: &HeaderValue) -> bool {
    let lines = request.get_all(IF_NONE_MATCH).into_iter().filter_map(|line| line.to_str().ok());
    let mut tags = lines.flat_map(|line| line.split(',')).map(str::trim);
    tags.any(|tag| {
        tag == "*" || tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == etag.as_bytes()
    })
}

fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || ["json", "xml", "javascript", "svg"].iter().any(|kind| media_type.contains(kind))
}

/// The hash of a body for its `ETag`.
pub(crate) fn digest(body: &[u8]) -> String {
    Sha256::digest(body).iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
