//! `pennyblack orders events`: what happened to all orders, also as it happens.

use std::io::{Write, stdout};
use std::process::ExitCode;

use serde_json::Value;

use super::text;
use crate::cli::orders::EventsArguments;
use crate::commands::operator_client::{ClientError, OperatorClient};

/// How many events are printed if no number is given.
const LAST: u64 = 20;

pub(super) fn run(
    arguments: &EventsArguments,
    client: &OperatorClient,
) -> Result<ExitCode, ClientError> {
    let mut path = match arguments.after {
        Some(after) => format!("/v1/events?after={after}&wait=0"),
        None => format!("/v1/events?last={LAST}&wait=0"),
    };
    loop {
        let page = client.get(&path)?;
        let events = page["events"].as_array().map(Vec::as_slice).unwrap_or_default();
        for event in events {
            let line = if arguments.json { format!("{event}\n") } else { line(event) };
            // A closed pipe, as with `head`, ends the command.
            if stdout().write_all(line.as_bytes()).and_then(|()| stdout().flush()).is_err() {
                return Ok(ExitCode::SUCCESS);
            }
        }
        if events.is_empty() && !arguments.follow {
            return Ok(ExitCode::SUCCESS);
        }
        let wait = if arguments.follow { "" } else { "&wait=0" };
        path = format!("/v1/events?after={}{wait}", page["last"]);
    }
}

fn line(event: &Value) -> String {
    let [at, order, state, actor, evidence, note] =
        ["at", "order", "state", "actor", "evidence", "note"].map(|name| text::word(&event[name]));
    let line =
        format!("{at}  {}  {order}  {state:<23}  {actor:<12}  {evidence}  {note}", event["number"]);
    format!("{}\n", line.trim_end())
}
