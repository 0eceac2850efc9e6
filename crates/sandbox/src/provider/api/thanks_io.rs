//! The surface of thanks.io, version 2, under `/api/v2`.

mod read;
mod write;

use axum::http::{HeaderMap, Method, header};
use serde_json::{Map, Value, json};

use crate::http::response::EmulatedResponse;
use crate::provider::api::request::ApiRequest;
use crate::provider::fault::effect::LedgerFault;
use crate::provider::fault::operation::ProviderOperation;
use crate::provider::state::card::{EmulatedCard, PostcardContent, ProviderApi};
use crate::provider::state::ledger::NotCancelled;
use crate::provider::state::{LedgerFaultRule, ProviderState};

pub(crate) const PREFIX: &str = "/api/v2";

pub(crate) fn is_authorized(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    given.and_then(|text| text.strip_prefix("Bearer ")) == Some(token)
}

pub(crate) fn unauthorized() -> EmulatedResponse {
    EmulatedResponse::json(401, &json!({ "message": "Unauthenticated." }))
}

pub(crate) fn not_json() -> EmulatedResponse {
    EmulatedResponse::json(400, &json!({ "message": "The request body is not valid JSON." }))
}

/// The operation of a request, or the error response.
pub(crate) fn operation(request: &ApiRequest<'_>) -> Result<ProviderOperation, EmulatedResponse> {
    let (verb, found) = match segments(request.path)[..] {
        ["send", "postcard"] if request.body.get("preview") == Some(&Value::Bool(true)) => {
            (Method::POST, ProviderOperation::Preview)
        }
        ["send", "postcard"] => (Method::POST, ProviderOperation::Send),
        ["estimate", "postcard"] => (Method::POST, ProviderOperation::Estimate),
        ["orders", "list"] => (Method::GET, ProviderOperation::List),
        ["orders", _, "track"] => (Method::GET, ProviderOperation::Track),
        ["orders", _, "items"] => (Method::GET, ProviderOperation::Items),
        ["orders", _, "cancel"] => (Method::PUT, ProviderOperation::Cancel),
        _ => return Err(not_found()),
    };
    if request.method == verb {
        return Ok(found);
    }
    let words = format!("The {} method is not supported for this route.", request.method);
    Err(EmulatedResponse::json(405, &json!({ "message": words })).with("allow", verb.as_str()))
}

pub(crate) fn perform(
    state: &mut ProviderState,
    operation: ProviderOperation,
    request: &ApiRequest<'_>,
    ledger_fault: LedgerFaultRule,
) -> EmulatedResponse {
    match operation {
        ProviderOperation::Preview => with_sheet(request, |content| preview(state, content)),
        ProviderOperation::Estimate => with_sheet(request, |content| {
            EmulatedResponse::json(200, &write::estimate(&content, &state.settings))
        }),
        ProviderOperation::Send => {
            with_sheet(request, |content| send(state, &content, ledger_fault))
        }
        ProviderOperation::List => list(state, request, ledger_fault.fault),
        ProviderOperation::Track => {
            with_order(state, request, |card| Ok(write::track(card, state)))
        }
        ProviderOperation::Items => with_order(state, request, |card| items(state, request, card)),
        ProviderOperation::Cancel => cancel(state, request),
    }
}

fn with_sheet(
    request: &ApiRequest<'_>,
    then: impl FnOnce(PostcardContent) -> EmulatedResponse,
) -> EmulatedResponse {
    match read::content(&request.body) {
        Ok(content) => then(content),
        Err(faults) => invalid(faults),
    }
}

fn preview(state: &mut ProviderState, content: PostcardContent) -> EmulatedResponse {
    let previews = state.preview(content);
    let data = json!({ "previews": previews });
    EmulatedResponse::json(
        200,
        &json!({ "success": true, "code": 200, "message": "OK", "data": data }),
    )
}

fn send(
    state: &mut ProviderState,
    content: &PostcardContent,
    ledger_fault: LedgerFaultRule,
) -> EmulatedResponse {
    let id = state.accept(ProviderApi::ThanksIo, content, None, ledger_fault);
    match state.ledger.find(id) {
        Some(card) => EmulatedResponse::json(200, &write::order(card, state)).about([id]),
        None => not_found(),
    }
}

fn with_order(
    state: &ProviderState,
    request: &ApiRequest<'_>,
    then: impl FnOnce(&EmulatedCard) -> Result<Value, EmulatedResponse>,
) -> EmulatedResponse {
    let Some(card) = id(request.path).and_then(|id| state.ledger.find(id)) else {
        return not_found();
    };
    match then(card) {
        Ok(body) => EmulatedResponse::json(200, &body).about([card.id]),
        Err(answer) => answer,
    }
}

fn items(
    state: &ProviderState,
    request: &ApiRequest<'_>,
    card: &EmulatedCard,
) -> Result<Value, EmulatedResponse> {
    let page = page_of(request, "per_page", 50)
        .map_err(|faults| EmulatedResponse::json(422, &json!({ "errors": faults })))?;
    let pieces = page.slice(&[card]).iter().map(|card| write::item(card, state.now())).collect();
    Ok(page.of(pieces, 1, &format!("orders/{}/items", card.id), state))
}

fn cancel(state: &mut ProviderState, request: &ApiRequest<'_>) -> EmulatedResponse {
    let (now, Some(id)) = (state.now(), id(request.path)) else { return not_found() };
    match state.ledger.cancel(id, now) {
        Ok(_) => {
            with_order(state, request, |card| Ok(json!({ "order": write::order(card, state) })))
        }
        Err(NotCancelled::Unknown) => not_found(),
        Err(NotCancelled::TooLate) => {
            let words = "Only an order that is being reviewed can be cancelled.";
            EmulatedResponse::json(400, &json!({ "message": words })).about([id])
        }
    }
}

fn list(state: &ProviderState, request: &ApiRequest<'_>, fault: LedgerFault) -> EmulatedResponse {
    let page = match page_of(request, "items_per_page", 25) {
        Ok(page) => page,
        Err(faults) => return invalid(faults),
    };
    let shown: Vec<_> = match fault {
        LedgerFault::ShowNothing => Vec::new(),
        LedgerFault::None | LedgerFault::AcceptTwice | LedgerFault::HideForLonger => {
            state.ledger.visible(state.now()).collect()
        }
    };
    let (cards, total) = (page.slice(&shown), shown.len());
    let orders = cards.iter().map(|card| write::listed(card, state)).collect();
    let ids = cards.iter().map(|card| card.id);
    EmulatedResponse::json(200, &page.of(orders, total, "orders/list", state)).about(ids)
}

struct Page {
    number: usize,
    size: usize,
}

fn page_of(request: &ApiRequest<'_>, size: &str, usual: usize) -> Result<Page, Map<String, Value>> {
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
    fn of(&self, shown: Vec<Value>, total: usize, path: &str, state: &ProviderState) -> Value {
        let last = total.div_ceil(self.size).max(1);
        let path = format!("{}{PREFIX}/{path}", state.base);
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

fn not_found() -> EmulatedResponse {
    EmulatedResponse::json(404, &json!({ "message": "Not Found" }))
}

fn invalid(faults: Map<String, Value>) -> EmulatedResponse {
    EmulatedResponse::json(
        422,
        &json!({ "message": "The given data was invalid.", "errors": faults }),
    )
}
