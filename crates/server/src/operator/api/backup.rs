//! `POST /v1/backup`: copies the SQLite store to a file while the service runs.

use std::path::PathBuf;
use std::sync::Arc;

use adapters::store::sqlite::BackupReport;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::json;

use super::parameters::JsonBody;
use crate::operator::error::{OperatorError, respond};
use crate::operator::state::OperatorState;

pub(super) async fn make(
    State(state): State<Arc<OperatorState>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, OperatorError> {
    let body = JsonBody::parse(&headers, &body, &["path"])?;
    let path = PathBuf::from(body.needed_text("path")?);
    if !path.is_absolute() {
        return Err(OperatorError::invalid("`path` must be absolute."));
    }
    let Some(store) = state.sqlite.clone() else {
        let message = "The orders are in PostgreSQL. Use pg_dump.";
        return Err(OperatorError::new(StatusCode::CONFLICT, "not_possible", message));
    };
    let done = store.backup(&path).await;
    let done = done.map_err(|error| {
        OperatorError::new(StatusCode::CONFLICT, "backup_failed", error.to_string())
    })?;
    let BackupReport { orders, events, bytes } = done;
    let facts = json!({ "path": path, "orders": orders, "events": events, "bytes": bytes });
    Ok(respond(StatusCode::OK, &facts))
}
