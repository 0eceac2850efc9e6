//! A postcard, its order and its seller.

use order::model::card::warning::WarningCode;
use order::model::card::{ADDRESS_CHARACTERS_MAX, MESSAGE_CHARACTERS_MAX};
use order::model::chain::Network;
use order::model::evidence::Source;
use order::status::Status;
use serde_json::{Map, Value, json};

use super::types::{date_time, evm_address, list, object, string, url};
use crate::discovery::openapi::parameters::{OPERATION_ID, ORDER_ID, QUOTE_ID};
use crate::discovery::openapi::references::{named, schema};

/// The limit of the parser; a test compares them.
pub(crate) const IMAGE_URL_CHARACTERS_MAX: usize = 2_048;

const STATUSES: [Status; 12] = [
    Status::Unpaid,
    Status::PaymentPending,
    Status::PaymentUnconfirmed,
    Status::Paid,
    Status::Submitted,
    Status::FulfillmentNeedsReconciliation,
    Status::RefundDue,
    Status::Mailed,
    Status::Delivered,
    Status::Returned,
    Status::Refunded,
    Status::Expired,
];
const SOURCES: [Source; 3] = [Source::Chain, Source::Default, Source::MainnetEoa];
/// The statuses of a paid response: submitted, or not confirmed.
const SENT: [Status; 2] = [Status::Submitted, Status::FulfillmentNeedsReconciliation];

pub(super) fn schemas() -> Map<String, Value> {
    let order_id = json!({ "type": "string", "pattern": ORDER_ID });
    let sent = json!({ "type": "string", "enum": SENT.map(Status::word) });
    let context = object(&["public_order_id"], json!({ "public_order_id": order_id }));
    let nothing = json!({ "type": "object", "maxProperties": 0 });
    named([
        ("Postcard", postcard()),
        ("Recipient", recipient()),
        ("Preview", preview()),
        ("CardQuote", quote()),
        ("SendResult", object(&["id", "status"], json!({ "id": order_id, "status": sent }))),
        ("X402ChallengeBody", json!({ "anyOf": [context, nothing] })),
        ("Order", order(&order_id)),
        ("Seller", seller()),
    ])
}

/// The operations have an example of it.
fn postcard() -> Value {
    json!({
        "type": "object",
        "description": "One 4x6 postcard.",
        "required": ["front_image_url", "message", "recipient"],
        "properties": {
            "front_image_url": {
                "type": "string",
                "format": "uri",
                "pattern": "^[hH][tT][tT][pP][sS]://",
                "maxLength": IMAGE_URL_CHARACTERS_MAX,
                "description": "The front, fetched over HTTPS: a public host name, no IP \
                                address, no port but 443, no user name.",
            },
            "message": {
                "type": "string",
                "minLength": 1,
                "maxLength": MESSAGE_CHARACTERS_MAX,
                "description": "The back.",
            },
            "recipient": schema("Recipient"),
            "seller": {
                "type": "string",
                "description": "The username that is paid. The default seller when absent.",
            },
            "operation_id": {
                "type": "string",
                "pattern": OPERATION_ID,
                "description": "Your identifier of the operation; see Idempotency-Key.",
            },
            "quote_id": {
                "type": "string",
                "pattern": QUOTE_ID,
                "description": "See Quote-Id.",
            },
        },
    })
}

fn recipient() -> Value {
    let line = json!({ "type": "string", "minLength": 1, "maxLength": ADDRESS_CHARACTERS_MAX });
    json!({
        "type": "object",
        "required": ["name", "address", "city", "province", "postal_code", "country"],
        "properties": {
            "name": line,
            "address": line,
            "city": line,
            "province": line,
            "postal_code": line,
            "country": {
                "type": "string",
                "pattern": "^[A-Za-z]{2}$",
                "description": "Two letters of ISO 3166-1.",
            },
        },
    })
}

/// The quotes are `null` if a protocol is not enabled or the card has no price.
fn preview() -> Value {
    let codes = WarningCode::ALL.map(WarningCode::as_str);
    let warning = json!({
        "code": { "type": "string", "enum": codes },
        "field": string(),
        "message": string(),
    });
    let quote = json!({ "anyOf": [schema("CardQuote"), { "type": "null" }] });
    object(
        &["preview_urls", "quote", "mpp_quote", "warnings"],
        json!({
            "preview_urls": list(url()),
            "quote": quote,
            "mpp_quote": quote,
            "warnings": list(object(&["code", "field", "message"], warning)),
        }),
    )
}

fn quote() -> Value {
    object(
        &["id", "charge", "maximum", "currency", "country", "expires_at"],
        json!({
            "id": { "type": "string", "pattern": QUOTE_ID },
            "charge": money(),
            "maximum": money(),
            "currency": string(),
            "country": string(),
            "expires_at": date_time(),
        }),
    )
}

fn money() -> Value {
    json!({ "type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?$" })
}

fn order(order_id: &Value) -> Value {
    let money = money();
    let pricing = json!({ "maximum": money, "charged": money, "currency": string() });
    let payment = json!({
        "protocol": { "type": "string", "enum": ["x402", "mpp"] },
        "network": { "type": "string", "enum": Network::ALL.map(Network::caip2) },
        "asset": string(),
        "amount": money,
        "pay_to": evm_address(),
        "transaction": string(),
        "confirmed_at": date_time(),
    });
    let paid = ["protocol", "network", "asset", "amount", "pay_to", "transaction", "confirmed_at"];
    let delivery = json!({ "status": string(), "updated_at": date_time() });
    let refund = json!({ "transaction": string(), "amount": money, "refunded_at": date_time() });
    object(
        &["id", "status"],
        json!({
            "id": order_id,
            "status": { "type": "string", "enum": STATUSES.map(Status::word) },
            "created_at": date_time(),
            "updated_at": date_time(),
            "pricing": object(&["maximum", "charged", "currency"], pricing),
            "payment": object(&paid, payment),
            "delivery": object(&["status", "updated_at"], delivery),
            "refund": object(&["transaction", "amount", "refunded_at"], refund),
        }),
    )
}

fn seller() -> Value {
    let account_on = json!({
        "network": { "type": "string", "enum": Network::ALL.map(Network::caip2) },
        "coin_type": { "type": "integer" },
        "address": evm_address(),
        "source": { "type": "string", "enum": SOURCES.map(Source::word) },
    });
    let account_on = object(&["network", "coin_type", "address", "source"], account_on);
    let evidence = json!({
        "type": "object",
        "description":
            "Chain, block, resolver and gateway: enough to repeat the lookup.",
    });
    object(
        &["username", "ens_name", "address", "networks", "evidence", "resolved_at", "valid_until"],
        json!({
            "username": string(),
            "ens_name": string(),
            "address": evm_address(),
            "networks": list(account_on),
            "evidence": evidence,
            "resolved_at": date_time(),
            "valid_until": date_time(),
        }),
    )
}
