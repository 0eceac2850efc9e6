//! The read-only MCP server: stateless Streamable HTTP, one JSON-RPC message a request.
//!
//! Reading order:
//! 1. `transport`, what HTTP demands before a message is read;
//! 2. `message`, one JSON-RPC message and its answer;
//! 3. `era`, by which revision of the protocol a request wants to be served;
//! 4. `dispatch`, which method does what;
//! 5. `tools`, `resources` and `completion`, what there is to ask for;
//! 6. `library`, all that they may know.

mod completion;
mod dispatch;
mod era;
pub(crate) mod library;
mod message;
mod resources;
pub(crate) mod tools;
mod transport;

pub(crate) use transport::{Desk, routes};
