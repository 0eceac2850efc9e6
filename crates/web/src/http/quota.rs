//! The request quota that all callers of the discovery routes share.

use axum::response::Response;
use http::header::ACCESS_CONTROL_EXPOSE_HEADERS;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::http::cors::DISCOVERY_EXPOSED;
use crate::http::problem;
use crate::http::rate_limit::{Admission, RateLimitState, RateLimiter, WINDOW_SECONDS};
use crate::http::version::{self, RequestedVersion};

/// What the contract allows in one window.
pub const REQUESTS: u32 = 600;

pub(crate) const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");
pub(crate) const RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// The headers of a prepared document that `set_headers` replaces. Without them the map of its
/// headers would grow for each request.
pub(crate) const PLACEHOLDERS: [(HeaderName, HeaderValue); 3] = [
    (RATELIMIT, HeaderValue::from_static("")),
    (RATELIMIT_POLICY, HeaderValue::from_static("")),
    (version::HEADER, version::CURRENT),
];

/// A rate limiter that reports its state in response headers.
pub struct DiscoveryQuota {
    policy: HeaderValue,
    limiter: RateLimiter,
}

impl DiscoveryQuota {
    pub fn new(requests: u32) -> Self {
        let policy = format!("\"public-discovery\";q={requests};w={WINDOW_SECONDS}");
        Self {
            policy: HeaderValue::try_from(policy).expect("digits and quotes are visible ASCII"),
            limiter: RateLimiter::new(requests),
        }
    }

    /// Counts the request. The contract checks the quota before the version. The error is a
    /// complete response, boxed because it is large and rare.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> Result<RateLimitState, Box<Response>> {
        let state = self.limiter.take();
        let mut response = match (state.admission, version::requested(headers)) {
            (Admission::Exhausted, _) => problem::quota_exhausted(state.reset_seconds),
            (Admission::Admitted, RequestedVersion::Unsupported) => problem::unknown_version(),
            (Admission::Admitted, RequestedVersion::Current) => return Ok(state),
        };
        self.set_headers(response.headers_mut(), state);
        Err(Box::new(response))
    }

    /// Adds what every response of a discovery route carries.
    pub(crate) fn set_headers(&self, headers: &mut HeaderMap, state: RateLimitState) {
        headers.insert(RATELIMIT, state_header(state));
        headers.insert(RATELIMIT_POLICY, self.policy.clone());
        headers.insert(version::HEADER, version::CURRENT);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, DISCOVERY_EXPOSED);
    }
}

/// What is left after a request, in the format of the contract.
fn state_header(state: RateLimitState) -> HeaderValue {
    let RateLimitState { remaining, reset_seconds, .. } = state;
    let state = format!("\"public-discovery\";r={remaining};t={reset_seconds}");
    HeaderValue::try_from(state).expect("digits and quotes are visible ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_headers_have_the_format_of_the_contract() {
        let quota = DiscoveryQuota::new(REQUESTS);
        assert_eq!(quota.policy, "\"public-discovery\";q=600;w=60");
        assert_eq!(state_header(quota.limiter.take()), "\"public-discovery\";r=599;t=60");
        tokio::time::advance(std::time::Duration::from_secs(37)).await;
        assert_eq!(state_header(quota.limiter.take()), "\"public-discovery\";r=598;t=23");
    }
}
