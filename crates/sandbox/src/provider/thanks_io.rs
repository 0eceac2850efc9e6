//! The surface of thanks.io, version 2, under `/api/v2`.

mod read;
mod write;

use axum::http::{HeaderMap, Method, header};
use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::books::{Books, Twisted};
use super::card::{Card, Sheet, Surface};
use super::fault::damage::Twist;
use super::fault::operation::Operation;
use super::ledger::NotCancelled;
use super::request::Request;

pub(crate) const PREFIX: &str = "/api/v2";

pub(crate) fn admits(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    given.and_then(|text| text.strip_prefix("Bearer ")) == Some(token)
}

pub(crate) fn not_admitted() -> Answer {
    Answer::json(401, &json!({ "message": "Unauthenticated." }))
}

pub(crate) fn not_json() -> Answer {
    Answer::json(400, &json!({ "message": "The request body is not valid JSON." }))
}

/// What is asked, or why nobody can tell.
pub(crate) fn operation(request: &Request<'_>) -> Result<Operation, Answer> {
    let (verb, found) = match segments(request.path)[..] {
        ["send", "postcard"] if request.body.get("preview") == Some(&Value::Bool(true)) => {
            (Method::POST, Operation::Preview)
        }
        ["send", "postcard"] => (Method::POST, Operation::Send),
        ["estimate", "postcard"] => (Method::POST, Operation::Estimate),
        ["orders", "list"] => (Method::GET, Operation::List),
        ["orders", _, "track"] => (Method::GET, Operation::Track),
        ["orders", _, "items"] => (Method::GET, Operation::Items),
        ["orders", _, "cancel"] => (Method::PUT, Operation::Cancel),
        _ => return Err(not_found()),
    };
    if request.method == verb {
        return Ok(found);
    }
    let words = format!("The {} method is not supported for this route.", request.method);
    Err(Answer::json(405, &json!({ "message": words })).with("allow", verb.as_str()))
}

pub(crate) fn perform(
    books: &mut Books,
    operation: Operation,
    request: &Request<'_>,
    twisted: Twisted,
) -> Answer {
    match operation {
        Operation::Preview => with_sheet(request, |sheet| preview(books, sheet)),
        Operation::Estimate => with_sheet(request, |sheet| {
            Answer::json(200, &write::estimate(&sheet, &books.settings))
        }),
        Operation::Send => with_sheet(request, |sheet| send(books, &sheet, twisted)),
        Operation::List => list(books, request, twisted.twist),
        Operation::Track => with_order(books, request, |card| Ok(write::track(card, books))),
        Operation::Items => with_order(books, request, |card| items(books, request, card)),
        Operation::Cancel => cancel(books, request),
    }
}

fn with_sheet(request: &Request<'_>, then: impl FnOnce(Sheet) -> Answer) -> Answer {
    match read::sheet(&request.body) {
        Ok(sheet) => then(sheet),
        Err(faults) => invalid(faults),
    }
}

fn preview(books: &mut Books, sheet: Sheet) -> Answer {
    let previews = books.preview(sheet);
    let data = json!({ "previews": previews });
    Answer::json(200, &json!({ "success": true, "code": 200, "message": "OK", "data": data }))
}

fn send(books: &mut Books, sheet: &Sheet, twisted: Twisted) -> Answer {
    let id = books.accept(Surface::ThanksIo, sheet, None, twisted);
    match books.ledger.find(id) {
        Some(card) => Answer::json(200, &write::order(card, books)).about([id]),
        None => not_found(),
    }
}

fn with_order(
    books: &Books,
    request: &Request<'_>,
    then: impl FnOnce(&Card) -> Result<Value, Answer>,
) -> Answer {
    let Some(card) = id(request.path).and_then(|id| books.ledger.find(id)) else {
        return not_found();
    };
    match then(card) {
        Ok(body) => Answer::json(200, &body).about([card.id]),
        Err(answer) => answer,
    }
}

fn items(books: &Books, request: &Request<'_>, card: &Card) -> Result<Value, Answer> {
    let page = page_of(request, "per_page", 50)
        .map_err(|faults| Answer::json(422, &json!({ "errors": faults })))?;
    let pieces = page.slice(&[card]).iter().map(|card| write::item(card, books.now())).collect();
    Ok(page.of(pieces, 1, &format!("orders/{}/items", card.id), books))
}

fn cancel(books: &mut Books, request: &Request<'_>) -> Answer {
    let (now, Some(id)) = (books.now(), id(request.path)) else { return not_found() };
    match books.ledger.cancel(id, now) {
        Ok(_) => {
            with_order(books, request, |card| Ok(json!({ "order": write::order(card, books) })))
        }
        Err(NotCancelled::Unknown) => not_found(),
        Err(NotCancelled::TooLate) => {
            let words = "Only an order that is being reviewed can be cancelled.";
            Answer::json(400, &json!({ "message": words })).about([id])
        }
    }
}

fn list(books: &Books, request: &Request<'_>, twist: Twist) -> Answer {
    let page = match page_of(request, "items_per_page", 25) {
        Ok(page) => page,
        Err(faults) => return invalid(faults),
    };
    let shown: Vec<_> = match twist {
        Twist::ShowNothing => Vec::new(),
        Twist::None | Twist::AcceptTwice | Twist::HideForLonger => {
            books.ledger.visible(books.now()).collect()
        }
    };
    let (cards, total) = (page.slice(&shown), shown.len());
    let orders = cards.iter().map(|card| write::listed(card, books)).collect();
    let ids = cards.iter().map(|card| card.id);
    Answer::json(200, &page.of(orders, total, "orders/list", books)).about(ids)
}

struct Page {
    number: usize,
    size: usize,
}

fn page_of(request: &Request<'_>, size: &str, usual: usize) -> Result<Page, Map<String, Value>> {
    let mut faults = Map::new();
    let mut read = |name: &str, usual: usize, most: usize| match request.number(name, usual) {
        Ok(number) if (1..=most).contains(&number) => number,
        Ok(_) | Err(_) => {
            let words =
                format!("The {} field must be between 1 and {most}.", name.replace('_', " "));
            faults.insert(name.to_owned(), json!([words]));
            usual
        }
    };
    let page = Page { size: read(size, usual, 100), number: read("page", 1, 1_000_000) };
    if faults.is_empty() { Ok(page) } else { Err(faults) }
}

impl Page {
    fn slice<'a, T>(&self, all: &'a [T]) -> &'a [T] {
        let from = ((self.number - 1) * self.size).min(all.len());
        &all[from..(from + self.size).min(all.len())]
    }

    /// These, with where they lie among all.
    fn of(&self, shown: Vec<Value>, total: usize, path: &str, books: &Books) -> Value {
        let last = total.div_ceil(self.size).max(1);
        let path = format!("{}{PREFIX}/{path}", books.base);
        let link = |page: usize| format!("{path}?page={page}");
        let from = (!shown.is_empty()).then(|| (self.number - 1) * self.size + 1);
        let to = from.map(|from| from + shown.len() - 1);
        json!({
            "data": shown,
            "links": {
                "first": link(1),
                "last": link(last),
                "prev": (self.number > 1).then(|| link(self.number - 1)),
                "next": (self.number < last).then(|| link(self.number + 1)),
            },
            "meta": {
                "current_page": self.number,
                "from": from,
                "last_page": last,
                "path": path,
                "per_page": self.size,
                "to": to,
                "total": total,
            },
        })
    }
}

fn segments(path: &str) -> Vec<&str> {
    path.trim_start_matches('/').split('/').collect()
}

fn id(path: &str) -> Option<u64> {
    segments(path).get(1)?.parse().ok()
}

fn not_found() -> Answer {
    Answer::json(404, &json!({ "message": "Not Found" }))
}

fn invalid(faults: Map<String, Value>) -> Answer {
    Answer::json(422, &json!({ "message": "The given data was invalid.", "errors": faults }))
}
