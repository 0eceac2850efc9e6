//! Which method does what.

use std::borrow::Cow;

use super::answer::Said;
use super::era::Era;
use super::given::{Given, Members};
use super::message::{Fault, INVALID_PARAMS, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND};
use super::shelf::Shelf;
use serde_json::json;

/// A request that has passed all checks of its form.
pub(super) struct Asked<'a> {
    pub(super) era: Era,
    pub(super) method: &'a str,
    pub(super) params: &'a Members<'a>,
}

pub(super) fn dispatch<'a>(shelf: &'a Shelf, asked: &Asked<'_>) -> Result<Cow<'a, Said>, Fault> {
    let Asked { era, method, params } = *asked;
    match (era, method) {
        (Era::Legacy, "initialize") => greeting(shelf, params),
        (Era::Legacy, "ping") => Ok(Cow::Borrowed(&shelf.pong)),
        (Era::Modern, "server/discover") => Ok(Cow::Borrowed(&shelf.discovery)),
        (_, "tools/list") => whole(&shelf.tool_list, params),
        (_, "tools/call") => shelf.tools.call(params),
        (_, "resources/list") => whole(&shelf.resource_list, params),
        (_, "resources/read") => read(shelf, asked),
        (_, "resources/templates/list") => match &shelf.more {
            Some(more) => whole(&more.template_list, params),
            None => Err(unknown()),
        },
        (_, "completion/complete") => match &shelf.more {
            Some(more) => more.completion.complete(params).map(Cow::Owned),
            None => Err(unknown()),
        },
        (Era::Legacy | Era::Modern, _) => Err(unknown()),
    }
}

fn unknown() -> Fault {
    Fault::new(METHOD_NOT_FOUND, "No such method here; begin with tools/list or resources/list.")
}

fn greeting<'a>(shelf: &'a Shelf, params: &Members<'_>) -> Result<Cow<'a, Said>, Fault> {
    let version = params.text("protocolVersion").ok_or_else(|| {
        let words = "protocolVersion: is missing; send the revision that you speak.";
        Fault::new(INVALID_PARAMS, words)
    })?;
    Ok(Cow::Borrowed(shelf.greeting(version)))
}

/// A whole list; there is no second page, so no cursor is known.
fn whole<'a>(list: &'a Said, params: &Members<'_>) -> Result<Cow<'a, Said>, Fault> {
    match params.get("cursor") {
        None | Some(Given::Null) => Ok(Cow::Borrowed(list)),
        Some(Given::Whole(_) | Given::Text(_) | Given::Object(_) | Given::Other) => {
            Err(Fault::new(INVALID_PARAMS, "cursor: unknown; the list is whole without one."))
        }
    }
}

fn read<'a>(shelf: &'a Shelf, asked: &Asked<'_>) -> Result<Cow<'a, Said>, Fault> {
    let uri = asked
        .params
        .text("uri")
        .ok_or_else(|| Fault::new(INVALID_PARAMS, "uri: is missing; resources/list has them."))?;
    // Looked up in the list of what is public, never in a file system.
    shelf.resources.get(uri).map(Cow::Borrowed).ok_or_else(|| {
        let code = match asked.era {
            Era::Legacy => RESOURCE_NOT_FOUND,
            Era::Modern => INVALID_PARAMS,
        };
        let fault = Fault::new(code, "Resource not found; resources/list has them.");
        Fault { data: Some(json!({ "uri": uri })), ..fault }
    })
}
