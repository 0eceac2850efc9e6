//! An HTML page that is rendered for one request, with the headers of all pages.

use axum::response::{IntoResponse, Response};
use content::site::Language;
use http::header::{
    CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY,
    STRICT_TRANSPORT_SECURITY, VARY,
};
use http::{HeaderName, HeaderValue, StatusCode};

use crate::documents::document::{PAGE_CSP, PERMISSIONS, STRICT_TRANSPORT, UrlScheme};
use crate::surface::ResponseFormat;

const OWN_IMAGES: &str = "img-src 'self' data:";

/// Contains what one person sent or may see, so no cache shares it.
pub(crate) struct RenderedPage<'a> {
    pub(crate) status: StatusCode,
    pub(crate) html: String,
    pub(crate) language: Language,
    pub(crate) cache: PageCache,
    /// The URLs of images that other hosts serve.
    pub(crate) images: &'a [String],
}

/// Who may keep the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageCache {
    /// It contains personal data.
    NoStore,
    /// The browser, which asks each time whether it has changed.
    Private,
}

impl RenderedPage<'_> {
    pub(crate) fn respond(self, scheme: UrlScheme) -> Response {
        let language = HeaderValue::from_static(self.language.code());
        let policy = security_policy(self.images);
        let cache = match self.cache {
            PageCache::NoStore => "no-store",
            PageCache::Private => "private, no-cache",
        };
        let mut response = (self.status, self.html).into_response();
        let headers = response.headers_mut();
        for (name, value) in [
            (CONTENT_TYPE, HeaderValue::from_static(ResponseFormat::Html.media_type())),
            (CONTENT_LANGUAGE, language),
            (CACHE_CONTROL, HeaderValue::from_static(cache)),
            (VARY, HeaderValue::from_static("Accept-Language")),
            (CONTENT_SECURITY_POLICY, policy),
            (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
            (HeaderName::from_static("permissions-policy"), PERMISSIONS),
            (
                HeaderName::from_static("cross-origin-opener-policy"),
                HeaderValue::from_static("same-origin"),
            ),
            (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex")),
        ] {
            headers.insert(name, value);
        }
        if scheme == UrlScheme::Https {
            headers.insert(STRICT_TRANSPORT_SECURITY, STRICT_TRANSPORT);
        }
        response
    }
}

/// The policy of all pages, which allows images of these hosts too.
fn security_policy(images: &[String]) -> HeaderValue {
    let mut allowed = OWN_IMAGES.to_owned();
    for origin in images.iter().filter_map(|url| origin(url)) {
        allowed.push(' ');
        allowed.push_str(origin);
    }
    let own = PAGE_CSP;
    let policy = own.to_str().expect("a policy is visible ASCII");
    let policy = policy.replacen(OWN_IMAGES, &allowed, 1);
    HeaderValue::try_from(policy).expect("an origin is visible ASCII")
}

/// Scheme, host and port. None if they could be read as anything else in a policy.
fn origin(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    let plain = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:".contains(&byte));
    let known = ["https", "http"].contains(&scheme) && !host.is_empty() && plain;
    known.then(|| &url[..scheme.len() + "://".len() + host.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(urls: &[&str]) -> String {
        let urls: Vec<String> = urls.iter().map(|&url| url.to_owned()).collect();
        security_policy(&urls).to_str().unwrap().to_owned()
    }

    #[test]
    fn images_are_allowed_from_the_hosts_of_their_urls_only() {
        let own = PAGE_CSP;
        let own = own.to_str().unwrap();
        assert_eq!(policy(&[]), own);
        let allowed = policy(&["https://cdn.example/a/b.png?x=1", "http://127.0.0.1:8403/front"]);
        let expected = "img-src 'self' data: https://cdn.example http://127.0.0.1:8403; ";
        assert!(allowed.contains(expected), "{allowed}");
        for hostile in
            ["https://a b/", "https://x;script-src/", "https:///a", "javascript:x", "data://a", "a"]
        {
            assert_eq!(policy(&[hostile]), own, "{hostile}");
        }
    }
}
