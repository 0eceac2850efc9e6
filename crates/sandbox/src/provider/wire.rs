//! The socket itself: for answers that no HTTP library would send.

pub(crate) mod listener;
pub(crate) mod plan;
