//! The JSON body of an error, the same for both protocols.

use order::model::identity::quote::CardQuote;
use order::refusal::Refusal;
use serde_json::{Value, json};

use crate::refusal_table::{BadRequest, HttpError};

/// The body of the answer to a refusal.
pub fn refusal_body(refusal: &Refusal) -> Value {
    let mut body = error_body(&HttpError::from(refusal));
    if let Refusal::CardInvalid(faults) = refusal {
        let fields = faults.iter();
        let fields = fields.map(|fault| json!({ "field": fault.field, "message": fault.message }));
        body["error"]["fields"] = fields.collect();
    }
    if let Refusal::QuoteExceeded { quote, .. } = refusal {
        body["error"]["quote"] = quote_body(quote);
    }
    body
}

/// A quote, in previews and in conflicts.
pub fn quote_body(quote: &CardQuote) -> Value {
    json!({
        "id": quote.id.to_string(),
        "charge": quote.charge.to_string(),
        "maximum": quote.maximum.to_string(),
        "currency": "USDC",
        "country": quote.country.as_str(),
        "expires_at": quote.expires_at.to_string(),
    })
}

/// The body of the answer to a request that failed before the checkout.
pub fn bad_request_body(why: &BadRequest) -> Value {
    error_body(&HttpError::from(why))
}

fn error_body(error: &HttpError) -> Value {
    let HttpError { code, message, retry, order, .. } = error;
    let mut error = json!({ "code": code, "message": message, "retry": retry.as_str() });
    if let Some(order) = order {
        error["public_order_id"] = order.to_string().into();
    }
    json!({ "error": error })
}

#[cfg(test)]
mod tests {
    use order::model::card::FieldFault;
    use order::model::ids::OrderId;

    use super::*;

    #[test]
    fn an_error_has_the_order_and_the_invalid_fields_only_if_there_are_any() {
        let id = OrderId::from_bytes([7; 16]);
        assert_eq!(
            refusal_body(&Refusal::OperationLapsed(id)),
            json!({"error": {
                "code": "operation_expired",
                "message": "This identifier has expired; use a new one.",
                "retry": "never",
                "public_order_id": "07070707070707070707070707070707",
            }})
        );
        let faults = ["message", "recipient.city"]
            .map(|field| FieldFault { field, message: "This field must not be empty.".into() });
        let error = &refusal_body(&Refusal::CardInvalid(faults.to_vec()))["error"];
        assert_eq!(error["fields"][1]["field"], "recipient.city");
        assert_eq!(error["fields"][0]["message"], "This field must not be empty.");
        assert!(error.get("public_order_id").is_none());
    }
}
