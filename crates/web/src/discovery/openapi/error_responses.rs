//! Error responses.

use order::model::ids::OrderId;
use order::refusal::Refusal;
use pay::refusal_table::{BadRequest, HttpError};
use serde_json::{Map, Value, json};

use crate::discovery::openapi::headers::{DISCOVERY, REQUEST_ID};
use crate::discovery::openapi::parameters::EXAMPLE_ORDER;
use crate::discovery::openapi::references::{merged, named, schema};
use crate::discovery::openapi::success_responses::{response, without_body, without_example};

const JSON: &str = "application/json";
const PROBLEM: &str = "application/problem+json";

pub(super) fn responses() -> Map<String, Value> {
    merged([
        about_the_request(),
        about_the_order(),
        about_mpp(),
        about_us(),
        about_discovery(),
        about_agents(),
    ])
}

fn about_the_request() -> Map<String, Value> {
    let fields = json!([{
        "field": "recipient.country",
        "message": "A country is written as two letters, such as DE or US.",
    }]);
    let mut faulty = example(&Refusal::CardInvalid(Vec::new()), "The postcard has invalid fields.");
    faulty["error"]["fields"] = fields;
    let not_post = fault("method_not_allowed", "This method is not supported.", "never");
    named([
        ("InvalidPostcard", error("Invalid fields or identifier; each is named.", faulty)),
        ("InvalidOrderId", plain("Invalid order identifier.", "invalid_order_id", "never")),
        ("UnknownOrder", plain("Order not found.", "order_not_found", "never")),
        ("InvalidSeller", plain("Invalid seller name.", "invalid_seller", "never")),
        ("SellerNotEnabled", refused("The seller is not enabled.", &Refusal::SellerNotEnabled)),
        (
            "SellerNotResolved",
            refused("The seller's name has no payout address.", &Refusal::SellerUnresolved),
        ),
        ("InvalidSku", plain("The sku parameter is required.", "sku_missing", "never")),
        ("UnknownSku", plain("Unknown product id.", "sku_unknown", "never")),
        (
            "MethodNotAllowed",
            response("Only POST is supported.", &[&["Allow"]], JSON, "Error", not_post),
        ),
    ])
}

fn about_the_order() -> Map<String, Value> {
    let id = OrderId::from_bytes([0; 16]);
    let conflict = about_order(
        &Refusal::PaymentInPlay(id),
        "A payment for this order is unconfirmed. Do not pay again; check the order.",
    );
    let expired = about_order(&Refusal::OperationLapsed(id), "This identifier has expired.");
    named([
        (
            "Conflict",
            error(
                "Another body with the same identifier, another payment in progress, a price above \
                 the maximum or the quote (error.quote is new), or an expired quote. Check the \
                 order before a retry.",
                conflict,
            ),
        ),
        ("OperationExpired", error("Your identifier has expired; use a new one.", expired)),
        (
            "AllowanceRequired",
            without_example(
                "error.allowance and PAYMENT-REQUIRED name token, spender and the missing approve \
                 call, and the permit that replaces it. Nothing was consumed.",
                &[&["PAYMENT-REQUIRED"]],
                JSON,
                "Error",
            ),
        ),
        ("Unconfirmed", passing("Invalid provider response, or unconfirmed settlement.")),
        (
            "Unresolved",
            passing("Not configured, storage busy, or the submission requires reconciliation."),
        ),
    ])
}

/// Errors of MPP are problem documents, except those that occur before the endpoint. Short, because
/// crawlers read only 64 KB.
fn about_mpp() -> Map<String, Value> {
    let (no, later) = ("Rejected; see error.code.", "Temporary error, or invalid body.");
    let mut waiting =
        without_example(later, &[REQUEST_ID, &["Retry-After"]], PROBLEM, "FaultProblem");
    waiting["content"][JSON] = json!({ "schema": schema("Error") });
    named([
        ("MppRefused", without_example(no, &[], PROBLEM, "FaultProblem")),
        ("MppUnavailable", waiting),
    ])
}

fn about_us() -> Map<String, Value> {
    let broken =
        error_example(&HttpError::from(&BadRequest::MalformedJson), "The body is not valid JSON.");
    named([
        (
            "InternalError",
            response(
                "Internal error, malformed JSON, or a body that is too large.",
                &[REQUEST_ID],
                JSON,
                "Error",
                broken,
            ),
        ),
        ("ProviderFault", passing("Provider error, or no preview URLs.")),
        ("Unavailable", passing("Not configured, or storage busy.")),
    ])
}

fn about_discovery() -> Map<String, Value> {
    let (old, full) = ("Unsupported discovery version.", "Shared quota exhausted.");
    let (waiting, allowed) = (&[DISCOVERY, &["Retry-After"]], &[DISCOVERY, &["Allow"]]);
    let takes_post = "Only POST is supported.";
    let neither = "Unsupported discovery version or MCP version.";
    let mut mcp = without_example(neither, &[DISCOVERY], PROBLEM, "FaultProblem");
    mcp["content"][JSON] = json!({ "schema": schema("McpRefusal") });
    named([
        ("UnsupportedVersion", without_example(old, &[DISCOVERY], PROBLEM, "FaultProblem")),
        ("QuotaExhausted", without_example(full, waiting, PROBLEM, "QuotaProblem")),
        ("McpBadRequest", mcp),
        ("McpTakesPost", without_example(takes_post, allowed, JSON, "Error")),
        (
            "HeadRefused",
            without_body(
                "The error of GET, without a body.",
                &[DISCOVERY, &["Retry-After", "Allow"]],
            ),
        ),
    ])
}

fn about_agents() -> Map<String, Value> {
    let code = |code: &str, message: &str| json!({ "error": code, "message": message });
    let kind = code("unsupported_credential_type", "Only access_token is issued.");
    let waiting = &[&["Retry-After"][..]];
    named([
        ("RegistrationRefused", response("Rejected; see the code.", &[], JSON, "AgentError", kind)),
        ("ClaimNotRequired", without_example("No claim required.", &[], JSON, "AgentError")),
        ("AgentRateLimited", without_example("Rate limited.", waiting, JSON, "AgentError")),
        (
            "AgentUnavailable",
            without_example("Temporarily unavailable.", waiting, JSON, "AgentError"),
        ),
        (
            "UnknownToken",
            without_example(
                "Invalid token: discard it and register again.",
                &[&["WWW-Authenticate"]],
                JSON,
                "AgentError",
            ),
        ),
        (
            "McpRefused",
            without_example("Rejected by the transport.", &[DISCOVERY], JSON, "McpRefusal"),
        ),
    ])
}

fn fault(code: &str, message: &str, retry: &str) -> Value {
    json!({ "error": { "code": code, "message": message, "retry": retry } })
}

/// The code and the retry advice of an error, with a shorter message than the real one.
fn error_example(error: &HttpError, message: &str) -> Value {
    fault(error.code, message, error.retry.as_str())
}

fn example(refusal: &Refusal, message: &str) -> Value {
    error_example(&HttpError::from(refusal), message)
}

fn about_order(refusal: &Refusal, message: &str) -> Value {
    let mut example = example(refusal, message);
    example["error"]["public_order_id"] = json!(EXAMPLE_ORDER);
    example
}

fn refused(says: &str, why: &Refusal) -> Value {
    error(says, example(why, says))
}

fn plain(description: &str, code: &str, retry: &str) -> Value {
    error(description, fault(code, description, retry))
}

fn error(description: &str, example: Value) -> Value {
    response(description, &[], JSON, "Error", example)
}

/// An error that may be temporary. Without an example, because crawlers read only 64 KB.
fn passing(description: &str) -> Value {
    without_example(description, &[REQUEST_ID, &["Retry-After"]], JSON, "Error")
}
