//! The one counter that all callers of the discovery routes share.

use http::HeaderValue;

use crate::window::{Turn, WINDOW_SECONDS, Window};

/// What the contract allows in one window.
pub const REQUESTS: u32 = 600;

/// A window that says in headers what is left of it.
pub struct Quota {
    policy: HeaderValue,
    window: Window,
}

impl Quota {
    pub fn new(requests: u32) -> Self {
        let policy = format!("\"public-discovery\";q={requests};w={WINDOW_SECONDS}");
        Self {
            policy: HeaderValue::try_from(policy).expect("digits and quotes are visible ASCII"),
            window: Window::new(requests),
        }
    }

    pub(crate) fn policy(&self) -> HeaderValue {
        self.policy.clone()
    }

    pub(crate) fn take(&self) -> Turn {
        self.window.take()
    }
}

/// What is left after a request, as the contract writes it.
pub(crate) fn header(turn: Turn) -> HeaderValue {
    let Turn { remaining, reset_seconds, .. } = turn;
    let state = format!("\"public-discovery\";r={remaining};t={reset_seconds}");
    HeaderValue::try_from(state).expect("digits and quotes are visible ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_headers_are_written_as_the_contract_writes_them() {
        let quota = Quota::new(REQUESTS);
        assert_eq!(quota.policy(), "\"public-discovery\";q=600;w=60");
        assert_eq!(header(quota.take()), "\"public-discovery\";r=599;t=60");
        tokio::time::advance(std::time::Duration::from_secs(37)).await;
        assert_eq!(header(quota.take()), "\"public-discovery\";r=598;t=23");
    }
}
