//! Sends thousands of mutated messages of both protocol versions through the server.
//!
//! A short run is one of the tests; `scripts/fuzz-mcp` sends a million.

mod corpus;
mod mutation;
mod random;

use http::StatusCode;
use serde_json::Value;

use self::random::Random;
use super::fixtures::{body, request, server};
use super::message;
use crate::site_facts::McpProfile;

/// Fixed, so that a failure can be reproduced.
const SEED: u64 = 1_840;
const MESSAGES: u64 = 20_000;
/// The number of messages, which an environment variable can raise.
const MESSAGES_VARIABLE: &str = "PENNYBLACK_FUZZ_MESSAGES";

/// Every status that the contract or the protocol allows for a message.
const STATUSES: [u16; 4] = [200, 202, 400, 404];

#[expect(
    clippy::disallowed_methods,
    reason = "the length of a test run is not a setting of the service"
)]
fn messages() -> u64 {
    let requested = std::env::var(MESSAGES_VARIABLE).ok();
    requested.map_or(MESSAGES, |requested| requested.parse().expect("a number of messages"))
}

#[tokio::test]
async fn every_mutated_message_gets_a_valid_json_rpc_response() {
    let servers = [server(McpProfile::Node), server(McpProfile::Worker)];
    let corpus = corpus::samples();
    let mut seen = [0_u64; STATUSES.len()];
    let messages = messages();
    for number in 0..messages {
        let mut random = Random::new(SEED, number);
        let sample = &corpus[random.below(corpus.len())];
        let bytes = mutation::mutated(&mut random, sample.message.as_bytes(), &corpus);
        let headers = mutation::headers(&mut random, sample);
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let which = random.below(servers.len());
        let request = request(&headers, bytes.clone());
        let response = servers[which].respond(request).await;
        let describe = || {
            let text = String::from_utf8_lossy(&bytes);
            format!("message {number} with seed {SEED}, {headers:?}: {text}")
        };
        let status = response.status();
        let place = STATUSES.iter().position(|known| *known == status.as_u16());
        seen[place.unwrap_or_else(|| panic!("{status} to {}", describe()))] += 1;
        let body_text = body(response).await;
        let id = message::parse(&bytes).id.map(|id| serde_json::from_str::<Value>(id).unwrap());
        check(status, &body_text, id.as_ref())
            .unwrap_or_else(|fault| panic!("{fault} to {}", describe()));
    }
    println!("{messages} messages, answered with {STATUSES:?}: {seen:?}");
    assert!(seen.iter().all(|count| *count > messages / 1_000), "a status is too rare: {seen:?}");
}

/// Whether a response is valid JSON-RPC with the id of the request or none.
fn check(status: StatusCode, body_text: &str, id: Option<&Value>) -> Result<(), String> {
    if status == StatusCode::ACCEPTED {
        return if body_text.is_empty() {
            Ok(())
        } else {
            Err(format!("a body with a 202: {body_text}"))
        };
    }
    let answer: Value =
        serde_json::from_str(body_text).map_err(|error| format!("{error}: {body_text}"))?;
    let members = answer.as_object().ok_or("not an object")?;
    let outcome = (members.get("result"), members.get("error"));
    let is_whole = match outcome {
        (Some(result), None) => result.is_object() && status == StatusCode::OK,
        (None, Some(error)) => error["code"].is_i64() && error["message"].is_string(),
        (Some(_), Some(_)) | (None, None) => false,
    };
    let same = members.get("id") == Some(id.unwrap_or(&Value::Null));
    if members.len() == 3 && answer["jsonrpc"] == "2.0" && is_whole && same {
        return Ok(());
    }
    Err(format!("{status} {body_text}"))
}
