//! Which method does what.

use serde_json::{Map, Value, json};

use super::era::{Era, MODERN, NEWEST_LEGACY};
use super::library::Library;
use super::message::{Fault, INVALID_PARAMS, METHOD_NOT_FOUND};
use super::{completion, resources, tools};
use crate::discovery::mcp_card::{self, PROTOCOL_VERSIONS};
use crate::premises::VERSION;

/// Words change with a release only; five minutes is how long a page is kept.
const TIME_TO_LIVE_MILLISECONDS: u64 = 300_000;
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// A request that has passed all checks of its form.
pub(super) struct Asked<'a> {
    pub(super) era: Era,
    pub(super) id: &'a Value,
    pub(super) method: &'a str,
    pub(super) params: &'a Map<String, Value>,
}

/// Whether others may keep a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Yes,
    No,
}

pub(super) fn dispatch(library: &Library, asked: &Asked<'_>) -> Result<Value, Fault> {
    let Asked { era, id, method, params } = *asked;
    let (result, kept) = match (era, method) {
        (Era::Legacy, "initialize") => (initialize(library, asked)?, Kept::No),
        (Era::Legacy, "ping") => (json!({}), Kept::No),
        (Era::Modern, "server/discover") => (discover(library), Kept::Yes),
        (_, "tools/list") => (listed(params, id, "tools", tools::definitions())?, Kept::Yes),
        (_, "tools/call") => (tools::call(library, id, params)?, Kept::No),
        (_, "resources/list") => {
            (listed(params, id, "resources", resources::list(library))?, Kept::Yes)
        }
        (_, "resources/templates/list") => {
            let templates = listed(params, id, "resourceTemplates", resources::templates())?;
            (templates, Kept::Yes)
        }
        (_, "resources/read") => (resources::read(library, asked)?, Kept::Yes),
        (_, "completion/complete") => (completion::complete(library, id, params)?, Kept::No),
        (Era::Legacy | Era::Modern, _) => {
            let words = "This server has tools, resources and completion, and no such method.";
            return Err(Fault::new(id, METHOD_NOT_FOUND, words));
        }
    };
    Ok(match era {
        Era::Legacy => result,
        Era::Modern => dressed(library, result, kept),
    })
}

/// What every result of the modern era carries.
fn dressed(library: &Library, mut result: Value, kept: Kept) -> Value {
    result["resultType"] = json!("complete");
    if kept == Kept::Yes {
        result["ttlMs"] = json!(TIME_TO_LIVE_MILLISECONDS);
        result["cacheScope"] = json!("public");
    }
    result["_meta"] = json!({ SERVER_KEY: server(library) });
    result
}

fn initialize(library: &Library, asked: &Asked<'_>) -> Result<Value, Fault> {
    let version = asked.params.get("protocolVersion").and_then(Value::as_str);
    let Some(version) = version else {
        let words = "protocolVersion: is missing; send the revision that you speak.";
        return Err(Fault::new(asked.id, INVALID_PARAMS, words));
    };
    let known = PROTOCOL_VERSIONS.contains(&version) && version != MODERN;
    Ok(json!({
        "protocolVersion": if known { version } else { NEWEST_LEGACY },
        "capabilities": mcp_card::capabilities(),
        "serverInfo": server(library),
        "instructions": instructions(library),
    }))
}

fn discover(library: &Library) -> Value {
    json!({
        "supportedVersions": PROTOCOL_VERSIONS,
        "capabilities": mcp_card::capabilities(),
        "instructions": instructions(library),
    })
}

fn server(library: &Library) -> Value {
    json!({
        "name": mcp_card::name(&library.premises),
        "title": library.catalog().site.name,
        "version": VERSION,
    })
}

fn instructions(library: &Library) -> String {
    format!(
        "Public, read-only questions about {}: its shop, support answers, pages and machine-readable \
         documents. Nothing here pays, orders or sees an account; get_postcard_service_info says \
         how a postcard is bought.",
        library.catalog().site.name
    )
}

/// A whole list; there is no second page, so no cursor is known.
fn listed(
    params: &Map<String, Value>,
    id: &Value,
    name: &str,
    list: Value,
) -> Result<Value, Fault> {
    if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) {
        let words = "cursor: unknown; the list is whole without one.";
        return Err(Fault::new(id, INVALID_PARAMS, words));
    }
    Ok(json!({ name: list }))
}
