//! What lets a page of any origin use a door: all is public, and no cookie exists.

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE,
};
use http::{HeaderValue, Method, StatusCode};

use crate::problem;

/// A day. These words do not change between releases, and browsers shorten it
/// as they see fit.
const PREFLIGHT_SECONDS: &str = "86400";

/// What a page may send to a door.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Welcome {
    pub(crate) methods: &'static str,
    pub(crate) headers: &'static str,
}

/// For what is only read.
pub(crate) const READING: Welcome =
    Welcome { methods: "GET, HEAD, OPTIONS", headers: "accept, if-none-match" };

impl Welcome {
    /// Routes that a page of any origin may use so.
    pub(crate) fn to(self, routes: Router) -> Router {
        routes
            // Here and not only where the routes are guarded, as the layer below reaches no
            // fallback that comes after it.
            .method_not_allowed_fallback(problem::method_not_allowed)
            .route_layer(from_fn(move |request, next| self.admit(request, next)))
    }

    /// Answers every preflight and opens every other answer to all origins, errors
    /// included: a page that cannot read an error cannot act on it.
    async fn admit(self, request: Request, next: Next) -> Response {
        if request.method() == Method::OPTIONS {
            return self.preflight();
        }
        let mut response = next.run(request).await;
        response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        response
    }

    pub(crate) fn preflight(self) -> Response {
        let headers = [
            (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
            (ACCESS_CONTROL_ALLOW_METHODS, self.methods),
            (ACCESS_CONTROL_ALLOW_HEADERS, self.headers),
            (ACCESS_CONTROL_MAX_AGE, PREFLIGHT_SECONDS),
        ];
        (StatusCode::NO_CONTENT, headers).into_response()
    }
}
