//! One log line and one measurement for each request.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{MatchedPath, Request};
use http::{Method, StatusCode};
use tokio::time::Instant;
use tracing::{info, warn};

use crate::http::request_id::RequestId;
use crate::http::request_metrics::{OTHER_METHOD, OTHER_ROUTE, RouteHistograms, record_routed};

/// Logged when the client disconnected before the response was ready. The number is that of
/// nginx and is never sent.
const CLIENT_DISCONNECTED: u16 = 499;

/// The log line of a request and its duration. Both are recorded when this is dropped, also after
/// a disconnect, when the request is not polled again.
pub(crate) struct RequestLogEntry {
    id: RequestId,
    method: &'static str,
    route: Route,
    started: Instant,
    status: u16,
}

/// The route pattern, never the path itself, which may contain an order or a name.
enum Route {
    None,
    Fixed(Arc<RouteHistograms>),
    Matched(MatchedPath),
}

impl RequestLogEntry {
    pub(crate) fn for_request(id: RequestId, request: &Request) -> Self {
        Self {
            id,
            method: method_name(request.method()),
            route: request.extensions().get().cloned().map_or(Route::None, Route::Matched),
            // The runtime's clock and not the Clock port, because this measures a duration, and
            // tests pause the runtime.
            started: Instant::now(),
            status: CLIENT_DISCONNECTED,
        }
    }

    /// For an endpoint that is served before the router.
    pub(crate) fn for_route(id: RequestId, method: &Method, route: &Arc<RouteHistograms>) -> Self {
        Self {
            id,
            method: method_name(method),
            route: Route::Fixed(route.clone()),
            started: Instant::now(),
            status: CLIENT_DISCONNECTED,
        }
    }

    fn measure(&self, duration: Duration) {
        let method = self.method;
        match &self.route {
            Route::None => record_routed(OTHER_ROUTE, method, self.status, duration),
            Route::Fixed(route) => route.record(method, self.status, duration),
            Route::Matched(route) => {
                record_routed(route.as_str(), method, self.status, duration);
            }
        }
    }

    pub(crate) fn set_status(&mut self, status: StatusCode) {
        self.status = status.as_u16();
    }
}

impl Drop for RequestLogEntry {
    fn drop(&mut self) {
        let duration = self.started.elapsed();
        self.measure(duration);
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let method = self.method;
        let route = match &self.route {
            Route::None => "(none)",
            Route::Fixed(route) => route.route(),
            Route::Matched(route) => route.as_str(),
        };
        let status = self.status;
        let request_id = self.id.as_str();
        // Its own target, so that a log filter can select these lines.
        if status >= 500 {
            warn!(target: "request", method, route, status, duration_ms, request_id, "failed");
        } else {
            info!(target: "request", method, route, status, duration_ms, request_id, "answered");
        }
    }
}

/// The caller chooses the method, so only standard ones are logged and measured.
pub(crate) fn method_name(method: &Method) -> &'static str {
    const STANDARD: [&str; 9] =
        ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"];
    STANDARD.into_iter().find(|name| *name == method.as_str()).unwrap_or(OTHER_METHOD)
}
