//! An MCP server without a router, and messages for it.

use std::sync::{Arc, OnceLock};

use axum::body::Body;
use axum::extract::Request;
use http::Response;
use http::header::{ACCEPT, CONTENT_TYPE};
use http_body_util::BodyExt;
use order::model::ids::Timestamp;

use super::public_content::{PublicContent, PublicPage};
use super::transport::McpServer;
use crate::discovery::fixtures::site_facts;
use crate::documents::site::Site;
use crate::http::limits::RequestLimits;
use crate::http::prepared_body::ResponseBody;
use crate::http::quota::DiscoveryQuota;
use crate::site_facts::{ListenScope, McpProfile};

/// A server with an unlimited quota.
pub(super) fn server(profile: McpProfile) -> McpServer {
    server_at(profile, ListenScope::Loopback)
}

pub(super) fn server_at(profile: McpProfile, reach: ListenScope) -> McpServer {
    static PAGES: OnceLock<Vec<PublicPage>> = OnceLock::new();
    let pages =
        PAGES.get_or_init(|| Site::render(site_facts(), Timestamp(0)).unwrap().pages).clone();
    let mut content = PublicContent { facts: site_facts(), pages };
    content.facts.profile = profile;
    McpServer::new(
        &content,
        Arc::new(DiscoveryQuota::new(u32::MAX)),
        RequestLimits::default(),
        reach,
    )
}

/// A message with the required headers and these.
pub(super) fn request(headers: &[(&str, &str)], message: impl Into<Body>) -> Request {
    let mut request = Request::post("/mcp")
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, text/event-stream");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(message.into()).unwrap()
}

pub(super) async fn body(response: Response<ResponseBody>) -> String {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}
