//! The least that the official Rust SDK needs to answer as we do: recorded answers, no session, plain JSON.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ListToolsResult,
    PaginatedRequestParams, ResultType, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler};
use serde_json::Value;
use tokio::net::TcpListener;

/// What our own server said, as `record.mjs` wrote it down.
struct Recorded {
    tools: ListToolsResult,
    answers: HashMap<String, CallToolResult>,
}

#[derive(Clone)]
struct Peer(Arc<Recorded>);

impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(self.0.tools.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let answer = self.0.answers.get(request.name.as_ref()).cloned();
        let answer = answer.ok_or_else(|| ErrorData::invalid_params("Unknown tool.", None))?;
        Ok(answer.into())
    }
}

fn recorded(path: &str) -> Result<Recorded, Box<dyn Error>> {
    let mut recorded: Value = serde_json::from_slice(&std::fs::read(path)?)?;
    let mut tools: ListToolsResult = serde_json::from_value(recorded["tools"].take())?;
    // Reading loses this; the constructors would have set it.
    tools.result_type = Some(ResultType::COMPLETE);
    let mut answers: HashMap<String, CallToolResult> =
        serde_json::from_value(recorded["answers"].take())?;
    for answer in answers.values_mut() {
        answer.result_type = Some(ResultType::COMPLETE);
    }
    Ok(Recorded { tools, answers })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut given = std::env::args().skip(1);
    let (Some(address), Some(path)) = (given.next(), given.next()) else {
        return Err("usage: server ADDRESS RECORDED.json".into());
    };
    let peer = Peer(Arc::new(recorded(&path)?));
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true);
    let service = StreamableHttpService::new(
        move || Ok(peer.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let routes = axum::Router::new().route_service("/mcp", service);
    axum::serve(TcpListener::bind(address).await?, routes).await?;
    Ok(())
}
