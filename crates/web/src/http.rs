//! HTTP concerns that all routes share: limits, quota, versions, negotiation, CORS and errors.

pub(crate) mod compression;
pub(crate) mod cors;
pub mod layer;
pub mod limits;
pub(crate) mod negotiation;
pub mod prepared_body;
pub mod problem;
pub mod quota;
pub mod rate_limit;
pub mod request_id;
pub(crate) mod request_log;
pub mod request_metrics;
pub(crate) mod timeout;
pub mod tracked;
pub(crate) mod version;
