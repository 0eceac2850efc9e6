//! The read-only MCP server: stateless Streamable HTTP, one JSON-RPC message a request.
//!
//! Reading order:
//! 1. `transport`, HTTP requirements and the response;
//! 2. `message` and `json`, one JSON-RPC message, parsed without copies;
//! 3. `protocol_version`, the protocol version of a request;
//! 4. `dispatch`, the methods;
//! 5. `prepared` and `result_body`, the results, serialized at start;
//! 6. `tools`, `tool_set`, `resources` and `completion`, the features;
//! 7. `public_content`, the data of all features.

mod completion;
mod dispatch;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod fuzz;
mod json;
mod message;
mod prepared;
mod protocol_version;
pub(crate) mod public_content;
mod resources;
mod result_body;
mod tool_set;
pub(crate) mod tools;
pub(crate) mod transport;
