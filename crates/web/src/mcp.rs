//! The read-only MCP server: stateless Streamable HTTP, one JSON-RPC message a request.
//!
//! Reading order:
//! 1. `transport`, what HTTP demands before a message is read;
//! 2. `message` and `given`, one JSON-RPC message, read where it lies;
//! 3. `era`, by which revision of the protocol a request wants to be served;
//! 4. `dispatch`, which method does what;
//! 5. `shelf` and `answer`, all answers, written when the house opens;
//! 6. `tools`, `resources` and `completion`, what there is to ask for;
//! 7. `library`, all that they may know.

mod answer;
#[cfg(test)]
mod campaign;
mod completion;
mod dispatch;
mod era;
mod given;
pub(crate) mod library;
mod message;
mod resources;
#[cfg(test)]
mod samples;
mod shelf;
pub(crate) mod tools;
mod transport;

pub(crate) use transport::{Desk, PATHS};
