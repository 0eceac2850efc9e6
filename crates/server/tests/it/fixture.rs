//! What the tests share: the started binary, its store, an HTTP client, and the control API of the sandbox.

pub(crate) mod encoding;
pub(crate) mod holding_relay;
pub(crate) mod http_client;
pub(crate) mod sandbox;
pub(crate) mod store;
pub(crate) mod test_app;
