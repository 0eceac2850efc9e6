//! Serves a call to either interface: authorization, faults, response, journal.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, Method, Response, Uri};
use serde_json::Value;

use crate::http::listener::ResponseOverride;
use crate::http::response::EmulatedResponse;
use crate::provider::api::lob;
use crate::provider::api::request::ApiRequest;
use crate::provider::api::thanks_io;
use crate::provider::fault::apply::{FaultedResponse, apply};
use crate::provider::fault::effect::{FaultTiming, LedgerFault};
use crate::provider::fault::operation::ProviderOperation;
use crate::provider::fault::rule::ProviderFaultRule;
use crate::provider::state::card::ProviderApi;
use crate::provider::state::journal::CallRecord;
use crate::provider::state::settings::REFERENCE_KEY;
use crate::provider::state::{LedgerFaultRule, ProviderState, SharedState};

pub(crate) async fn serve(
    State(shared): State<Arc<SharedState>>,
    ConnectInfo(raw): ConnectInfo<ResponseOverride>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let (api, prefix) = match uri.path().strip_prefix(lob::PREFIX) {
        Some(_) => (ProviderApi::Lob, lob::PREFIX),
        None => (ProviderApi::ThanksIo, thanks_io::PREFIX),
    };
    let parsed = if body.is_empty() { Ok(Value::Null) } else { serde_json::from_slice(&body) };
    let request = ApiRequest {
        method: &method,
        path: uri.path().strip_prefix(prefix).unwrap_or_default(),
        query: uri.query().unwrap_or_default(),
        headers: &headers,
        body: parsed.unwrap_or(Value::Bool(false)),
    };
    let mut state = shared.lock();
    let (operation, rule, outcome) = answer(&mut state, api, &request);
    let (status, cards) = match &outcome {
        FaultedResponse::Response(answer) => (Some(answer.status), answer.cards.clone()),
        FaultedResponse::Raw(_) => (None, Vec::new()),
    };
    if rule.as_ref().is_none_or(|rule| rule.kind.names_the_card()) {
        state.ledger.mark_informed(&cards);
    }
    let fault = rule.map(|rule| rule.kind);
    let call = CallRecord { api, operation, status, fault, body: &body, cards };
    let (now, kept) = (state.now(), state.settings.kept_journal_lines);
    state.journal.write(call, now, kept);
    match outcome {
        FaultedResponse::Response(answer) => answer.into_response(),
        FaultedResponse::Raw(plan) => {
            raw.send(plan);
            // Never sent: the raw response takes the socket before the first byte.
            Response::new(Body::empty())
        }
    }
}

/// Unauthorized and unknown calls meet no fault.
fn answer(
    state: &mut ProviderState,
    api: ProviderApi,
    request: &ApiRequest<'_>,
) -> (Option<ProviderOperation>, Option<ProviderFaultRule>, FaultedResponse) {
    let (authorized, unauthorized, not_json) = match api {
        ProviderApi::ThanksIo => (
            thanks_io::is_authorized(request.headers, &state.settings.token),
            thanks_io::unauthorized(),
            thanks_io::not_json(),
        ),
        ProviderApi::Lob => (
            lob::is_authorized(request.headers, &state.settings.token),
            lob::unauthorized(),
            lob::not_json(),
        ),
    };
    if !authorized {
        return (None, None, FaultedResponse::Response(unauthorized));
    }
    let found = match api {
        ProviderApi::ThanksIo => thanks_io::operation(request),
        ProviderApi::Lob => lob::operation(request),
    };
    let operation = match found {
        Ok(operation) => operation,
        Err(answer) => return (None, None, FaultedResponse::Response(answer)),
    };
    let writes = matches!(
        operation,
        ProviderOperation::Preview | ProviderOperation::Estimate | ProviderOperation::Send
    );
    if writes && !request.body.is_object() {
        return (Some(operation), None, FaultedResponse::Response(not_json));
    }
    let reference = reference(state, operation, request);
    let rule = state.rules.next(|rule| rule.concerns(operation, reference.as_deref()));
    let outcome = serve_with(state, api, operation, request, rule.as_ref());
    (Some(operation), rule, outcome)
}

fn serve_with(
    state: &mut ProviderState,
    api: ProviderApi,
    operation: ProviderOperation,
    request: &ApiRequest<'_>,
    rule: Option<&ProviderFaultRule>,
) -> FaultedResponse {
    if let Some(rule) = rule.filter(|rule| rule.kind.timing() == FaultTiming::Before) {
        return apply(rule, EmulatedResponse::json(200, &Value::Null));
    }
    let ledger_fault = LedgerFaultRule {
        fault: rule.map_or(LedgerFault::None, |rule| rule.kind.fault()),
        seconds: rule.map_or(0, |rule| rule.seconds),
    };
    let good = match api {
        ProviderApi::ThanksIo => thanks_io::perform(state, operation, request, ledger_fault),
        ProviderApi::Lob => lob::perform(state, operation, request, ledger_fault),
    };
    match rule {
        Some(rule) => apply(rule, good),
        None => FaultedResponse::Response(good),
    }
}

/// The order reference of this call, from the request or the ledger.
fn reference(
    state: &ProviderState,
    operation: ProviderOperation,
    request: &ApiRequest<'_>,
) -> Option<String> {
    match operation {
        ProviderOperation::Preview | ProviderOperation::Estimate | ProviderOperation::Send => {
            Some(request.body.get("metadata")?.get(REFERENCE_KEY)?.as_str()?.to_owned())
        }
        ProviderOperation::List => request.query_value(&format!("metadata[{REFERENCE_KEY}]")),
        ProviderOperation::Track | ProviderOperation::Items | ProviderOperation::Cancel => {
            let name = request.path.trim_matches('/').split('/').nth(1)?;
            let card = match name.strip_prefix("psc_") {
                Some(token) => state.ledger.find_token(token),
                None => name.parse().ok().and_then(|id| state.ledger.find(id)),
            };
            card?.reference.clone()
        }
    }
}
