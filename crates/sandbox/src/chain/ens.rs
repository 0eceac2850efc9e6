//! Names: the registry of the sandbox and the gateway behind it.

pub(crate) mod gateway;
pub(crate) mod names;
