//! HTTP endpoints, pages, discovery documents and the MCP server.
//!
//! Reading order:
//! 1. `surface`, the list of all endpoints;
//! 2. `site_facts` and `discovery`, the input of all documents, and their content;
//! 3. `documents`, which renders them at start and serves them;
//! 4. `app`, the service that finds the endpoint of a request;
//! 5. `http`, limits, quota, versions, negotiation, CORS and errors;
//! 6. `routes` and `mcp`, the endpoints;
//! 7. `task_tracker`, which runs paid requests to their end after a disconnect.

pub mod app;
pub mod discovery;
pub mod documents;
pub mod http;
mod mcp;
pub mod routes;
pub mod site_facts;
pub mod surface;
pub mod task_tracker;
