//! The Lob interface, version 1, under `/v1`: postcards and proofs.

mod read;
mod write;

use axum::http::{HeaderMap, Method, header};
use serde_json::{Value, json};

use crate::http::response::EmulatedResponse;
use crate::provider::api::request::ApiRequest;
use crate::provider::fault::effect::LedgerFault;
use crate::provider::fault::operation::ProviderOperation;
use crate::provider::state::card::{EmulatedCard, ProviderApi};
use crate::provider::state::ledger::NotCancelled;
use crate::provider::state::{LedgerFaultRule, ProviderState};

pub(crate) const PREFIX: &str = "/v1";
const KEY_CHARACTERS_MAX: usize = 256;

/// The key is the user name; the password is empty.
pub(crate) fn is_authorized(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let wanted = base64(format!("{token}:").as_bytes());
    given.and_then(|text| text.strip_prefix("Basic ")) == Some(wanted.as_str())
}

pub(crate) fn unauthorized() -> EmulatedResponse {
    refusal(401, "invalid_api_key", "Your API key is not valid.")
}

pub(crate) fn not_json() -> EmulatedResponse {
    refusal(400, "bad_request", "The request body is not valid JSON.")
}

pub(crate) fn operation(request: &ApiRequest<'_>) -> Result<ProviderOperation, EmulatedResponse> {
    let segments: Vec<&str> = request.path.trim_start_matches('/').split('/').collect();
    match (segments.as_slice(), request.method) {
        (["postcards"], &Method::POST) => Ok(ProviderOperation::Send),
        (["postcards"], &Method::GET) => Ok(ProviderOperation::List),
        (["postcards", _], &Method::GET) => Ok(ProviderOperation::Track),
        (["postcards", _], &Method::DELETE) => Ok(ProviderOperation::Cancel),
        (["resource_proofs"], &Method::POST) => Ok(ProviderOperation::Preview),
        (["postcards"] | ["postcards", _] | ["resource_proofs"], _) => {
            Err(refusal(405, "method_not_allowed", "This path does not take that method."))
        }
        (_, _) => Err(not_found()),
    }
}

pub(crate) fn perform(
    state: &mut ProviderState,
    operation: ProviderOperation,
    request: &ApiRequest<'_>,
    ledger_fault: LedgerFaultRule,
) -> EmulatedResponse {
    match operation {
        ProviderOperation::Send => create(state, request, ledger_fault),
        ProviderOperation::Preview => proof(state, &request.body),
        ProviderOperation::List => list(state, request, ledger_fault.fault),
        ProviderOperation::Track | ProviderOperation::Items | ProviderOperation::Estimate => {
            match find(state, request.path) {
                Some(card) => shown(card, state, 200),
                None => not_found(),
            }
        }
        ProviderOperation::Cancel => cancel(state, request.path),
    }
}

fn create(
    state: &mut ProviderState,
    request: &ApiRequest<'_>,
    ledger_fault: LedgerFaultRule,
) -> EmulatedResponse {
    let now = state.now();
    let key = request.header("idempotency-key").map(str::to_owned);
    let key = key.or_else(|| request.query_value("idempotency_key"));
    if key.as_ref().is_some_and(|key| key.chars().count() > KEY_CHARACTERS_MAX) {
        return refusal(422, "invalid", "An idempotency key has at most 256 characters.");
    }
    let made = key.as_ref().and_then(|key| state.ledger.created_by_key(key, now));
    if let Some(card) = made.and_then(|id| state.ledger.find(id)) {
        return shown(card, state, 200);
    }
    let request = match read::postcard(&request.body) {
        Ok(request) => request,
        Err(words) => return refusal(422, "invalid", &words),
    };
    let id = state.accept(ProviderApi::Lob, &request.content, request.send_date, ledger_fault);
    if let Some(key) = key {
        state.ledger.remember_key(key, id, now);
    }
    match state.ledger.find(id) {
        Some(card) => shown(card, state, 200),
        None => not_found(),
    }
}

fn proof(state: &mut ProviderState, body: &Value) -> EmulatedResponse {
    if body.get("resource_type").and_then(Value::as_str) != Some("postcard") {
        return refusal(422, "invalid", "resource_type must be postcard in the sandbox.");
    }
    match read::content(body.get("resource_parameters").unwrap_or(&Value::Null)) {
        Ok(content) => {
            let pictures = state.preview(content);
            EmulatedResponse::json(201, &write::proof(&pictures, state.now()))
        }
        Err(words) => refusal(422, "invalid", &words),
    }
}

fn list(state: &ProviderState, request: &ApiRequest<'_>, fault: LedgerFault) -> EmulatedResponse {
    let Ok(limit @ 1..=100) = request.number("limit", 10) else {
        return refusal(422, "invalid", "limit must be a number from 1 to 100.");
    };
    let wanted: Vec<(String, String)> = request
        .query_pairs()
        .filter_map(|(name, value)| {
            let key = name.strip_prefix("metadata[")?.strip_suffix(']')?;
            Some((key.to_owned(), value))
        })
        .collect();
    let has = |card: &EmulatedCard, (key, value): &(String, String)| {
        card.content.metadata.get(key).and_then(Value::as_str) == Some(value)
    };
    let after = request.query_value("after");
    let mut found: Vec<&EmulatedCard> = match fault {
        LedgerFault::ShowNothing => Vec::new(),
        LedgerFault::None | LedgerFault::AcceptTwice | LedgerFault::HideForLonger => state
            .ledger
            .visible(state.now())
            .filter(|card| card.api == ProviderApi::Lob)
            .filter(|card| wanted.iter().all(|pair| has(card, pair)))
            .collect(),
    };
    if let Some(cursor) = after {
        let past = found.iter().position(|card| write::id(card) == cursor);
        found.drain(..past.map_or(found.len(), |at| at + 1));
    }
    let next = (found.len() > limit).then(|| found[limit - 1]);
    found.truncate(limit);
    let ids: Vec<u64> = found.iter().map(|card| card.id).collect();
    EmulatedResponse::json(200, &write::list(&found, next, state)).about(ids)
}

fn cancel(state: &mut ProviderState, path: &str) -> EmulatedResponse {
    let now = state.now();
    let Some((id, name)) = find(state, path).map(|card| (card.id, write::id(card))) else {
        return not_found();
    };
    match state.ledger.cancel(id, now) {
        Ok(_) => EmulatedResponse::json(200, &json!({ "id": name, "deleted": true })).about([id]),
        Err(NotCancelled::Unknown) => not_found(),
        Err(NotCancelled::TooLate) => {
            refusal(422, "not_deletable", "The send date of this postcard has passed.").about([id])
        }
    }
}

fn find<'a>(state: &'a ProviderState, path: &str) -> Option<&'a EmulatedCard> {
    let token = path.rsplit('/').next()?.strip_prefix("psc_")?;
    state.ledger.find_token(token).filter(|card| card.api == ProviderApi::Lob)
}

fn shown(card: &EmulatedCard, state: &ProviderState, status: u16) -> EmulatedResponse {
    EmulatedResponse::json(status, &write::postcard(card, state)).about([card.id])
}

fn not_found() -> EmulatedResponse {
    refusal(404, "not_found", "Not found.")
}

fn refusal(status: u16, code: &str, message: &str) -> EmulatedResponse {
    let error = json!({ "message": message, "status_code": status, "code": code });
    EmulatedResponse::json(status, &json!({ "error": error }))
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let index = usize::try_from(bits >> (18 - 6 * place) & 63).unwrap_or_default();
            let filled = place <= chunk.len();
            text.push(if filled { char::from(LETTERS[index]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_vectors_of_base64_hold() {
        for (plain, written) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(plain.as_bytes()), written);
        }
    }
}
