//! The one line that each request leaves in the log.

use axum::extract::{MatchedPath, Request};
use http::{Method, StatusCode};
use tokio::time::Instant;
use tracing::{info, warn};

use crate::request_id::RequestId;

/// What the log says when the caller was gone before the answer was there;
/// nginx made the number customary, and it never goes out on the wire.
const CALLER_GONE: u16 = 499;

/// A request on its way to its log line, which is written when this is
/// dropped: also when the caller hangs up and nobody polls the request again.
pub(crate) struct Entry {
    id: RequestId,
    method: &'static str,
    route: Route,
    started: Instant,
    status: u16,
}

/// The pattern, never the address itself, which may name an order or a person.
enum Route {
    None,
    Known(&'static str),
    Found(MatchedPath),
}

impl Entry {
    pub(crate) fn open(id: RequestId, request: &Request) -> Self {
        Self {
            id,
            method: known(request.method()),
            route: request.extensions().get().cloned().map_or(Route::None, Route::Found),
            // The runtime's clock rather than the Clock port: a span of time,
            // not a moment, and a test stops it by stopping the runtime.
            started: Instant::now(),
            status: CALLER_GONE,
        }
    }

    /// The same at a door that no router has found.
    pub(crate) fn at(id: RequestId, method: &Method, route: &'static str) -> Self {
        Self {
            id,
            method: known(method),
            route: Route::Known(route),
            started: Instant::now(),
            status: CALLER_GONE,
        }
    }

    /// Asked for only where the line is written: it costs a look at the clock.
    fn milliseconds(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(crate) fn answered(&mut self, status: StatusCode) {
        self.status = status.as_u16();
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let method = self.method;
        let route = match &self.route {
            Route::None => "(none)",
            Route::Known(route) => route,
            Route::Found(route) => route.as_str(),
        };
        let status = self.status;
        let request_id = self.id.as_str();
        // A target of its own, so that a filter can silence these lines alone.
        if status >= 500 {
            warn!(target: "request", method, route, status, duration_ms = self.milliseconds(), request_id, "failed");
        } else {
            info!(target: "request", method, route, status, duration_ms = self.milliseconds(), request_id, "answered");
        }
    }
}

/// A method is a word that the caller chose, so only known ones are repeated.
fn known(method: &Method) -> &'static str {
    const KNOWN: [&str; 9] =
        ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"];
    KNOWN.into_iter().find(|name| *name == method.as_str()).unwrap_or("(other)")
}
