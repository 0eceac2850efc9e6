//! The durations of requests by method, route and status, as a histogram.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use metrics::{Histogram, SharedString, histogram};

/// OpenTelemetry's name, as Prometheus writes it.
pub const REQUEST_DURATION: &str = "http_server_request_duration_seconds";

/// The route of requests that neither an endpoint nor a document answers. A path that is not
/// known at start is never a label: it may contain an order or a name.
pub const OTHER_ROUTE: &str = "other";

/// A method that is not standard, in the log; OpenTelemetry has another word for it.
pub(crate) const OTHER_METHOD: &str = "(other)";

/// The methods and statuses of nearly all requests, whose handles are kept.
const METHODS: [&str; 4] = ["GET", "HEAD", "POST", "OPTIONS"];
const STATUSES: [u16; 10] = [200, 202, 204, 304, 308, 400, 402, 404, 409, 429];

/// The histograms of one route. Each is registered at its first request. From then on it is found
/// by position, so that a document or a challenge neither allocates nor hashes labels.
pub(crate) struct RouteHistograms {
    route: SharedString,
    kept: [[OnceLock<Histogram>; STATUSES.len()]; METHODS.len()],
}

impl RouteHistograms {
    pub(crate) fn new(route: impl Into<SharedString>) -> Self {
        Self { route: route.into(), kept: Default::default() }
    }

    pub(crate) fn route(&self) -> &str {
        &self.route
    }

    pub(crate) fn record(&self, method: &'static str, status: u16, duration: Duration) {
        let method_index = METHODS.iter().position(|known| *known == method);
        let status_index = STATUSES.iter().position(|known| *known == status);
        let register = || registered(self.route.clone(), method, status);
        match method_index.zip(status_index) {
            Some((method, status)) => {
                self.kept[method][status].get_or_init(register).record(duration);
            }
            None => register().record(duration),
        }
    }
}

impl fmt::Debug for RouteHistograms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RouteHistograms").field(&self.route).finish()
    }
}

/// For a route that the router matched, whose layers cost more than this.
pub(crate) fn record_routed(route: &str, method: &'static str, status: u16, duration: Duration) {
    registered(route.to_owned().into(), method, status).record(duration);
}

fn registered(route: SharedString, method: &'static str, status: u16) -> Histogram {
    let method = if method == OTHER_METHOD { "_OTHER" } else { method };
    histogram!(
        REQUEST_DURATION,
        "http_request_method" => method,
        "http_route" => route,
        "http_response_status_code" => status.to_string(),
    )
}
