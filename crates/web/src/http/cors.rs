//! Cross-origin rules: a page of any origin may call every endpoint, as all is public and no
//! cookie exists.

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use crate::http::problem;

/// A day. The values change with releases only, and browsers shorten the time themselves.
const PREFLIGHT_SECONDS: &str = "86400";

/// The headers of documents and discovery routes that a page of another origin may read.
pub(crate) const DISCOVERY_EXPOSED: HeaderValue = HeaderValue::from_static(
    "ETag, Link, RateLimit, RateLimit-Policy, Retry-After, X-Service-API-Version, \
     PAYMENT-REQUIRED, X-Request-Id",
);

/// What a page of another origin may send to an endpoint, and read of its responses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CorsPolicy {
    pub(crate) allow_methods: &'static str,
    pub(crate) allow_headers: &'static str,
    /// None where each response names its own.
    pub(crate) expose_headers: Option<&'static str>,
}

/// For endpoints that are only read.
pub(crate) const READ_ONLY: CorsPolicy = CorsPolicy {
    allow_methods: "GET, HEAD, OPTIONS",
    allow_headers: "accept, if-none-match",
    expose_headers: None,
};

impl CorsPolicy {
    pub(crate) fn apply(self, routes: Router) -> Router {
        routes
            // Here too, because the layer below does not reach a fallback that is set later.
            .method_not_allowed_fallback(problem::method_not_allowed)
            .route_layer(from_fn(move |request, next| self.handle(request, next)))
    }

    /// Errors are readable for all origins too: a page that cannot read an error cannot act
    /// on it.
    async fn handle(self, request: Request, next: Next) -> Response {
        if request.method() == Method::OPTIONS {
            return self.preflight();
        }
        let mut response = next.run(request).await;
        self.set_headers(response.headers_mut());
        response
    }

    /// Adds the headers of a response that is no preflight.
    pub(crate) fn set_headers(self, headers: &mut HeaderMap) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        if let Some(exposed) = self.expose_headers {
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(exposed));
        }
    }

    pub(crate) fn preflight(self) -> Response {
        let headers = [
            (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
            (ACCESS_CONTROL_ALLOW_METHODS, self.allow_methods),
            (ACCESS_CONTROL_ALLOW_HEADERS, self.allow_headers),
            (ACCESS_CONTROL_MAX_AGE, PREFLIGHT_SECONDS),
        ];
        (StatusCode::NO_CONTENT, headers).into_response()
    }
}
