//! Messages of both eras, bent and broken by the thousand, sent through the whole door.
//!
//! A short run is one of the tests; `scripts/fuzz-mcp` sends a million.

mod corpus;
mod mutation;
mod random;

use http::StatusCode;
use serde_json::Value;

use self::random::Random;
use super::message;
use super::samples::{body, door, request};
use crate::premises::Profile;

/// Any number will do; this one makes a failure happen again.
const SEED: u64 = 1_840;
const MESSAGES: u64 = 20_000;
/// How many messages are sent, if somebody wants more than a test can wait for.
const MESSAGES_VARIABLE: &str = "PENNYBLACK_CAMPAIGN_MESSAGES";

/// Every status that the contract or the protocol lets a posted message have.
const STATUSES: [u16; 4] = [200, 202, 400, 404];

#[expect(clippy::disallowed_methods, reason = "how long a test runs is no setting of the service")]
fn messages() -> u64 {
    let asked = std::env::var(MESSAGES_VARIABLE).ok();
    asked.map_or(MESSAGES, |asked| asked.parse().expect("a number of messages"))
}

#[tokio::test]
async fn no_message_however_broken_breaks_the_door_or_gets_an_answer_that_is_none() {
    let doors = [door(Profile::Node), door(Profile::Worker)];
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
        let which = random.below(doors.len());
        let asked = request(&headers, bytes.clone());
        let response = doors[which].answer(asked).await;
        let told = || {
            let text = String::from_utf8_lossy(&bytes);
            format!("message {number} with seed {SEED}, {headers:?}: {text}")
        };
        let status = response.status();
        let place = STATUSES.iter().position(|known| *known == status.as_u16());
        seen[place.unwrap_or_else(|| panic!("{status} to {}", told()))] += 1;
        let said = body(response).await;
        let id = message::read(&bytes).id.map(|id| serde_json::from_str::<Value>(id).unwrap());
        check(status, &said, id.as_ref()).unwrap_or_else(|fault| panic!("{fault} to {}", told()));
    }
    println!("{messages} messages, answered with {STATUSES:?}: {seen:?}");
    assert!(seen.iter().all(|count| *count > messages / 1_000), "the mixture is off: {seen:?}");
}

/// Whether an answer is one of JSON-RPC, under the id that was sent or none.
fn check(status: StatusCode, said: &str, id: Option<&Value>) -> Result<(), String> {
    if status == StatusCode::ACCEPTED {
        return if said.is_empty() { Ok(()) } else { Err(format!("words with a 202: {said}")) };
    }
    let answer: Value = serde_json::from_str(said).map_err(|error| format!("{error}: {said}"))?;
    let members = answer.as_object().ok_or("no object")?;
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
    Err(format!("{status} {said}"))
}
