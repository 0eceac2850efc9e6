//! The surface of Lob, version 1, under `/v1`: postcards and proofs of them.

mod read;
mod write;

use axum::http::{HeaderMap, Method, header};
use serde_json::{Value, json};

use super::answer::Answer;
use super::books::{Books, Twisted};
use super::card::{Card, Surface};
use super::fault::damage::Twist;
use super::fault::operation::Operation;
use super::ledger::NotCancelled;
use super::request::Request;

pub(crate) const PREFIX: &str = "/v1";
const KEY_CHARACTERS_MAX: usize = 256;

/// The key is the user name; the password is empty.
pub(crate) fn admits(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let wanted = base64(format!("{token}:").as_bytes());
    given.and_then(|text| text.strip_prefix("Basic ")) == Some(wanted.as_str())
}

pub(crate) fn not_admitted() -> Answer {
    refusal(401, "invalid_api_key", "Your API key is not valid.")
}

pub(crate) fn not_json() -> Answer {
    refusal(400, "bad_request", "The request body is not valid JSON.")
}

pub(crate) fn operation(request: &Request<'_>) -> Result<Operation, Answer> {
    let segments: Vec<&str> = request.path.trim_start_matches('/').split('/').collect();
    match (segments.as_slice(), request.method) {
        (["postcards"], &Method::POST) => Ok(Operation::Send),
        (["postcards"], &Method::GET) => Ok(Operation::List),
        (["postcards", _], &Method::GET) => Ok(Operation::Track),
        (["postcards", _], &Method::DELETE) => Ok(Operation::Cancel),
        (["resource_proofs"], &Method::POST) => Ok(Operation::Preview),
        (["postcards"] | ["postcards", _] | ["resource_proofs"], _) => {
            Err(refusal(405, "method_not_allowed", "This path does not take that method."))
        }
        (_, _) => Err(not_found()),
    }
}

pub(crate) fn perform(
    books: &mut Books,
    operation: Operation,
    request: &Request<'_>,
    twisted: Twisted,
) -> Answer {
    match operation {
        Operation::Send => create(books, request, twisted),
        Operation::Preview => proof(books, &request.body),
        Operation::List => list(books, request, twisted.twist),
        Operation::Track | Operation::Items | Operation::Estimate => {
            match find(books, request.path) {
                Some(card) => shown(card, books, 200),
                None => not_found(),
            }
        }
        Operation::Cancel => cancel(books, request.path),
    }
}

fn create(books: &mut Books, request: &Request<'_>, twisted: Twisted) -> Answer {
    let now = books.now();
    let key = request.header("idempotency-key").map(str::to_owned);
    let key = key.or_else(|| request.asked("idempotency_key"));
    if key.as_ref().is_some_and(|key| key.chars().count() > KEY_CHARACTERS_MAX) {
        return refusal(422, "invalid", "An idempotency key has at most 256 characters.");
    }
    let made = key.as_ref().and_then(|key| books.ledger.made_by(key, now));
    if let Some(card) = made.and_then(|id| books.ledger.find(id)) {
        return shown(card, books, 200);
    }
    let wish = match read::postcard(&request.body) {
        Ok(wish) => wish,
        Err(words) => return refusal(422, "invalid", &words),
    };
    let id = books.accept(Surface::Lob, &wish.sheet, wish.send_date, twisted);
    if let Some(key) = key {
        books.ledger.remember_key(key, id, now);
    }
    match books.ledger.find(id) {
        Some(card) => shown(card, books, 200),
        None => not_found(),
    }
}

fn proof(books: &mut Books, body: &Value) -> Answer {
    if body.get("resource_type").and_then(Value::as_str) != Some("postcard") {
        return refusal(422, "invalid", "resource_type must be postcard in the sandbox.");
    }
    match read::sheet(body.get("resource_parameters").unwrap_or(&Value::Null)) {
        Ok(sheet) => {
            let pictures = books.preview(sheet);
            Answer::json(201, &write::proof(&pictures, books.now()))
        }
        Err(words) => refusal(422, "invalid", &words),
    }
}

fn list(books: &Books, request: &Request<'_>, twist: Twist) -> Answer {
    let Ok(limit @ 1..=100) = request.number("limit", 10) else {
        return refusal(422, "invalid", "limit must be a number from 1 to 100.");
    };
    let wanted: Vec<(String, String)> = request
        .every_asked()
        .filter_map(|(name, value)| {
            let key = name.strip_prefix("metadata[")?.strip_suffix(']')?;
            Some((key.to_owned(), value))
        })
        .collect();
    let has = |card: &Card, (key, value): &(String, String)| {
        card.sheet.metadata.get(key).and_then(Value::as_str) == Some(value)
    };
    let after = request.asked("after");
    let mut found: Vec<&Card> = match twist {
        Twist::ShowNothing => Vec::new(),
        Twist::None | Twist::AcceptTwice | Twist::HideForLonger => books
            .ledger
            .visible(books.now())
            .filter(|card| card.surface == Surface::Lob)
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
    Answer::json(200, &write::list(&found, next, books)).about(ids)
}

fn cancel(books: &mut Books, path: &str) -> Answer {
    let now = books.now();
    let Some((id, name)) = find(books, path).map(|card| (card.id, write::id(card))) else {
        return not_found();
    };
    match books.ledger.cancel(id, now) {
        Ok(_) => Answer::json(200, &json!({ "id": name, "deleted": true })).about([id]),
        Err(NotCancelled::Unknown) => not_found(),
        Err(NotCancelled::TooLate) => {
            refusal(422, "not_deletable", "The send date of this postcard has passed.").about([id])
        }
    }
}

fn find<'a>(books: &'a Books, path: &str) -> Option<&'a Card> {
    let token = path.rsplit('/').next()?.strip_prefix("psc_")?;
    books.ledger.find_token(token).filter(|card| card.surface == Surface::Lob)
}

fn shown(card: &Card, books: &Books, status: u16) -> Answer {
    Answer::json(status, &write::postcard(card, books)).about([card.id])
}

fn not_found() -> Answer {
    refusal(404, "not_found", "There is no such thing.")
}

fn refusal(status: u16, code: &str, message: &str) -> Answer {
    let error = json!({ "message": message, "status_code": status, "code": code });
    Answer::json(status, &json!({ "error": error }))
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
