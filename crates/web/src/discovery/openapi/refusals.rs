//! The answers that say no.

use serde_json::{Map, Value, json};

use crate::discovery::openapi::headers::{COUNTED, PLAIN};
use crate::discovery::openapi::parameters::EXAMPLE_ORDER;
use crate::discovery::openapi::replies::{empty, itself, reply};
use crate::discovery::openapi::{merged, named, schema};

const JSON: &str = "application/json";
const PROBLEM: &str = "application/problem+json";

pub(super) fn refusals() -> Map<String, Value> {
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
    let mut faulty = fault("invalid_postcard", "The postcard has faulty fields.", "never");
    faulty["error"]["fields"] = fields;
    let not_post = fault("method_not_allowed", "This address takes another method.", "never");
    named([
        ("InvalidPostcard", refusal("A field or an identifier is invalid; each is named.", faulty)),
        ("InvalidOrderId", plain("This is no order identifier.", "invalid_order_id", "never")),
        ("UnknownOrder", plain("There is no such order.", "order_not_found", "never")),
        ("InvalidSeller", plain("This cannot be a seller's name.", "invalid_seller", "never")),
        (
            "SellerNotEnabled",
            plain("We do not mail cards for this seller.", "seller_not_enabled", "never"),
        ),
        (
            "SellerNotResolved",
            plain("The seller's name has no address to pay.", "seller_not_resolved", "never"),
        ),
        ("InvalidSku", plain("Name one product.", "sku_missing", "never")),
        ("UnknownSku", plain("No product has this id.", "sku_unknown", "never")),
        (
            "MethodNotAllowed",
            reply("The address takes POST only.", &[&["Allow"]], JSON, "Error", not_post),
        ),
    ])
}

fn about_the_order() -> Map<String, Value> {
    let conflict = about_order(
        "reconciliation_conflict",
        "A payment for this order is in doubt. Do not pay again; look at the order.",
        "same",
    );
    let expired = about_order("operation_expired", "This identifier has expired.", "never");
    let allowance =
        about_order("permit2_allowance_required", "Permit2 may not move your USDC yet.", "same");
    let unconfirmed = about_order(
        "settlement_unconfirmed",
        "We cannot tell yet whether the payment moved. Do not sign again.",
        "same",
    );
    named([
        (
            "Conflict",
            refusal(
                "Another body under the same identifier, another payment in play, or a price above \
                 the ceiling. Look at the order before you try again.",
                conflict,
            ),
        ),
        ("OperationExpired", refusal("Your identifier has expired; use a new one.", expired)),
        (
            "AllowanceRequired",
            reply(
                "error.allowance and PAYMENT-REQUIRED name token, spender and the missing approve \
                 call, and the permit that replaces it. Nothing was consumed.",
                &[&["PAYMENT-REQUIRED"]],
                JSON,
                "Error",
                allowance,
            ),
        ),
        (
            "Unconfirmed",
            passing(
                "The provider's answer is unusable, or the settlement unconfirmed.",
                unconfirmed,
            ),
        ),
        (
            "Unresolved",
            itself(
                "Not configured, storage busy, or the submission is being found out about.",
                &[PLAIN, &["Retry-After"]],
                JSON,
                "Error",
            ),
        ),
    ])
}

/// What MPP refuses, it refuses with problem documents. Who does not get as far as that
/// door is told as everywhere. Few words, as crawlers read 64 KB and no more.
fn about_mpp() -> Map<String, Value> {
    let (no, later) = ("Refused; error.code says why.", "Not now, or not with this body.");
    let mut waiting = itself(later, &[PLAIN, &["Retry-After"]], PROBLEM, "FaultProblem");
    waiting["content"][JSON] = json!({ "schema": schema("Error") });
    named([("MppRefused", itself(no, &[], PROBLEM, "FaultProblem")), ("MppUnavailable", waiting)])
}

fn about_us() -> Map<String, Value> {
    let broken = fault("malformed_json", "The body is not JSON.", "never");
    let provider = fault("provider_unreachable", "The provider does not answer.", "same");
    let unavailable = fault(
        "payment_unavailable",
        "Payments cannot be checked at the moment. Send the same request again.",
        "same",
    );
    named([
        (
            "InternalError",
            reply(
                "Something broke, or the body is malformed JSON or too large.",
                &[PLAIN],
                JSON,
                "Error",
                broken,
            ),
        ),
        ("ProviderFault", passing("The provider fails, or sends no preview.", provider)),
        ("Unavailable", passing("Not configured, or storage is busy.", unavailable)),
    ])
}

fn about_discovery() -> Map<String, Value> {
    let quota = json!({
        "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
        "title": "Too Many Requests",
        "status": 429,
        "detail": "The quota that all callers share is used up.",
        "error": {
            "code": "rate_limited",
            "message": "The quota that all callers share is used up.",
            "retry": "same",
        },
        "violated-policies": ["public-discovery"],
    });
    let (old, full) = ("Not a version of this contract.", "The shared quota is used up.");
    let (waiting, allowed) = (&[COUNTED, &["Retry-After"]], &[COUNTED, &["Allow"]]);
    let takes_post = "This address takes POST only.";
    let neither = "Not a version of this contract, or not one of MCP's.";
    let mut mcp = itself(neither, &[COUNTED], PROBLEM, "FaultProblem");
    mcp["content"][JSON] = json!({ "schema": schema("McpRefusal") });
    named([
        ("UnsupportedVersion", itself(old, &[COUNTED], PROBLEM, "FaultProblem")),
        ("QuotaExhausted", reply(full, waiting, PROBLEM, "QuotaProblem", quota)),
        ("McpBadRequest", mcp),
        ("McpTakesPost", itself(takes_post, allowed, JSON, "Error")),
        (
            "HeadRefused",
            empty("As GET is refused, without a body.", &[COUNTED, &["Retry-After", "Allow"]]),
        ),
    ])
}

fn about_agents() -> Map<String, Value> {
    let code = |code: &str, message: &str| json!({ "error": code, "message": message });
    let kind = code("unsupported_credential_type", "Only access_token is issued here.");
    let claim = code("claim_not_required", "Anonymous read-only access needs no claim.");
    let many = code("rate_limited", "Too many registrations; come back later.");
    let waiting = &[&["Retry-After"][..]];
    named([
        (
            "RegistrationRefused",
            reply("Not like this; the code says why.", &[], JSON, "AgentError", kind),
        ),
        ("ClaimNotRequired", reply("Nothing to claim.", &[], JSON, "AgentError", claim)),
        ("AgentRateLimited", reply("Back off.", waiting, JSON, "AgentError", many)),
        ("AgentUnavailable", itself("Not now.", waiting, JSON, "AgentError")),
        (
            "UnknownToken",
            itself(
                "The token that was sent is not ours: discard it, register again.",
                &[&["WWW-Authenticate"]],
                JSON,
                "AgentError",
            ),
        ),
        ("McpRefused", itself("The transport refuses.", &[COUNTED], JSON, "McpRefusal")),
    ])
}

fn fault(code: &str, message: &str, retry: &str) -> Value {
    json!({ "error": { "code": code, "message": message, "retry": retry } })
}

fn about_order(code: &str, message: &str, retry: &str) -> Value {
    let mut fault = fault(code, message, retry);
    fault["error"]["public_order_id"] = json!(EXAMPLE_ORDER);
    fault
}

fn plain(says: &str, code: &str, retry: &str) -> Value {
    refusal(says, fault(code, says, retry))
}

fn refusal(says: &str, example: Value) -> Value {
    reply(says, &[], JSON, "Error", example)
}

/// A fault that waiting may cure.
fn passing(says: &str, example: Value) -> Value {
    reply(says, &[PLAIN, &["Retry-After"]], JSON, "Error", example)
}
