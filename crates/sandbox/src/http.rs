//! HTTP pieces that the emulated servers share.

pub(crate) mod fields;
pub(crate) mod listener;
pub(crate) mod raw_response;
pub(crate) mod response;
pub(crate) mod server;
