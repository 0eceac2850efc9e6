//! A refusal as the JSON that callers read, in the one shape of all faults.

use order::refusal::Refusal;
use serde_json::{Value, json};

use crate::envelope::{Muddle, Retry, Verdict, verdict};

/// How long a caller should wait before the same request may do better.
pub const RETRY_AFTER_SECONDS: u64 = 2;

/// How long a payer's unpaid quotes count.
const QUOTE_LIMIT_SECONDS: u64 = 60;

/// The provider's rate limit and a pause after its refusals both last a minute; a submission
/// in doubt takes longer.
const PROVIDER_WAIT_SECONDS: u64 = 60;
/// A node or provider that does not answer is rarely back sooner.
const OUTAGE_WAIT_SECONDS: u64 = 5;

/// The body of an answer that says no. Its words never repeat what was sent.
pub fn body(refusal: &Refusal) -> Value {
    let Verdict { code, retry, message, order, .. } = verdict(refusal);
    let mut error = json!({ "code": code, "message": message, "retry": retry.word() });
    if let Some(order) = order {
        error["public_order_id"] = order.to_string().into();
    }
    if let Refusal::CardInvalid(faults) = refusal {
        let fields = faults.iter();
        let fields = fields.map(|fault| json!({ "field": fault.field, "message": fault.message }));
        error["fields"] = fields.collect();
    }
    json!({ "error": error })
}

/// The same for a request that never came before the desk.
pub fn muddled(muddle: &Muddle) -> Value {
    let Muddle { code, message, .. } = *muddle;
    json!({ "error": { "code": code, "message": message, "retry": Retry::Never.word() } })
}

const REASON_LETTERS_MAX: usize = 500;

/// A reason that fits a header's budget. Facilitators pass on what a chain said,
/// at any length and in any letters; what JSON would write as more than one
/// byte is replaced.
pub(crate) fn short(reason: &str) -> String {
    let plain = |letter: char| match letter {
        '"' | '\\' => '\'',
        ' '..='~' => letter,
        _ => '?',
    };
    reason.chars().take(REASON_LETTERS_MAX).map(plain).collect()
}

/// How many seconds a caller should wait, if waiting may help at all.
pub fn wait(refusal: &Refusal) -> Option<u64> {
    match (verdict(refusal).retry, refusal) {
        // It waits for the payer, not for time.
        (Retry::Same, Refusal::AllowanceRequired(_)) => None,
        (Retry::Same, Refusal::AboutOrder(_, cause)) => wait(cause),
        (Retry::Same, Refusal::QuoteLimit(_)) => Some(QUOTE_LIMIT_SECONDS),
        (Retry::Same, Refusal::ProviderUnavailable | Refusal::SubmissionUnresolved(_)) => {
            Some(PROVIDER_WAIT_SECONDS)
        }
        (
            Retry::Same,
            Refusal::ProviderUnreachable | Refusal::ProviderUnusable | Refusal::PaymentUnavailable,
        ) => Some(OUTAGE_WAIT_SECONDS),
        (Retry::Same, _) => Some(RETRY_AFTER_SECONDS),
        (Retry::Never | Retry::NewPayment, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use order::model::card::FieldFault;
    use order::model::ids::OrderId;

    use super::*;

    #[test]
    fn a_fault_has_what_is_known_and_nothing_else() {
        let id = OrderId::from_bytes([7; 16]);
        assert_eq!(
            body(&Refusal::OperationLapsed(id)),
            json!({"error": {
                "code": "operation_expired",
                "message": "This identifier has expired; use a new one.",
                "retry": "never",
                "public_order_id": "07070707070707070707070707070707",
            }})
        );
        let faults = ["message", "recipient.city"]
            .map(|field| FieldFault { field, message: "This field must not be empty.".into() });
        let faulty = &body(&Refusal::CardInvalid(faults.to_vec()))["error"];
        assert_eq!(faulty["fields"][1]["field"], "recipient.city");
        assert_eq!(faulty["fields"][0]["message"], "This field must not be empty.");
        assert!(faulty.get("public_order_id").is_none());
    }

    #[test]
    fn only_what_time_can_cure_asks_for_time() {
        assert_eq!(wait(&Refusal::StoreBusy), Some(2));
        assert_eq!(wait(&Refusal::PaymentUnavailable), Some(5));
        assert_eq!(wait(&Refusal::ProviderUnavailable), Some(60));
        let id = OrderId::from_bytes([7; 16]);
        assert_eq!(wait(&Refusal::ProviderUnavailable.about(id)), Some(60));
        assert_eq!(wait(&Refusal::QuoteLimit(OrderId::from_bytes([7; 16]))), Some(60));
        assert_eq!(wait(&Refusal::IdentifierInvalid), None);
    }
}
