//! The two emulated provider interfaces, and the handler that serves both.

mod lob;
mod request;
pub(crate) mod serve;
mod thanks_io;
